// SPDX-License-Identifier: Apache-2.0
// Gathered bytes are those of a naive walk over the view, whatever its rank, strides, slices and
// transposes, and however they are read; statistics are those of a naive count.
#include "tidemark/runtime/tensor/tensor_gather.h"

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tidemark/base/testing/seed_range.h"
#include "tidemark/runtime/tensor/tensor_stats.h"

namespace tidemark {
namespace {

using Bytes = std::vector<unsigned char>;

struct RandomView {
  TensorView view;
  Bytes memory;
};

RandomView random_view(std::mt19937_64& random) {
  RandomView made;
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  TensorShape shape{.rank = static_cast<std::uint32_t>(below(6)), .extent = {}};
  for (std::uint32_t i = 0; i < shape.rank; ++i) shape.extent[i] = 1 + below(7);
  const auto dtype = static_cast<DType>(below(kDTypeCount));
  made.view = TensorView::row_major(below(4) * 8, dtype, shape);
  for (std::uint64_t steps = below(5); steps > 0 && shape.rank > 0; --steps) {
    const auto dim = static_cast<std::uint32_t>(below(shape.rank));
    const auto other = static_cast<std::uint32_t>(below(shape.rank));
    const std::uint64_t extent = made.view.shape.extent[dim];
    const std::uint64_t first = below(extent);
    if (below(2) == 0)
      made.view = made.view.slice(dim, first, below(8) == 0 ? 0 : 1 + below(extent - first));
    else
      made.view = made.view.transpose(dim, other);
    if (made.view.element_count() == 0) break;
  }
  // Also strides that no slicing gives.
  for (std::uint32_t i = 0; i < shape.rank; ++i)
    if (below(6) == 0) made.view.stride[i] = 1 + below(20);
  const std::uint64_t elements = made.view.end_element() + 4;
  made.memory.resize(made.view.buffer + elements * dtype_bytes(dtype));
  for (auto& byte : made.memory) byte = static_cast<unsigned char>(random());
  return made;
}

Bytes naive_gather(const RandomView& of) {
  const TensorView& view = of.view;
  const std::uint64_t size = dtype_bytes(view.dtype);
  Bytes bytes;
  for (std::uint64_t n = 0; n < view.element_count(); ++n) {
    std::uint64_t rest = n, place = view.offset;
    for (std::uint32_t dim = view.shape.rank; dim-- > 0;) {
      place += rest % view.shape.extent[dim] * view.stride[dim];
      rest /= view.shape.extent[dim];
    }
    const auto* from = of.memory.data() + view.buffer + place * size;
    bytes.insert(bytes.end(), from, from + size);
  }
  return bytes;
}

TEST(TensorGather, GivesTheBytesOfANaiveWalkInPiecesOfAnySize) {
  std::mt19937_64 random(1);
  for (std::uint64_t round = 0; round < fewer_under_sanitizer(20'000); ++round) {
    const RandomView of = random_view(random);
    const Bytes expected = naive_gather(of);
    TensorGather gather(of.memory.data(), of.view);
    ASSERT_EQ(gather.left_bytes(), expected.size());
    Bytes got;
    unsigned char piece[257];
    while (gather.left_bytes() > 0) {
      const std::uint64_t wanted = 1 + random() % sizeof(piece);
      const std::uint64_t left = gather.left_bytes();
      const std::uint64_t read = gather.read(piece, wanted);
      ASSERT_EQ(read, std::min(wanted, left));
      got.insert(got.end(), piece, piece + read);
    }
    ASSERT_EQ(got, expected) << "round " << round;
  }
}

TEST(TensorGather, GivesTheWordsOfANaiveWalkInAnyOrder) {
  std::mt19937_64 random(3);
  for (std::uint64_t round = 0; round < fewer_under_sanitizer(20'000); ++round) {
    const RandomView of = random_view(random);
    const Bytes expected = naive_gather(of);
    TensorGather gather(of.memory.data(), of.view);
    for (int look = 0; look < 20 && expected.size() >= 8; ++look) {
      const std::uint64_t at = random() % (expected.size() / 8) * 8;
      std::uint64_t word = 0;
      std::memcpy(&word, expected.data() + at, sizeof(word));
      ASSERT_EQ(gather.word_at(at), word) << "round " << round << " at " << at;
    }
    // What is behind the last whole word, after anything else was read.
    const std::uint64_t end = expected.size() / 8 * 8;
    unsigned char rest[8];
    gather.seek(end);
    ASSERT_EQ(gather.read(rest, sizeof(rest)), expected.size() - end);
    ASSERT_TRUE(
        std::equal(expected.begin() + static_cast<std::ptrdiff_t>(end), expected.end(), rest));
  }
}

std::uint64_t naive_hash(const Bytes& bytes) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i * 8 < bytes.size(); ++i) {
    unsigned char padded[8] = {};
    std::memcpy(padded, bytes.data() + i * 8, std::min<std::size_t>(8, bytes.size() - i * 8));
    std::uint64_t word = 0;
    for (int k = 7; k >= 0; --k) word = word << 8 | padded[k];
    sum += mix(word + (i + 1) * 0x9E3779B97F4A7C15ull);
  }
  return mix(sum ^ bytes.size());
}

TEST(TensorStats, AreThoseOfANaiveCountHoweverTheBytesAreCut) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 3000; ++round) {
    Bytes bytes(random() % 400 * 4);
    for (auto& byte : bytes) byte = static_cast<unsigned char>(random());
    std::vector<float> values(bytes.size() / 4);
    for (auto& value : values) {
      const std::uint64_t dice = random() % 20;
      value = dice == 0   ? NAN
              : dice == 1 ? INFINITY
              : dice == 2 ? -INFINITY
              : dice == 3 ? 0.0f
                          : static_cast<float>(static_cast<std::int64_t>(random() % 2000) - 1000);
    }
    if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    TensorStats stats(DType::kFloat32);
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t part = std::min<std::size_t>(bytes.size() - at, 8 * (1 + random() % 40));
      stats.add(bytes.data() + at, part);
      at += part;
    }
    const DumpStats got = stats.result();
    std::uint64_t nan = 0, inf = 0, zero = 0;
    double least = INFINITY, most = -INFINITY;
    for (const float value : values) {
      nan += std::isnan(value);
      inf += std::isinf(value);
      zero += value == 0;
      if (std::isnan(value)) continue;
      least = std::min<double>(least, value);
      most = std::max<double>(most, value);
    }
    EXPECT_EQ(got.nan, nan);
    EXPECT_EQ(got.inf, inf);
    EXPECT_EQ(got.zero, zero);
    EXPECT_EQ(got.hash, naive_hash(bytes));
    if (values.size() > nan) {
      EXPECT_EQ(got.min, least);
      EXPECT_EQ(got.max, most);
    }
  }
}

