// SPDX-License-Identifier: Apache-2.0
// Shared words: what a release publishes, who wins a claim, and in which order a quantum shows.
#include "tidemark/transport/shared_word.h"

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tidemark/base/testing/seed_range.h"

namespace tidemark {
namespace {

TEST(SharedWord, HoldsWhatItsWriterStored) {
  SharedWord<std::uint64_t> word{};
  EXPECT_EQ(word.load_own(), 0u);
  word.store_relaxed(~std::uint64_t{0});
  EXPECT_EQ(word.load_relaxed(), ~std::uint64_t{0});
  word.store_release(7);
  EXPECT_EQ(word.load_acquire(), 7u);
  EXPECT_EQ(word.load_own(), 7u);
}

TEST(SharedWord, ZeroBytesAreTheValueZero) {
  SharedWord<std::uint32_t> word;
  std::memset(&word, 0, sizeof(word));
  EXPECT_EQ(word.load_own(), 0u);
}

TEST(SharedWord, AReleasePublishesWhatWasStoredBeforeIt) {
  constexpr std::uint64_t kRounds = fewer_under_sanitizer(20'000);
  SharedWord<std::uint64_t> turn{}, answer{};
  std::uint64_t plain = 0;  // handed to and fro by the two words alone
  std::jthread writer([&] {
    for (std::uint64_t i = 1; i <= kRounds; ++i) {
      plain = i * i;
      turn.store_release(i);
      while (answer.load_acquire() != i) std::this_thread::yield();
    }
  });
  for (std::uint64_t i = 1; i <= kRounds; ++i) {
    while (turn.load_acquire() != i) std::this_thread::yield();
    ASSERT_EQ(plain, i * i);
    answer.store_release(i);
  }
}

TEST(SharedWord, AFailedClaimTellsWhatStandsThere) {
  SharedWord<std::uint64_t> word{};
  std::uint64_t seen = 0;
  EXPECT_TRUE(word.claim_acq_rel(seen, 5));
  seen = 0;
  EXPECT_FALSE(word.claim_acq_rel(seen, 6));
  EXPECT_EQ(seen, 5u);
  EXPECT_EQ(word.load_own(), 5u);
}

TEST(SharedWord, ExactlyOneOfManyThreadsClaimsAWord) {
  constexpr int kWords = 2000;
  std::vector<SharedWord<std::uint64_t>> words(kWords);
  std::vector<std::atomic<int>> winners(kWords);
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t id = 1; id <= 4; ++id)
      threads.emplace_back([&, id] {
        for (int i = 0; i < kWords; ++i) {
          std::uint64_t seen = 0;
          if (words[i].claim_acq_rel(seen, id))
            winners[i].fetch_add(1);
          else
            EXPECT_TRUE(seen >= 1 && seen <= 4);
        }
      });
  }
  for (int i = 0; i < kWords; ++i) EXPECT_EQ(winners[i].load(), 1);
}

TEST(SharedQuantum, WhoeverSeesTheHighWordSeesTheLowOne) {
  constexpr std::uint64_t kRounds = 50'000;
  SharedQuantum quantum;
  std::memset(&quantum, 0, sizeof(quantum));
  auto* words = reinterpret_cast<SharedWord<std::uint64_t>*>(&quantum);
  std::jthread writer([&] {
    for (std::uint64_t i = 1; i <= kRounds; ++i) quantum.store(i * 5, i);
  });
  for (std::uint64_t seen = 0; seen < kRounds;) {
    const std::uint64_t high = words[1].load_acquire();
    const std::uint64_t low = words[0].load_acquire();
    ASSERT_GE(high, seen);
    ASSERT_GE(low, high * 5) << "the low word is stored first";
    seen = high;
  }
}

}  // namespace
}  // namespace tidemark
