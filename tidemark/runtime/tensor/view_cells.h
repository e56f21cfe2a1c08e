// SPDX-License-Identifier: Apache-2.0
// The cells of the tensor map's index. Views of about one size (the same powers of two in every
// dimension) share a grid: a cell is as large as the largest of them may be, and a view is kept in
// the cell of its first coordinates. A search looks into the cells that its box meets, and where
// views cross the end of their cell, into those before them.
#pragma once

#include <cstdint>

#include "tidemark/runtime/tensor/overlap.h"

namespace tidemark {

// The bits of coordinates that tell one cell from another, for views of this size.
TM_DEVICE constexpr std::uint64_t cell_bits(const CanonicalView& view) {
  std::uint64_t low = view.low, high = view.high, within = 0;
  std::uint32_t shift = 0;
  TM_UNROLL_NEVER
  for (std::uint32_t dim = view.form.rank() - 1; dim > 0; --dim) {
    const std::uint32_t width = view.form.width(dim);
    const std::uint64_t mask = low_bits(width);
    within |= low_bits(bits_of((high & mask) - (low & mask))) << shift;
    low >>= width;
    high >>= width;
    shift += width;
  }
  return ~(within | low_bits(bits_of(high - low)) << shift);
}

// A bit per dimension: the view crosses the end of its cell.
TM_DEVICE constexpr std::uint8_t crossed_dims(const CanonicalView& view, std::uint64_t cell_bits) {
  std::uint64_t differs = (view.low ^ view.high) & cell_bits;
  std::uint32_t crossed = 0;
  TM_UNROLL_NEVER
  for (std::uint32_t dim = view.form.rank() - 1; dim > 0; --dim) {
    const std::uint32_t width = view.form.width(dim);
    if ((differs & low_bits(width)) != 0) crossed |= 1u << dim;
    differs >>= width;
  }
  return static_cast<std::uint8_t>(crossed | (differs != 0 ? 1 : 0));
}

// The cells in which views of a grid may lie that meet a box.
class CellRange {
 public:
  // False: these are more than `limit` cells.
  TM_DEVICE constexpr bool set(ViewForm form, std::uint64_t cell_bits, std::uint8_t crossed,
                               BoxRange box, std::uint64_t limit) {
    rank_ = form.rank();
    std::uint64_t cells = 1;
    std::uint32_t shift = 0;
    TM_UNROLL_NEVER
    for (std::uint32_t dim = rank_ - 1;; --dim) {
      const std::uint32_t width = dim > 0 ? form.width(dim) : 64 - shift;
      const std::uint64_t mask = low_bits(width);
      const std::uint64_t within = ~cell_bits >> shift & mask;
      std::uint64_t first = box.low >> shift & mask;
      if ((crossed >> dim & 1) != 0) first = first > within ? first - within : 0;
      const std::uint64_t last = (box.high >> shift & mask) & ~within;
      first &= ~within;
      const std::uint64_t count = ((last - first) >> bits_of(within)) + 1;
      if (count > limit) return false;
      cells *= count;
      if (cells > limit) return false;
      first_[dim] = at_[dim] = first << shift;
      last_[dim] = last << shift;
      step_[dim] = (within + 1) << shift;  // not used where there is one cell
      if (dim == 0) return true;
      shift += width;
    }
  }

  TM_DEVICE constexpr std::uint64_t cell() const {
    std::uint64_t cell = 0;
    TM_UNROLL_NEVER
    for (std::uint32_t dim = 0; dim < rank_; ++dim) cell |= at_[dim];
    return cell;
  }
  // False: that was the last one.
  TM_DEVICE constexpr bool next() {
    TM_UNROLL_NEVER
    for (std::uint32_t dim = rank_; dim-- > 0;) {
      if (at_[dim] != last_[dim]) {
        at_[dim] += step_[dim];
        return true;
      }
      at_[dim] = first_[dim];
    }
    return false;
  }

 private:
  std::uint32_t rank_ = 0;
  std::uint64_t first_[kRankMax], last_[kRankMax], step_[kRankMax], at_[kRankMax];
};

}  // namespace tidemark
