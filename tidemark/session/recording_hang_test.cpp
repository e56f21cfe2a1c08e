// SPDX-License-Identifier: Apache-2.0
// A recording whose producers do not come to their end: finish() says who stopped and at what, a
// look from outside says the same, and what was recorded is kept. Threads play the producers.
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "tidemark/base/spin_once.h"
#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/run/producer_text.h"
#include "tidemark/run/run_capture.h"
#include "tidemark/session/live_view.h"
#include "tidemark/session/read_producers.h"
#include "tidemark/session/recording.h"

namespace tidemark {
namespace {

constexpr std::uint32_t kStillMs = 1500;

class RecordingHang : public testing::Test {
 protected:
  std::unique_ptr<Recording> start() {
    return Recording::start(
               {.output_dir = directory_.file("run"),
                .sync = false,
                .lanes = {{.producer = "first"}, {.producer = "second"}, {.producer = "done"}},
                .recorder = {.page_bytes = 1024}})
        .value();
  }
  // "first" stops at a step, "second" waits for it, "done" comes to its end.
  void begin(const Recording& recording) {
    threads_.emplace_back([this, &recording] {
      Recorder<TaskSpan, SimEnv> lane(&recording.region(), 0);
      for (std::uint64_t step = 0; step < 40; ++step) {
        lane.at("step", step);
        lane.write({.task_id = step, .begin_ticks = lane.now(), .end_ticks = lane.now()});
      }
      lane.at("step", 40);
      stay();
      lane.close();
    });
    threads_.emplace_back([this, &recording] {
      Recorder<TaskSpan, SimEnv> lane(&recording.region(), 1);
      lane.waits_for("first's result", 40);
      stay();
      lane.close();
    });
    threads_.emplace_back([&recording] {
      Recorder<TaskSpan, SimEnv> lane(&recording.region(), 2);
      lane.write({.task_id = 7});
      lane.close();
    });
    threads_.back().join();
    threads_.pop_back();
    while (still_ < 2) spin_once();
  }
  void TearDown() override { leave(); }
  void leave() {
    leave_ = true;
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }

  const samples::TemporaryDirectory directory_;

