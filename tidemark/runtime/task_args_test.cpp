// SPDX-License-Identifier: Apache-2.0
// A kernel's elements: through any view they are those a plain walk over its indices finds.
#include "tidemark/runtime/task_args.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TensorView random_view(std::mt19937_64& random, std::uint64_t buffer) {
  TensorShape shape{static_cast<std::uint32_t>(1 + random() % 5), {}};
  for (std::uint32_t i = 0; i < shape.rank; ++i) shape.extent[i] = 1 + random() % 5;
  TensorView view = TensorView::row_major(buffer, DType::kInt32, shape);
  for (std::uint64_t steps = random() % 5; steps > 0; --steps) {
    const auto one = static_cast<std::uint32_t>(random() % view.shape.rank);
    const auto other = static_cast<std::uint32_t>(random() % view.shape.rank);
    if (random() % 2 == 0) {
      view = view.transpose(one, other);
    } else if (view.is_contiguous() && random() % 3 == 0) {
      view = view.reshape({1, {view.element_count()}});
    } else {
      const std::uint64_t first = random() % view.shape.extent[one];
      view = view.slice(one, first, 1 + random() % (view.shape.extent[one] - first));
    }
  }
  return view;
}

// Positions in the buffer, in row-major order of the view.
std::vector<std::uint64_t> gather(const TensorView& view) {
  std::vector<std::uint64_t> found;
  std::uint64_t at[kRankMax] = {};
  for (std::uint64_t n = 0; n < view.element_count(); ++n) {
    std::uint64_t position = view.offset;
    for (std::uint32_t i = 0; i < view.shape.rank; ++i) position += at[i] * view.stride[i];
    found.push_back(position);
    for (std::uint32_t i = view.shape.rank; i-- > 0;) {
      if (++at[i] < view.shape.extent[i]) break;
      at[i] = 0;
    }
  }
  return found;
}

TEST(TaskArgs, ElementsOfAnyViewAreThoseOfAPlainWalk) {
  std::vector<std::int32_t> memory(4096);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::int32_t>(i);
  auto* bytes = reinterpret_cast<unsigned char*>(memory.data());
  constexpr std::uint64_t kFirst = 512;  // elements before the buffer
  std::mt19937_64 random(3);
  int strided = 0;
  for (int round = 0; round < 3000; ++round) {
    const StoredTensor stored{.view = random_view(random, kFirst * sizeof(std::int32_t))};
    const TaskArgs args(bytes, &stored, 1, nullptr, 0);
    const auto span = args.tensor<std::int32_t>(0);
    const auto expected = gather(stored.view);
    ASSERT_EQ(span.size(), expected.size());
    for (std::uint64_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(span[i], static_cast<std::int32_t>(kFirst + expected[i]));
    strided += span.is_contiguous() ? 0 : 1;
    if (stored.view.shape.rank != 2) continue;
    for (std::uint64_t i = 0; i < span.extent(0); ++i) {
      for (std::uint64_t j = 0; j < span.extent(1); ++j)
        ASSERT_EQ(&span(i, j), &span[i * span.extent(1) + j]);
      ASSERT_EQ(span.row(i), &span(i, 0));
    }
  }
  EXPECT_GT(strided, 500);
}

TEST(TaskArgs, ScalarsComeAsTheyWereGiven) {
  StoredScalar scalars[3] = {};
  const double given = -2.5;
  std::memcpy(&scalars[0].value, &given, sizeof(given));
  scalars[0].dtype = DType::kFloat64;
  const std::int16_t small = -7;
  std::memcpy(&scalars[1].value, &small, sizeof(small));
  scalars[1].dtype = DType::kInt16;
  scalars[2] = {~std::uint64_t{0} - 5, DType::kUint64};
  const TaskArgs args(nullptr, nullptr, 0, scalars, 3);
  EXPECT_EQ(args.scalar<double>(0), -2.5);
  EXPECT_EQ(args.scalar<std::int16_t>(1), -7);
  EXPECT_EQ(args.scalar<std::uint64_t>(2), ~std::uint64_t{0} - 5);
  EXPECT_EQ(args.word(2), ~std::uint64_t{0} - 5);
  EXPECT_EQ(args.scalar_count(), 3u);
}

TEST(TaskArgs, AnArgumentIsOnlyWhatItIs) {
  const StoredTensor stored{.view = TensorView::row_major(0, DType::kInt32, {1, {1}})};
  const StoredScalar scalar{1, DType::kInt32};
  const auto slip_of = [&](auto ask) {
    const TaskArgs args(nullptr, &stored, 1, &scalar, 1);
    EXPECT_EQ(args.first_slip(), 0u);
    ask(args);
    args.word(0);   // all right
    args.word(17);  // a second slip
    return args.first_slip();
  };
  EXPECT_EQ(slip_of([](const TaskArgs& args) { EXPECT_EQ(args.tensor<float>(0).size(), 0u); }), 1u);
  EXPECT_EQ(slip_of([](const TaskArgs& args) { args.tensor<std::int32_t>(1); }), 2u);
  EXPECT_EQ(slip_of([](const TaskArgs& args) { EXPECT_EQ(args.scalar<float>(0), 0); }), 2u);
  EXPECT_EQ(slip_of([](const TaskArgs& args) { EXPECT_EQ(args.scalar<int>(1), 0); }), 3u);
  EXPECT_EQ(slip_of([](const TaskArgs& args) { EXPECT_EQ(args.view(3).shape.rank, 0u); }), 4u);
}

}  // namespace
}  // namespace tidemark
