// SPDX-License-Identifier: Apache-2.0
// A view in the form in which it is compared: its byte range, and where it is a box of a row-major
// buffer, the first and the last coordinates. Made once per submit; comparing takes no division.
//
//   rows, low, high   63 ... │ dimension 0 │ dimension 1 │ ... │ last dimension │ ... 0
//
// Every dimension but the first has as many bits as its row size needs. Two boxes with the same
// `form` and `rows` are of one buffer seen in one way: their coordinates can be compared.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tidemark/runtime/tensor/tensor_view.h"

namespace tidemark {

// The bits that a number needs; 0 needs none.
TM_DEVICE constexpr std::uint32_t bits_of(std::uint64_t number) {
  return number == 0 ? 0 : 64 - TM_LEADING_ZEROS(number);
}
TM_DEVICE constexpr std::uint64_t low_bits(std::uint32_t count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}
// A division of 64 bits is slow on a GPU, and most strides are powers of two.
TM_DEVICE constexpr std::uint64_t divided(std::uint64_t number, std::uint64_t by) {
  if ((by & (by - 1)) == 0) return number >> (bits_of(by) - 1);
  if ((number | by) >> 32 == 0)
    return static_cast<std::uint32_t>(number) / static_cast<std::uint32_t>(by);
  return number / by;
}

// How a buffer is seen: rank, element size and the widths of all dimensions but the first.
//   31 ... 8: four widths of 6 bits │ 4 3: log2 of the element's bytes │ 2 1 0: rank
// 0: as a row of bytes, one dimension of 64 bits.
struct ViewForm {
  std::uint32_t value;

  TM_DEVICE constexpr bool is_box() const { return value != 0; }
  TM_DEVICE constexpr std::uint32_t rank() const { return is_box() ? value & 7 : 1; }
  TM_DEVICE constexpr std::uint32_t size_log2() const { return value >> 3 & 3; }
  // Of a dimension but the first.
  TM_DEVICE constexpr std::uint32_t width(std::uint32_t dim) const {
    return value >> (8 + 6 * (dim - 1)) & 63;
  }
};

struct CanonicalView {
  std::uint64_t buffer;
  std::uint64_t begin, end;  // bytes from the start of the buffer; equal: an empty view
  std::uint64_t rows;        // the size of each row, less one
  std::uint64_t low, high;   // first and last coordinates; of no box: first and last byte
  ViewForm form;
  std::uint8_t contiguous;  // it has every byte of its range
  std::uint8_t reserved[3];

