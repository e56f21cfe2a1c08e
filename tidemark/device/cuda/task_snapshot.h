// SPDX-License-Identifier: Apache-2.0
// What of a GPU's memory is brought to the host's image while a kernel hangs, as far as it was ever
// used. Host code without CUDA, so that it is tested on any machine. Kernels may have written
// anything: nothing that is read here is believed, and no piece lies outside of the memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tidemark/runtime/runtime_layout.h"
#include "tidemark/runtime/tensor/view_bounds.h"
#include "tidemark/runtime/units/unit_line.h"

namespace tidemark {

struct MemoryExtent {
  std::uint64_t begin = 0, end = 0;
};

// Everything but heaps, buffers and scratch memory.
inline std::vector<MemoryExtent> task_extents(const RuntimeLayout& layout,
                                              const RuntimeStatus& status) {
  std::vector<MemoryExtent> extents{{0, layout.buckets_offset}};
  for (std::uint32_t i = 0; i < kRingCount; ++i) {
    const RingSizes& sizes = layout.config.rings[i];
    const RingLayout& ring = layout.rings[i];
    const RingStatus& at = status.rings[i];
    const auto add = [&](std::uint64_t offset, std::uint64_t head, std::uint64_t capacity,
                         std::uint64_t bytes) {
      extents.push_back({offset, offset + std::min(head, capacity) * bytes});
    };
    add(ring.slots_offset, at.head.load_relaxed(), sizes.task_window, sizeof(TaskSlot));
    add(ring.args_offset, at.args_head.load_relaxed(), ring.args_bytes, 1);
    add(ring.deps_offset, at.dep_head.load_relaxed(), sizes.dep_pool, sizeof(DepEntry));
    add(ring.fanin_offset, at.fanin_head.load_relaxed(), sizes.dep_pool, sizeof(std::uint32_t));
  }
  return extents;
}

// What the tasks that cores are at write, by the image that has their slots and arguments; so many
// bytes at most.
inline std::vector<MemoryExtent> running_output_extents(const RuntimeLayout& layout,
                                                        RuntimeStatus& status,
                                                        const unsigned char* image,
                                                        std::uint64_t bytes_most) {
  std::vector<MemoryExtent> extents;
  const UnitCounts units = layout.config.units();
  std::uint64_t left = bytes_most;
  for (std::uint32_t core = 0; core < units.cores; ++core) {
    const UnitProgress& line = unit_lines(&status)[units.core(core)];
    const TaskId id{line.task_id.load_relaxed()};
    // pairs with [unit state]
    if (line.state.load_acquire() != UnitState::kBusy || id.ring() >= kRingCount) continue;
    const std::uint64_t place = id.local() & (layout.config.rings[id.ring()].task_window - 1);
    TaskSlot slot;
    std::memcpy(static_cast<void*>(&slot),
                image + layout.rings[id.ring()].slots_offset + place * sizeof(slot), sizeof(slot));
    if (slot.id.value != id.value || slot.tensor_count > kTensorsMax ||
        slot.args_offset > layout.total_bytes - kTaskArgsBytesMax)
      continue;
    for (std::uint32_t i = 0; i < slot.tensor_count; ++i) {
      StoredTensor tensor;
      std::memcpy(static_cast<void*>(&tensor), image + slot.args_offset + i * sizeof(tensor),
                  sizeof(tensor));
      if (!writes(tensor.access) || !lies_within(tensor.view, layout.total_bytes)) continue;
      const std::uint64_t size = dtype_bytes(tensor.view.dtype);
      const std::uint64_t bytes =
          std::min(left, (tensor.view.end_element() - tensor.view.offset) * size);
      if (bytes == 0) continue;
      const std::uint64_t begin = tensor.view.buffer + tensor.view.offset * size;
      extents.push_back({begin, begin + bytes});
      left -= bytes;
    }
  }
  return extents;
}

}  // namespace tidemark
