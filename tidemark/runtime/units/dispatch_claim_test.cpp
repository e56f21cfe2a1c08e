// SPDX-License-Identifier: Apache-2.0
// Every dispatch is run once: by the core that it was given to, or by who took it, whoever is
// first.
#include "tidemark/runtime/units/dispatch_claim.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tidemark/base/mix.h"
#include "tidemark/base/testing/seed_range.h"
#include "tidemark/runtime/units/mailbox.h"

namespace tidemark {
namespace {

using Fate = DispatchClaim::Fate;

TEST(DispatchClaim, OnlyWhatWaitsBehindAnotherMayMove) {
  DispatchClaim claim;
  std::uint64_t age = 0;
  claim.give(7, false);
  EXPECT_FALSE(claim.waits(age));
  EXPECT_FALSE(claim.take(7));
  claim.give(8, true);
  ASSERT_TRUE(claim.waits(age));
  EXPECT_EQ(age, 8u);
  EXPECT_FALSE(claim.take(7)) << "of another age";
  EXPECT_TRUE(claim.take(8));
  EXPECT_FALSE(claim.take(8)) << "twice";
}

TEST(DispatchClaim, WhoeverIsFirstHasIt) {
  DispatchClaim claim;
  std::uint64_t age = 0;
  claim.give(5, true);
  EXPECT_TRUE(claim.visit());
  EXPECT_FALSE(claim.waits(age));
  EXPECT_FALSE(claim.take(5));
  EXPECT_EQ(claim.fate(), Fate::kRun);

  claim.give(6, true);
  EXPECT_TRUE(claim.take(6));
  EXPECT_FALSE(claim.visit());
  EXPECT_EQ(claim.fate(), Fate::kMoving);
  claim.copied();
  EXPECT_EQ(claim.fate(), Fate::kMoved);
  claim.give(9, true);  // the next dispatch of the cell
  EXPECT_TRUE(claim.waits(age));
  EXPECT_EQ(age, 9u);
}

TEST(DispatchClaim, AgesAreNotCutOff) {
  DispatchClaim claim;
  const std::uint64_t last = (std::uint64_t{1} << 60) - 1;
  std::uint64_t age = 0;
  claim.give(last, true);
  ASSERT_TRUE(claim.waits(age));
  EXPECT_EQ(age, last);
  EXPECT_TRUE(claim.take(last));
}

// The scheduler of one core, the core, and two others that take what waits. Cells are used again
// and again; the number in a dispatch says which one it is.
class ClaimTrial {
 public:
  ClaimTrial(std::uint64_t seed, std::uint32_t count) : seed_(seed), runs_(count) {
    std::thread core([this] { be_core(); });
    std::thread first([this] { take(1); }), second([this] { take(2); });
    be_scheduler();
    core.join();
    first.join();
    second.join();
  }
  [[nodiscard]] std::uint64_t moved() const { return moved_.load(); }
  [[nodiscard]] const std::vector<std::atomic<std::uint32_t>>& runs() const { return runs_; }

 private:
  static constexpr std::uint32_t kDepth = 4;
  DispatchCell& cell(std::uint64_t token) { return cells_[token % kDepth]; }

  void be_scheduler() {
    std::uint64_t given = 0, handled = 0;
    while (handled < runs_.size()) {
      while (given < runs_.size() && given - handled < kDepth) {
        cell(given).dispatch = {.task = static_cast<std::uint32_t>(given),
                                .kernel = 0,
                                .part = 0,
                                .block = ~static_cast<std::uint32_t>(given),
                                .flags = 0,
                                .dispatch_ticks = given};
        cell(given).claim.give(given / 3, true);  // several of one age, as blocks of one task
        dispatched_.store_release(++given);
      }
      while (handled < finished_.load_acquire()) {
        const Fate fate = cell(handled).claim.fate();
        if (fate == Fate::kMoving) break;
        if (fate == Fate::kMoved) ++moved_;
        ++handled;
      }
      std::this_thread::yield();
    }
    over_ = true;
  }
  void be_core() {
    for (std::uint64_t token = 0; token < runs_.size();) {
      if (dispatched_.load_acquire() == token) {
        std::this_thread::yield();
        continue;
      }
      if (mix(seed_ + token) % 3 == 0) std::this_thread::yield();  // a slow one
      if (cell(token).claim.visit()) run(cell(token).dispatch);
      finished_.store_release(++token);
    }
  }
  void take(std::uint64_t who) {
    for (std::uint64_t round = 0; !over_; ++round) {
      DispatchCell& one = cells_[mix(seed_ + who * 1000 + round) % kDepth];
      std::uint64_t age = 0;
      if (!one.claim.waits(age) || !one.claim.take(age)) {
        std::this_thread::yield();
        continue;
      }
      const Dispatch dispatch = one.dispatch;
      one.claim.copied();
      run(dispatch);
    }
  }
  void run(const Dispatch& dispatch) {
    if (dispatch.block == ~dispatch.task && dispatch.dispatch_ticks == dispatch.task)
      ++runs_[dispatch.task];
  }

  std::uint64_t seed_;
  std::vector<std::atomic<std::uint32_t>> runs_;
  DispatchCell cells_[kDepth] = {};
  DeviceWord<std::uint64_t> dispatched_{}, finished_{};
  std::atomic<std::uint64_t> moved_ = 0;
  std::atomic<bool> over_ = false;
};

TEST(DispatchClaim, EveryDispatchIsRunOnceByWhoeverIsFirst) {
  constexpr SeedCounts kSeeds{.campaign = 200, .quick = 10, .under_sanitizer = 4};
  std::uint64_t moved = 0, all = 0;
  for (std::uint64_t seed = 0; seed < seed_count(kSeeds); ++seed) {
    const ClaimTrial trial(seed, 1000);
    moved += trial.moved();
    all += trial.runs().size();
    for (std::size_t i = 0; i < trial.runs().size(); ++i)
      ASSERT_EQ(trial.runs()[i].load(), 1u) << "dispatch " << i << ", seed " << seed;
  }
  EXPECT_GT(moved, 0u);
  EXPECT_LT(moved, all);
}

}  // namespace
}  // namespace tidemark