 private:
  void stay() {
    ++still_;
    while (!leave_) std::this_thread::yield();
  }
  std::vector<std::thread> threads_;
  std::atomic<bool> leave_{false};
  std::atomic<int> still_{0};
};

TEST_F(RecordingHang, FinishWithALimitReportsWhoStopped) {
  auto recording = start();
  begin(*recording);
  const RunReport report = recording->finish({.still_ms = kStillMs}).value();
  leave();
  EXPECT_EQ(report.status, RunStatus::kHang);
  EXPECT_EQ(report.exit_code, 3);
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->code, 103u);
  EXPECT_EQ(report.error->name, "PRODUCERS_STOPPED");
  const std::string& said = report.error->message;
  EXPECT_NE(said.find("first has been at `step` 40 for"), std::string::npos) << said;
  EXPECT_NE(said.find("1 other stopped: second waits for `first's result` 40"), std::string::npos)
      << said;
  EXPECT_EQ(report.lanes[0].counts.produced, 40u);
  EXPECT_EQ(report.lanes[0].counts.missing, 0u);
  EXPECT_TRUE(report.ledger_closes());
  // The capture has it for whoever asks later.
  auto run = RunCapture::open(directory_.file("run")).value();
  const auto state = run.hang();
  ASSERT_TRUE(state);
  EXPECT_EQ(state->producers_ended, 1u);
  ASSERT_EQ(state->producers.size(), 2u);
  EXPECT_EQ(state->producers[0].records, 40u);
  EXPECT_EQ(state->producers[0].record_number, 39u);
  EXPECT_NE(state->producers[0].record.find("span task_id 39"), std::string::npos);
}

TEST_F(RecordingHang, ALookFromOutsideSaysTheSameWhileItGoesOn) {
  auto recording = start();
  begin(*recording);
  auto live = LiveRun::attach(directory_.file("run")).value();
  const auto view = live.look();
  ASSERT_TRUE(view);
  HangState state = view->state;
  EXPECT_EQ(state.producers_ended, 1u);
  ASSERT_EQ(state.producers.size(), 2u);
  EXPECT_GE(state.detected_ticks, state.producers[0].since_ticks);
  state.detected_ticks += 5 * state.ticks_per_second;  // somebody looks later
  EXPECT_EQ(stopped_producers(state).size(), 2u);
  const std::string said = producers_sentence(state);
  EXPECT_EQ(said.find("first has been at `step` 40 for"), 0u) << said;
  leave();
  const RunReport report = recording->finish({.still_ms = kStillMs}).value();
  EXPECT_EQ(report.status, RunStatus::kOk) << "all lanes are closed";
  EXPECT_EQ(report.exit_code, 0);
  EXPECT_FALSE(RunCapture::open(directory_.file("run"))->hang());
}

// Also for those that have not begun when it is called.
TEST_F(RecordingHang, FinishWaitsForProducersThatComeToTheirEnd) {
  auto recording = start();
  std::thread slow([&recording] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    for (const LaneIndex lane : {1u, 2u})
      Recorder<TaskSpan, SimEnv>(&recording->region(), lane).close();
    Recorder<TaskSpan, SimEnv> lane(&recording->region(), 0);
    for (std::uint64_t i = 0; i < 60; ++i) {
      lane.at("step", i);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      lane.write({.task_id = i});
    }
    lane.close();
  });
  const RunReport report = recording->finish({.still_ms = 60'000}).value();
  slow.join();
  EXPECT_EQ(report.status, RunStatus::kOk);
  EXPECT_EQ(report.lanes[0].counts.delivered, 60u) << "it did not wait for all of them";
}

TEST_F(RecordingHang, WhoNeverBeganIsNamed) {
  auto recording = start();
  for (const LaneIndex lane : {0u, 2u})
    Recorder<TaskSpan, SimEnv>(&recording->region(), lane).close();
  const RunReport report = recording->finish({.still_ms = 300}).value();
  EXPECT_EQ(report.exit_code, 3);
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->message,
            "nothing was heard of any producer for 300 ms; 0 go on, 2 have ended, 1 never began "
            "(second)");
}

TEST_F(RecordingHang, FinishIsOnlyOnce) {
  auto recording = start();
  begin(*recording);
  ASSERT_TRUE(recording->finish({.still_ms = 200}));
  EXPECT_FALSE(recording->finish({.still_ms = 200}));
  EXPECT_FALSE(recording->finish());
  leave();
}

TEST(ReadProducers, TheTimeOfAStateIsToldFromTheNewestReadingOfTheClock) {
  const samples::TemporaryDirectory directory;
  auto recording = Recording::start({.output_dir = directory.file("run"),
                                     .lanes = {{.producer = "kernel"}},
                                     .platform = &platform_of(DeviceKind::kCuda),
                                     .ticks_per_second = 1'000'000'000})
                       .value();
  recording->note_clock({.device_ticks = 5000, .host_ns = 1000, .real_ns = 2000});
  recording->note_clock({.device_ticks = 7000, .host_ns = 3000, .real_ns = 4000});
  // Another process finds the readings in the region.
  EXPECT_EQ(recording->region().header().device.anchor_count.load_own(), 2u);
  EXPECT_EQ(recording->region().header().device.anchors[1].device_ticks.load_own(), 7000u);
  auto live = LiveRun::attach(directory.file("run")).value();
  const auto first = live.look(), second = live.look();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->state.launch_ticks, 5000u);
  EXPECT_GT(first->state.detected_ticks, 7000u);
  EXPECT_GT(second->state.detected_ticks, first->state.detected_ticks)
      << "the host's clock goes on";
  recording->abandon();
}

}  // namespace
}  // namespace tidemark
