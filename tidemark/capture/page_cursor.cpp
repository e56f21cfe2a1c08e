// SPDX-License-Identifier: Apache-2.0
#include "tidemark/capture/page_cursor.h"

#include <cstring>

namespace tidemark {
namespace {

PageFault check_chunk(const PageOfChunk& page, const IndexEntry& chunk, const PagesOfRun& run,
                      std::uint64_t run_id, const LanePlan* plan) {
  const PageHeaderImage& header = page.header;
  const PageExpectation expected{.run_id = run_id,
                                 .lane_count = run.lane_count,
                                 .payload_bytes = run.page_bytes - kPageHeaderBytes};
  if (const auto fault = check_page(header, expected); fault != PageFault::kNone) return fault;
  if (header.lane != chunk.lane || plan == nullptr) return PageFault::kWrongLane;
  if (header.sequence != chunk.sequence) return PageFault::kWrongSequence;
  if (header.used_bytes != page.payload.size()) return PageFault::kBadCount;
  return check_page_of_lane(header, *plan);
}

}  // namespace

PageOfChunk read_page(CaptureReader& reader, const IndexEntry& chunk, const PagesOfRun& run,
                      const LanePlan* plan) {
  PageOfChunk page;
  const auto bytes = reader.read(chunk);
  if (!bytes || bytes->size() < kPageHeaderBytes) return page;
  page.readable = true;
  std::memcpy(&page.header, bytes->data(), sizeof(page.header));
  page.payload = bytes->subspan(kPageHeaderBytes);
  page.fault = check_chunk(page, chunk, run, reader.run_id(), plan);
  return page;
}

bool PageCursor::next() {
  while (next_ < chunks_.size()) {
    const PageOfChunk page = read_page(*reader_, chunks_[next_++], run_, &plan_);
    if (!page.sound()) continue;
    // A page is there twice where a recovery was interrupted.
    if (page.header.sequence == page_.header.sequence && page.header.epoch == page_.header.epoch)
      continue;
    page_ = page;
    return true;
  }
  return false;
}

}  // namespace tidemark
