// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/host_watchdog.h"

#include <functional>

#include <gtest/gtest.h>

#include "tidemark/collect/testing/planned_region.h"
#include "tidemark/runtime/units/unit_line.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kLimitMs = 500;
constexpr UnitCounts kUnits{.schedulers = 20, .cores = 3};

// A region with a runtime's status, and a clock that only the test moves.
class HostWatchdogTest : public testing::Test {
 protected:
  HostWatchdogTest()
      : region_({.lanes = {{}},
                 .recorder = {.page_bytes = 1024, .pool_bytes = 8 * 1024},
                 .status_bytes = status_bytes(kUnits)}) {
    for (std::uint32_t i = 0; i < kUnits.schedulers; ++i)
      set(kUnits.scheduler(i), UnitState::kBusy);
    for (std::uint32_t i = 0; i < kUnits.cores; ++i) set(kUnits.core(i), UnitState::kIdle);
    set(0, UnitState::kBusy);
    watch(kLimitMs);
  }

  void watch(std::uint64_t limit_ms) {
    watchdog_.emplace(&region_.port(), region_.plan().layout, kUnits, limit_ms);
  }
  RuntimeStatus& status() {
    return *reinterpret_cast<RuntimeStatus*>(region_.bytes().data() +
                                             region_.plan().layout.status_offset);
  }
  UnitProgress& line(std::uint32_t unit) { return unit_lines(&status())[unit]; }
  void set(std::uint32_t unit, UnitState state) { line(unit).state.store_release(state); }
  void set_done() { status().orchestration_done.store_release(1); }
  template <class T>
  static void bump(SharedWord<T>& word) {
    word.store_release(word.load_own() + 1);
  }
  void poll_schedulers() {
    for (std::uint32_t i = 0; i < kUnits.schedulers; ++i) bump(line(kUnits.scheduler(i)).loops);
  }
  // The first finding within `ms`; `move` is called before every look.
  std::optional<HangFinding> look_for(std::uint64_t ms, const std::function<void()>& move) {
    for (std::uint64_t passed = 0; passed < ms; passed += 10) {
      now_ms_ += 10;
      move();
      if (const auto found = watchdog_->look(now_ms_ * 1'000'000)) {
        found_after_ms_ = passed;
        return found;
      }
    }
    return std::nullopt;
  }
  void expect_found(const std::optional<HangFinding>& found, HangClass hang, std::uint32_t unit,
                    std::uint64_t limit_ms) {
    ASSERT_TRUE(found);
    EXPECT_EQ(to_text(found->hang), to_text(hang));
    EXPECT_EQ(found->unit, unit);
    EXPECT_GT(found->idle_ms, limit_ms);
    EXPECT_LE(found->idle_ms, limit_ms + 20);
    EXPECT_GT(found_after_ms_, limit_ms - 1);
  }

  PlannedRegion region_;
  std::optional<HostWatchdog> watchdog_;
  std::uint64_t now_ms_ = 1000;
  std::uint64_t found_after_ms_ = 0;
};

TEST_F(HostWatchdogTest, FindsNothingWhileTheOrchestrationSubmits) {
  EXPECT_FALSE(look_for(60'000, [&] {
    poll_schedulers();
    if (now_ms_ % 400 == 0) bump(status().submitted);
  }));
  EXPECT_FALSE(look_for(60'000, [&] {
    poll_schedulers();
    if (now_ms_ % 400 == 0) bump(status().scopes);
  }));
  EXPECT_FALSE(look_for(60'000, [&] {
    poll_schedulers();
    if (now_ms_ % 400 == 0) bump(line(0).task_id);
  }));
}

TEST_F(HostWatchdogTest, FindsNothingWhileAnyCoreRunsOneTaskAfterTheOther) {
  set(0, UnitState::kWaiting);
  for (const UnitState state : {UnitState::kBusy, UnitState::kCopying}) {
    set(kUnits.core(1), state);
    EXPECT_FALSE(look_for(60'000, [&] {
      poll_schedulers();
      if (now_ms_ % 700 == 0) bump(line(kUnits.core(1)).task_id);
    }));
  }
}

TEST_F(HostWatchdogTest, FindsASchedulerThatDoesNotPollOnlyAfterTheLimit) {
  set_done();
  set(0, UnitState::kWaiting);
  for (const std::uint32_t stalled : {1u, 17u}) {
    const auto found = look_for(5000, [&] {
      for (std::uint32_t i = 0; i < kUnits.schedulers; ++i)
        if (i != stalled) bump(line(kUnits.scheduler(i)).loops);
    });
    expect_found(found, HangClass::kReadyAllIdle, kUnits.scheduler(stalled), kLimitMs);
    bump(line(kUnits.scheduler(stalled)).loops);
  }
}

TEST_F(HostWatchdogTest, FindsAKernelOnlyAfterItsSchedulerHadTimeToSpeak) {
  set(kUnits.core(2), UnitState::kBusy);
  const auto found = look_for(5000, [&] { poll_schedulers(); });
  expect_found(found, HangClass::kRunningStalled, kUnits.core(2), kLimitMs + kLimitMs / 2);
}

TEST_F(HostWatchdogTest, FindsAnOrchestrationThatDoesNotGoOn) {
  for (const UnitState state : {UnitState::kBusy, UnitState::kNotStarted}) {
    watch(kLimitMs);
    set(0, state);
    const auto found = look_for(5000, [&] { poll_schedulers(); });
    expect_found(found, HangClass::kOrchestratorStalled, 0, kLimitMs);
  }
}

