// SPDX-License-Identifier: Apache-2.0
#include "tidemark/bench/device_graph.h"

#include <bit>

namespace tidemark::bench {
namespace {

constexpr std::uint32_t kWriterWindow = 32'768;
constexpr std::uint32_t kWriterEntries = 1u << 19;  // no scope ends, so none is given back
constexpr std::uint64_t kOutputBytes = 1024;        // of a task that has one, as the heap counts it
constexpr std::uint64_t kSmallHeap = 64ull << 20;

TensorShape buffer_of(const WorkRequest& work) {
  return work.shape == WorkShape::kTiles ? tiled_buffer(TileShape::kRows, work.width)
                                         : TensorShape{1, {1}};
}

// All tasks are in scopes in the root scope, which is the second ring.
void hold_all(RuntimeConfig& config, std::uint64_t tasks) {
  for (RingSizes& ring : config.rings)
    ring = {.task_window = kTaskWindowMin,
            .dep_pool = kDepPoolMin,
            .heap_bytes = kOutputBytes,
            .args_bytes = kArgsBytesMin};
  RingSizes& ring = config.rings[1];
  ring.task_window = static_cast<std::uint32_t>(std::bit_ceil(tasks + 1));
  ring.dep_pool = ring.task_window;
  ring.heap_bytes = (tasks + 1) * kOutputBytes;
  ring.args_bytes = (tasks + 64) * 2 * sizeof(StoredTensor);
}

}  // namespace

RuntimeConfig config_of(const WorkRequest& work, std::uint32_t clusters, std::uint32_t schedulers) {
  RuntimeConfig config;
  config.build = work.build;
  config.repeat = work.repeat;
  config.cluster_count = clusters;
  config.scheduler_count = schedulers;
  config.uniform_cores = 1;
  config.entry_bytes = round_up(buffer_of(work).element_count(), kEntryAlign);
  if (!config.reclaims()) {
    hold_all(config, work.tasks);
    return config;
  }
  for (RingSizes& ring : config.rings) ring.heap_bytes = kSmallHeap;
  if (work.shape != WorkShape::kTiles) return config;
  config.rings[0].task_window = kWriterWindow;
  config.rings[0].dep_pool = kWriterEntries;
  return config;
}

std::uint64_t own_bytes(const RuntimeLayout& layout) {
  std::uint64_t bytes = layout.total_bytes - layout.config.entry_bytes;
  for (const RingSizes& ring : layout.config.rings) bytes -= ring.heap_bytes;
  return bytes;
}

EntryArgs entry_of(const WorkRequest& work, const RuntimeLayout& layout) {
  EntryArgs entry{};
  entry.tensor_count = 1;
  entry.tensors[0] = TensorView::row_major(layout.entry_offset, DType::kUint8, buffer_of(work));
  entry.number_count = 3;
  entry.numbers[0] = static_cast<std::int64_t>(work.shape);
  entry.numbers[1] = static_cast<std::int64_t>(work.all_tasks());
  entry.numbers[2] = static_cast<std::int64_t>(work.width);
  return entry;
}

void build_here(const RuntimeMemory& memory, RuntimeStatus* status) {
  NoWatch watch;
  orchestrate_here<DeviceGraph>(memory, status, watch);
}

}  // namespace tidemark::bench
