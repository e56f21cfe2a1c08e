// SPDX-License-Identifier: Apache-2.0
// Memory in which the dump keeps what a task is about to overwrite, until the kernel has shown
// whether it matters. As many pieces as cores; a task that finds none free goes without.
#pragma once

#include <cstdint>

#include "tidemark/runtime/runtime_memory.h"

namespace tidemark {

class DumpScratch {
 public:
  TM_DEVICE explicit DumpScratch(const RuntimeMemory& memory) : memory_(memory) {}

  // The number of a piece + 1; 0: none is free, or there are none.
  TM_DEVICE std::uint32_t claim(std::uint32_t first) const {
    if (memory_.layout().scratch_bytes == 0) return 0;
    const std::uint32_t count = memory_.config().core_count();
    for (std::uint32_t step = 0; step < count; ++step) {
      const std::uint32_t piece = (first + step) % count;
      std::uint32_t free = 0;
      if (word(piece).replace_acq_rel(free, 1)) return piece + 1;  // pairs with [piece freed]
    }
    return 0;
  }
  TM_DEVICE void release(std::uint32_t piece) const {
    if (piece != 0) word(piece - 1).store_release(0);  // [piece freed]
  }
  TM_DEVICE std::uint64_t bytes() const { return memory_.layout().scratch_bytes; }
  // Where in device memory a piece is.
  TM_DEVICE std::uint64_t offset(std::uint32_t piece) const {
    return memory_.layout().scratch_offset + (piece - 1) * memory_.layout().scratch_bytes;
  }

 private:
  TM_DEVICE DeviceWord<std::uint32_t>& word(std::uint32_t piece) const {
    return memory_.at<DeviceWord<std::uint32_t>>(memory_.layout().scratch_words_offset)[piece];
  }
  RuntimeMemory memory_;
};

}  // namespace tidemark