// It says itself what it waits for; while a kernel runs it may compute as long as it likes.
TEST_F(HostWatchdogTest, FindsNoOrchestrationThatWaitsOrHasKernelsRunning) {
  set(0, UnitState::kWaiting);
  EXPECT_FALSE(look_for(60'000, [&] { poll_schedulers(); }));
  set(0, UnitState::kBusy);
  set(kUnits.core(0), UnitState::kBusy);
  EXPECT_FALSE(look_for(60'000, [&] {
    poll_schedulers();
    bump(line(kUnits.core(0)).count);
  }));
}

TEST_F(HostWatchdogTest, FindsAUnitThatStaysBehindWhenTheSchedulersHaveLeft) {
  set_done();
  for (std::uint32_t unit = 0; unit < kUnits.total(); ++unit) set(unit, UnitState::kLeft);
  set(kUnits.core(1), UnitState::kIdle);
  const auto found = look_for(5000, [] {});
  expect_found(found, HangClass::kRecorderStalled, kUnits.core(1), kLimitMs);
}

TEST_F(HostWatchdogTest, FindsAProcessThatDoesNotEndWhenEveryUnitHasLeft) {
  set_done();
  for (std::uint32_t unit = 0; unit < kUnits.total(); ++unit) set(unit, UnitState::kLeft);
  const auto found = look_for(5000, [] {});
  expect_found(found, HangClass::kRecorderStalled, 0, kLimitMs);
}

TEST_F(HostWatchdogTest, NeverFindsAUnitThatWaitsForTheRecorder) {
  for (std::uint32_t unit = 0; unit < kUnits.total(); ++unit) {
    set(unit, UnitState::kBusy);
    line(unit).recorder.waiting.store_release(1);
  }
  EXPECT_FALSE(look_for(60'000, [] {}));
  // The time it waited does not count afterwards either.
  for (std::uint32_t unit = 0; unit < kUnits.total(); ++unit)
    line(unit).recorder.waiting.store_release(0);
  EXPECT_FALSE(look_for(kLimitMs, [] {}));
  EXPECT_TRUE(look_for(kLimitMs, [] {}));
}

TEST_F(HostWatchdogTest, NeverFindsAnIdleRunWhoseSchedulersLoop) {
  set_done();
  for (const UnitState state : {UnitState::kWaiting, UnitState::kBusy, UnitState::kLeft}) {
    set(0, state);
    EXPECT_FALSE(look_for(60'000, [&] { poll_schedulers(); }));
  }
}

TEST_F(HostWatchdogTest, NeverFindsAnythingWithoutALimitOrWithoutARuntime) {
  set(kUnits.core(0), UnitState::kBusy);
  watch(0);
  EXPECT_FALSE(look_for(600'000, [] {}));
  PlannedRegion bare({.lanes = {{}}, .recorder = {.page_bytes = 1024, .pool_bytes = 8 * 1024}});
  HostWatchdog watchdog(&bare.port(), bare.plan().layout, kUnits, 1);
  for (std::uint64_t ms = 1; ms < 1000; ++ms) {
    ASSERT_FALSE(watchdog.look(ms * 1'000'000));
    ASSERT_FALSE(watchdog.latched_ms(ms * 1'000'000));
  }
}

// As a GPU does while its driver writes the core dump of a crash.
TEST_F(HostWatchdogTest, ADeviceThatStandsStillAsAWholeIsGivenTime) {
  set_done();
  set(kUnits.core(1), UnitState::kBusy);
  watchdog_->allow_standstill(5000);
  EXPECT_FALSE(look_for(4980, [] {}));
  EXPECT_TRUE(look_for(100, [] {})) << "but not for ever";
}

TEST_F(HostWatchdogTest, AHungUnitIsFoundInTimeWhileASchedulerMoves) {
  set_done();
  set(kUnits.core(1), UnitState::kBusy);
  watchdog_->allow_standstill(5000);
  const auto found = look_for(5000, [&] { bump(line(kUnits.scheduler(3)).loops); });
  ASSERT_TRUE(found) << "the other schedulers have not polled";
  EXPECT_EQ(to_text(found->hang), to_text(HangClass::kReadyAllIdle));
  EXPECT_LE(found->idle_ms, kLimitMs + 20);
}

TEST_F(HostWatchdogTest, WhereTheSchedulersHaveLeftNobodyIsGivenTime) {
  set_done();
  for (std::uint32_t unit = 0; unit < kUnits.total(); ++unit) set(unit, UnitState::kLeft);
  set(kUnits.core(1), UnitState::kIdle);
  watchdog_->allow_standstill(5000);
  const auto found = look_for(5000, [] {});
  expect_found(found, HangClass::kRecorderStalled, kUnits.core(1), kLimitMs);
}

TEST_F(HostWatchdogTest, TellsHowLongAnErrorIsLatched) {
  EXPECT_FALSE(watchdog_->latched_ms(5'000'000));
  status().error.code.store_release(ErrorCode::kSchedulerTimeout);
  EXPECT_EQ(watchdog_->latched_ms(7'000'000), 0u);
  EXPECT_EQ(watchdog_->latched_ms(1'007'000'000), 1000u);
}

}  // namespace
}  // namespace tidemark
