// SPDX-License-Identifier: Apache-2.0
// The simulated device's clock: monotone, and at the rate it says it has.
#include "tidemark/device/sim/sim_clock.h"

#include <time.h>

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "tidemark/device/sim/sim_env.h"

namespace tidemark {
namespace {

TEST(SimClock, NeverGoesBack) {
  std::uint64_t last = SimEnv::now_ticks();
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t now = SimEnv::now_ticks();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(SimClock, RunsAtItsRateWithinOnePercentOfTheMonotonicClock) {
  const auto rate = static_cast<double>(sim_ticks_per_second());
  const ClockSample begin = sample_sim_clock();
  const timespec time{.tv_sec = 0, .tv_nsec = 50'000'000};
  ::nanosleep(&time, nullptr);
  const ClockSample end = sample_sim_clock();
  const double seconds = static_cast<double>(end.host_ns - begin.host_ns) / 1e9;
  const double ticks = static_cast<double>(end.device_ticks - begin.device_ticks);
  EXPECT_GE(seconds, 0.05);
  // The samples say themselves how far they may be off, where they were interrupted.
  const double unsure = static_cast<double>(begin.uncertainty_ns + end.uncertainty_ns) / 1e9;
  EXPECT_LT(std::abs(ticks / seconds / rate - 1), 0.01 + unsure / seconds)
      << ticks / seconds << " against " << rate;
}

TEST(SimClock, ASampleStandsBetweenTheHostReadingsAroundIt) {
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t before_ns = monotonic_ns(), before_ticks = SimEnv::now_ticks();
    const ClockSample sample = sample_sim_clock();
    const std::uint64_t after_ns = monotonic_ns(), after_ticks = SimEnv::now_ticks();
    EXPECT_GE(sample.host_ns, before_ns);
    EXPECT_LE(sample.host_ns, after_ns);
    EXPECT_GE(sample.device_ticks, before_ticks);
    EXPECT_LE(sample.device_ticks, after_ticks);
    EXPECT_GE(sample.uncertainty_ns, 1u);
    EXPECT_LE(sample.uncertainty_ns, after_ns - before_ns + 1);
  }
}

TEST(SimEnv, APauseNeverSleepsMuchLongerThanAMillisecond) {
  std::uint64_t shortest_ns = ~std::uint64_t{0};
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t begin_ns = monotonic_ns();
    SimEnv::pause(1'000'000);
    shortest_ns = std::min(shortest_ns, monotonic_ns() - begin_ns);
  }
  EXPECT_GE(shortest_ns, 900'000u);
  EXPECT_LE(shortest_ns, 5'000'000u);
}

TEST(SimEnv, FirstPausesDoNotSleep) {
  std::uint64_t shortest_ns = ~std::uint64_t{0};
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t begin_ns = monotonic_ns();
    for (std::uint32_t round = 0; round < 32; ++round) SimEnv::pause(round);
    shortest_ns = std::min(shortest_ns, monotonic_ns() - begin_ns);
  }
  EXPECT_LE(shortest_ns, 500'000u);
}

}  // namespace
}  // namespace tidemark
