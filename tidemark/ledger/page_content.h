// SPDX-License-Identifier: Apache-2.0
// Reads what is in a page that the host has copied: records by number, or fragments. A sealed
// page is believed as far as its stamps confirm it; an open page is judged record by record.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "tidemark/schema/stamp.h"
#include "tidemark/transport/fragment.h"
#include "tidemark/transport/page.h"

namespace tidemark {

enum class RecordState { kWhole, kTorn, kAbsent };

// By the stamps alone: all quanta carry the generation, some do, or none.
inline RecordState judge_record(const unsigned char* record, std::uint32_t record_bytes,
                                std::uint32_t generation) {
  std::uint32_t stamped = 0;
  for (std::uint32_t at = kStampOffset; at < record_bytes; at += kQuantumBytes) {
    Stamp stamp;
    std::memcpy(&stamp, record + at, sizeof(stamp));
    stamped += stamp == generation;
  }
  if (stamped == record_bytes / kQuantumBytes) return RecordState::kWhole;
  return stamped == 0 ? RecordState::kAbsent : RecordState::kTorn;
}

struct PageCounts {
  std::uint64_t whole = 0;
  std::uint64_t torn = 0;        // also a frame that was under way when the page was read
  std::uint64_t used_bytes = 0;  // up to the last record or fragment that left a trace
};

// fn(number, bytes) for every whole record. The header has passed check_page.
template <class Fn>
PageCounts for_each_record(const PageHeaderImage& header, std::span<const unsigned char> payload,
                           const Fn& fn) {
  PageCounts counts;
  const std::uint64_t slots =
      (header.record_count == kPageOpen ? payload.size() : header.used_bytes) / header.record_bytes;
  for (std::uint64_t slot = 0; slot < slots; ++slot) {
    const std::uint64_t at = slot * header.record_bytes;
    if (at + header.record_bytes > payload.size()) break;
    switch (judge_record(payload.data() + at, header.record_bytes, header.generation)) {
      case RecordState::kWhole:
        ++counts.whole;
        counts.used_bytes = at + header.record_bytes;
        fn(header.first_number + slot, payload.data() + at);
        break;
      case RecordState::kTorn:
        ++counts.torn;
        counts.used_bytes = at + header.record_bytes;
        break;
      case RecordState::kAbsent:
        if (header.record_count != kPageOpen) ++counts.torn;
        break;
    }
  }
  return counts;
}

struct Fragment {
  std::uint64_t frame_number = 0;
  std::uint64_t total_bytes = 0;
  std::uint64_t offset = 0;
  bool first = false;
  bool last = false;
  std::span<const unsigned char> bytes;
};

// fn(fragment) for the committed fragments, from the start of the page to the first that is not.
template <class Fn>
PageCounts for_each_fragment(const PageHeaderImage& header, std::span<const unsigned char> payload,
                             const Fn& fn) {
  PageCounts counts;
  const bool open = header.record_count == kPageOpen;
  const std::uint64_t limit =
      open || header.used_bytes > payload.size() ? payload.size() : header.used_bytes;
  std::uint64_t at = 0;
  bool under_way = false;
  while (limit - at >= kFragmentHeaderBytes) {
    FragmentImage image;
    std::memcpy(&image, payload.data() + at, sizeof(image));
    const FragmentCommit commit = decode_commit(image.commit);
    if (commit.generation != header.generation) break;
    if (commit.length > limit - at - kFragmentHeaderBytes) break;
    if (image.offset > image.total_bytes || commit.length > image.total_bytes - image.offset) break;
    if (commit.first != (image.offset == 0)) break;
    if (commit.last != (image.offset + commit.length == image.total_bytes)) break;
    if (image.frame_number != header.first_number + counts.whole) break;
    fn(Fragment{.frame_number = image.frame_number,
                .total_bytes = image.total_bytes,
                .offset = image.offset,
                .first = commit.first,
                .last = commit.last,
                .bytes = payload.subspan(at + kFragmentHeaderBytes, commit.length)});
    under_way = !commit.last;
    counts.whole += commit.last;
    at += fragment_span(commit.length);
    if (at > limit) at = limit;
    counts.used_bytes = at;
  }
  if (open && under_way) counts.torn = 1;
  if (!open && counts.whole < header.record_count) counts.torn = header.record_count - counts.whole;
  return counts;
}

inline PageCounts count_page(const PageHeaderImage& header,
                             std::span<const unsigned char> payload) {
  if (header.record_bytes == 0) return for_each_fragment(header, payload, [](const Fragment&) {});
  return for_each_record(header, payload, [](std::uint64_t, const unsigned char*) {});
}

}  // namespace tidemark
