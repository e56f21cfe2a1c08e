// SPDX-License-Identifier: Apache-2.0
// Records carry the low 48 bits of a device clock reading. The page a record stands in carries a
// full reading (open_ticks); a time within 2^47 ticks of it, on either side, is restored exactly.
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

}  // namespace tidemark
