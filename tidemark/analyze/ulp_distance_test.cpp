// SPDX-License-Identifier: Apache-2.0
// The distance of 16-bit floats beside their ranks, which are counted: all values sorted as
// doubles, both zeros one value.
#include "tidemark/analyze/ulp_distance.h"

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

using Bits = std::uint16_t;
constexpr std::uint32_t kPatterns = 1u << 16;

class UlpDistanceOf16 : public testing::TestWithParam<DType> {
 protected:
  UlpDistanceOf16() {
    std::vector<double> values;
    for (std::uint32_t bits = 0; bits < kPatterns; ++bits)
      if (is_finite(bits)) values.push_back(value(bits));
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());  // 0 == -0
    for (std::uint32_t bits = 0; bits < kPatterns; ++bits)
      if (is_finite(bits))
        ranks_[bits] = static_cast<std::int64_t>(std::ranges::lower_bound(values, value(bits)) -
                                                 values.begin());
  }

  [[nodiscard]] double value(std::uint32_t bits) const {
    const auto word = static_cast<Bits>(bits);
    return element_as_double(GetParam(), &word);
  }
  [[nodiscard]] bool is_finite(std::uint32_t bits) const { return std::isfinite(value(bits)); }
  [[nodiscard]] std::optional<std::uint64_t> distance(std::uint32_t a, std::uint32_t b) const {
    const auto one = static_cast<Bits>(a), other = static_cast<Bits>(b);
    return ulp_distance(GetParam(), &one, &other);
  }
  [[nodiscard]] std::optional<std::uint64_t> counted(std::uint32_t a, std::uint32_t b) const {
    if (std::isnan(value(a)) || std::isnan(value(b))) return std::nullopt;
    if (is_finite(a) && is_finite(b))
      return static_cast<std::uint64_t>(std::abs(ranks_[a] - ranks_[b]));
    if (value(a) == value(b)) return 0;
    return std::nullopt;
  }

  std::array<std::int64_t, kPatterns> ranks_{};
};

// All pairs of: both zeros, the smallest and largest values of either sign, infinities, NaN of
// either sign, one, and so many neighbours of each.
TEST_P(UlpDistanceOf16, IsTheCountedOneAroundEveryBorder) {
  constexpr int kAround = 24;
  std::uint32_t infinity = 0, one = 0;
  while (!std::isinf(value(infinity))) ++infinity;
  while (value(one) != 1) ++one;
  const std::uint32_t smallest_normal = GetParam() == DType::kFloat16 ? 0x0400 : 0x0080;
  std::set<Bits> chosen;
  for (const std::uint32_t border : {0u, one, infinity, 0x7FFFu, smallest_normal})
    for (int step = -kAround; step <= kAround; ++step)
      for (const std::uint32_t sign : {0u, 0x8000u})
        chosen.insert(static_cast<Bits>((border + static_cast<std::uint32_t>(step)) ^ sign));
  ASSERT_GT(chosen.size(), 300u);
  for (const Bits a : chosen)
    for (const Bits b : chosen)
      ASSERT_EQ(distance(a, b), counted(a, b)) << std::hex << a << " and " << b;
}

TEST_P(UlpDistanceOf16, IsOneFromEachValueToTheNext) {
  for (std::uint32_t bits = 0; bits < 0x7FFF; ++bits)
    for (const std::uint32_t sign : {0u, 0x8000u}) {
      const auto next = distance(bits | sign, (bits + 1) | sign);
      if (is_finite(bits + 1))
        ASSERT_EQ(next, 1u) << std::hex << bits;
      else
        ASSERT_EQ(next, std::nullopt) << std::hex << bits;
    }
}

TEST_P(UlpDistanceOf16, IsTheCountedOneOfAnyTwo) {
  std::mt19937 random(19);
  for (int i = 0; i < 1'000'000; ++i) {
    const std::uint32_t both = random();
    const std::uint32_t a = both & 0xFFFF, b = both >> 16;
    ASSERT_EQ(distance(a, b), counted(a, b)) << std::hex << a << " and " << b;
    ASSERT_EQ(distance(a, b), distance(b, a));
  }
}

INSTANTIATE_TEST_SUITE_P(Both, UlpDistanceOf16, testing::Values(DType::kBfloat16, DType::kFloat16),
                         [](const auto& which) { return std::string(to_text(which.param)); });

template <class T>
std::optional<std::uint64_t> distance(DType dtype, T a, T b) {
  return ulp_distance(dtype, &a, &b);
}

TEST(UlpDistance, OfLargerFloatsCountsOverZero) {
  EXPECT_EQ(distance(DType::kFloat32, 0.0f, -0.0f), 0u);
  EXPECT_EQ(distance(DType::kFloat32, std::nextafter(0.0f, 1.0f), -0.0f), 1u);
  EXPECT_EQ(distance(DType::kFloat64, std::nextafter(0.0, 1.0), std::nextafter(0.0, -1.0)), 2u);
  const double most = std::numeric_limits<double>::max();
  EXPECT_EQ(distance(DType::kFloat64, most, -most), 2 * 0x7FEFFFFFFFFFFFFFull);
  EXPECT_EQ(distance(DType::kFloat64, most, HUGE_VAL), std::nullopt);
  EXPECT_EQ(distance(DType::kFloat64, HUGE_VAL, HUGE_VAL), 0u);
}

TEST(UlpDistance, OfIntegersIsTheirDifference) {
  EXPECT_EQ(distance<std::int8_t>(DType::kInt8, -128, 127), 255u);
  EXPECT_EQ(distance<std::int64_t>(DType::kInt64, std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max()),
            ~std::uint64_t{0});
  EXPECT_EQ(distance<std::uint64_t>(DType::kUint64, 0, ~std::uint64_t{0}), ~std::uint64_t{0});
}

}  // namespace
}  // namespace tidemark
