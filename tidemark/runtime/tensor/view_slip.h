// SPDX-License-Identifier: Apache-2.0
// What may be wrong with a view that a program asks for. It is found where the view is made and
// refused where it is used, with the kernel, the argument and the place of the submit.
#pragma once

#include <cstdint>

#include "tidemark/runtime/tensor/tensor_view.h"
#include "tidemark/runtime/tensor/view_bounds.h"

namespace tidemark {

enum class ViewSlip : std::uint8_t {
  kNone,
  kNoSuchDimension,
  kSliceTooLong,
  kHoles,
  kOtherCount,
  kNoView,
  kBeyondBuffer,
};

TM_DEVICE constexpr const char* to_text(ViewSlip slip) {
  switch (slip) {
    case ViewSlip::kNone:
      return "";
    case ViewSlip::kNoSuchDimension:
      return "a slice or transpose of a dimension that the tensor does not have";
    case ViewSlip::kSliceTooLong:
      return "a slice beyond the end of the tensor";
    case ViewSlip::kHoles:
      return "a reshape of a view with holes";
    case ViewSlip::kOtherCount:
      return "a reshape to another number of elements";
    case ViewSlip::kNoView:
      return "a view of more than 5 dimensions, of no dtype, or with a stride of 0";
    case ViewSlip::kBeyondBuffer:
      return "a view beyond the end of its buffer";
  }
  return "";
}

// At a glance, without a division: fewer than 2^58 elements. False: it may be sane all the same.
TM_DEVICE constexpr bool shape_is_surely_sane(const TensorShape& shape) {
  if (shape.rank > kRankMax) return false;
  std::uint64_t count = 1;
  TM_UNROLL_NEVER
  for (std::uint32_t i = 0; i < shape.rank; ++i) {
    if ((count | shape.extent[i]) >> 29 != 0) return false;
    count *= shape.extent[i];
  }
  return true;
}

// Rank and extents from which sizes can be computed without overflow.
TM_DEVICE TM_NOINLINE_ON_GPU constexpr bool shape_is_sane(const TensorShape& shape) {
  if (shape.rank > kRankMax) return false;
  std::uint64_t count = 1;
  TM_UNROLL_NEVER
  for (std::uint32_t i = 0; i < shape.rank; ++i) {
    const std::uint64_t extent = shape.extent[i];
    if (extent == 0) return true;
    if (count > (std::uint64_t{1} << 59) / extent) return false;
    count *= extent;
  }
  return true;
}

TM_DEVICE constexpr ViewSlip slip_of_slice(const TensorView& view, std::uint32_t dim,
                                           std::uint64_t first, std::uint64_t count) {
  if (dim >= view.shape.rank) return ViewSlip::kNoSuchDimension;
  const std::uint64_t extent = view.shape.extent[dim];
  return first > extent || count > extent - first ? ViewSlip::kSliceTooLong : ViewSlip::kNone;
}

TM_DEVICE constexpr ViewSlip slip_of_transpose(const TensorView& view, std::uint32_t one,
                                               std::uint32_t other) {
  return one < view.shape.rank && other < view.shape.rank ? ViewSlip::kNone
                                                          : ViewSlip::kNoSuchDimension;
}

TM_DEVICE constexpr ViewSlip slip_of_reshape(const TensorView& view, const TensorShape& wanted) {
  if (!shape_is_surely_sane(wanted) && !shape_is_sane(wanted)) return ViewSlip::kNoView;
  if (!view.is_contiguous()) return ViewSlip::kHoles;
  return wanted.element_count() == view.element_count() ? ViewSlip::kNone : ViewSlip::kOtherCount;
}

// Of any view, whatever its buffer.
TM_DEVICE constexpr ViewSlip slip_of_form(const TensorView& view) {
  if (view.shape.rank > kRankMax || static_cast<std::uint32_t>(view.dtype) >= kDTypeCount)
    return ViewSlip::kNoView;
  TM_UNROLL_NEVER
  for (std::uint32_t i = 0; i < view.shape.rank; ++i)
    if (view.stride[i] == 0) return ViewSlip::kNoView;
  return ViewSlip::kNone;
}
// Of a view in a buffer of so many bytes.
TM_DEVICE inline ViewSlip slip_of_view(const TensorView& view, std::uint64_t buffer_bytes) {
  if (slip_of_form(view) != ViewSlip::kNone) return ViewSlip::kNoView;
  TensorView alone = view;
  alone.buffer = 0;
  return lies_within(alone, buffer_bytes) ? ViewSlip::kNone : ViewSlip::kBeyondBuffer;
}

}  // namespace tidemark
