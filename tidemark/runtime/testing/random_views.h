// SPDX-License-Identifier: Apache-2.0
// Test support: views of a buffer as programs make them, and as they do not: rows, columns, tiles
// on a grid and beside it, reshaped, transposed, of other types, empty, with odd strides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

#include "tidemark/runtime/tensor/tensor_view.h"

namespace tidemark::samples {

class ViewSource {
 public:
  explicit ViewSource(std::uint64_t buffer)
      : whole_(TensorView::row_major(buffer, DType::kInt16, {2, {64, 64}})) {}
  ViewSource(std::uint64_t buffer, std::mt19937_64& random) {
    constexpr DType kTypes[] = {DType::kInt8, DType::kFloat32, DType::kInt16};
    TensorShape shape{.rank = 1 + static_cast<std::uint32_t>(random() % 5), .extent = {}};
    const std::uint64_t longest = shape.rank < 3 ? 40 : 7;
    for (std::uint32_t i = 0; i < shape.rank; ++i) shape.extent[i] = 1 + random() % longest;
    whole_ = TensorView::row_major(buffer, kTypes[random() % 3], shape);
    for (std::uint32_t i = 0; i < shape.rank; ++i) tile_[i] = 1 + random() % 4;
  }

  [[nodiscard]] TensorView element(std::uint64_t index) const {
    return flat(whole_).slice(0, index % whole_.element_count(), 1);
  }

  TensorView view(std::mt19937_64& random) const {
    switch (random() % 16) {
      case 0:
        return whole_;
      case 1:
        return box(whole_, random);
      case 2:
        return box(flat(whole_), random);
      case 3:
        return box(halved(whole_), random);
      case 4:
        return transposed(box(whole_, random), random);
      case 5: {  // the same bytes as another type
        TensorView view = box(flat(whole_), random);
        if (view.dtype == DType::kInt16) return view;
        view.dtype = view.dtype == DType::kInt8 ? DType::kUint8 : DType::kInt32;
        return view;
      }
      case 6: {  // its first bytes
        TensorView view = box(flat(whole_), random);
        view.dtype = DType::kInt8;
        return view;
      }
      case 7:
        return odd(random);
      default:
        return tile(random);
    }
  }

 private:
  static TensorView flat(const TensorView& view) {
    return view.reshape({1, {view.element_count()}});
  }
  // Seen with one more dimension.
  static TensorView halved(const TensorView& view) {
    const std::uint64_t count = view.element_count();
    return count % 2 == 0 ? view.reshape({2, {count / 2, 2}}) : flat(view);
  }
  static TensorView transposed(const TensorView& view, std::mt19937_64& random) {
    const std::uint32_t rank = view.shape.rank;
    return view.transpose(static_cast<std::uint32_t>(random() % rank),
                          static_cast<std::uint32_t>(random() % rank));
  }
  static TensorView box(TensorView view, std::mt19937_64& random) {
    for (std::uint32_t dim = 0; dim < view.shape.rank; ++dim) {
      if (random() % 3 == 0) continue;
      const std::uint64_t extent = view.shape.extent[dim];
      const std::uint64_t first = random() % (extent + 1);
      view = view.slice(dim, first, random() % (extent - first + 1));
    }
    return view;
  }
  // On the grid, or all of a dimension.
  TensorView tile(std::mt19937_64& random) const {
    TensorView view = whole_;
    for (std::uint32_t dim = 0; dim < view.shape.rank; ++dim) {
      if (random() % 4 == 0) continue;
      const std::uint64_t extent = view.shape.extent[dim];
      const std::uint64_t first = random() % extent / tile_[dim] * tile_[dim];
      view = view.slice(dim, first, std::min(tile_[dim], extent - first));
    }
    return view;
  }
  // Begins anywhere, may run over the end of a row, may have a stride of its own.
  TensorView odd(std::mt19937_64& random) const {
    TensorView view = whole_;
    for (std::uint32_t dim = 0; dim < view.shape.rank; ++dim)
      view.shape.extent[dim] = 1 + random() % view.shape.extent[dim];
    if (random() % 2 == 0) view.stride[random() % view.shape.rank] += random() % 3;
    view.offset = random() % whole_.element_count();
    return view;
  }

  TensorView whole_;
  std::uint64_t tile_[kRankMax] = {};
};

}  // namespace tidemark::samples
