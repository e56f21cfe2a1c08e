// SPDX-License-Identifier: Apache-2.0
// A tensor is a view of a buffer: type, shape, strides and offset, all in elements. Views are
// metadata; making one touches no element.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tidemark/base/check.h"
#include "tidemark/schema/dtype.h"
#include "tidemark/schema/task_limits.h"

namespace tidemark {

struct TensorShape {
  std::uint32_t rank = 0;
  std::uint64_t extent[kRankMax] = {};

  TM_DEVICE constexpr std::uint64_t element_count() const {
    std::uint64_t count = 1;
    TM_UNROLL_NEVER
    for (std::uint32_t i = 0; i < rank; ++i) count *= extent[i];
    return count;
  }
};

// A GPU copies it in quanta of 16 bytes.
struct TensorView {
  alignas(16) std::uint64_t buffer =
      0;  // identifies the memory; two views with another buffer never overlap
  DType dtype = DType::kFloat32;
  TensorShape shape;
  std::uint64_t stride[kRankMax] = {};  // > 0
  std::uint64_t offset = 0;

  // The whole of a buffer, last dimension densest.
  TM_DEVICE static constexpr TensorView row_major(std::uint64_t buffer, DType dtype,
                                                  const TensorShape& shape) {
    TM_CHECK(shape.rank <= kRankMax);
    TensorView view{.buffer = buffer, .dtype = dtype, .shape = shape};
    view.lay_out_rows();
    return view;
  }
  TM_DEVICE constexpr void lay_out_rows() {
    std::uint64_t dense = 1;
    TM_UNROLL_NEVER
    for (std::uint32_t i = shape.rank; i-- > 0;) {
      stride[i] = dense;
      dense *= shape.extent[i] > 0 ? shape.extent[i] : 1;
    }
  }

  TM_DEVICE constexpr TensorView slice(std::uint32_t dim, std::uint64_t first,
                                       std::uint64_t count) const {
    TM_CHECK(dim < shape.rank);
    TM_CHECK(first <= shape.extent[dim]);
    TM_CHECK(count <= shape.extent[dim] - first);
    TensorView view = *this;
    view.offset += first * stride[dim];
    view.shape.extent[dim] = count;
    return view;
  }

  TM_DEVICE constexpr TensorView transpose(std::uint32_t one, std::uint32_t other) const {
    TM_CHECK(one < shape.rank);
    TM_CHECK(other < shape.rank);
    TensorView view = *this;
    view.shape.extent[one] = shape.extent[other];
    view.shape.extent[other] = shape.extent[one];
    view.stride[one] = stride[other];
    view.stride[other] = stride[one];
    return view;
  }

  // Only of a view without holes, and only to as many elements.
  TM_DEVICE constexpr TensorView reshape(const TensorShape& wanted) const {
    TM_CHECK(is_contiguous());
    TM_CHECK(wanted.element_count() == element_count());
    TensorView view = row_major(buffer, dtype, wanted);
    view.offset = offset;
    return view;
  }

  TM_DEVICE constexpr std::uint64_t element_count() const { return shape.element_count(); }

  TM_DEVICE constexpr bool is_contiguous() const {
    std::uint64_t dense = 1;
    TM_UNROLL_NEVER
    for (std::uint32_t i = shape.rank; i-- > 0;) {
      if (shape.extent[i] > 1 && stride[i] != dense) return false;
      dense *= shape.extent[i];
    }
    return true;
  }

  // The elements lie in [offset, end_element); empty views have none.
  TM_DEVICE constexpr std::uint64_t end_element() const {
    if (element_count() == 0) return offset;
    std::uint64_t last = offset;
    TM_UNROLL_NEVER
    for (std::uint32_t i = 0; i < shape.rank; ++i) last += (shape.extent[i] - 1) * stride[i];
    return last + 1;
  }
};
static_assert(std::is_trivially_copyable_v<TensorView>);

}  // namespace tidemark
