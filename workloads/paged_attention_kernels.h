// SPDX-License-Identifier: Apache-2.0
// The four kernels of paged_attention. Each works on one tile of query rows and one block of the KV
// cache; `rows` are query rows, `keys` the positions of the block. See paged_attention.h.
#pragma once

#include <cmath>
#include <cstdint>

#include "tidemark/runtime/kernel_list.h"
#include "tidemark/runtime/tile_product.h"

namespace tidemark {

// s = q x k transposed: one score per row and key.
struct QueryKey {
  static constexpr KernelInfo kInfo{
      .name = "qk",
      .core = CoreType::kAic,
      .args = {in("q", DType::kBfloat16), in("k", DType::kBfloat16), out("s", DType::kFloat32)}};
  template <class Block>
  TM_DEVICE static void run(Block& block, const TaskArgs& args) {
    const auto q = args.tensor<Bfloat16>(0), k = args.tensor<Bfloat16>(1);
    const auto s = args.tensor<float>(2);
    const std::uint64_t rows = q.extent(0), keys = k.extent(0), head_size = q.extent(1);
    for (std::uint64_t key = block.thread(); key < keys; key += block.threads())
      for (std::uint64_t row = 0; row < rows; ++row)
        s(row, key) = dot_product(q.row(row), k.row(key), head_size);
  }
};

// The softmax of the block alone: m = largest score of a row, p = exp(score - m) in bfloat16, l =
// their sum. Positions at and after `valid_keys` lie after the context and weigh nothing.
struct BlockSoftmax {
  static constexpr KernelInfo kInfo{
      .name = "sf",
      .core = CoreType::kAiv,
      .args = {in("s", DType::kFloat32), out("p", DType::kBfloat16), out("m", DType::kFloat32),
               out("l", DType::kFloat32), scalar("scale", DType::kFloat32),
               scalar("valid_keys", DType::kUint64)}};
  template <class Block>
  TM_DEVICE static void run(Block& block, const TaskArgs& args) {
    const auto s = args.tensor<float>(0), m = args.tensor<float>(2), l = args.tensor<float>(3);
    const auto p = args.tensor<Bfloat16>(1);
    const auto scale = args.scalar<float>(0);
    const auto valid_keys = args.scalar<std::uint64_t>(1);
    const std::uint64_t rows = s.extent(0), keys = s.extent(1);
    for (std::uint64_t row = block.thread(); row < rows; row += block.threads()) {
      const float* scores = s.row(row);
      float largest = scores[0];
      for (std::uint64_t key = 1; key < valid_keys; ++key)
        largest = scores[key] > largest ? scores[key] : largest;
      float sum = 0;
      for (std::uint64_t key = 0; key < keys; ++key) {
        const float weight = key < valid_keys ? expf((scores[key] - largest) * scale) : 0.0f;
        const Bfloat16 rounded = Bfloat16::from_float(weight);
        p(row, key) = rounded;
        sum += rounded.to_float();  // what the next kernel multiplies with, not what was rounded
      }
      m[row] = largest * scale;
      l[row] = sum;
    }
  }
};

// o = p x v.
struct WeightsValue {
  static constexpr KernelInfo kInfo{
      .name = "pv",
      .core = CoreType::kAic,
      .args = {in("p", DType::kBfloat16), in("v", DType::kBfloat16), out("o", DType::kFloat32)}};
  template <class Block>
  TM_DEVICE static void run(Block& block, const TaskArgs& args) {
    const auto p = args.tensor<Bfloat16>(0), v = args.tensor<Bfloat16>(1);
    const auto o = args.tensor<float>(2);
    block.multiply_tile({.rows = p.extent(0), .inner = v.extent(0), .columns = v.extent(1)},
                        p.data(), v.data(), o.data());
  }
};

// Takes a block's o, m, l into the running ones (online softmax): whichever maximum is smaller is
// scaled down to the other. The first block sets them; the last one also writes o / l. Threads
// first share the rows, then the elements of each row: the factors of the rows are shared memory.
struct OnlineUpdate {
  static constexpr std::uint32_t kRowsMax = 128;  // of a query tile
  static constexpr KernelInfo kInfo{
      .name = "up",
      .core = CoreType::kAiv,
      .args = {in("block_o", DType::kFloat32), in("block_m", DType::kFloat32),
               in("block_l", DType::kFloat32), inout("o", DType::kFloat32),
               inout("m", DType::kFloat32), inout("l", DType::kFloat32),
               inout("out", DType::kFloat32), scalar("is_first", DType::kBool),
               scalar("is_last", DType::kBool)},
      .shared_bytes = 2 * kRowsMax * sizeof(float)};
  template <class Block>
  TM_DEVICE static void run(Block& block, const TaskArgs& args) {
    const auto l = args.tensor<float>(5), o = args.tensor<float>(3);
    const bool is_first = args.scalar<bool>(0), is_last = args.scalar<bool>(1);
    if (is_first)
      for (std::uint32_t i = 0; i < 3; ++i) {
        const auto from = args.tensor<float>(i), to = args.tensor<float>(3 + i);
        block.copy(to.data(), from.data(), to.size() * sizeof(float));
      }
    else
      merge(block, args);
    if (!is_last) return;
    block.sync();
    const auto out = args.tensor<float>(6);
    const std::uint64_t rows = o.extent(0), head_size = o.extent(1);
    for (std::uint64_t row = 0; row < rows; ++row) {
      const float* from = o.row(row);
      float* result = out.row(row);
      const float sum = l[row];
      for (std::uint64_t i = block.thread(); i < head_size; i += block.threads())
        result[i] = from[i] / sum;
    }
  }

 private:
  template <class Block>
  TM_DEVICE static void merge(Block& block, const TaskArgs& args) {
    const auto block_o = args.tensor<float>(0), block_m = args.tensor<float>(1);
    const auto block_l = args.tensor<float>(2), o = args.tensor<float>(3);
    const auto m = args.tensor<float>(4), l = args.tensor<float>(5);
    const std::uint64_t rows = o.extent(0), head_size = o.extent(1);
    float* keep = block.template shared<float>(rows);
    float* take = block.template shared<float>(rows);
    for (std::uint64_t row = block.thread(); row < rows; row += block.threads()) {
      const float largest = m[row] > block_m[row] ? m[row] : block_m[row];
      keep[row] = expf(m[row] - largest);
      take[row] = expf(block_m[row] - largest);
      m[row] = largest;
      l[row] = keep[row] * l[row] + take[row] * block_l[row];
    }
    block.sync();
    for (std::uint64_t row = 0; row < rows; ++row) {
      const float* from = block_o.row(row);
      float* to = o.row(row);
      const float kept = keep[row], taken = take[row];
      for (std::uint64_t i = block.thread(); i < head_size; i += block.threads())
        to[i] = kept * to[i] + taken * from[i];
    }
  }
};

}  // namespace tidemark
