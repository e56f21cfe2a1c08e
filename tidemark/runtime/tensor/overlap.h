// SPDX-License-Identifier: Apache-2.0
// Do two views share elements? Exact for views of one row-major buffer, which is what slicing
// gives; anything else whose ranges meet is taken to overlap in part.
#pragma once

#include <cstdint>

#include "tidemark/runtime/tensor/tensor_view.h"
#include "tidemark/schema/view_overlap.h"

namespace tidemark {

namespace overlap_detail {

// Where a view begins in each dimension of the row-major buffer that its strides describe. False
// if they describe none, or if the view runs over the end of a row.
TM_DEVICE constexpr bool find_starts(const TensorView& view, std::uint64_t* starts) {
  const std::uint32_t rank = view.shape.rank;
  if (rank == 0) return true;
  if (view.stride[rank - 1] != 1) return false;
  std::uint64_t rest = view.offset;
  for (std::uint32_t i = 0; i < rank; ++i) {
    if (view.stride[i] == 0) return false;
    starts[i] = rest / view.stride[i];
    rest %= view.stride[i];
    if (i == 0) continue;
    if (view.stride[i - 1] % view.stride[i] != 0) return false;
    if (starts[i] + view.shape.extent[i] > view.stride[i - 1] / view.stride[i]) return false;
  }
  return true;
}

TM_DEVICE constexpr bool same_strides(const TensorView& a, const TensorView& b) {
  if (a.dtype != b.dtype || a.shape.rank != b.shape.rank) return false;
  for (std::uint32_t i = 0; i < a.shape.rank; ++i)
    if (a.stride[i] != b.stride[i]) return false;
  return true;
}

}  // namespace overlap_detail

TM_DEVICE constexpr ViewOverlap overlap_of(const TensorView& first, const TensorView& second) {
  if (first.buffer != second.buffer) return ViewOverlap::kNone;
  if (first.element_count() == 0 || second.element_count() == 0) return ViewOverlap::kNone;
  const std::uint64_t first_bytes = dtype_bytes(first.dtype);
  const std::uint64_t second_bytes = dtype_bytes(second.dtype);
  if (first.end_element() * first_bytes <= second.offset * second_bytes ||
      second.end_element() * second_bytes <= first.offset * first_bytes)
    return ViewOverlap::kNone;
  std::uint64_t first_starts[kRankMax] = {}, second_starts[kRankMax] = {};
  if (!overlap_detail::same_strides(first, second) ||
      !overlap_detail::find_starts(first, first_starts) ||
      !overlap_detail::find_starts(second, second_starts))
    return ViewOverlap::kPartial;
  bool covered = true;
  for (std::uint32_t i = 0; i < first.shape.rank; ++i) {
    const std::uint64_t first_end = first_starts[i] + first.shape.extent[i];
    const std::uint64_t second_end = second_starts[i] + second.shape.extent[i];
    if (first_end <= second_starts[i] || second_end <= first_starts[i]) return ViewOverlap::kNone;
    covered = covered && first_starts[i] >= second_starts[i] && first_end <= second_end;
  }
  return covered ? ViewOverlap::kCovered : ViewOverlap::kPartial;
}

}  // namespace tidemark
