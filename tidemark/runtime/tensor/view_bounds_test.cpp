// SPDX-License-Identifier: Apache-2.0
// A view passes exactly if its last element ends in memory, computed with room for every number.
#include "tidemark/runtime/tensor/view_bounds.h"

#include <random>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

bool fits_by_wide_numbers(const TensorView& view, std::uint64_t memory_bytes) {
  using Wide = unsigned __int128;
  if (view.shape.rank > kRankMax || static_cast<std::uint32_t>(view.dtype) >= kDTypeCount)
    return false;
  Wide last = view.offset, count = 1;
  for (std::uint32_t i = 0; i < view.shape.rank; ++i)
    if (view.shape.extent[i] == 0) return true;
  for (std::uint32_t i = 0; i < view.shape.rank; ++i) {
    last += Wide{view.shape.extent[i] - 1} * view.stride[i];
    count *= view.shape.extent[i];
    if (last > Wide{memory_bytes} || count > Wide{memory_bytes}) return false;
  }
  return Wide{view.buffer} + (last + 1) * dtype_bytes(view.dtype) <= Wide{memory_bytes};
}

TEST(ViewBounds, AgreeWithArithmeticThatCannotOverflow) {
  std::mt19937_64 random(7);
  std::uint64_t inside = 0;
  for (int i = 0; i < 200'000; ++i) {
    const auto number = [&](std::uint64_t small) {
      switch (random() % 8) {
        case 0:
          return random();
        case 1:
          return ~std::uint64_t{0} - random() % 4;
        default:
          return random() % small;
      }
    };
    TensorView view;
    view.buffer = number(4096);
    view.offset = number(64);
    view.dtype = static_cast<DType>(random() % (kDTypeCount + 1));
    view.shape.rank = static_cast<std::uint32_t>(random() % 8);
    for (std::uint32_t dim = 0; dim < kRankMax; ++dim) {
      view.shape.extent[dim] = number(6);
      view.stride[dim] = number(20);
    }
    const std::uint64_t memory_bytes = 1 + random() % 16384;
    ASSERT_EQ(lies_within(view, memory_bytes), fits_by_wide_numbers(view, memory_bytes)) << i;
    inside += lies_within(view, memory_bytes) ? 1 : 0;
  }
  EXPECT_GT(inside, 10'000u);
}

}  // namespace
}  // namespace tidemark
