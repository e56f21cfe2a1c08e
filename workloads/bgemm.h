// SPDX-License-Identifier: Apache-2.0
// bgemm: C[g,i] = sum over k of A[g,k,i] x B[g,k,i] on T x T tiles. Per group g one scope; in it,
// per k, a pair of tasks that work on the L tiles i of the group:
//
//   GEMM (AIC) p = A[g,k] x B[g,k]   ->   ADD (AIV) C[g] += p   ->   ADD of the next k
//
// The first ADD of a group stores: whatever C held, an iteration of --repeat has the same result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tidemark/runtime/graph/orchestrator.h"
#include "tidemark/session/entry_data.h"
#include "tidemark/session/workload_entry.h"
#include "workloads/seeded_numbers.h"

namespace tidemark {

// Tile by tile: p = a x b.
struct TileGemm {
  static constexpr KernelInfo kInfo{
      .name = "gemm",
      .core = CoreType::kAic,
      .args = {in("a", DType::kFloat32), in("b", DType::kFloat32), out("p", DType::kFloat32)}};
  template <class Block>
  TM_DEVICE static void run(Block& block, const TaskArgs& args) {
    const auto a = args.tensor<float>(0), b = args.tensor<float>(1), p = args.tensor<float>(2);
    const std::uint64_t size = p.extent(1), elements = size * size;
    for (std::uint64_t first = 0; first < p.size(); first += elements)
      block.multiply_tile({.rows = size, .inner = size, .columns = size}, a.data() + first,
                          b.data() + first, p.data() + first);
  }
};

struct TileAdd {
  static constexpr KernelInfo kInfo{.name = "tile_add",
                                    .core = CoreType::kAiv,
                                    .args = {in("p", DType::kFloat32), inout("c", DType::kFloat32),
                                             scalar("is_first", DType::kBool)}};
  template <class Block>
  TM_DEVICE static void run(Block& block, const TaskArgs& args) {
    const float* p = args.tensor<float>(0).data();
    const auto c = args.tensor<float>(1);
    float* sum = c.data();
    const bool is_first = args.scalar<bool>(0);  // a graph that is run again begins anew
    for (std::uint64_t i = block.thread(); i < c.size(); i += block.threads())
      sum[i] = is_first ? p[i] : sum[i] + p[i];
  }
};

struct BgemmCase {
  std::string name;
  std::uint64_t tile_size;  // T
  std::uint64_t tiles;      // L, of one task
  std::uint64_t depth;      // K, pairs of one group
  std::uint64_t groups;
};

struct Bgemm {
  static constexpr const char* kName = "bgemm";
  static constexpr const char* kDescription =
      "batched matrix product: per group a chain of GEMM (AIC) and ADD (AIV) on float32 tiles";
  using Kernels = KernelList<TileGemm, TileAdd>;

  // Pair n of a run reads slab n % 8 of A and n % 7 of B, L tiles each: inputs stay small, and
  // neighbouring pairs never read the same two.
  static constexpr std::uint64_t kLeftSlabs = 8;
  static constexpr std::uint64_t kRightSlabs = 7;

  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs& entry) {
    const TensorRef a = entry.tensor(0), b = entry.tensor(1), c = entry.tensor(2);
    const std::uint64_t* extent = c.view.shape.extent;
    const TensorShape shape{3, {extent[1], extent[2], extent[3]}};  // the tiles of one task
    const auto depth = static_cast<std::uint64_t>(entry.number(0));
    Scope root(orch);
    for (std::uint64_t group = 0; group < extent[0] && !orch.failed(); ++group) {
      Scope scope(orch);
      const TensorRef sum = c.slice(0, group, 1).reshape(shape);
      TaskHandle previous;
      for (std::uint64_t k = 0; k < depth; ++k) {
        const std::uint64_t pair = group * depth + k;
        const auto gemm =
            orch.template submit<TileGemm>(Args()
                                               .in(a.slice(0, pair % kLeftSlabs, 1).reshape(shape))
                                               .in(b.slice(0, pair % kRightSlabs, 1).reshape(shape))
                                               .out(shape, DType::kFloat32));
        if (k == 0) previous = gemm;
        previous = orch.template submit<TileAdd>(
            Args().in(gemm.output(0)).inout(sum).scalar(k == 0).after(gemm).after(previous));
      }
    }
  }

