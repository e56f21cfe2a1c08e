// SPDX-License-Identifier: Apache-2.0
// The record of the producer bench, on any device: the same words as the reference's records, and
// all of them follow from the number.
#pragma once

#include <cstdint>

#include "tidemark/schema/task_span.h"

namespace tidemark::bench {

template <std::uint32_t kWideBytes>
struct BenchSpan {
  static constexpr StreamId kStream = StreamId::kSwimlane;
  static constexpr std::uint32_t kBytes = kWideBytes;
  TaskSpan span;

  TM_DEVICE TM_INLINE void pack(std::uint64_t* words) const {
    span.pack(words);
    for (std::uint32_t i = 4; i < kBytes / 8; ++i) words[i] = span.task_id & kTicks48Mask;
  }
};

TM_DEVICE TM_INLINE TaskSpan bench_span(std::uint64_t number, std::uint64_t begin_ticks,
                                        std::uint64_t end_ticks) {
  return {.task_id = number,
          .begin_ticks = begin_ticks,
          .end_ticks = end_ticks,
          .block = 7,
          .kernel = 3,
          .core = 1};
}

}  // namespace tidemark::bench
