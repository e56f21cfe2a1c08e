// SPDX-License-Identifier: Apache-2.0
// The graphs of 'bench runtime' on a GPU: empty kernels in a few shapes. They are in a source of
// their own (device_graph.cu), as the kernel of a workload is.
#pragma once

#include <cstdint>

#include "tidemark/bench/tile_graph.h"
#include "tidemark/schema/runtime_config.h"

namespace tidemark::bench {

enum class WorkShape : std::uint32_t {
  kIndependent,
  kChain,   // each task waits for the one before
  kBlocks,  // the same, of so many blocks each
  kTiles,   // each task writes a tile of one buffer, of which every tile has a live writer
};
inline constexpr const char* kWorkNames[] = {"independent", "chain", "blocks", "live_writers"};

struct WorkRequest {
  WorkShape shape = WorkShape::kIndependent;
  BuildKind build = BuildKind::kTensorMap;
  std::uint64_t tasks = 0;   // kTiles: beside the first writers
  std::uint64_t width = 0;   // kBlocks: blocks of a task; kTiles: live writers
  std::uint32_t repeat = 1;  // how often the graph runs

  [[nodiscard]] const char* name() const { return kWorkNames[static_cast<std::size_t>(shape)]; }
  [[nodiscard]] std::uint64_t all_tasks() const {
    return shape == WorkShape::kTiles ? tasks + width : tasks;
  }
};

// The sizes that the graph needs, and no more where all of it is resident.
RuntimeConfig config_of(const WorkRequest& work, std::uint32_t clusters, std::uint32_t schedulers);

// Of the device, without heaps and the workload's buffers.
std::uint64_t own_bytes(const RuntimeLayout& layout);

// What the orchestration is told.
EntryArgs entry_of(const WorkRequest& work, const RuntimeLayout& layout);

// By the host, for host_build_graph. The memory and the status are zero before.
void build_here(const RuntimeMemory& memory, RuntimeStatus* status);

struct DeviceGraph {
  static constexpr const char* kName = "bench_graph";
  using Kernels = KernelList<EmptyTask>;

  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs& entry) {
    const auto shape = static_cast<WorkShape>(entry.number(0));
    const auto tasks = static_cast<std::uint64_t>(entry.number(1));
    const auto width = static_cast<std::uint64_t>(entry.number(2));
    const TensorRef buffer = entry.tensor(0);
    Scope root(orch);
    if (shape == WorkShape::kTiles) return tiles(orch, buffer, tasks, width);
    for (std::uint64_t i = 0; i < tasks;) {
      Scope scope(orch);
      for (std::uint64_t k = 0; k < kScopeTasks && i < tasks; ++k, ++i)
        submit(orch, buffer, shape, static_cast<std::uint32_t>(width));
    }
  }

 private:
  template <class Orch>
  TM_DEVICE static void submit(Orch& orch, const TensorRef& buffer, WorkShape shape,
                               std::uint32_t blocks) {
    Args args;
    if (shape == WorkShape::kIndependent)
      args.in(buffer).out(TensorShape{1, {1}}, DType::kUint8);
    else
      args.inout(buffer);
    if (shape == WorkShape::kBlocks) args.blocks(blocks);
    orch.template submit_undeclared<EmptyTask>(args);
  }
  template <class Orch>
  TM_DEVICE static void tiles(Orch& orch, const TensorRef& buffer, std::uint64_t tasks,
                              std::uint64_t writers) {
    for (std::uint64_t i = 0; i < tasks; ++i) {
      Args args;
      // A fixed order in which neighbours are not written one after the other.
      const std::uint64_t tile = i * 0x9E3779B1u % writers;
      orch.template submit_undeclared<EmptyTask>(
          args.inout(tile_of(buffer, TileShape::kRows, tile)));
    }
  }
};

}  // namespace tidemark::bench
