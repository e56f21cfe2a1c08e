// SPDX-License-Identifier: Apache-2.0
// Recording with lanes that are planned before launch, as a program's own kernels need them: each
// keeps its policy, times are the device's, and a fault of the device is in the report.
#include "tidemark/session/recording.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "tidemark/analyze/check_run.h"
#include "tidemark/base/testing/temporary_directory.h"

namespace tidemark {
namespace {

class PlannedRecording : public testing::Test {
 protected:
  RecordingOptions options() {
    return {.output_dir = directory_.file("run"),
            .lanes = {{.overflow = Overflow::kDrop, .producer = "drops"},
                      {.overflow = Overflow::kKeepLast, .producer = "keeps"},
                      {.overflow = Overflow::kWait, .producer = "waits"}},
            .recorder = {.page_bytes = 1024}};
  }
  samples::TemporaryDirectory directory_;
};

TEST_F(PlannedRecording, EveryLaneKeepsItsPolicy) {
  auto recording = Recording::start(options()).value();
  constexpr std::uint64_t kCount = 1000;
  for (LaneIndex lane = 0; lane < 3; ++lane) {
    EXPECT_EQ(recording->region().lane(lane).plan.overflow, options().lanes[lane].overflow);
    Recorder<TaskSpan, SimEnv> recorder(&recording->region(), lane);
    for (std::uint64_t i = 0; i < kCount; ++i)
      recorder.write({.task_id = i, .begin_ticks = i, .end_ticks = i});
    recorder.close();
  }
  const RunReport report = recording->finish().value();
  ASSERT_EQ(report.lanes.size(), 3u);
  for (const auto& lane : report.lanes) EXPECT_EQ(lane.counts.produced, kCount);
  EXPECT_GT(report.lanes[1].counts.overwritten, 0u);
  EXPECT_EQ(report.lanes[2].counts.delivered, kCount);
  EXPECT_TRUE(check_run(directory_.file("run"), {})->problems.empty());
}

TEST_F(PlannedRecording, OfADeviceRefusesThreadsOfThisMachineAndReportsItsFault) {
  RecordingOptions on_device = options();
  on_device.platform = &platform_of(DeviceKind::kCuda);
  on_device.ticks_per_second = 1'000'000'000;
  auto recording = Recording::start(on_device).value();
  recording->note_clock(
      {.device_ticks = 5000, .host_ns = 1000, .real_ns = 2000, .uncertainty_ns = 3});
  EXPECT_EQ(recording->region().header().device.launch_ticks.load_own(), 5000u);
  const auto refused = recording->open_lane<TaskSpan>("host thread");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  const RunReport report = recording->finish("the kernel fell over").value();
  EXPECT_EQ(report.status, RunStatus::kDeviceFault);
  EXPECT_EQ(report.exit_code, 3);
  EXPECT_EQ(report.platform, platform_of(DeviceKind::kCuda).name);
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->message, "the kernel fell over");
  ASSERT_EQ(report.anchors.size(), 1u);
  EXPECT_EQ(report.anchors[0].uncertainty_ns, 3u);
}

TEST_F(PlannedRecording, AbandonedLeavesNothingBehind) {
  auto recording = Recording::start(options()).value();
  const std::string region = region_path(recording->region().header().identity.run_id);
  EXPECT_TRUE(std::filesystem::exists(region));
  recording->abandon();
  EXPECT_FALSE(std::filesystem::exists(region));
  EXPECT_FALSE(std::filesystem::exists(directory_.file("run") + "/run.json"));
  EXPECT_FALSE(std::filesystem::exists(directory_.file("run") + "/capture.tide"));
  EXPECT_FALSE(recording->finish());
}

}  // namespace
}  // namespace tidemark
