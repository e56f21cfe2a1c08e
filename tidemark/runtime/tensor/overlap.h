// SPDX-License-Identifier: Apache-2.0
// Do two views share elements? Exact for views of one row-major buffer, which is what slicing
// gives, and for views without holes, whatever their shapes. Otherwise the byte range of the first
// is compared with the second, and where these meet the overlap is called one in part.
#pragma once

#include <cstdint>

#include "tidemark/runtime/tensor/canonical_view.h"
#include "tidemark/schema/view_overlap.h"

namespace tidemark {

// First and last coordinates, packed as in a canonical view.
struct BoxRange {
  std::uint64_t low, high;
};

namespace overlap_detail {

// Of a box and a view of the form in which the box is given.
TM_DEVICE constexpr ViewOverlap compare_boxes(BoxRange box, const CanonicalView& view) {
  BoxRange other{view.low, view.high};
  bool covered = true;
  TM_UNROLL_NEVER
  for (std::uint32_t dim = view.form.rank() - 1;; --dim) {
    const std::uint32_t width = dim > 0 ? view.form.width(dim) : 64;
    const std::uint64_t mask = low_bits(width);
    const std::uint64_t low = box.low & mask, high = box.high & mask;
    if (high < (other.low & mask) || (other.high & mask) < low) return ViewOverlap::kNone;
    covered = covered && low >= (other.low & mask) && high <= (other.high & mask);
    if (dim == 0) return covered ? ViewOverlap::kCovered : ViewOverlap::kPartial;
    box = {box.low >> width, box.high >> width};
    other = {other.low >> width, other.high >> width};
  }
}

// The smallest box that has all bytes of a view, in coordinates of another form.
TM_DEVICE TM_NOINLINE_ON_GPU constexpr BoxRange box_around(const CanonicalView& view, ViewForm form,
                                                           std::uint64_t rows) {
  if (!form.is_box()) return {view.begin, view.end - 1};
  std::uint64_t first = view.begin >> form.size_log2(), last = (view.end - 1) >> form.size_log2();
  BoxRange box{0, 0};
  std::uint32_t shift = 0;
  TM_UNROLL_NEVER
  for (std::uint32_t dim = form.rank() - 1; dim > 0; --dim) {
    const std::uint32_t width = form.width(dim);
    const std::uint64_t last_of_row = rows & low_bits(width);
    const std::uint64_t first_row = divided(first, last_of_row + 1);
    const std::uint64_t last_row = divided(last, last_of_row + 1);
    // Over more than one row it may begin and end anywhere in a row.
    const bool one_row = first_row == last_row;
    box.low |= (one_row ? first - first_row * (last_of_row + 1) : 0) << shift;
    box.high |= (one_row ? last - last_row * (last_of_row + 1) : last_of_row) << shift;
    first = first_row;
    last = last_row;
    rows >>= width;
    shift += width;
  }
  // A place that the form cannot express is behind everything that has it.
  const std::uint64_t most = ~std::uint64_t{0} >> shift;
  return {box.low | (first < most ? first : most) << shift, box.high | (last < most ? last : most)
                                                                           << shift};
}

}  // namespace overlap_detail

// A view that is not empty, as a box in another form.
TM_DEVICE constexpr BoxRange box_in_form(const CanonicalView& view, ViewForm form,
                                         std::uint64_t rows) {
  if (view.form.value == form.value && view.rows == rows) return {view.low, view.high};
  return overlap_detail::box_around(view, form, rows);
}
TM_DEVICE constexpr BoxRange box_in_form_of(const CanonicalView& view, const CanonicalView& other) {
  return box_in_form(view, other.form, other.rows);
}

// `box`: the first in the form of the second, which is the same for all views of that form.
TM_DEVICE constexpr ViewOverlap overlap_of(const CanonicalView& first, const CanonicalView& second,
                                           BoxRange box) {
  if (first.buffer != second.buffer || second.empty()) return ViewOverlap::kNone;
  if (first.end <= second.begin || second.end <= first.begin) return ViewOverlap::kNone;
  if (first.low == second.low && first.high == second.high && first.same_form(second) &&
      (second.form.is_box() || second.contiguous != 0))
    return ViewOverlap::kCovered;
  if (second.form.is_box()) {
    const ViewOverlap found = overlap_detail::compare_boxes(box, second);
    if (found == ViewOverlap::kNone || first.same_form(second)) return found;
  }
  const bool inside = first.begin >= second.begin && first.end <= second.end;
  return inside && second.contiguous != 0 ? ViewOverlap::kCovered : ViewOverlap::kPartial;
}
TM_DEVICE constexpr ViewOverlap overlap_of(const CanonicalView& first,
                                           const CanonicalView& second) {
  if (first.empty()) return ViewOverlap::kNone;
  return overlap_of(first, second, box_in_form_of(first, second));
}
TM_DEVICE constexpr ViewOverlap overlap_of(const TensorView& first, const TensorView& second) {
  return overlap_of(canonical_of(first), canonical_of(second));
}

}  // namespace tidemark
