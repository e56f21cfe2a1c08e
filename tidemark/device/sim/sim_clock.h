// SPDX-License-Identifier: Apache-2.0
// Relates the simulated device's clock to the host's.
#pragma once

#include <cstdint>

#include "tidemark/transport/clock_sample.h"

namespace tidemark {

ClockSample sample_sim_clock();

// Measured against the monotonic clock over the life of the process, at least some milliseconds.
std::uint64_t sim_ticks_per_second();

// From here on this process tells the time of another device, whose clock counts nanoseconds: it
// builds a graph for it, and records that.
void use_device_clock(const ClockSample& sample);

}  // namespace tidemark
