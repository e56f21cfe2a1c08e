// SPDX-License-Identifier: Apache-2.0
// mixed_example: every shape of task that runs on a cluster. Four iterations, each in a scope of
// its own, make x[t + 1] from x[t] on 128 x 128 tiles:
//
//   1  AIC + 2 AIV   product = x w;  shifted = x + 1, a half for each AIV
//   2  AIC           second = product w
//   3  AIV           sum = shifted + product
//   4  2 AIV         mean = (second + sum) / 2, a half for each
//   5  AIC + AIV     x[t + 1] = mean w;  row_sums[t] = the sums of the rows of mean
//
// The kernels of a mix share one argument list and write different parts of its outputs. With
// --dump-tensor=marked, task 4 is dumped and what the iteration leaves: x[t + 1] and row_sums[t].
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/runtime/graph/orchestrator.h"
#include "tidemark/session/entry_data.h"
#include "tidemark/session/workload_entry.h"
#include "workloads/seeded_numbers.h"

namespace tidemark {

namespace mixed_detail {

inline constexpr std::uint64_t kSize = 128;

// Argument 2 = argument 0 x argument 1.
struct Multiplies {
  template <class Block>
  TM_DEVICE static void run(Block& block, const TaskArgs& args) {
    block.multiply_tile({.rows = kSize, .inner = kSize, .columns = kSize},
                        args.tensor<float>(0).data(), args.tensor<float>(1).data(),
                        args.tensor<float>(2).data());
  }
};

// The elements of the upper (0) or lower (1) half that a thread looks after.
template <class Block, class Work>
TM_DEVICE void for_half(Block& block, std::uint32_t half, const Work& work) {
  constexpr std::uint64_t kHalf = kSize * kSize / 2;
  for (std::uint64_t i = half * kHalf + block.thread(); i < (half + 1) * kHalf;
       i += block.threads())
    work(i);
}

inline constexpr ArgInfos kExpandArgs = {in("x"), in("w"), out("product"), out("shifted")};
inline constexpr ArgInfos kMeanArgs = {in("second"), in("sum"), out("mean")};
inline constexpr ArgInfos kFinishArgs = {in("mean"), in("w"), out("next"), out("row_sums")};

}  // namespace mixed_detail

struct ExpandProduct : mixed_detail::Multiplies {
  static constexpr KernelInfo kInfo{
      .name = "expand_product", .core = CoreType::kAic, .args = mixed_detail::kExpandArgs};
};

template <std::uint32_t kHalf>
struct ExpandShift {
  static constexpr KernelInfo kInfo{.name = kHalf == 0 ? "expand_upper" : "expand_lower",
                                    .core = CoreType::kAiv,
                                    .args = mixed_detail::kExpandArgs};
  template <class Block>
  TM_DEVICE static void run(Block& block, const TaskArgs& args) {
    const auto x = args.tensor<float>(0), shifted = args.tensor<float>(3);
    mixed_detail::for_half(block, kHalf, [&](std::uint64_t i) { shifted[i] = x[i] + 1.0f; });
  }
};

struct SquareProduct : mixed_detail::Multiplies {
  static constexpr KernelInfo kInfo{.name = "square_product",
                                    .core = CoreType::kAic,
                                    .args = {in("product"), in("w"), out("second")}};
};

struct SumTiles {
  static constexpr KernelInfo kInfo{.name = "sum_tiles",
                                    .core = CoreType::kAiv,
                                    .args = {in("shifted"), in("product"), out("sum")}};
  template <class Block>
  TM_DEVICE static void run(Block& block, const TaskArgs& args) {
    const auto a = args.tensor<float>(0), b = args.tensor<float>(1), sum = args.tensor<float>(2);
    for (std::uint64_t i = block.thread(); i < sum.size(); i += block.threads())
      sum[i] = a[i] + b[i];
  }
};

template <std::uint32_t kHalf>
struct MeanHalf {
  static constexpr KernelInfo kInfo{.name = kHalf == 0 ? "mean_upper" : "mean_lower",
                                    .core = CoreType::kAiv,
                                    .args = mixed_detail::kMeanArgs};
  template <class Block>
  TM_DEVICE static void run(Block& block, const TaskArgs& args) {
    const auto a = args.tensor<float>(0), b = args.tensor<float>(1), mean = args.tensor<float>(2);
    mixed_detail::for_half(block, kHalf, [&](std::uint64_t i) { mean[i] = (a[i] + b[i]) * 0.5f; });
  }
};

struct FinishProduct : mixed_detail::Multiplies {
  static constexpr KernelInfo kInfo{
      .name = "finish_product", .core = CoreType::kAic, .args = mixed_detail::kFinishArgs};
};

struct FinishRowSums {
  static constexpr KernelInfo kInfo{
      .name = "finish_row_sums", .core = CoreType::kAiv, .args = mixed_detail::kFinishArgs};
  template <class Block>
  TM_DEVICE static void run(Block& block, const TaskArgs& args) {
    const auto mean = args.tensor<float>(0), row_sums = args.tensor<float>(3);
    for (std::uint64_t row = block.thread(); row < mixed_detail::kSize; row += block.threads()) {
      float sum = 0;
      for (std::uint64_t i = 0; i < mixed_detail::kSize; ++i) sum += mean(row, i);
      row_sums[row] = sum;
    }
  }
};

struct MixedExample {
  static constexpr const char* kName = "mixed_example";
  static constexpr const char* kDescription =
      "every mix of kernels on a cluster: AIC+2 AIV, AIC, AIV, 2 AIV, AIC+AIV, four times";
  static constexpr std::uint64_t kSize = mixed_detail::kSize;
  static constexpr std::uint64_t kIterations = 4;
  using Kernels = KernelList<ExpandProduct, ExpandShift<0>, ExpandShift<1>, SquareProduct, SumTiles,
                             MeanHalf<0>, MeanHalf<1>, FinishProduct, FinishRowSums>;

  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs& entry) {
    const TensorRef x = entry.tensor(0), w = entry.tensor(1), row_sums = entry.tensor(2);
    const TensorShape tile{2, {kSize, kSize}};
    const auto state = [&](std::uint64_t t) { return x.slice(0, t, 1).reshape(tile); };
    Scope root(orch);
    Submitted finish;
    for (std::uint64_t t = 0; t < kIterations && !orch.failed(); ++t) {
      Scope scope(orch);
      // The iteration before is in a closed scope; it can still be waited for.
      const TaskHandle before[] = {finish};
      const auto expand = orch.template submit_mix<ExpandProduct, ExpandShift<0>, ExpandShift<1>>(
          Args()
              .in(state(t))
              .in(w)
              .out(tile, DType::kFloat32)
              .out(tile, DType::kFloat32)
              .after(before, t == 0 ? 0 : 1));
      const TensorRef product = expand.output(0), shifted = expand.output(1);
      const auto square = orch.template submit<SquareProduct>(
          Args().in(product).in(w).out(tile, DType::kFloat32).after(expand));
      const auto sum = orch.template submit<SumTiles>(
          Args().in(shifted).in(product).out(tile, DType::kFloat32).after(expand));
      const auto mean =
          orch.template submit_mix<void, MeanHalf<0>, MeanHalf<1>>(Args()
                                                                       .in(square.output(0))
                                                                       .in(sum.output(0))
                                                                       .out(tile, DType::kFloat32)
                                                                       .after(square)
                                                                       .after(sum)
                                                                       .dump());
      finish = orch.template submit_mix<FinishProduct, FinishRowSums>(
          Args()
              .in(mean.output(0))
              .in(w)
              .out_existing(state(t + 1))
              .out_existing(row_sums.slice(0, t, 1))
              .after(mean)
              .dump("next", row_sums.slice(0, t, 1)));
    }
  }

