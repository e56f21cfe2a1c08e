// SPDX-License-Identifier: Apache-2.0
// Relates the simulated device's clock to the host's.
#pragma once

#include <cstdint>

#include "tidemark/transport/clock_sample.h"

namespace tidemark {

ClockSample sample_sim_clock();

// Measured against the monotonic clock over the life of the process, at least some milliseconds.
std::uint64_t sim_ticks_per_second();

}  // namespace tidemark
