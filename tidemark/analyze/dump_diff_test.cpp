// SPDX-License-Identifier: Apache-2.0
// Elements side by side: what a tolerance lets pass, and how far apart two numbers are, by cases
// written out by hand.
#include "tidemark/analyze/dump_diff.h"

#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "tidemark/schema/half.h"

namespace tidemark {
namespace {

template <class T>
std::vector<unsigned char> bytes_of(const std::vector<T>& values) {
  std::vector<unsigned char> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T>
ArgumentDiff compared(DType dtype, const std::vector<T>& a, const std::vector<T>& b,
                      const DiffTolerance& tolerance = {}) {
  ArgumentDiff diff;
  compare_elements(dtype, bytes_of(a), bytes_of(b), tolerance, diff);
  return diff;
}
template <class T>
std::uint64_t differing(DType dtype, T a, T b, const DiffTolerance& tolerance = {}) {
  return compared<T>(dtype, {a}, {b}, tolerance).differing;
}

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(CompareElements, NamesTheFirstAndTheLargestDifference) {
  const ArgumentDiff diff =
      compared<float>(DType::kFloat32, {1, 2, 3, 100, 5}, {1, 2.5f, 3, 101, 5});
  EXPECT_EQ(diff.elements, 5u);
  EXPECT_EQ(diff.differing, 2u);
  EXPECT_EQ(diff.first_index, 1u);
  EXPECT_EQ(diff.max_abs, 1);
  EXPECT_EQ(diff.max_rel, 0.2);  // of 2.5
}

TEST(CompareElements, TakesTheTolerancesOfTheSecondSide) {
  const auto count = [](float a, float b, double atol, double rtol) {
    return differing(DType::kFloat32, a, b, {.rtol = rtol, .atol = atol});
  };
  EXPECT_EQ(count(1.0f, 1.5f, 0, 0), 1u);
  EXPECT_EQ(count(1.0f, 1.5f, 0.5, 0), 0u) << "as much as is allowed";
  EXPECT_EQ(count(1.0f, 1.5f, 0.49, 0), 1u);
  EXPECT_EQ(count(8.0f, 10.0f, 0, 0.2), 0u) << "a fifth of the second";
  EXPECT_EQ(count(10.0f, 8.0f, 0, 0.2), 1u) << "more than a fifth of the second";
  EXPECT_EQ(count(10.0f, 8.0f, 0, 0.25), 0u);
  EXPECT_EQ(count(-8.0f, -10.0f, 0, 0.2), 0u) << "of its size, whatever its sign";
  EXPECT_EQ(count(8.0f, 10.0f, 1, 0.1), 0u) << "both together";
  EXPECT_EQ(count(8.0f, 10.0f, 0.9, 0.1), 1u);
  EXPECT_EQ(count(1e-30f, 0.0f, 0, 0.5), 1u) << "nothing is close to zero by a share of it";
}

TEST(CompareElements, NanIsNanAndBothZerosAreZero) {
  EXPECT_EQ(differing(DType::kFloat32, kNan, kNan), 0u);
  EXPECT_EQ(differing(DType::kFloat32, kNan, -kNan), 0u) << "other bits, and still no number";
  EXPECT_EQ(differing(DType::kFloat32, kNan, 1.0f), 1u);
  EXPECT_EQ(differing(DType::kFloat32, 1.0f, kNan), 1u);
  EXPECT_EQ(differing(DType::kFloat32, 0.0f, -0.0f), 0u);
  const ArgumentDiff diff = compared<float>(DType::kFloat32, {kNan}, {1});
  EXPECT_TRUE(std::isinf(diff.max_abs));
  EXPECT_EQ(diff.max_ulp, 0u);
}

// No share of an infinity makes anything close to it.
TEST(CompareElements, InfinitiesEqualThemselvesOnly) {
  for (const DiffTolerance tolerance :
       {DiffTolerance{}, DiffTolerance{.rtol = 0.5}, DiffTolerance{.rtol = 0.5, .atol = 1e30}}) {
    EXPECT_EQ(differing(DType::kFloat32, kInf, kInf, tolerance), 0u);
    EXPECT_EQ(differing(DType::kFloat32, kInf, -kInf, tolerance), 1u);
    EXPECT_EQ(differing(DType::kFloat32, 1.0f, kInf, tolerance), 1u);
    EXPECT_EQ(differing(DType::kFloat32, kInf, 1.0f, tolerance), 1u);
    EXPECT_EQ(differing(DType::kFloat32, kNan, kInf, tolerance), 1u);
  }
}

TEST(CompareElements, CountsRepresentableNumbersBetweenFloats) {
  const auto ulp = [](auto a, auto b, DType dtype) {
    return compared<decltype(a)>(dtype, {a}, {b}).max_ulp;
  };
  EXPECT_EQ(ulp(1.0f, std::nextafter(1.0f, 2.0f), DType::kFloat32), 1u);
  EXPECT_EQ(ulp(std::nextafter(1.0f, 0.0f), std::nextafter(1.0f, 2.0f), DType::kFloat32), 2u);
  EXPECT_EQ(ulp(1.0f, 2.0f, DType::kFloat32), 1u << 23);
  EXPECT_EQ(ulp(std::nextafter(0.0f, -1.0f), std::nextafter(0.0f, 1.0f), DType::kFloat32), 2u)
      << "from the largest negative over zero to the smallest positive";
  EXPECT_EQ(ulp(1.0, std::nextafter(1.0, 2.0), DType::kFloat64), 1u);
  EXPECT_EQ(ulp(-1.0, 1.0, DType::kFloat64), 2 * 0x3FF0000000000000ull);
  EXPECT_EQ(ulp(std::uint16_t{0x3F80}, std::uint16_t{0x3F83}, DType::kBfloat16), 3u);
  EXPECT_EQ(ulp(std::uint16_t{0x3C00}, std::uint16_t{0xBC00}, DType::kFloat16), 2u * 0x3C00);
}

TEST(CompareElements, LetsSoManyValuesOfTheTypePass) {
  const auto count = [](DType dtype, auto a, auto b, std::uint64_t ulps, double atol = 0) {
    return differing(dtype, a, b, {.atol = atol, .ulps = ulps});
  };
  const std::uint16_t one = 0x3F80, next = 0x3F81, after = 0x3F82;  // of bfloat16
  EXPECT_EQ(count(DType::kBfloat16, one, next, 0), 1u);
  EXPECT_EQ(count(DType::kBfloat16, one, next, 1), 0u);
  EXPECT_EQ(count(DType::kBfloat16, one, after, 1), 1u);
  EXPECT_EQ(count(DType::kBfloat16, one, after, 1, 0.5), 0u) << "one of the two is enough";
  const std::uint16_t smallest = 1, below_zero = 0x8001;
  EXPECT_EQ(count(DType::kBfloat16, smallest, below_zero, 1), 1u);
  EXPECT_EQ(count(DType::kBfloat16, smallest, below_zero, 2), 0u);
  const float most = std::numeric_limits<float>::max();
  EXPECT_EQ(count(DType::kFloat32, most, kInf, ~std::uint64_t{0}), 1u) << "no number is near it";
  EXPECT_EQ(count(DType::kFloat32, kNan, 1.0f, ~std::uint64_t{0}), 1u);
  EXPECT_EQ(count(DType::kFloat32, -most, most, ~std::uint64_t{0}), 0u);
  EXPECT_EQ(count(DType::kInt32, 5, 7, 1), 1u);
  EXPECT_EQ(count(DType::kInt32, 5, 7, 2), 0u);
}

TEST(CompareElements, TellsIntegersApartThatADoubleDoesNot) {
  const std::int64_t large = std::int64_t{1} << 60;
  EXPECT_EQ(differing(DType::kInt64, large, large + 1), 1u);
  EXPECT_EQ(differing(DType::kInt64, large, large + 1, {.atol = 1}), 0u);
  EXPECT_EQ(differing(DType::kUint64, ~std::uint64_t{0}, ~std::uint64_t{0} - 1), 1u);
  const ArgumentDiff far =
      compared<std::int64_t>(DType::kInt64, {std::numeric_limits<std::int64_t>::min()},
                             {std::numeric_limits<std::int64_t>::max()});
  EXPECT_EQ(far.max_ulp, ~std::uint64_t{0});
  EXPECT_EQ(compared<std::int8_t>(DType::kInt8, {-128}, {127}).max_ulp, 255u);
  EXPECT_EQ(compared<std::int8_t>(DType::kInt8, {-128}, {127}).max_abs, 255);
  EXPECT_EQ(compared<std::uint8_t>(DType::kBool, {0, 1}, {1, 1}).differing, 1u);
  EXPECT_EQ(compared<std::int16_t>(DType::kInt16, {-3, 7}, {-3, 9}).max_abs, 2);
  EXPECT_EQ(compared<std::uint32_t>(DType::kUint32, {4'000'000'000u}, {0}).max_abs, 4e9);
}

}  // namespace
}  // namespace tidemark