TEST(TensorStats, OfThreadsThatShareATensorAreThoseOfOne) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 2000; ++round) {
    const auto dtype = static_cast<DType>(random() % kDTypeCount);
    const std::uint64_t size = dtype_bytes(dtype);
    Bytes bytes(random() % 700 / size * size);
    for (auto& byte : bytes) byte = static_cast<unsigned char>(random() % 3 == 0 ? 0 : random());
    TensorStats alone(dtype);
    alone.add(bytes.data(), bytes.size());
    std::vector<TensorStatsIn<1>> shares(1 + random() % 5, TensorStatsIn<1>(dtype));
    for (std::uint64_t at = 0; at < bytes.size(); at += 8) {
      auto& share = shares[random() % shares.size()];
      share.go_to(at / 8);
      share.add(bytes.data() + at, std::min<std::uint64_t>(8, bytes.size() - at));
    }
    TensorStatsIn<1> all = shares[0];
    for (std::size_t i = 1; i < shares.size(); ++i) all = all.joined_with(shares[i]);
    const DumpStats got = all.result(), want = alone.result();
    ASSERT_EQ(got.hash, want.hash);
    ASSERT_EQ(got.nan, want.nan);
    ASSERT_EQ(got.inf, want.inf);
    ASSERT_EQ(got.zero, want.zero);
    ASSERT_EQ(got.min, want.min);
    ASSERT_EQ(got.max, want.max);
    if (!std::isfinite(want.l2)) continue;
    ASSERT_NEAR(got.l2, want.l2, want.l2 * 1e-12);
    ASSERT_NEAR(got.mean, want.mean, want.l2 * 1e-12);
  }
}

TEST(TensorStats, OfTheExampleInTheContract) {
  const std::vector<float> fives(16384, 5.0f);
  TensorStats stats(DType::kFloat32);
  stats.add(reinterpret_cast<const unsigned char*>(fives.data()), fives.size() * 4);
  const DumpStats got = stats.result();
  EXPECT_EQ(got.min, 5);
  EXPECT_EQ(got.max, 5);
  EXPECT_EQ(got.mean, 5);
  EXPECT_EQ(got.l2, 640);
}

TEST(TensorStats, TellIntegersAndHalvesBytype) {
  const std::int8_t small[] = {-128, 0, 127};
  TensorStats integers(DType::kInt8);
  integers.add(reinterpret_cast<const unsigned char*>(small), 3);
  EXPECT_EQ(integers.result().min, -128);
  EXPECT_EQ(integers.result().max, 127);
  EXPECT_EQ(integers.result().zero, 1u);
  const Bfloat16 halves[] = {Bfloat16::from_float(1.5f), Bfloat16::from_float(NAN)};
  TensorStats floats(DType::kBfloat16);
  floats.add(reinterpret_cast<const unsigned char*>(halves), 4);
  EXPECT_EQ(floats.result().max, 1.5);
  EXPECT_EQ(floats.result().nan, 1u);
}

}  // namespace
}  // namespace tidemark
