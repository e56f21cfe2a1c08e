// SPDX-License-Identifier: Apache-2.0
// The scheduler's watchdog under a made-up clock: what it finds, when, and what it charges to
// nobody.
#include "tidemark/runtime/units/scheduler_watchdog.h"

#include <cstring>
#include <functional>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

struct HandClock {
  static inline std::uint64_t now = 0;
  static inline std::function<void()> on_read;  // what happens while somebody reads the clock
  static std::uint64_t now_ticks() {
    if (on_read) on_read();
    return now;
  }
  static void pause(std::uint32_t) {}
};

constexpr std::uint64_t kLimit = 32'000;
constexpr std::uint64_t kStep = kLimit / 32;  // how often it looks

class SchedulerWatchdogTest : public testing::Test {
 protected:
  explicit SchedulerWatchdogTest(std::uint32_t schedulers = 2) {
    RuntimeConfig config;
    config.scheduler_count = schedulers;
    config.cluster_count = schedulers;
    config.task_timeout_ticks = kLimit;
    config.task_timeout_ms = 1;
    for (auto& ring : config.rings) ring = {.task_window = 4, .dep_pool = 4, .heap_bytes = 1024};
    config.tensormap_entries = 4;
    layout_ = lay_out(config);
    memory_.resize(layout_.total_bytes / sizeof(Block) + 1);
    status_memory_.resize(status_bytes(config.units()) / sizeof(Block) + 1);
    std::memset(memory_.data(), 0, memory_.size() * sizeof(Block));
    std::memset(status_memory_.data(), 0, status_memory_.size() * sizeof(Block));
    HandClock::now = 1'000'000;
    HandClock::on_read = nullptr;
    watchdog_.emplace(memory(), status(), 0u);
    watchdog_->look();
  }
  struct alignas(256) Block {
    unsigned char bytes[256];
  };
  RuntimeMemory memory() { return {memory_.data(), layout_}; }
  RuntimeStatus* status() { return reinterpret_cast<RuntimeStatus*>(status_memory_.data()); }
  UnitProgress& core(std::uint32_t index) {
    return unit_lines(status())[layout_.config.units().core(index)];
  }
  void start_kernel(std::uint32_t index) {
    memory().mailbox(index).dispatched.store_release(1);
    core(index).state.store_release(UnitState::kBusy);
    core(index).since_ticks.store_release(HandClock::now);
  }
  void end_kernel(std::uint32_t index) {
    memory().mailbox(index).finished.store_release(
        memory().mailbox(index).dispatched.load_relaxed());
    core(index).state.store_release(UnitState::kIdle);
  }
  // True: it found something within so much time, looking as often as a scheduler does.
  bool watch(std::uint64_t ticks) {
    for (const std::uint64_t until = HandClock::now + ticks; HandClock::now < until;) {
      HandClock::now += kStep;
      // The other schedulers poll.
      for (std::uint32_t i = 1; i < layout_.config.scheduler_count; ++i) {
        auto& loops = unit_lines(status())[layout_.config.units().scheduler(i)].loops;
        if (i != stalled_) loops.store_relaxed(loops.load_relaxed() + 1);
      }
      if (watchdog_->look()) return true;
    }
    return false;
  }
  void freeze(std::uint64_t ticks) { HandClock::now += ticks; }
  HangClass found() { return status()->error.hang_class.load_acquire(); }

  RuntimeLayout layout_;
  std::uint32_t stalled_ = 0;  // the one that does not poll
  std::vector<Block> memory_, status_memory_;
  std::optional<SchedulerWatchdog<HandClock>> watchdog_;
};

TEST_F(SchedulerWatchdogTest, AKernelPastItsLimitIsFoundAndNotBefore) {
  start_kernel(1);
  EXPECT_FALSE(watch(kLimit));
  EXPECT_TRUE(watch(2 * kStep));
  EXPECT_EQ(found(), HangClass::kRunningStalled);
  EXPECT_EQ(status()->error.unit.load_acquire(), layout_.config.units().core(1));
}

