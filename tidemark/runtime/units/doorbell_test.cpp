// SPDX-License-Identifier: Apache-2.0
// A sleeper never misses work: with a sleep that nothing but the bell ends, two threads that wake
// each other in turn get through any number of rounds, and many ringers lose nothing.
#include "tidemark/runtime/units/doorbell.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tidemark/base/testing/seed_range.h"
#include "tidemark/runtime/testing/yield_env.h"

namespace tidemark {
namespace {

// Round after kRoundsAwake: no pause, every wait is a sleep.
constexpr std::uint32_t kSleepRound = 1'000'000;

TEST(Doorbell, TwoThreadsWakeEachOtherInTurn) {
  constexpr auto kRounds = static_cast<std::uint32_t>(fewer_under_sanitizer(20'000));
  Doorbell bells[2] = {};
  DeviceWord<std::uint32_t> turns[2] = {};
  YieldEnv::lost.store(false);
  const auto play = [&](std::uint32_t me) {
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      const std::uint32_t wanted = round + (me == 0 ? 0 : 1);
      const auto ready = [&] { return turns[me].load_acquire() >= wanted; };
      while (!ready() && !YieldEnv::lost.load()) bells[me].wait<YieldEnv>(kSleepRound, ready);
      if (YieldEnv::lost.load()) return;
      turns[1 - me].store_release(round + 1);
      bells[1 - me].ring<YieldEnv>();
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_FALSE(YieldEnv::lost.load()) << "a wake-up was lost";
  EXPECT_EQ(turns[1].load_acquire(), kRounds);
}

TEST(Doorbell, NothingOfManyRingersIsMissed) {
  constexpr std::uint32_t kRingers = 3, kEach = 10'000;
  Doorbell bell{};
  DeviceWord<std::uint32_t> work{};
  YieldEnv::lost.store(false);
  std::vector<std::thread> ringers;
  for (std::uint32_t i = 0; i < kRingers; ++i)
    ringers.emplace_back([&] {
      for (std::uint32_t n = 0; n < kEach; ++n) {
        work.add_acq_rel(1);
        bell.ring<YieldEnv>();
      }
    });
  std::uint32_t done = 0;
  while (done < kRingers * kEach && !YieldEnv::lost.load()) {
    const std::uint32_t made = work.load_acquire();
    if (made == done)
      bell.wait<YieldEnv>(kSleepRound, [&] { return work.load_acquire() != done; });
    else
      done = made;
  }
  for (auto& ringer : ringers) ringer.join();
  EXPECT_FALSE(YieldEnv::lost.load()) << "a wake-up was lost";
  EXPECT_EQ(done, kRingers * kEach);
}

// What only a race of two processors shows: both sides have their fence between store and look.
TEST(Doorbell, RingerAndSleeperFenceBeforeTheyLook) {
  Doorbell bell{};
  YieldEnv::fence_count.store(0);
  bell.ring<YieldEnv>();
  EXPECT_EQ(YieldEnv::fence_count.load(), 1u);
  bell.wait<YieldEnv>(kSleepRound, [&] {
    EXPECT_EQ(bell.asleep.load_acquire(), 1u);
    EXPECT_EQ(YieldEnv::fence_count.load(), 2u) << "it looks before its store is seen";
    return true;
  });
}

TEST(Doorbell, NobodyAsleepIsNotRung) {
  Doorbell bell{};
  bell.ring<YieldEnv>();
  EXPECT_EQ(bell.bell.load_acquire(), 0u);
  YieldEnv::sleeps.store(0);
  bell.wait<YieldEnv>(0, [] { return false; });  // an early round only pauses
  bell.wait<YieldEnv>(kSleepRound, [] { return true; });
  EXPECT_EQ(YieldEnv::sleeps.load(), 0u);
  EXPECT_EQ(bell.asleep.load_acquire(), 0u);
}

}  // namespace
}  // namespace tidemark
