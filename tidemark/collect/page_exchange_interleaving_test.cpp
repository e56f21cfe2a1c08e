// SPDX-License-Identifier: Apache-2.0
// The page exchange under seeds: device and host steps in every order a scheduler finds, and an end
// of the device before any store. Whatever happened, the ledger closes, every accepted record is
// there once, at most the one under way more, nothing torn, and no page is lost or in two hands.
#include <gtest/gtest.h>

#include "tidemark/collect/testing/exchange_history.h"

namespace tidemark {
namespace {

// One thread and no undefined behaviour to find by repetition: sanitizers see a sample.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kSample = 16;
#else
constexpr std::uint64_t kSample = 1;
#endif

struct Kind {
  Overflow overflow;
  bool framed;
  const char* name;
};

class PageExchange : public testing::TestWithParam<Kind> {
 protected:
  HistoryPlan plan_of(std::uint64_t seed) const {
    std::mt19937_64 random(seed * 77 + 5);
    return {.seed = seed,
            .overflow = GetParam().overflow,
            .framed = GetParam().framed,
            .lanes = 1 + static_cast<std::uint32_t>(random() % 3),
            .extra_pages = static_cast<std::uint32_t>(random() % 4),
            .operations = 20 + static_cast<std::uint32_t>(random() % 60),
            .host_share = 1u << random() % 9,
            .other_share = 1u << random() % 6,
            .host_dies_too = random() % 2 == 0};
  }
};

TEST_P(PageExchange, SurvivesAKillAtAnyStoreOfManyHistories) {
  const std::uint64_t seeds = (GetParam().framed ? 1000 : 4000) / kSample;
  std::uint64_t killed = 0, found = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    HistoryPlan plan = plan_of(seed);
    std::mt19937_64 random(seed);
    plan.kill_at = random() % (plan.framed ? 12'000 : 3000);
    ExchangeHistory history(plan);
    ASSERT_EQ(history.run(), "") << "seed " << seed;
    killed += history.killed();
    found += history.total().delivered + history.total().recovered;
  }
  EXPECT_GT(killed, seeds / 4);
  EXPECT_LT(killed, seeds) << "some histories come to their end";
  EXPECT_GT(found, seeds * 10);
}

TEST_P(PageExchange, SurvivesAbortsDeadHostsAndStoppedDrainersWithAndWithoutAKill) {
  const std::uint64_t seeds = (GetParam().framed ? 300 : 1500) / kSample;
  std::uint64_t dropped = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    HistoryPlan plan = plan_of(seed + 100'000);
    std::mt19937_64 random(seed);
    if (seed % 2 == 0) plan.kill_at = random() % 4000;
    plan.faults = true;
    plan.operations += 100;
    ExchangeHistory history(plan);
    ASSERT_EQ(history.run(), "") << "seed " << seed;
    dropped += history.total().dropped;
  }
  if (GetParam().overflow != Overflow::kKeepLast) {
    EXPECT_GT(dropped, seeds);
  }
}

// One history, ended before its first store, its second, and so on to its last.
TEST_P(PageExchange, SurvivesAKillAtEveryStoreOfOneHistory) {
  HistoryPlan plan = plan_of(3);
  plan.lanes = 2;
  plan.extra_pages = 1;
  plan.operations = GetParam().framed ? 12 : 40;
  plan.host_share = 32;
  std::uint64_t last = 0;
  {
    ExchangeHistory whole(plan);
    ASSERT_EQ(whole.run(), "");
    last = whole.stops();
  }
  ASSERT_GT(last, 500u);
  for (plan.kill_at = 0; plan.kill_at < last; plan.kill_at += kSample)
    for (const bool host_dies_too : {false, true}) {
      plan.host_dies_too = host_dies_too;
      ExchangeHistory history(plan);
      ASSERT_EQ(history.run(), "") << "killed at " << plan.kill_at << " of " << last;
      ASSERT_TRUE(history.killed());
    }
}

INSTANTIATE_TEST_SUITE_P(Policies, PageExchange,
                         testing::Values(Kind{Overflow::kWait, false, "WaitRecords"},
                                         Kind{Overflow::kDrop, false, "DropRecords"},
                                         Kind{Overflow::kKeepLast, false, "KeepLastRecords"},
                                         Kind{Overflow::kWait, true, "WaitFrames"},
                                         Kind{Overflow::kDrop, true, "DropFrames"},
                                         Kind{Overflow::kKeepLast, true, "KeepLastFrames"}),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace tidemark
