// SPDX-License-Identifier: Apache-2.0
// A run of any length has a report and a capture of bounded size.
#include "tidemark/session/anchor_times.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tidemark/run/description.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kDayMs = 24ull * 3600 * 1000;

TEST(AnchorTimes, EverySecondAtFirst) {
  AnchorTimes times;
  std::uint32_t due = 0;
  for (std::uint64_t ms = 5; ms < 60'000; ms += 100) due += times.is_due(ms) ? 1 : 0;
  EXPECT_EQ(due, 60u);
}

TEST(AnchorTimes, ARunOfThirtyDaysHasAReportBelowAMegabyte) {
  AnchorTimes times;
  RunReport report;
  std::uint64_t clock_chunk_bytes = 0, readings = 0, last_ms = 0;
  for (std::uint64_t ms = 5; ms < 30 * kDayMs; ms += 100) {
    if (!times.is_due(ms)) continue;
    ++readings;
    last_ms = ms;
    const ClockSample sample{.device_ticks = ms * 3'000'000,
                             .host_ns = ms * 1'000'000,
                             .real_ns = 1'800'000'000'000'000'000ull + ms * 1'000'000,
                             .uncertainty_ns = 123};
    RunClock news;
    news.anchors = {sample};
    clock_chunk_bytes += describe_clock(news).size() + 128;
    report.anchors.push_back(sample);
    thin_anchors(report.anchors);
    ASSERT_LE(report.anchors.size(), kAnchorsMax);
  }
  EXPECT_GT(readings, kAnchorsMax);
  EXPECT_LT(to_json(report).size(), 1'000'000u);
  EXPECT_LT(clock_chunk_bytes, 4'000'000u);
  // Still spread over the whole run, first and last included.
  EXPECT_EQ(report.anchors.front().host_ns, 5'000'000u);
  EXPECT_EQ(report.anchors.back().host_ns, last_ms * 1'000'000);
  EXPECT_GT(last_ms, 30 * kDayMs * 9 / 10);
  std::uint64_t widest = 0;
  for (std::size_t i = 1; i < report.anchors.size(); ++i) {
    ASSERT_GT(report.anchors[i].host_ns, report.anchors[i - 1].host_ns);
    widest = std::max(widest, report.anchors[i].host_ns - report.anchors[i - 1].host_ns);
  }
  EXPECT_LT(widest, 30 * kDayMs * 1'000'000 / 60);
}

TEST(AnchorTimes, AfterAFreezeTheMissedOnesAreNotMadeUpFor) {
  AnchorTimes times;
  EXPECT_TRUE(times.is_due(5));
  EXPECT_TRUE(times.is_due(100'000));
  EXPECT_FALSE(times.is_due(100'100));
  EXPECT_TRUE(times.is_due(101'100));
}

}  // namespace
}  // namespace tidemark
