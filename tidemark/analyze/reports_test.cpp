// SPDX-License-Identifier: Apache-2.0
// Timeline and scope report of captures that were written by hand: each figure is worked out here.
#include <gtest/gtest.h>

#include "tidemark/analyze/scope_report.h"
#include "tidemark/analyze/testing/hand_capture.h"
#include "tidemark/analyze/timeline.h"

namespace tidemark {
namespace {

using samples::HandCapture;
using samples::kLaunchTicks;
using samples::TemporaryDirectory;

// A tick is a nanosecond.
TaskSpan span(std::uint64_t task, std::uint16_t kernel, std::uint16_t core, std::uint64_t begin,
              std::uint64_t end) {
  return {.task_id = task,
          .begin_ticks = kLaunchTicks + begin,
          .end_ticks = kLaunchTicks + end,
          .kernel = kernel,
          .core = core};
}

RuntimeConfig config_of(std::uint32_t swimlane_level, bool scopes) {
  RuntimeConfig config;
  config.cluster_count = 1;
  config.scheduler_count = 1;
  config.streams[StreamId::kSwimlane] = swimlane_level;
  config.streams[StreamId::kScopes] = scopes ? 1 : 0;
  return config;
}

// One cluster: core 0 is AIC, cores 1 and 2 are AIV. Kernel 0 "add", 1 "mul", 2 "exp".
TEST(Timeline, HasTheFiguresOfEveryKernelAndCoreType) {
  const TemporaryDirectory directory;
  const RuntimeConfig config = config_of(2, false);
  HandCapture capture(config);
  const StreamLanes lanes = config.lanes();
  struct Work {
    TaskSpan run;
    std::uint64_t dispatch, finish;
  };
  const Work works[] = {{span(1, 0, 1, 100, 150), 90, 160},
                        {span(2, 0, 2, 120, 240), 95, 245},
                        {span(3, 1, 0, 300, 500), 250, 520},
                        {span(4, 0, 1, 400, 410), 390, 430}};
  for (const Work& work : works) {
    capture.write(lanes.spans(work.run.core), work.run);
    TaskSpan seen = work.run;
    seen.begin_ticks = kLaunchTicks + work.dispatch;
    seen.end_ticks = kLaunchTicks + work.finish;
    if (work.run.task_id != 3) capture.write(lanes.finishes(0), seen);
  }
  TaskSpan last = works[2].run;
  last.begin_ticks = kLaunchTicks + works[2].dispatch;
  last.end_ticks = kLaunchTicks + works[2].finish;
  capture.write(lanes.finishes(0), last);  // in the order of the finishes
  RunCapture run = capture.open(directory);
  const auto timeline = read_timeline(run, 2);
  ASSERT_TRUE(timeline) << timeline.error().message;
  EXPECT_EQ(timeline->rows, 4u);
  EXPECT_EQ(timeline->active_ns, 520 - 90) << "first dispatch to last finish";
  ASSERT_EQ(timeline->kernels.size(), 2u);
  const KernelTiming& mul = timeline->kernels[0];
  EXPECT_EQ(mul.name, "mul") << "most time first";
  EXPECT_EQ(mul.execution.total_ns, 200);
  const KernelTiming& add = timeline->kernels[1];
  EXPECT_EQ(add.name, "add");
  EXPECT_EQ(add.execution.count, 3u);
  EXPECT_EQ(add.execution.total_ns, 50 + 120 + 10);
  EXPECT_EQ(add.execution.mean_ns(), 60);
  EXPECT_EQ(add.execution.least_ns, 10);
  EXPECT_EQ(add.execution.most_ns, 120);
  EXPECT_EQ(add.latency.total_ns, 70 + 150 + 40);
  EXPECT_EQ(add.head.total_ns, 10 + 25 + 10);
  EXPECT_EQ(add.tail.total_ns, 10 + 5 + 20);
  ASSERT_EQ(timeline->core_types.size(), 2u);
  EXPECT_EQ(timeline->core_types[0].type, CoreType::kAic);
  EXPECT_EQ(timeline->core_types[0].cores, 1u);
  EXPECT_EQ(timeline->core_types[0].busy_ns, 200);
  EXPECT_DOUBLE_EQ(timeline->core_types[0].share, 200.0 / 430);
  EXPECT_EQ(timeline->core_types[1].cores, 2u);
  EXPECT_DOUBLE_EQ(timeline->core_types[1].share, 180.0 / (2 * 430));
  ASSERT_EQ(timeline->slowest.size(), 2u);
  EXPECT_EQ(timeline->slowest[0].task_id, 3u);
  EXPECT_EQ(timeline->slowest[1].task_id, 2u);
}

TEST(Timeline, WithoutFinishesCountsFromStartToEnd) {
  const TemporaryDirectory directory;
  const RuntimeConfig config = config_of(1, false);
  HandCapture capture(config);
  capture.write(config.lanes().spans(1), span(1, 2, 1, 70, 90));
  RunCapture run = capture.open(directory);
  const auto timeline = read_timeline(run);
  ASSERT_TRUE(timeline) << timeline.error().message;
  EXPECT_EQ(timeline->active_ns, 20);
  ASSERT_EQ(timeline->kernels.size(), 1u);
  EXPECT_EQ(timeline->kernels[0].name, "exp");
  EXPECT_EQ(timeline->kernels[0].latency.count, 0u);
  const TemporaryDirectory other;
  RunCapture without = HandCapture(config_of(0, true)).open(other);
  EXPECT_FALSE(read_timeline(without));
}

ScopeBoundary boundary(ScopeBoundary::Phase phase, std::uint32_t serial, std::uint32_t line,
                       std::uint64_t ticks, std::uint16_t depth) {
  ScopeBoundary made;
  made.file = 0xF11E;
  made.line = line;
  made.serial = serial;
  made.time_ticks = kLaunchTicks + ticks;
  made.depth = depth;
  made.ring = static_cast<std::uint8_t>(depth);
  made.phase = phase;
  return made;
}

constexpr auto kBegin = ScopeBoundary::Phase::kBegin;
constexpr auto kEnd = ScopeBoundary::Phase::kEnd;

RuntimeConfig small_rings() {
  RuntimeConfig config = config_of(0, true);
  for (auto& ring : config.rings)
    ring = {.task_window = 64, .dep_pool = 100, .heap_bytes = 1 << 20};
  config.tensormap_entries = 50;
  return config;
}

// Line 10 around line 20, which comes twice; then line 30, which is never left.
TEST(ScopeReport, GivesPeaksTimesAndTheSmallestSettings) {
  const TemporaryDirectory directory;
  const RuntimeConfig config = small_rings();
  HandCapture capture(config);
  const std::uint32_t lane = config.lanes().scopes();
  ScopePeaks first, second, outer;
  first.tasks[1] = 20;
  first.heap_bytes[1] = 4096;
  first.heap_request[1] = 2048;
  second.tasks[1] = 8;
  second.deps[1] = 90;
  second.map_entries = 10;
  outer.tasks[0] = 32;
  outer.tasks[1] = 20;
  outer.deps[1] = 90;
  outer.heap_bytes[1] = 4096;
  outer.args_bytes[0] = 16'128;
  outer.map_entries = 10;
  const auto put = [&](ScopeBoundary one, const ScopePeaks& peaks = {}) {
    one.peaks = peaks;
    capture.write(lane, one);
  };
  put(boundary(kBegin, 1, 10, 0, 0));
  put(boundary(kBegin, 2, 20, 100, 1));
  put(boundary(kEnd, 2, 20, 150, 1), first);
  put(boundary(kBegin, 3, 20, 200, 1));
  put(boundary(kEnd, 3, 20, 500, 1), second);
  put(boundary(kEnd, 1, 10, 1000, 0), outer);
  put(boundary(kBegin, 4, 30, 1100, 0));
  RunCapture run = capture.open(directory);
  run.replace_names({{0xF11E, "file.h"}});
  const auto report = report_scopes(run);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->boundaries, 7u);
  EXPECT_EQ(report->unfinished, 1u);
  EXPECT_EQ(report->dropped, 0u);
  EXPECT_TRUE(report->fatal) << "no host came to the end";
  ASSERT_EQ(report->sites.size(), 3u);
  std::map<std::string, ScopeSite> sites;
  for (const auto& site : report->sites) sites[site.site] = site;
  const ScopeSite& inner = sites.at("file.h:20");
  EXPECT_EQ(inner.count, 2u);
  EXPECT_EQ(inner.total_ns, 350u);
  EXPECT_EQ(inner.longest_ns, 300u);
  EXPECT_EQ(inner.peaks.tasks[1], 20u);
  EXPECT_EQ(inner.peaks.deps[1], 90u);
  EXPECT_DOUBLE_EQ(inner.percent, 90);
  EXPECT_EQ(inner.closest, "dependency pool of ring 1");
  EXPECT_EQ(sites.at("file.h:10").total_ns, 1000u);
  EXPECT_EQ(sites.at("file.h:30").count, 1u);
  EXPECT_EQ(sites.at("file.h:30").total_ns, 0u);
  EXPECT_EQ(report->sites.back().site, "file.h:30") << "worst first";
  ASSERT_TRUE(inner.parent);
  EXPECT_EQ(report->sites.at(*inner.parent).site, "file.h:10");
  EXPECT_FALSE(sites.at("file.h:10").parent);
  EXPECT_FALSE(sites.at("file.h:30").parent) << "what was around it has ended";
  const ResourceUse* closest = report->closest_to_limit();
  ASSERT_NE(closest, nullptr);
  EXPECT_EQ(closest->resource, "dependency pool");
  EXPECT_EQ(closest->ring, 1u);
  EXPECT_EQ(closest->peak, 90u);
  EXPECT_EQ(closest->capacity, 100u);
  EXPECT_EQ(closest->site, "file.h:20") << "the innermost scope that reached it";
  // 32 + 1 slots round to 64; 20 + 1 to 32; 4096 bytes and what a request of 2048 may skip; 16,128
  // bytes and what a task with as many arguments as there can be may skip.
  EXPECT_EQ(report->smallest_settings(),
            "--ring-task-window 64,32,4,4 --ring-heap 1024,5120,1024,1024 --ring-dep-pool "
            "4,90,4,4 --ring-args 20480,16384,16384,16384 --tensormap-pool 10");
}

TEST(ScopeReport, NamesNoParentThatIsNotSure) {
  const TemporaryDirectory directory;
  const RuntimeConfig config = small_rings();
  HandCapture capture(config);
  const std::uint32_t lane = config.lanes().scopes();
  std::uint64_t ticks = 0;
  const auto put = [&](ScopeBoundary::Phase phase, std::uint32_t serial, std::uint32_t line,
                       std::uint16_t depth) {
    capture.write(lane, boundary(phase, serial, line, ++ticks, depth));
  };
  // Line 20 is in line 10, then in line 30; line 40 is in one whose begin was lost.
  put(kBegin, 1, 10, 0), put(kBegin, 2, 20, 1), put(kEnd, 2, 20, 1), put(kEnd, 1, 10, 0);
  put(kBegin, 3, 30, 0), put(kBegin, 4, 20, 1);
  capture.lose(lane);
  put(kBegin, 6, 40, 3);
  RunCapture run = capture.open(directory);
  run.replace_names({{0xF11E, "file.h"}});
  const auto report = report_scopes(run);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->sites.size(), 4u);
  for (const auto& site : report->sites) EXPECT_FALSE(site.parent) << site.site;
}

TEST(ScopeReport, CountsWhatWasLostAndNeverTakesAnotherBegin) {
  const TemporaryDirectory directory;
  const RuntimeConfig config = small_rings();
  HandCapture capture(config);
  const std::uint32_t lane = config.lanes().scopes();
  capture.write(lane, boundary(kBegin, 1, 10, 0, 0));
  capture.lose(lane);  // the begin of serial 2
  capture.write(lane, boundary(kEnd, 2, 20, 600, 1));
  capture.lose(lane);  // the end of serial 1
  RunCapture run = capture.open(directory);
  const auto report = report_scopes(run);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->dropped, 2u);
  EXPECT_EQ(report->unfinished, 1u);
  for (const auto& site : report->sites) EXPECT_EQ(site.total_ns, 0u) << site.site;
  EXPECT_EQ(report->closest_to_limit(), nullptr) << "nothing was used";
  const TemporaryDirectory other;
  RunCapture without = HandCapture(config_of(1, false)).open(other);
  EXPECT_FALSE(report_scopes(without));
}

}  // namespace
}  // namespace tidemark
