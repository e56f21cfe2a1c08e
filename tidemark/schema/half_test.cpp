// SPDX-License-Identifier: Apache-2.0
// The 16-bit floats: every one of the 65,536 survives the way to float and back, and every float
// goes to the nearest of them, ties to even.
#include "tidemark/schema/half.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

template <class Half>
class HalfTest : public testing::Test {
 protected:
  static double value_of(std::uint16_t bits) { return Half{bits}.to_float(); }
  static bool is_finite(std::uint16_t bits) { return std::isfinite(Half{bits}.to_float()); }

  // Between the two neighbours of its magnitude, the nearer one; half way, the even one.
  static void expect_nearest(float value) {
    const std::uint16_t got = Half::from_float(value).bits;
    const std::uint16_t sign = got & 0x8000, magnitude = got & 0x7FFF;
    ASSERT_EQ(sign != 0, std::signbit(value)) << value;
    const double exact = std::fabs(static_cast<double>(value));
    const auto distance = [&](std::uint16_t bits) { return std::fabs(value_of(bits) - exact); };
    if (!is_finite(magnitude)) {
      // Rounds to infinity from half a unit above the largest value on.
      const std::uint16_t largest = magnitude - 1;
      const double unit = value_of(largest) - value_of(largest - 1);
      EXPECT_GE(exact, value_of(largest) + unit / 2) << value;
      return;
    }
    for (const int step : {-1, 1}) {
      const int neighbour = magnitude + step;
      if (neighbour < 0) continue;
      const auto bits = static_cast<std::uint16_t>(neighbour);
      const double other =
          is_finite(bits)
              ? distance(bits)
              : value_of(magnitude) + (value_of(magnitude) - value_of(magnitude - 1)) - exact;
      EXPECT_LE(distance(magnitude), other) << value;
      if (distance(magnitude) == other) {
        EXPECT_EQ(magnitude & 1, 0) << value;
      }
    }
  }
};
using Halves = testing::Types<Bfloat16, Float16>;
TYPED_TEST_SUITE(HalfTest, Halves);

TYPED_TEST(HalfTest, EveryValueSurvivesTheWayToFloatAndBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const TypeParam half{static_cast<std::uint16_t>(bits)};
    const float value = half.to_float();
    const std::uint16_t back = TypeParam::from_float(value).bits;
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(TypeParam{back}.to_float())) << bits;
      EXPECT_EQ(back & 0x8000u, bits & 0x8000u);
    } else {
      EXPECT_EQ(back, bits);
    }
  }
}

TYPED_TEST(HalfTest, RandomFloatsGoToTheNearest) {
  std::mt19937 random(11);
  for (int i = 0; i < 300'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(TypeParam::from_float(value).to_float()));
      continue;
    }
    this->expect_nearest(value);
  }
}

// The interesting floats stand at and beside the middle between two neighbours.
TYPED_TEST(HalfTest, TiesGoToEvenAndTheirNeighboursDoNot) {
  for (std::uint32_t bits = 0; bits + 1 < 0x7FFF; ++bits) {
    const float low = TypeParam{static_cast<std::uint16_t>(bits)}.to_float();
    const float high = TypeParam{static_cast<std::uint16_t>(bits + 1)}.to_float();
    if (!std::isfinite(high)) break;
    const auto middle = static_cast<float>((static_cast<double>(low) + high) / 2);
    const std::uint16_t even = bits % 2 == 0 ? bits : bits + 1;
    EXPECT_EQ(TypeParam::from_float(middle).bits, even);
    EXPECT_EQ(TypeParam::from_float(-middle).bits, even | 0x8000u);
    EXPECT_EQ(TypeParam::from_float(std::nextafter(middle, high)).bits, bits + 1);
    EXPECT_EQ(TypeParam::from_float(std::nextafter(middle, low)).bits, bits);
  }
}

TYPED_TEST(HalfTest, ZerosInfinitiesAndNans) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(TypeParam::from_float(0.0f).bits, 0u);
  EXPECT_EQ(TypeParam::from_float(-0.0f).bits, 0x8000u);
  EXPECT_EQ(TypeParam::from_float(infinity).to_float(), infinity);
  EXPECT_EQ(TypeParam::from_float(-infinity).to_float(), -infinity);
  EXPECT_EQ(TypeParam::from_float(std::numeric_limits<float>::max()).to_float(), infinity);
  // A NaN with only its lowest bit set.
  EXPECT_TRUE(std::isnan(TypeParam::from_float(std::bit_cast<float>(0x7F800001u)).to_float()));
}

}  // namespace
}  // namespace tidemark