  TM_DEVICE constexpr bool empty() const { return begin == end; }
  TM_DEVICE constexpr bool is_same_as(const CanonicalView& other) const {
    return buffer == other.buffer && begin == other.begin && end == other.end && low == other.low &&
           high == other.high && contiguous == other.contiguous && same_form(other);
  }
  TM_DEVICE constexpr bool same_form(const CanonicalView& other) const {
    return form.value == other.form.value && rows == other.rows;
  }
};
static_assert(sizeof(CanonicalView) == 56 && std::is_trivial_v<CanonicalView>);

namespace canonical_detail {

// Where a view begins in each dimension of the row-major buffer that its strides describe, and how
// long the rows of that buffer are. False if they describe none, or if the view runs over the end
// of a row.
TM_DEVICE constexpr bool find_starts(const TensorView& view, std::uint64_t* starts,
                                     std::uint64_t* rows) {
  const std::uint32_t rank = view.shape.rank;
  if (view.stride[rank - 1] != 1) return false;
  std::uint64_t rest = view.offset;
  TM_UNROLL_NEVER
  for (std::uint32_t i = 0; i < rank; ++i) {
    const std::uint64_t stride = view.stride[i];
    if (stride == 0) return false;
    starts[i] = divided(rest, stride);
    rest -= starts[i] * stride;
    if (i == 0) continue;
    rows[i] = divided(view.stride[i - 1], stride);
    if (rows[i] * stride != view.stride[i - 1]) return false;
    if (starts[i] + view.shape.extent[i] > rows[i]) return false;
  }
  return true;
}

// The view's strides are those of its own extents, so rows are as long as they are, and only the
// first coordinate may begin behind 0. False, of this and of pack_box: the coordinates need more
// than 64 bits, as no buffer of less than 2^59 elements does, or it is no box.
TM_DEVICE constexpr bool pack_dense_box(const TensorView& view, CanonicalView& made) {
  const std::uint64_t start = divided(view.offset, view.stride[0]);
  if (start * view.stride[0] != view.offset) return false;
  std::uint64_t packed = 0;
  std::uint32_t shift = 0, form = 0;
  TM_UNROLL_NEVER
  for (std::uint32_t i = view.shape.rank - 1; i > 0; --i) {
    const std::uint64_t most = view.shape.extent[i] - 1;
    const std::uint32_t width = bits_of(most);
    if (shift + width > 63) return false;
    packed |= most << shift;
    form |= width << (8 + 6 * (i - 1));
    shift += width;
  }
  const std::uint64_t last = start + view.shape.extent[0] - 1;
  if (last > ~std::uint64_t{0} >> shift) return false;
  made.rows = packed;
  made.low = start << shift;
  made.high = packed | last << shift;
  made.form = {form};
  return true;
}

TM_DEVICE TM_NOINLINE_ON_GPU constexpr bool pack_box(const TensorView& view, CanonicalView& made) {
  std::uint64_t starts[kRankMax] = {}, rows[kRankMax] = {};
  const std::uint32_t rank = view.shape.rank;
  if (!find_starts(view, starts, rows)) return false;
  std::uint64_t packed = 0, low = 0, high = 0;
  std::uint32_t shift = 0, form = 0;
  TM_UNROLL_NEVER
  for (std::uint32_t i = rank - 1; i > 0; --i) {
    const std::uint32_t width = bits_of(rows[i] - 1);
    if (shift + width > 63) return false;
    packed |= (rows[i] - 1) << shift;
    low |= starts[i] << shift;
    high |= (starts[i] + view.shape.extent[i] - 1) << shift;
    form |= width << (8 + 6 * (i - 1));
    shift += width;
  }
  const std::uint64_t last = starts[0] + view.shape.extent[0] - 1;
  if (last > ~std::uint64_t{0} >> shift) return false;
  made.rows = packed;
  made.low = low | starts[0] << shift;
  made.high = high | last << shift;
  made.form = {form};
  return true;
}

}  // namespace canonical_detail

TM_DEVICE TM_NOINLINE_ON_GPU constexpr CanonicalView canonical_of(const TensorView& view) {
  const std::uint64_t size = dtype_bytes(view.dtype);
  const std::uint32_t rank = view.shape.rank;
  // As element_count, end_element and is_contiguous say it. dense: so are strides of one element.
  std::uint64_t count = 1, last = view.offset;
  bool contiguous = true, dense = true;
  TM_UNROLL_NEVER
  for (std::uint32_t i = rank; i-- > 0;) {
    const std::uint64_t extent = view.shape.extent[i], stride = view.stride[i];
    dense = dense && stride == count;
    contiguous = contiguous && (extent <= 1 || stride == count);
    last += (extent - 1) * stride;
    count *= extent;
  }
  const std::uint64_t begin = view.offset * size;
  CanonicalView made{.buffer = view.buffer,
                     .begin = begin,
                     .end = count == 0 ? begin : (last + 1) * size,
                     .rows = 0,
                     .low = begin,
                     .high = begin,
                     .form = {0},
                     .contiguous = static_cast<std::uint8_t>(contiguous ? 1 : 0),
                     .reserved = {}};
  if (count == 0) return made;
  made.high = made.end - 1;
  if (rank < 2) return made;
  if (dense ? canonical_detail::pack_dense_box(view, made) : canonical_detail::pack_box(view, made))
    made.form.value |= rank | (bits_of(size) - 1) << 3;
  return made;
}

}  // namespace tidemark
