// SPDX-License-Identifier: Apache-2.0
// Inputs of the example workloads: number `index` of the sequence `stream` of a seed, the same on
// every machine.
#pragma once

#include <cstdint>

#include "tidemark/base/mix.h"

namespace tidemark {

class SeededNumbers {
 public:
  SeededNumbers(std::uint64_t seed, std::uint64_t stream)
      : key_(mix(mix(seed + 1) + 0x9E3779B97F4A7C15ull * (stream + 1))) {}

  [[nodiscard]] std::uint64_t word(std::uint64_t index) const {
    return mix(key_ + 0x9E3779B97F4A7C15ull * index);
  }
  // In [-1, 1).
  [[nodiscard]] float number(std::uint64_t index) const {
    return static_cast<float>(static_cast<std::int64_t>(word(index)) >> 40) * 0x1p-23f;
  }

 private:
  std::uint64_t key_;
};

}  // namespace tidemark
