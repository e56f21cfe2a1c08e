// SPDX-License-Identifier: Apache-2.0
// paged_attention: one step of decoding, B sequences with H heads of D numbers. Keys and values
// are in a cache of blocks of S positions; a sequence's blocks are named by its block table, as
// many as its context needs. Per (sequence, tile of heads) one scope with running o, m, l; in it
// one scope per block with four tasks:
//
//   QK (AIC)  ->  SF (AIV)  ->  PV (AIC)  ->  UP (AIV, running o, m, l; the last one writes out)
#pragma once

#include <vector>

#include "tidemark/runtime/graph/orchestrator.h"
#include "tidemark/session/entry_data.h"
#include "tidemark/session/workload_entry.h"
#include "workloads/paged_attention_data.h"
#include "workloads/paged_attention_kernels.h"
#include "workloads/paged_attention_reference.h"

namespace tidemark {

struct PagedAttention {
  static constexpr const char* kName = "paged_attention";
  static constexpr const char* kDescription =
      "attention over a paged KV cache: four tasks per block, online softmax, nested scopes";
  static constexpr std::uint64_t kQueryTileMax = 128;
  using Kernels = KernelList<QueryKey, BlockSoftmax, WeightsValue, OnlineUpdate>;

  // What the tasks of one (sequence, tile of heads) have in common.
  struct Tile {
    TensorRef q, out;  // [rows, D]
    std::uint64_t rows, context;
    std::uint32_t sequence;
  };

  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs& entry) {
    const TensorRef query = entry.tensor(AttentionData::kQuery);
    const TensorRef out = entry.tensor(AttentionData::kOut);
    const TensorRef contexts = entry.tensor(AttentionData::kContexts);
    const std::uint64_t* extent = query.view.shape.extent;
    Scope root(orch);
    for (std::uint32_t sequence = 0; sequence < extent[0]; ++sequence) {
      const auto context = orch.template value<std::int32_t>(contexts, sequence);
      for (std::uint64_t head = 0; head < extent[1] && !orch.failed(); head += kQueryTileMax) {
        const std::uint64_t left = extent[1] - head;
        const std::uint64_t rows = left < kQueryTileMax ? left : kQueryTileMax;
        const auto tile_of = [&](const TensorRef& tensor) {
          return tensor.slice(0, sequence, 1).slice(1, head, rows).reshape({2, {rows, extent[2]}});
        };
        attend(orch, entry,
               {.q = tile_of(query),
                .out = tile_of(out),
                .rows = rows,
                .context = static_cast<std::uint64_t>(context),
                .sequence = sequence});
      }
    }
  }

  template <class Orch>
  TM_DEVICE static void attend(Orch& orch, const EntryArgs& entry, const Tile& tile) {
    const TensorRef keys = entry.tensor(AttentionData::kKeys);
    const TensorRef values = entry.tensor(AttentionData::kValues);
    const TensorRef table = entry.tensor(AttentionData::kTable);
    const std::uint64_t* extent = keys.view.shape.extent;
    const std::uint64_t block_size = extent[1], head_size = extent[3];
    const std::uint64_t table_row = tile.sequence * table.view.shape.extent[1];
    const TensorShape row_shape{1, {tile.rows}}, o_shape{2, {tile.rows, head_size}};
    const float scale = 1.0f / sqrtf(static_cast<float>(head_size));
    Scope scope(orch);
    const auto running = orch.allocate(Args()
                                           .out(o_shape, DType::kFloat32)
                                           .out(row_shape, DType::kFloat32)
                                           .out(row_shape, DType::kFloat32));
    TaskHandle previous = running;
    for (std::uint64_t first = 0; first < tile.context && !orch.failed(); first += block_size) {
      const auto physical = static_cast<std::uint64_t>(
          orch.template value<std::int32_t>(table, table_row + first / block_size));
      const auto block_of = [&](const TensorRef& cache) {
        return cache.slice(0, physical, 1).reshape({2, {block_size, head_size}});
      };
      const std::uint64_t left = tile.context - first;
      Scope inner(orch);
      const auto qk = orch.template submit<QueryKey>(
          Args().in(tile.q).in(block_of(keys)).out({2, {tile.rows, block_size}}, DType::kFloat32));
      const auto sf = orch.template submit<BlockSoftmax>(
          Args()
              .in(qk.output(0))
              .out({2, {tile.rows, block_size}}, DType::kBfloat16)
              .out(row_shape, DType::kFloat32)
              .out(row_shape, DType::kFloat32)
              .scalar(scale)
              .scalar(left < block_size ? left : block_size)
              .after(qk));
      const auto pv = orch.template submit<WeightsValue>(
          Args().in(sf.output(0)).in(block_of(values)).out(o_shape, DType::kFloat32).after(sf));
      // The update before this one is in a closed scope: its tensors are gone, but it can still
      // be waited for.
      previous = orch.template submit<OnlineUpdate>(Args()
                                                        .in(pv.output(0))
                                                        .in(sf.output(1))
                                                        .in(sf.output(2))
                                                        .inout(running.output(0))
                                                        .inout(running.output(1))
                                                        .inout(running.output(2))
                                                        .inout(tile.out)
                                                        .scalar(first == 0)
                                                        .scalar(left <= block_size)
                                                        .after(sf)
                                                        .after(pv)
                                                        .after(running)
                                                        .after(previous));
    }
  }

  static std::vector<WorkloadCase> cases() { return attention_cases(); }
  static void prepare(const WorkloadSetup& setup, EntryData& data) {
    prepare_attention(setup, data);
  }
  static ResultCheck check(const WorkloadSetup& setup, const EntryData& data) {
    return check_attention(setup.seed, data);
  }
};

}  // namespace tidemark
