// SPDX-License-Identifier: Apache-2.0
// One reading of a device's clock between two of the host's.
#pragma once

#include <cstdint>

namespace tidemark {

// The true host time of `device_ticks` lies within uncertainty_ns of host_ns.
struct ClockSample {
  std::uint64_t device_ticks = 0;
  std::uint64_t host_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t real_ns = 0;  // CLOCK_REALTIME
  std::uint64_t uncertainty_ns = 0;
};

}  // namespace tidemark
