// SPDX-License-Identifier: Apache-2.0
// Statistics against formulas written for this test, for random values of every type: NaN,
// infinities, both zeros, negatives, denormals. Elements are decoded here from their bits.
#include "tidemark/runtime/tensor/tensor_stats.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

using Bytes = std::vector<unsigned char>;

constexpr DType kEveryType[] = {DType::kFloat32, DType::kFloat16, DType::kBfloat16, DType::kFloat64,
                                DType::kInt8,    DType::kInt16,   DType::kInt32,    DType::kInt64,
                                DType::kUint8,   DType::kUint16,  DType::kUint32,   DType::kUint64,
                                DType::kBool};
static_assert(std::size(kEveryType) == kDTypeCount);

// A float of `exponent_bits` and `fraction_bits`, by the definition of IEEE 754.
long double decode_float(std::uint64_t bits, int exponent_bits, int fraction_bits) {
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << fraction_bits) - 1);
  const std::uint64_t top = (std::uint64_t{1} << exponent_bits) - 1;
  const std::uint64_t exponent = bits >> fraction_bits & top;
  const long double sign = bits >> (exponent_bits + fraction_bits) & 1 ? -1.0L : 1.0L;
  const int bias = static_cast<int>(top >> 1);
  if (exponent == top) return fraction != 0 ? NAN : sign * HUGE_VALL;
  const long double mantissa = std::ldexp(static_cast<long double>(fraction), -fraction_bits);
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias);
  return sign * std::ldexp(1 + mantissa, static_cast<int>(exponent) - bias);
}

long double decode(DType dtype, const unsigned char* bytes) {
  std::uint64_t word = 0;
  for (std::uint32_t i = 0; i < dtype_bytes(dtype); ++i)
    word |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
  switch (dtype) {
    case DType::kFloat32:
      return decode_float(word, 8, 23);
    case DType::kFloat64:
      return decode_float(word, 11, 52);
    case DType::kFloat16:
      return decode_float(word, 5, 10);
    case DType::kBfloat16:
      return decode_float(word, 8, 7);
    case DType::kInt8:
      return static_cast<std::int8_t>(word);
    case DType::kInt16:
      return static_cast<std::int16_t>(word);
    case DType::kInt32:
      return static_cast<std::int32_t>(word);
    case DType::kInt64:
      return static_cast<long double>(static_cast<std::int64_t>(word));
    default:
      return static_cast<long double>(word);
  }
}

// Bits of a value that tests like to forget; nothing: of any value.
std::uint64_t special_bits(DType dtype, std::uint64_t dice, std::uint64_t any) {
  const auto choose = [&](int exponent_bits, int fraction_bits) -> std::uint64_t {
    const std::uint64_t sign = (any & 1) << (exponent_bits + fraction_bits);
    const std::uint64_t top = ((std::uint64_t{1} << exponent_bits) - 1) << fraction_bits;
    const std::uint64_t fraction = any >> 1 & ((std::uint64_t{1} << fraction_bits) - 1);
    if (dice == 0) return sign | top | fraction | 1;  // NaN
    if (dice == 1) return sign | top;                 // an infinity
    if (dice == 2) return sign;                       // a zero
    if (dice == 3) return sign | fraction;            // a denormal
    // Squares of the others stay far from the ends of double.
    const std::uint64_t middle = (std::uint64_t{1} << (exponent_bits - 1)) - 1;
    const std::uint64_t spread = std::min<std::uint64_t>(middle, 200);
    return sign | (middle - spread / 2 + (any >> 56) % spread) << fraction_bits | fraction;
  };
  switch (dtype) {
    case DType::kFloat32:
      return choose(8, 23);
    case DType::kFloat64:
      return choose(11, 52);
    case DType::kFloat16:
      return choose(5, 10);
    case DType::kBfloat16:
      return choose(8, 7);
    default:
      return dice == 2 ? 0 : any;
  }
}

// `specials`: how many of NaN, infinity, zero, denormal may come, in this order from the right.
Bytes random_bytes(std::mt19937_64& random, DType dtype, std::size_t elements,
                   std::uint32_t specials) {
  Bytes bytes(elements * dtype_bytes(dtype));
  for (std::size_t i = 0; i < elements; ++i) {
    std::uint64_t dice = random() % 16;
    if (dice < 4 && (specials >> dice & 1) == 0) dice = 9;
    const std::uint64_t bits = special_bits(dtype, dice, random());
    std::memcpy(bytes.data() + i * dtype_bytes(dtype), &bits, dtype_bytes(dtype));
  }
  return bytes;
}

struct Formula {
  std::uint64_t nan = 0, inf = 0, zero = 0, numbers = 0;
  long double sum = 0, squares = 0, magnitude = 0;
  long double least = HUGE_VALL, most = -HUGE_VALL;
};

Formula apply_formula(DType dtype, const Bytes& bytes) {
  Formula made;
  for (std::size_t at = 0; at < bytes.size(); at += dtype_bytes(dtype)) {
    const long double value = decode(dtype, bytes.data() + at);
    if (std::isnan(value)) {
      ++made.nan;
      continue;
    }
    ++made.numbers;
    made.inf += std::isinf(value) ? 1 : 0;
    made.zero += value == 0 ? 1 : 0;
    made.sum += value;
    made.squares += value * value;
    made.magnitude += std::fabs(value);
    made.least = std::min(made.least, value);
    made.most = std::max(made.most, value);
  }
  return made;
}

