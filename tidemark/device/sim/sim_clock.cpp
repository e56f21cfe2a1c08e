// SPDX-License-Identifier: Apache-2.0
#include "tidemark/device/sim/sim_clock.h"

#include <time.h>

#include <cmath>

#include "tidemark/base/monotonic_clock.h"
#include "tidemark/device/sim/sim_env.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kCalibrationNs = 4'000'000;

const ClockSample kProcessStart = sample_sim_clock();

}  // namespace

ClockSample sample_sim_clock() {
  ClockSample best;
  best.uncertainty_ns = ~std::uint64_t{0};
  for (int attempt = 0; attempt < 5; ++attempt) {
    const std::uint64_t before_ns = monotonic_ns();
    const std::uint64_t ticks = SimEnv::now_ticks();
    const std::uint64_t after_ns = monotonic_ns();
    const std::uint64_t uncertainty_ns = (after_ns - before_ns) / 2 + 1;
    if (uncertainty_ns >= best.uncertainty_ns) continue;
    best = {.device_ticks = ticks,
            .host_ns = before_ns + (after_ns - before_ns) / 2,
            .real_ns = clock_ns(CLOCK_REALTIME),
            .uncertainty_ns = uncertainty_ns};
  }
  return best;
}

std::uint64_t sim_ticks_per_second() {
  if (!tsc_is_clock) return 1'000'000'000;
  ClockSample now = sample_sim_clock();
  while (now.host_ns - kProcessStart.host_ns < kCalibrationNs) {
    SimEnv::pause(SimEnv::kSleepRound + 5);
    now = sample_sim_clock();
  }
  const auto ticks = static_cast<double>(now.device_ticks - kProcessStart.device_ticks);
  const auto ns = static_cast<double>(now.host_ns - kProcessStart.host_ns);
  return static_cast<std::uint64_t>(std::llround(ticks * 1e9 / ns));
}

void use_device_clock(const ClockSample& sample) {
  tsc_is_clock = false;
  clock_offset_ns = sample.device_ticks - sample.host_ns;
}

}  // namespace tidemark
