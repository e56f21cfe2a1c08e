// SPDX-License-Identifier: Apache-2.0
// What synthetic_producer writes: task spans and frames whose content follows from lane and number,
// so that whoever reads them back can check every byte.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "tidemark/base/mix.h"
#include "tidemark/capture/capture_ledger.h"
#include "tidemark/schema/task_span.h"

namespace tidemark {

// Ties the fields of one span together; stored in its block number.
TM_DEVICE constexpr std::uint32_t synthetic_check(std::uint64_t lane, const TaskSpan& span) {
  const std::uint64_t times =
      (span.begin_ticks & kTicks48Mask) * 0x9E3779B97F4A7C15ull + (span.end_ticks & kTicks48Mask);
  return static_cast<std::uint32_t>(mix(times ^ span.task_id << 20 ^ lane));
}

TM_DEVICE constexpr std::uint64_t synthetic_padding(std::uint64_t number, std::uint32_t word) {
  return mix(number * 64 + word) & kTicks48Mask;
}

// A span widened to kWideBytes: readers that know only the span step over the rest.
template <std::uint32_t kWideBytes>
struct SyntheticSpan {
  static constexpr StreamId kStream = StreamId::kSwimlane;
  static constexpr std::uint32_t kBytes = kWideBytes;

  TaskSpan span;

  TM_DEVICE TM_INLINE void pack(std::uint64_t* words) const {
    span.pack(words);
    for (std::uint32_t word = 4; word < kBytes / 8; ++word)
      words[word] = synthetic_padding(span.task_id, word);
  }
};

inline constexpr std::uint32_t kSyntheticKernels = 4;

TM_DEVICE constexpr TaskSpan synthetic_span(std::uint32_t lane, std::uint64_t number,
                                            std::uint64_t begin_ticks, std::uint64_t end_ticks) {
  TaskSpan span{.task_id = number,
                .begin_ticks = begin_ticks,
                .end_ticks = end_ticks,
                .block = 0,
                .kernel = static_cast<std::uint16_t>(number % kSyntheticKernels),
                .core = static_cast<std::uint16_t>(lane)};
  span.block = synthetic_check(lane, span);
  return span;
}

// True if the record of this number on this lane is what the producer wrote.
bool verify_synthetic_span(std::uint32_t lane, std::uint64_t number, std::uint32_t record_bytes,
                           const unsigned char* record);

// Frames: 1 .. max_bytes long, every byte following from lane, frame and offset.
TM_DEVICE constexpr std::uint64_t synthetic_frame_bytes(std::uint64_t lane, std::uint64_t frame,
                                                        std::uint64_t max_bytes) {
  return 1 + mix(lane << 40 ^ frame) % max_bytes;
}

// The bytes of one frame, as a source that FrameWriter reads piece by piece.
class SyntheticFrame {
 public:
  TM_DEVICE SyntheticFrame(std::uint64_t lane, std::uint64_t frame)
      : key_(mix(lane * 0x9E3779B97F4A7C15ull + frame)) {}

  TM_DEVICE unsigned char byte(std::uint64_t offset) const {
    return static_cast<unsigned char>(mix(key_ + offset / 8) >> (offset % 8 * 8));
  }
  TM_DEVICE void read(unsigned char* to, std::uint64_t bytes) {
    std::uint64_t word = mix(key_ + at_ / 8);
    for (std::uint64_t i = 0; i < bytes; ++i, ++at_) {
      if (at_ % 8 == 0) word = mix(key_ + at_ / 8);
      to[i] = static_cast<unsigned char>(word >> (at_ % 8 * 8));
    }
  }

 private:
  std::uint64_t key_;
  std::uint64_t at_ = 0;
};

bool verify_synthetic_bytes(std::uint64_t lane, std::uint64_t frame, std::uint64_t offset,
                            std::span<const unsigned char> bytes);

// Judges a page of a synthetic_producer run, spans or frames. Returns how many records were found
// true; what was not is appended to `problems`.
std::uint64_t verify_synthetic_page(const CapturedPage& page, std::vector<std::string>& problems);

}  // namespace tidemark
