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

TEST(DispatchClaim, WhoeverIsFirstHasIt) {
  DispatchClaim claim{};
  EXPECT_TRUE(claim.is_open(5));
  EXPECT_TRUE(claim.visit(5));
  EXPECT_FALSE(claim.is_open(5));
  EXPECT_FALSE(claim.take(5)) << "its core has come to it";
  EXPECT_EQ(claim.fate(5), Fate::kRun);

  EXPECT_TRUE(claim.is_open(9)) << "the next dispatch of the cell";
  EXPECT_TRUE(claim.take(9));
  EXPECT_FALSE(claim.take(9)) << "twice";
  EXPECT_FALSE(claim.visit(9));
  EXPECT_EQ(claim.fate(9), Fate::kMoving);
  claim.copied(9);
  EXPECT_FALSE(claim.visit(9));
  EXPECT_EQ(claim.fate(9), Fate::kMoved);
  EXPECT_FALSE(claim.take(5)) << "of a token that is long over";
  EXPECT_TRUE(claim.take(13));
  EXPECT_EQ(claim.fate(9), Fate::kRun) << "another token's";
}

TEST(DispatchClaim, TheDispatchThatACoreIsAtIsLeftAlone) {
  Mailbox mailbox{};
  DispatchCell cells[4]{};
  mailbox.dispatched.store_release(3);
  EXPECT_FALSE(mailbox.take(0, cells[0]));
  EXPECT_TRUE(mailbox.take(1, cells[1]));
  EXPECT_FALSE(mailbox.take(3, cells[3])) << "nothing is dispatched there";
  EXPECT_TRUE(mailbox.core_runs(0, cells[0]));
  EXPECT_FALSE(mailbox.core_runs(1, cells[1]));
  EXPECT_EQ(mailbox.fate(1, cells[1]), Fate::kMoving);
  cells[1].claim.copied(1);
  EXPECT_EQ(mailbox.fate(1, cells[1]), Fate::kMoved);
  EXPECT_TRUE(mailbox.core_runs(2, cells[2]));
  mailbox.finished.store_release(2);
  EXPECT_FALSE(mailbox.take(2, cells[2]));
  EXPECT_EQ(mailbox.fate(2, cells[2]), Fate::kRun);
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
        mailbox_.dispatched.store_release(++given);
      }
      while (handled < mailbox_.finished.load_acquire()) {
        const Fate fate = mailbox_.fate(handled, cell(handled));
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
      if (mailbox_.dispatched.load_acquire() == token) {
        std::this_thread::yield();
        continue;
      }
      if (mix(seed_ + token) % 16 == 0) std::this_thread::yield();  // a slow one
      if (mailbox_.core_runs(token, cell(token))) run(cell(token).dispatch);
      mailbox_.finished.store_release(++token);
      order_store_before_look();
    }
  }
  void take(std::uint64_t who) {
    for (std::uint64_t round = 0; !over_; ++round) {
      // What the core comes to next: nobody wins by far.
      const std::uint64_t token =
          mailbox_.finished.load_relaxed() + 1 + mix(seed_ + who * 1000 + round) % 2;
      if (!mailbox_.take(token, cell(token))) {
        std::this_thread::yield();
        continue;
      }
      const Dispatch dispatch = cell(token).dispatch;
      cell(token).claim.copied(token);
      run(dispatch);
    }
  }
  void run(const Dispatch& dispatch) {
    if (dispatch.block == ~dispatch.task && dispatch.dispatch_ticks == dispatch.task)
      ++runs_[dispatch.task];
  }

  std::uint64_t seed_;
  std::vector<std::atomic<std::uint32_t>> runs_;
  Mailbox mailbox_{};
  DispatchCell cells_[kDepth] = {};
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