TEST_F(SchedulerWatchdogTest, AKernelOfAnotherSchedulerIsNotItsConcern) {
  start_kernel(4);
  EXPECT_FALSE(watch(3 * kLimit));
}

TEST_F(SchedulerWatchdogTest, TimeInWhichItDidNotRunIsNotChargedToAKernel) {
  start_kernel(1);
  EXPECT_FALSE(watch(kLimit / 2));
  freeze(13 * kLimit / 10);
  EXPECT_FALSE(watchdog_->look());
  EXPECT_FALSE(watch(kLimit / 4)) << "half the limit is left, less a step";
  EXPECT_TRUE(watch(kLimit / 2)) << "a real hang is still found";
}

TEST_F(SchedulerWatchdogTest, ManyFreezesAreNotChargedEither) {
  start_kernel(1);
  for (int i = 0; i < 5; ++i) {  // each may charge an eighth of the limit
    freeze(3 * kLimit);
    ASSERT_FALSE(watchdog_->look()) << i;
  }
  end_kernel(1);
  memory().mailbox(1).dispatched.store_release(2);
  start_kernel(1);
  memory().mailbox(1).finished.store_release(0);
  EXPECT_FALSE(watch(kLimit));
  EXPECT_TRUE(watch(2 * kStep)) << "freezes before the kernel began give it nothing";
}

TEST_F(SchedulerWatchdogTest, MoreFreezesThanItRemembersNeverMakeAHang) {
  start_kernel(1);
  for (int i = 0; i < 100; ++i) {
    freeze(kLimit / 8 + 1);  // hardly one
    const bool late = watchdog_->look();
    if (i < 7) {
      ASSERT_FALSE(late) << i;
    }
    if (late) return;  // an eighth is charged each time
  }
  FAIL() << "time that it did watch counts";
}

TEST_F(SchedulerWatchdogTest, WaitsForTheRecorderAreNotCharged) {
  start_kernel(1);
  core(1).recorder.waited_ticks.store_release(10 * kLimit);
  EXPECT_FALSE(watch(5 * kLimit));
}

TEST_F(SchedulerWatchdogTest, AKernelThatEndsJustInTimeIsFine) {
  start_kernel(1);
  EXPECT_FALSE(watch(kLimit));
  end_kernel(1);
  EXPECT_FALSE(watch(kLimit));
}

// Its time is over and it ends in the middle of the look at it: after its state was read.
TEST_F(SchedulerWatchdogTest, AKernelThatEndsUnderTheLookIsFine) {
  start_kernel(1);
  EXPECT_FALSE(watch(kLimit));
  int reads = 0;
  HandClock::on_read = [&] {
    if (++reads == 2) end_kernel(1);  // the first reading is the look's own, the second is_late's
  };
  HandClock::now += 2 * kStep;
  EXPECT_FALSE(watchdog_->look());
  HandClock::on_read = nullptr;
  EXPECT_EQ(reads, 2) << "the kernel was looked at";
  EXPECT_EQ(status()->error.code.load_acquire(), ErrorCode::kNone);
}

// Its kernel is over; it passes over dispatches that were taken for other cores, and its line is
// still that of the kernel.
TEST_F(SchedulerWatchdogTest, ADispatchThatACorePassesOverIsNotBlamed) {
  start_kernel(1);
  const SlotRef taken = SlotRef::make(0, 2);
  memory().slot(taken).id = TaskId{7};
  memory().dispatch(1, 1).dispatch.task = taken.value;
  memory().mailbox(1).dispatched.store_release(3);
  EXPECT_FALSE(watch(kLimit));
  memory().mailbox(1).finished.store_release(1);
  EXPECT_FALSE(watch(2 * kLimit));
  EXPECT_EQ(status()->error.code.load_acquire(), ErrorCode::kNone);
}

