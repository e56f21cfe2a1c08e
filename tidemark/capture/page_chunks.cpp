// SPDX-License-Identifier: Apache-2.0
#include "tidemark/capture/page_chunks.h"

#include <algorithm>

namespace tidemark {
namespace {

bool of_same_page(const IndexEntry& a, const IndexEntry& b) {
  return a.lane == b.lane && a.epoch == b.epoch && a.sequence == b.sequence;
}

}  // namespace

std::vector<IndexEntry> page_chunks(const CaptureReader& reader) {
  std::vector<IndexEntry> pages;
  for (const auto& chunk : reader.chunks())
    if (chunk.type == ChunkType::kPage) pages.push_back(chunk);
  std::stable_sort(pages.begin(), pages.end(), [](const IndexEntry& a, const IndexEntry& b) {
    if (a.lane != b.lane) return a.lane < b.lane;
    return a.sequence != b.sequence ? a.sequence < b.sequence : a.epoch < b.epoch;
  });
  std::vector<IndexEntry> kept;
  for (auto first = pages.begin(); first != pages.end();) {
    const auto last = std::find_if_not(
        first, pages.end(), [&](const IndexEntry& chunk) { return of_same_page(*first, chunk); });
    std::uint64_t longest = 0;
    for (auto chunk = first; chunk != last; ++chunk)
      longest = std::max(longest, chunk->payload_bytes);
    std::copy_if(first, last, std::back_inserter(kept), [&](const IndexEntry& chunk) {
      return (chunk.flags & kFlagOpen) == 0 || chunk.payload_bytes == longest;
    });
    first = last;
  }
  return kept;
}

}  // namespace tidemark
