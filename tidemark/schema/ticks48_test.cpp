// SPDX-License-Identifier: Apache-2.0
// A 48-bit time is restored exactly within 2^47 ticks of the page's own, on both sides.
#include "tidemark/schema/ticks48.h"

#include <random>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

constexpr std::uint64_t kHalf = std::uint64_t{1} << 47;

void expect_restored(std::uint64_t ticks, std::uint64_t near_ticks) {
  ASSERT_EQ(full_ticks(ticks & kTicks48Mask, near_ticks), ticks) << ticks << " near " << near_ticks;
}

TEST(Ticks48, RestoresRandomTimesOnBothSides) {
  std::mt19937_64 random(48);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t near_ticks = (random() >> 1) + kHalf;
    const std::uint64_t distance = random() % kHalf;
    expect_restored(near_ticks + distance, near_ticks);
    expect_restored(near_ticks - distance, near_ticks);
  }
}

TEST(Ticks48, IsExactUpToTheLastTickOfEitherHalf) {
  for (const std::uint64_t near_ticks : {kHalf, kHalf * 2, kHalf * 7 + 123, kTicks48Mask}) {
    expect_restored(near_ticks, near_ticks);
    expect_restored(near_ticks + kHalf - 1, near_ticks);
    expect_restored(near_ticks - kHalf, near_ticks);
  }
}

TEST(Ticks48, CrossesTheWrapInBothDirections) {
  const std::uint64_t wrap = (kTicks48Mask + 1) * 5;
  for (std::uint64_t before = 1; before < 1000; before += 37)
    for (std::uint64_t after = 0; after < 1000; after += 37) {
      expect_restored(wrap + after, wrap - before);
      expect_restored(wrap - before, wrap + after);
    }
}

TEST(Ticks48, IgnoresTheStampAboveTheTime) {
  const std::uint64_t stamped = (std::uint64_t{0xBEEF} << 48) | 1000;
  EXPECT_EQ(full_ticks(stamped, 990), 1000u);
}

TEST(Ticks48, ABeginIsRestoredFromItsEndHoweverLongAgoItWas) {
  std::mt19937_64 random(49);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t end_ticks = (random() >> 1) + (kTicks48Mask + 1);
    const std::uint64_t length = random() % (kTicks48Mask + 1 - kClockSkewTicks);
    ASSERT_EQ(ticks_before((end_ticks - length) & kTicks48Mask, end_ticks), end_ticks - length);
    const std::uint64_t skew = random() % kClockSkewTicks;
    ASSERT_EQ(ticks_before((end_ticks + skew) & kTicks48Mask, end_ticks), end_ticks + skew);
  }
}

}  // namespace
}  // namespace tidemark