void expect_close(double got, long double expected, long double scale) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(got)) << got;
  } else if (std::isinf(expected)) {
    EXPECT_EQ(got, static_cast<double>(expected));
  } else {
    EXPECT_LE(std::fabs(got - expected), 1e-12L * scale) << got;
  }
}

void expect_formula(const DumpStats& got, const Formula& made) {
  EXPECT_EQ(got.nan, made.nan);
  EXPECT_EQ(got.inf, made.inf);
  EXPECT_EQ(got.zero, made.zero);
  if (made.numbers == 0) {
    EXPECT_EQ(got.min, 0);
    EXPECT_EQ(got.max, 0);
    EXPECT_EQ(got.mean, 0);
    EXPECT_EQ(got.l2, 0);
    return;
  }
  EXPECT_EQ(got.min, static_cast<double>(made.least));
  EXPECT_EQ(got.max, static_cast<double>(made.most));
  const auto numbers = static_cast<long double>(made.numbers);
  expect_close(got.mean, made.sum / numbers, made.magnitude / numbers);
  expect_close(got.l2, std::sqrt(made.squares), std::sqrt(made.squares));
}

// In pieces of whole words, as the recorder hands them over.
template <class Add>
DumpStats in_pieces(std::mt19937_64& random, DType dtype, const Bytes& bytes, const Add& add) {
  TensorStats stats(dtype);
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t part = std::min<std::size_t>(bytes.size() - at, 8 * (1 + random() % 60));
    add(stats, bytes.data() + at, part);
    at += part;
  }
  return stats.result();
}

TEST(TensorStats, AreThoseOfTheFormulasForRandomValuesOfEveryType) {
  std::mt19937_64 random(20);
  std::uint64_t nan = 0, inf = 0, negative_means = 0;
  for (const DType dtype : kEveryType)
    for (std::uint32_t round = 0; round < 200; ++round) {
      SCOPED_TRACE(std::string(to_text(dtype)) + " round " + std::to_string(round));
      const Bytes bytes =
          random_bytes(random, dtype, random() % 300, round < 16 ? round : random() % 16);
      const DumpStats got = in_pieces(
          random, dtype, bytes, [](auto& stats, auto* at, auto count) { stats.add(at, count); });
      expect_formula(got, apply_formula(dtype, bytes));
      if (testing::Test::HasFailure()) return;
      nan += got.nan;
      inf += got.inf;
      negative_means += got.mean < 0 ? 1 : 0;
    }
  EXPECT_GT(nan, 1000u);
  EXPECT_GT(inf, 1000u);
  EXPECT_GT(negative_means, 300u);
}

TEST(TensorStats, OfFewValuesByHand) {
  const float values[] = {-3, NAN, 4, -0.0f, NAN};
  TensorStats stats(DType::kFloat32);
  stats.add(reinterpret_cast<const unsigned char*>(values), sizeof(values));
  const DumpStats got = stats.result();
  EXPECT_EQ(got.min, -3);
  EXPECT_EQ(got.max, 4);
  EXPECT_EQ(got.mean, 1.0 / 3);
  EXPECT_EQ(got.l2, 5);
  EXPECT_EQ(got.nan, 2u);
  EXPECT_EQ(got.zero, 1u);
}

// On a machine with wide registers `add` uses them for these two types.
TEST(TensorStats, AreTheSameBitByBitInWideAndNarrowRegisters) {
  std::mt19937_64 random(21);
  for (const DType dtype : {DType::kFloat32, DType::kBfloat16})
    for (std::uint32_t round = 0; round < 400; ++round) {
      const Bytes bytes = random_bytes(random, dtype, random() % 700, random() % 16);
      std::mt19937_64 cuts = random;
      const DumpStats wide = in_pieces(
          random, dtype, bytes, [](auto& stats, auto* at, auto count) { stats.add(at, count); });
      const DumpStats narrow = in_pieces(cuts, dtype, bytes, [](auto& stats, auto* at, auto count) {
        stats.add_narrow(at, count);
      });
      // A NaN made of two infinities has a sign that nobody promises.
      if (!(std::isnan(wide.mean) && std::isnan(narrow.mean))) {
        ASSERT_EQ(std::memcmp(&wide.mean, &narrow.mean, 8), 0) << wide.mean << " " << narrow.mean;
      }
      ASSERT_EQ(std::memcmp(&wide.l2, &narrow.l2, 8), 0) << wide.l2 << " " << narrow.l2;
      ASSERT_EQ(std::memcmp(&wide.min, &narrow.min, 8), 0);
      ASSERT_EQ(std::memcmp(&wide.max, &narrow.max, 8), 0);
      ASSERT_EQ(wide.nan, narrow.nan);
      ASSERT_EQ(wide.inf, narrow.inf);
      ASSERT_EQ(wide.zero, narrow.zero);
      ASSERT_EQ(wide.hash, narrow.hash);
    }
}

}  // namespace
}  // namespace tidemark