  static std::vector<BgemmCase> all_cases() {
    return {{.name = "Small", .tile_size = 64, .tiles = 1, .depth = 4, .groups = 8},
            {.name = "Case0", .tile_size = 128, .tiles = 4, .depth = 2, .groups = 250}};
  }
  static std::vector<WorkloadCase> cases() {
    std::vector<WorkloadCase> cases;
    for (const auto& one : all_cases())
      cases.push_back({one.name, fmt::format("{} pairs: {} groups, K = {}, {} tiles of {} x {}",
                                             one.groups * one.depth, one.groups, one.depth,
                                             one.tiles, one.tile_size, one.tile_size)});
    return cases;
  }
  static BgemmCase find_case(const std::string& name) {
    const auto cases = all_cases();
    if (name.empty()) return cases.front();
    const auto found = std::ranges::find(cases, name, &BgemmCase::name);
    TM_CHECK(found != cases.end());
    return *found;
  }

  static void prepare(const WorkloadSetup& setup, EntryData& data) {
    const BgemmCase one = find_case(setup.case_name);
    const auto tiles = [&](std::uint64_t count) {
      return TensorShape{4, {count, one.tiles, one.tile_size, one.tile_size}};
    };
    // In [-1/2, 1/2): sums of 256 products stay where float32 is finer than the tolerance.
    const auto random = [&](std::uint64_t stream) {
      return [numbers = SeededNumbers(setup.seed, stream)](std::uint64_t i) {
        return numbers.number(i) * 0.5f;
      };
    };
    data.add<float>(tiles(kLeftSlabs), random(0));
    data.add<float>(tiles(kRightSlabs), random(1));
    data.add<float>(tiles(one.groups), [](std::uint64_t) { return 0.0f; });
    data.add_number(static_cast<std::int64_t>(one.depth));
  }

  static ResultCheck check(const WorkloadSetup& setup, const EntryData& data) {
    const BgemmCase one = find_case(setup.case_name);
    const std::uint64_t elements = one.tiles * one.tile_size * one.tile_size;
    const auto c = data.values<float>(2);
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<double>> products;
    ResultComparison compared("c");
    std::vector<double> expected;
    for (std::uint64_t group = 0; group < one.groups; ++group) {
      expected.assign(elements, 0.0);
      for (std::uint64_t k = 0; k < one.depth; ++k) {
        const std::uint64_t pair = group * one.depth + k;
        const std::uint64_t left = pair % kLeftSlabs, right = pair % kRightSlabs;
        std::vector<double>& product = products[{left, right}];
        if (product.empty()) product = product_of(one, data, left, right);
        for (std::uint64_t i = 0; i < elements; ++i) expected[i] += product[i];
      }
      for (std::uint64_t i = 0; i < elements; ++i)
        compared.add(group * elements + i, static_cast<double>(c[group * elements + i]),
                     expected[i]);
    }
    return compared.result();
  }

 private:
  // Slab `left` of A times slab `right` of B, tile by tile, in double.
  static std::vector<double> product_of(const BgemmCase& one, const EntryData& data,
                                        std::uint64_t left, std::uint64_t right) {
    const std::uint64_t size = one.tile_size, elements = one.tiles * size * size;
    const float* a = data.values<float>(0).data() + left * elements;
    const float* b = data.values<float>(1).data() + right * elements;
    std::vector<double> product(elements, 0.0);
    for (std::uint64_t row = 0; row < one.tiles * size; ++row) {
      const float* b_tile = b + row / size * size * size;
      for (std::uint64_t k = 0; k < size; ++k) {
        const auto factor = static_cast<double>(a[row * size + k]);
        for (std::uint64_t column = 0; column < size; ++column)
          product[row * size + column] += factor * static_cast<double>(b_tile[k * size + column]);
      }
    }
    return product;
  }
};

}  // namespace tidemark
