// SPDX-License-Identifier: Apache-2.0
// The finalisers are bijections that spread every bit of their input.
#include "tidemark/base/mix.h"

#include <bit>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(Mix, AgreesWithTheReferenceOutputOfSplitmix64) {
  // splitmix64 with seed 0 mixes multiples of its golden gamma.
  EXPECT_EQ(mix(0x9E3779B97F4A7C15ull), 0xE220A8397B1DCDAFull);
  EXPECT_EQ(mix(0x9E3779B97F4A7C15ull * 2), 0x6E789E6AA1B965F4ull);
  static_assert(mix(0) == 0);
}

TEST(Mix, NeverMapsTwoNeighboursToOneWord) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < 100'000; ++i) seen.insert(mix(i));
  EXPECT_EQ(seen.size(), 100'000u);
}

TEST(Mix, FlipsAboutHalfTheBitsForOneBitOfInput) {
  std::mt19937_64 random(1);
  std::uint64_t flipped = 0;
  constexpr int kRounds = 4096;
  for (int i = 0; i < kRounds; ++i) {
    const std::uint64_t word = random();
    flipped += std::popcount(mix(word) ^ mix(word ^ (1ull << (i % 64))));
  }
  EXPECT_NEAR(static_cast<double>(flipped) / kRounds, 32.0, 0.5);
}

TEST(Mix32, AgreesWithTheReferenceOutputOfMurmur3) {
  static_assert(mix32(0) == 0);
  EXPECT_EQ(mix32(1), 0x514E28B7u);
  EXPECT_EQ(mix32(2), 0x30F4C306u);
}

TEST(Mix32, IsABijectionOnAnyRunOfPositions) {
  std::set<std::uint32_t> seen;
  for (std::uint32_t i = 0; i < 100'000; ++i) seen.insert(mix32(0xFFFF0000u + i));
  EXPECT_EQ(seen.size(), 100'000u);
}

}  // namespace
}  // namespace tidemark
