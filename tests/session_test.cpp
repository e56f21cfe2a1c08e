// SPDX-License-Identifier: Apache-2.0
// Whole runs in this process, through the supervisor and a device process: every policy under
// pressure, the smallest pools, a drainer that pauses or stops, and many runs one after the other.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tidemark/analyze/check_run.h"
#include "tidemark/run/output_directory.h"
#include "tidemark/session/recover.h"
#include "tidemark/session/run_session.h"
#include "workloads/synthetic_content.h"
#include "workloads/synthetic_producer.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

class Session : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    std::replace(name.begin(), name.end(), '/', '_');
    directory_ = fmt::format("{}/session_{}_{}", testing::TempDir(), ::getpid(), name);
    fs::remove_all(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  RunRequest request(const SyntheticArgs& args, const char* platform = "sim") {
    RunRequest request;
    request.workload = kSyntheticProducer;
    request.platform = find_platform(platform);
    request.output_dir = directory_;
    request.sync = false;
    request.force = true;
    request.launch = plan_synthetic_producer(args).value();
    return request;
  }

  // Runs, and has the files verified by somebody who knows only the files.
  RunReport run_and_check(const RunRequest& request, int exit_code = 0) {
    const auto result = run_session(request);
    EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
    if (!result) return {};
    EXPECT_EQ(result->exit_code, exit_code);
    EXPECT_TRUE(result->report.ledger_closes());
    const auto check = check_run(directory_, &verify_synthetic_page);
    EXPECT_TRUE(check.has_value()) << (check ? "" : check.error().message);
    if (check) {
      EXPECT_EQ(check->problems, std::vector<std::string>());
      verified_ = check->verified_records;
    }
    EXPECT_FALSE(fs::exists(region_path(result->report.run_id)));
    return result->report;
  }

  static LaneCounts spans(const RunReport& report) {
    LaneCounts sum;
    for (const auto& lane : report.lanes)
      if (lane.stream == "swimlane") sum.add(lane.counts);
    return sum;
  }

  std::string directory_;
  std::uint64_t verified_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Platforms, Session, testing::Values("sim", "a2a3sim", "a5sim"));

TEST_P(Session, BurstOf64LanesLosesNothingUnderWait) {
  RunRequest wanted = request({.lanes = 64, .seconds = 0.3, .burst = true}, GetParam());
  wanted.recorder.pool_bytes = 128 * kPageBytesDefault;
  const RunReport report = run_and_check(wanted);
  const LaneCounts counts = spans(report);
  EXPECT_GT(counts.produced, 64u);
  EXPECT_EQ(counts.delivered, counts.produced);
  EXPECT_EQ(counts.dropped, 0u);
  EXPECT_EQ(verified_, counts.delivered);
  EXPECT_EQ(report.recorder.pool_bytes, wanted.recorder.pool_bytes);
}

TEST_P(Session, BurstUnderDropCountsExactlyWhatItRefused) {
  RunRequest wanted = request({.lanes = 64, .seconds = 0.3, .burst = true}, GetParam());
  wanted.recorder.pool_bytes = 64 * kPageBytesDefault;
  wanted.policy = Overflow::kDrop;
  wanted.inject.slow_us = 500;  // there must be something to refuse
  const LaneCounts counts = spans(run_and_check(wanted));
  EXPECT_EQ(counts.produced, counts.delivered + counts.dropped);
  EXPECT_GT(counts.dropped, 0u);
  EXPECT_EQ(counts.gap_lost, counts.dropped);
  EXPECT_EQ(counts.dropped_by[static_cast<std::size_t>(DropReason::kNoPage)], counts.dropped);
  EXPECT_EQ(counts.stall_ticks, 0u);
}

