// SPDX-License-Identifier: Apache-2.0
// A runtime's memory where it is mapped: the way from places and offsets to objects.
#pragma once

#include <cstdint>

#include "tidemark/runtime/graph/tensor_map.h"
#include "tidemark/runtime/runtime_layout.h"
#include "tidemark/runtime/unit_place.h"

namespace tidemark {

class RuntimeMemory {
 public:
  // The layout is looked at, not kept.
  TM_DEVICE RuntimeMemory(void* base, const RuntimeLayout& layout)
      : base_(static_cast<unsigned char*>(base)), layout_(&layout) {}
  RuntimeMemory(void* base, const RuntimeLayout&& layout) = delete;

  TM_DEVICE const RuntimeLayout& layout() const {
#if TM_ON_GPU
    return of_block<RuntimeLayout>();  // run_cuda_units has put it there
#else
    return *layout_;
#endif
  }
  TM_DEVICE const RuntimeConfig& config() const { return layout().config; }
  TM_DEVICE unsigned char* base() const { return base_; }
  TM_DEVICE RuntimeControl& control() const { return *at<RuntimeControl>(0); }

  TM_DEVICE TaskSlot& slot(SlotRef ref) const {
    return at<TaskSlot>(layout().rings[ref.ring()].slots_offset)[ref.place()];
  }
  TM_DEVICE DepEntry& dep(std::uint32_t ring, std::uint32_t place) const {
    return at<DepEntry>(layout().rings[ring].deps_offset)[place];
  }
  TM_DEVICE std::uint32_t& fanin_spill(std::uint32_t ring, std::uint32_t place) const {
    return at<std::uint32_t>(layout().rings[ring].fanin_offset)[place];
  }
  // The producers of a task, inline and spilled.
  TM_DEVICE std::uint32_t& fanin(TaskSlot& slot, std::uint32_t index) const {
    if (index < kFaninInline) return slot.fanin[index];
    const std::uint32_t ring = slot.id.ring();
    return fanin_spill(
        ring, (slot.fanin_spill + (index - kFaninInline)) % layout().config.rings[ring].dep_pool);
  }
  TM_DEVICE StoredTensor* tensors(const TaskSlot& slot) const {
    return at<StoredTensor>(slot.args_offset);
  }
  TM_DEVICE StoredScalar* scalars(const TaskSlot& slot) const {
    return at<StoredScalar>(slot.args_offset + slot.tensor_count * sizeof(StoredTensor));
  }

  TM_DEVICE Mailbox& mailbox(std::uint32_t core) const {
    return at<Mailbox>(layout().mailboxes_offset)[core];
  }
  TM_DEVICE DispatchCell& dispatch(std::uint32_t core, std::uint64_t token) const {
    const std::uint32_t depth = layout().config.mailbox_depth;
    return at<DispatchCell>(
        layout().dispatches_offset)[std::uint64_t{core} * depth + (token & (depth - 1))];
  }
  TM_DEVICE Doorbell& scheduler_bell(std::uint32_t index) const {
    return at<Doorbell>(layout().bells_offset)[index];
  }
  TM_DEVICE DeviceWord<std::uint32_t>& full_types(std::uint32_t scheduler) const {
    return at<FullTypes>(layout().full_offset)[scheduler].bits;
  }
  // One word per scheduler, for the watchdog of scheduler `index` alone.
  TM_DEVICE std::uint64_t* seen_of_peers(std::uint32_t index) const {
    return at<std::uint64_t>(layout().peers_offset) +
           std::uint64_t{index} * layout().config.scheduler_count;
  }
  TM_DEVICE ReadyQueue ready(TaskShape shape) const {
    const std::uint64_t offset =
        layout().ready_offset + static_cast<std::uint64_t>(shape) * layout().ready_bytes;
    return {at<ReadyQueueWords>(offset), at<ReadyCell>(offset + sizeof(ReadyQueueWords)),
            layout().ready_cells, layout().ready_bits};
  }
  // Tasks that wait for nobody, by number (iterations.h).
  TM_DEVICE std::uint32_t& root(std::uint64_t index) const {
    return at<std::uint32_t>(layout().roots_offset)[index];
  }
  TM_DEVICE TensorMap tensor_map() const {
    return {at<MapBucket>(layout().buckets_offset), at<MapEntry>(layout().map_offset),
            at<MapGroup>(layout().groups_offset), at<MapGroupKey>(layout().group_keys_offset),
            layout().config.tensormap_entries};
  }

  template <class T>
  TM_DEVICE T* at(std::uint64_t offset) const {
    return reinterpret_cast<T*>(base_ + offset);
  }

 private:
  unsigned char* base_;
  const RuntimeLayout* layout_;
};

}  // namespace tidemark
