// SPDX-License-Identifier: Apache-2.0
// Relates the simulated device's clock to the host's.
#pragma once

#include <cstdint>

namespace tidemark {

// One reading of the device clock between two of the host's. The true host time of `device_ticks`
// lies within uncertainty_ns of host_ns.
struct ClockSample {
  std::uint64_t device_ticks = 0;
  std::uint64_t host_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t real_ns = 0;  // CLOCK_REALTIME
  std::uint64_t uncertainty_ns = 0;
};

ClockSample sample_sim_clock();

// Measured against the monotonic clock over the life of the process, at least some milliseconds.
std::uint64_t sim_ticks_per_second();

}  // namespace tidemark