TEST_P(Session, BurstUnderKeepLastKeepsExactlyTheNewestPagesOfEachLane) {
  RunRequest wanted = request({.lanes = 16, .records = 50'000, .burst = true}, GetParam());
  wanted.policy = Overflow::kKeepLast;
  wanted.keep_pages = 3;
  wanted.recorder.page_bytes = 8192;
  const RunReport report = run_and_check(wanted);
  const std::uint64_t per_page = (8192 - kPageHeaderBytes) / 32;
  const std::uint64_t in_last_page = 50'000 % per_page;
  for (const auto& lane : report.lanes) {
    if (lane.stream != "swimlane") continue;
    EXPECT_EQ(lane.counts.produced, 50'000u);
    EXPECT_EQ(lane.counts.delivered, 2 * per_page + in_last_page);
    EXPECT_EQ(lane.counts.overwritten, 50'000u - lane.counts.delivered);
    EXPECT_EQ(lane.counts.pages, 3u);
  }
}

TEST_P(Session, OnePagePerLaneDoesNotDeadlock) {
  RunRequest wanted = request({.lanes = 64, .records = 5000}, GetParam());
  wanted.recorder.page_bytes = 4096;
  wanted.recorder.pool_bytes = 64 * 4096;
  EXPECT_EQ(spans(run_and_check(wanted)).delivered, 64u * 5000u);
}

TEST_P(Session, OnePagePerLaneDoesNotDeadlockWhenOnlyOneLaneWrites) {
  RunRequest wanted = request({.lanes = 64, .records = 50'000, .writing_lanes = 1}, GetParam());
  wanted.recorder.page_bytes = 4096;
  wanted.recorder.pool_bytes = 64 * 4096;
  const RunReport report = run_and_check(wanted);
  EXPECT_EQ(spans(report).delivered, 50'000u);
  for (const auto& lane : report.lanes) {
    if (lane.stream == "swimlane" && lane.lane > 0) {
      EXPECT_EQ(lane.state, "clean");
    }
  }
}

TEST_P(Session, PausedDrainerStallsProducersAndLosesNothing) {
  RunRequest wanted = request({.lanes = 2, .records = 300'000}, GetParam());
  wanted.recorder.pool_bytes = 4 * kPageBytesDefault;
  wanted.inject.pause_ms = 400;
  const RunReport report = run_and_check(wanted);
  EXPECT_EQ(spans(report).delivered, 600'000u);
  EXPECT_GT(report.ticks_to_ns(spans(report).stall_ticks), 300'000'000u);
}

TEST_P(Session, StoppedDrainerIsLeftWithinItsBoundAndEverythingIsCounted) {
  RunRequest wanted = request({.lanes = 2, .records = 200'000}, GetParam());
  wanted.recorder.pool_bytes = 4 * kPageBytesDefault;
  wanted.inject.stop = true;
  wanted.recorder.drain_timeout_ms = 200;
  const RunReport report = run_and_check(wanted, 4);
  const LaneCounts counts = spans(report);
  EXPECT_EQ(counts.produced, 400'000u);
  EXPECT_GT(counts.delivered, 0u);
  EXPECT_EQ(counts.dropped_by[static_cast<std::size_t>(DropReason::kNoPage)], counts.dropped);
  EXPECT_EQ(counts.produced, counts.delivered + counts.dropped);
}

TEST_P(Session, FramesOfManySizesArriveWhole) {
  RunRequest wanted = request({.lanes = 3, .records = 20'000, .frame_bytes = 300'000}, GetParam());
  wanted.recorder.drain_threads = 2;
  const RunReport report = run_and_check(wanted);
  for (const auto& lane : report.lanes) {
    if (lane.stream == "dump") {
      EXPECT_EQ(lane.counts.delivered, (20'000u + 255) / 256);
    }
  }
}

TEST_F(Session, WiderRecordsCarryTheirPadding) {
  for (const std::uint32_t bytes : {64u, 128u}) {
    const LaneCounts counts =
        spans(run_and_check(request({.lanes = 2, .record_bytes = bytes, .records = 10'000})));
    EXPECT_EQ(counts.delivered, 20'000u);
    EXPECT_EQ(verified_, 20'000u);
    EXPECT_EQ(counts.bytes, 20'000u * bytes);
  }
}

std::uint64_t entries(const char* directory) {
  return static_cast<std::uint64_t>(
      std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
}

std::uint64_t resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stoull(line.substr(6));
  return 0;
}

TEST_F(Session, HundredRunsInOneProcessLeaveNoTraceOfEachOther) {
  constexpr Overflow kPolicies[] = {Overflow::kWait, Overflow::kDrop, Overflow::kKeepLast};
  std::uint64_t files_before = 0, resident_before = 0;
  for (std::uint32_t number = 0; number < 100; ++number) {
    if (number == 20) {
      files_before = entries("/proc/self/fd");
      resident_before = resident_kib();
    }
    const std::uint32_t lanes = 1 + number % 5;
    const std::uint64_t records = 1000 + number * 37;
    RunRequest wanted = request({.lanes = lanes,
                                 .record_bytes = 32u << number % 3,
                                 .records = records,
                                 .frame_bytes = number % 2 == 0 ? 0u : 10'000u},
                                number % 3 == 1 ? "a5sim" : "sim");
    wanted.policy = kPolicies[number % 3];
    wanted.recorder.drain_threads = 1 + number % 2;
    const auto result = run_session(wanted);
    ASSERT_TRUE(result.has_value()) << result.error().message;
    ASSERT_EQ(result->exit_code, 0) << number;
    ASSERT_EQ(spans(result->report).produced, lanes * records) << number;
    ASSERT_TRUE(result->report.ledger_closes()) << number;
    ASSERT_FALSE(fs::exists(region_path(result->report.run_id))) << number;
  }
  EXPECT_EQ(entries("/proc/self/fd"), files_before);
  EXPECT_LT(resident_kib(), resident_before + 16 * 1024);
}

TEST_F(Session, ThreadModeNeedsNoSupervisor) {
  RunRequest wanted = request({.lanes = 3, .records = 50'000});
  wanted.isolation = Isolation::kThread;
  EXPECT_EQ(spans(run_and_check(wanted)).delivered, 150'000u);
}

TEST_F(Session, RunBeyondItsLimitIsAHangWhoseRecordsAreKept) {
  RunRequest wanted = request({.lanes = 2, .rate = 10'000, .seconds = 60});
  wanted.op_timeout_ms = 200;
  const RunReport report = run_and_check(wanted, 3);
  EXPECT_EQ(report.status, RunStatus::kHang);
  ASSERT_TRUE(report.error.has_value());
  EXPECT_EQ(report.error->code, 101u);
  EXPECT_GT(spans(report).delivered + spans(report).recovered, 1000u);
}

TEST_F(Session, FinishedRunHasNothingToRecover) {
  run_and_check(request({.lanes = 1, .records = 1000}));
  const auto recovered = recover_run(directory_, {});
  ASSERT_TRUE(recovered.has_value());
  EXPECT_TRUE(recovered->already_complete);
  EXPECT_EQ(recovered->exit_code, 0);
}

}  // namespace
}  // namespace tidemark
