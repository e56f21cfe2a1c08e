// SPDX-License-Identifier: Apache-2.0
// Words that are far away and will be looked at, one after the other. Asked for together they are
// near by then: a thread of a GPU waits no longer for sixteen of them than for one.
#pragma once

#include <cstdint>

#include "tidemark/base/host_device.h"

namespace tidemark {

class FarWords {
 public:
  // anything: an address that can be read.
  TM_DEVICE explicit FarWords(const void* anything) : anything_(anything) {}

  TM_DEVICE void add(const void* object, std::uint32_t offset) {
    if (count_ == kTogether) fetch();
    at_[count_++] = static_cast<const unsigned char*>(object) + offset;
  }
  TM_DEVICE TM_NOINLINE_ON_GPU void fetch() {
    if (count_ == 0) return;
    for (; count_ < kTogether; ++count_) at_[count_] = anything_;
#if TM_ON_GPU
    std::uint32_t words[kTogether];
    TM_UNROLL
    for (std::uint32_t i = 0; i < kTogether; ++i) {
      const auto word = reinterpret_cast<std::uint64_t>(at_[i]) & ~std::uint64_t{3};
      asm volatile("ld.u32 %0, [%1];" : "=r"(words[i]) : "l"(word));
    }
    TM_UNROLL
    for (std::uint32_t i = 0; i < kTogether; ++i) asm volatile("" ::"r"(words[i]));
#endif
    count_ = 0;
  }

 private:
  static constexpr std::uint32_t kTogether = 16;
  const void* anything_;
  std::uint32_t count_ = 0;
  const void* at_[kTogether];
};

}  // namespace tidemark