// The core has begun its next kernel under the look: that one has all its time.
TEST_F(SchedulerWatchdogTest, AKernelThatBeginsUnderTheLookHasItsTime) {
  start_kernel(1);
  EXPECT_FALSE(watch(kLimit));
  int reads = 0;
  HandClock::on_read = [&] {
    if (++reads == 2) core(1).since_ticks.store_release(HandClock::now);
  };
  HandClock::now += 2 * kStep;
  EXPECT_FALSE(watchdog_->look());
  HandClock::on_read = nullptr;
  EXPECT_EQ(reads, 2);
  EXPECT_FALSE(watch(kLimit));
  EXPECT_TRUE(watch(2 * kStep));
}

// A core whose block waits for others to be placed runs nothing, and nothing is charged to it.
TEST_F(SchedulerWatchdogTest, ABlockThatWaitsForOthersIsNoKernelThatHangs) {
  start_kernel(1);
  core(1).state.store_release(UnitState::kWaiting);
  status()->submitted.store_release(3);
  EXPECT_TRUE(watch(2 * kLimit));
  EXPECT_EQ(found(), HangClass::kDependencyDeadlock) << "nothing runs at all";
}

// An orchestration that waits for what the kernel writes speaks first.
TEST_F(SchedulerWatchdogTest, AKernelThatIsWaitedForHasHalfAsMuchAgain) {
  start_kernel(1);
  UnitProgress& orchestrator = unit_lines(status())[0];
  orchestrator.state.store_release(UnitState::kWaiting);
  EXPECT_FALSE(watch(kLimit + kLimit / 2));
  EXPECT_TRUE(watch(2 * kStep));
}

TEST_F(SchedulerWatchdogTest, ASchedulerThatDoesNotPollIsNotItsConcern) {
  status()->submitted.store_release(3);
  for (std::uint64_t i = 0; i < 100; ++i) {
    HandClock::now += kStep;  // the other one counts no rounds
    ASSERT_FALSE(watchdog_->look()) << i;
  }
}

class ManySchedulersTest : public SchedulerWatchdogTest {
 protected:
  ManySchedulersTest() : SchedulerWatchdogTest(40) {}
};

// Whichever it is: it is the host's to name (session/host_watchdog_test.cpp), and nobody else is.
TEST_F(ManySchedulersTest, NobodyIsBlamedForOneOfManyThatDoesNotPoll) {
  status()->submitted.store_release(100);
  for (stalled_ = 1; stalled_ < 40; ++stalled_) {
    memory().control().completed.store_release(stalled_);  // there was progress; now there is none
    ASSERT_FALSE(watch(3 * kLimit)) << stalled_;
  }
  stalled_ = 0;
  EXPECT_TRUE(watch(3 * kLimit)) << "all of them poll";
}

TEST_F(SchedulerWatchdogTest, ReadyTasksThatNobodyTakesAreNamedSo) {
  status()->submitted.store_release(1);
  memory().ready(TaskShape::kAic).push<HandClock>(1, [] { return false; });
  EXPECT_TRUE(watch(2 * kLimit));
  EXPECT_EQ(found(), HangClass::kReadyAllIdle);
}

TEST_F(SchedulerWatchdogTest, NothingRunsAndTasksRemain) {
  status()->submitted.store_release(3);
  EXPECT_FALSE(watch(kLimit - kStep));
  EXPECT_TRUE(watch(4 * kStep));
  EXPECT_EQ(found(), HangClass::kDependencyDeadlock);
}

TEST_F(SchedulerWatchdogTest, AFreezeIsNoStandstill) {
  status()->submitted.store_release(3);
  EXPECT_FALSE(watch(kLimit / 2));
  freeze(2 * kLimit);
  EXPECT_FALSE(watchdog_->look());
  EXPECT_FALSE(watch(kLimit / 4));
  memory().control().completed.store_release(1);
  EXPECT_FALSE(watch(kLimit - kStep));
  EXPECT_TRUE(watch(4 * kStep));
}

TEST_F(SchedulerWatchdogTest, AClockThatGoesBackFindsNothing) {
  start_kernel(1);
  HandClock::now = 10;
  EXPECT_FALSE(watch(3 * kLimit));
}

}  // namespace
}  // namespace tidemark
