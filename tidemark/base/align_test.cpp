// SPDX-License-Identifier: Apache-2.0
// Rounding: the next multiple, the next power of two, and what counts as one.
#include "tidemark/base/align.h"

#include <random>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(Align, RoundUpGivesTheSmallestMultipleThatIsNotSmaller) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t bytes = random() >> 24, multiple = 1 + (random() >> 50);
    const std::uint64_t rounded = round_up(bytes, multiple);
    ASSERT_EQ(rounded % multiple, 0u);
    ASSERT_GE(rounded, bytes);
    ASSERT_LT(rounded - bytes, multiple);
  }
  static_assert(round_up(0, 16) == 0 && round_up(16, 16) == 16 && round_up(17, 16) == 32);
}

TEST(Align, ZeroIsNoPowerOfTwo) {
  EXPECT_FALSE(is_power_of_two(0));
  for (int shift = 0; shift < 64; ++shift) {
    const std::uint64_t power = std::uint64_t{1} << shift;
    EXPECT_TRUE(is_power_of_two(power));
    if (shift > 1) {
      EXPECT_FALSE(is_power_of_two(power - 1));
      EXPECT_FALSE(is_power_of_two(power + 1));
    }
  }
}

TEST(Align, RoundUpToPowerOfTwoKeepsPowersAndLiftsTheRest) {
  EXPECT_EQ(round_up_to_power_of_two(0), 1u);
  EXPECT_EQ(round_up_to_power_of_two(1), 1u);
  for (int shift = 2; shift < 63; ++shift) {
    const std::uint64_t power = std::uint64_t{1} << shift;
    EXPECT_EQ(round_up_to_power_of_two(power), power);
    EXPECT_EQ(round_up_to_power_of_two(power - 1), power);
    EXPECT_EQ(round_up_to_power_of_two(power + 1), power * 2);
  }
}

}  // namespace
}  // namespace tidemark
