// SPDX-License-Identifier: Apache-2.0
// Rounding of sizes and offsets to the boundaries of the shared layouts.
#pragma once

#include <cstdint>

#include "tidemark/base/host_device.h"

namespace tidemark {

TM_DEVICE constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

TM_DEVICE constexpr bool is_power_of_two(std::uint64_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}

TM_DEVICE constexpr std::uint64_t round_up_to_power_of_two(std::uint64_t value) {
  std::uint64_t power = 1;
  while (power < value) power *= 2;
  return power;
}

}  // namespace tidemark
