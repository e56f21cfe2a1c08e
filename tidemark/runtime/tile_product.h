// SPDX-License-Identifier: Apache-2.0
// Products of tiles as plain loops over fixed chunks, which a compiler keeps in registers and
// vectorises. Numbers are float32 or bfloat16, sums are float32. Kernels ask their block for it
// (multiply_tile), since a device may have something better.
#pragma once

#include <cstdint>

#include "tidemark/schema/half.h"

namespace tidemark {

inline constexpr std::uint32_t kTileChunk = 16;

TM_DEVICE constexpr float as_float(float value) { return value; }
TM_DEVICE constexpr float as_float(Bfloat16 value) { return value.to_float(); }

// sum of left[i] * right[i]; count is a multiple of kTileChunk
template <class Left, class Right>
TM_DEVICE inline float dot_product(const Left* left, const Right* right, std::uint64_t count) {
  float sums[kTileChunk] = {};
  for (std::uint64_t i = 0; i < count; i += kTileChunk)
    for (std::uint32_t lane = 0; lane < kTileChunk; ++lane)
      sums[lane] += as_float(left[i + lane]) * as_float(right[i + lane]);
  float sum = 0;
  for (const float one : sums) sum += one;
  return sum;
}

// kTileChunk columns of one row of left x right: out[c] = sum of left[i] * right[i * stride + c]
template <class Left, class Right>
TM_DEVICE inline void product_chunk(const Left* left, const Right* right, std::uint64_t stride,
                                    std::uint64_t count, float* out) {
  float sums[kTileChunk] = {};
  for (std::uint64_t i = 0; i < count; ++i) {
    const float factor = as_float(left[i]);
    const Right* row = right + i * stride;
    for (std::uint32_t lane = 0; lane < kTileChunk; ++lane)
      sums[lane] += factor * as_float(row[lane]);
  }
  for (std::uint32_t lane = 0; lane < kTileChunk; ++lane) out[lane] = sums[lane];
}

// out [rows, columns] = left [rows, inner] x right [inner, columns], all dense; columns are a
// multiple of kTileChunk.
struct TileShape {
  std::uint64_t rows = 0;
  std::uint64_t inner = 0;
  std::uint64_t columns = 0;
};

// The threads of a block share the work by rows and chunks of columns. The product is there for all
// of them after the next sync().
template <class Block, class Left, class Right>
TM_DEVICE inline void multiply_tile_plainly(const Block& block, const TileShape& shape,
                                            const Left* left, const Right* right, float* out) {
  const std::uint64_t chunks = shape.columns / kTileChunk;
  for (std::uint64_t i = block.thread(); i < shape.rows * chunks; i += block.threads()) {
    const std::uint64_t row = i / chunks, column = i % chunks * kTileChunk;
    product_chunk(left + row * shape.inner, right + column, shape.columns, shape.inner,
                  out + row * shape.columns + column);
  }
}

}  // namespace tidemark