  static std::vector<WorkloadCase> cases() {
    return {{"default", "four iterations of five tasks on 128 x 128 tiles"}};
  }

  static void prepare(const WorkloadSetup& setup, EntryData& data) {
    const SeededNumbers x(setup.seed, 0), w(setup.seed, 1);
    data.add<float>({3, {kIterations + 1, kSize, kSize}},
                    [&](std::uint64_t i) { return i < kSize * kSize ? x.number(i) : 0.0f; });
    // A factor with which the numbers neither grow nor fade.
    data.add<float>({2, {kSize, kSize}}, [&](std::uint64_t i) { return w.number(i) * 0.125f; });
    data.add<float>({2, {kIterations, kSize}}, [](std::uint64_t) { return 0.0f; });
  }

  static ResultCheck check(const WorkloadSetup&, const EntryData& data) {
    const auto x = data.values<float>(0), row_sums = data.values<float>(2);
    const auto weights = data.values<float>(1);
    const Tile w(weights.begin(), weights.end());
    Tile state(x.begin(), x.begin() + kSize * kSize);
    ResultComparison compared("x and row_sums");
    for (std::uint64_t t = 0; t < kIterations; ++t) {
      const Tile product = multiply(state, w), second = multiply(product, w);
      Tile mean(kSize * kSize);
      for (std::uint64_t i = 0; i < mean.size(); ++i)
        mean[i] = (second[i] + (state[i] + 1) + product[i]) / 2;
      for (std::uint64_t row = 0; row < kSize; ++row) {
        double sum = 0;
        for (std::uint64_t i = 0; i < kSize; ++i) sum += mean[row * kSize + i];
        compared.add(t * kSize + row, static_cast<double>(row_sums[t * kSize + row]), sum);
      }
      state = multiply(mean, w);
      const std::uint64_t first = (t + 1) * kSize * kSize;
      for (std::uint64_t i = 0; i < state.size(); ++i)
        compared.add(first + i, static_cast<double>(x[first + i]), state[i]);
    }
    return compared.result();
  }

 private:
  using Tile = std::vector<double>;
  static Tile multiply(const Tile& left, const Tile& right) {
    Tile product(kSize * kSize, 0.0);
    for (std::uint64_t row = 0; row < kSize; ++row)
      for (std::uint64_t k = 0; k < kSize; ++k)
        for (std::uint64_t column = 0; column < kSize; ++column)
          product[row * kSize + column] += left[row * kSize + k] * right[k * kSize + column];
    return product;
  }
};

}  // namespace tidemark
