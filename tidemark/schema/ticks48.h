// SPDX-License-Identifier: Apache-2.0
// Records carry the low 48 bits of a device clock reading. A page carries a full reading
// (open_ticks). The time of its first record is the nearest to it, the time of each further one the
// nearest to the record before: exact, however long the page was open, as long as the lane was
// never silent for 2^47 ticks. The begin of a span is restored from its end.
#pragma once

#include <cstdint>

#include "tidemark/base/host_device.h"

namespace tidemark {

inline constexpr std::uint64_t kTicks48Mask = (std::uint64_t{1} << 48) - 1;

// The full reading nearest to `near_ticks` with the same low 48 bits as `ticks`.
TM_DEVICE constexpr std::uint64_t full_ticks(std::uint64_t ticks, std::uint64_t near_ticks) {
  const std::uint64_t ahead = (ticks - near_ticks) & kTicks48Mask;
  const bool behind = ahead >> 47 != 0;
  return near_ticks + ahead - (behind ? kTicks48Mask + 1 : 0);
}

// Clocks of two processors may differ by so much; a begin that far after its end is still one.
inline constexpr std::uint64_t kClockSkewTicks = std::uint64_t{1} << 32;

// The full reading of a time that is not after `end_ticks` and less than 2^48 before it.
TM_DEVICE constexpr std::uint64_t ticks_before(std::uint64_t ticks, std::uint64_t end_ticks) {
  const std::uint64_t latest_ticks = end_ticks + kClockSkewTicks;
  return latest_ticks - ((latest_ticks - ticks) & kTicks48Mask);
}

}  // namespace tidemark
