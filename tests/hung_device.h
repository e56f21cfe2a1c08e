// SPDX-License-Identifier: Apache-2.0
// Test support: a run that hangs, as it stands in a region and in the memory of a device, and
// seeded damage to everything that is read of it.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "fuzz/byte_source.h"
#include "tidemark/collect/testing/planned_region.h"
#include "tidemark/device/device_memory.h"
#include "tidemark/runtime/runtime_layout.h"
#include "tidemark/runtime/units/unit_line.h"

namespace tidemark::samples {

using fuzz::SeededBits;

inline constexpr std::uint32_t kWindow = 16, kDepPool = 32;
inline constexpr std::uint64_t kElements = 64;
inline constexpr std::uint32_t kTasks = 9, kFirst = 2;  // tasks kFirst .. kTasks stand in ring 0

inline RuntimeConfig small_config() {
  RuntimeConfig config;
  config.scheduler_count = 2;
  config.mailbox_depth = 2;
  config.tensormap_entries = 16;
  config.entry_bytes = 16 * 1024;
  config.task_timeout_ms = 700;
  for (RingSizes& ring : config.rings)
    ring = {.task_window = kWindow, .dep_pool = kDepPool, .heap_bytes = 4096};
  return config;
}

// A hung run as it stands in a region and in the memory of a device, and the damage to it.
class HungDevice {
 public:
  HungDevice()
      : config_(small_config()),
        layout_(lay_out(config_)),
        region_({.lanes = {{}, {.unit = 1}},
                 .recorder = {.page_bytes = 1024, .pool_bytes = 8 * 1024},
                 .status_bytes = status_bytes(config_.units())}),
        memory_(DeviceMemory::create(layout_.total_bytes).value()),
        mapping_(map_device_memory(memory_.fd(), memory_.bytes()).value()) {
    fill();
    good_region_.assign(region_.bytes().begin(), region_.bytes().end());
    good_memory_.assign(base(), base() + layout_.total_bytes);
  }
  void restore() {
    std::copy(good_region_.begin(), good_region_.end(), region_.bytes().begin());
    std::copy(good_memory_.begin(), good_memory_.end(), base());
  }

  void tell_lie(SeededBits& bits) {
    const RegionLayout& layout = region_.plan().layout;
    const UnitCounts units = config_.units();
    switch (bits.below(9)) {
      case 0:
        return put(layout.status_offset + word_below(bits, sizeof(RuntimeStatus)), bits);
      case 1:
        return put(layout.status_offset + offsetof(RuntimeStatus, rings) +
                       word_below(bits, sizeof(RingStatus) * kRingCount),
                   bits);
      case 2:
        return put(layout.status_offset + kUnitLinesOffset +
                       word_below(bits, units.total() * sizeof(UnitProgress)),
                   bits);
      case 3:
        return put(layout.lane_offset(0) + word_below(bits, 2 * sizeof(LaneEntry)), bits);
      case 4:
        return put(word_below(bits, layout.total_bytes), bits);  // pages, indices, names
      case 5:
        return put_memory(
            layout_.rings[0].slots_offset + word_below(bits, kWindow * sizeof(TaskSlot)), bits);
      case 6:
        return put_memory(
            layout_.rings[0].deps_offset + word_below(bits, kDepPool * sizeof(DepEntry)), bits);
      case 7:
        return put_memory(
            layout_.entry_offset + word_below(bits, (kTasks + 1) * 2 * sizeof(StoredTensor)), bits);
      default:
        return put_memory(word_below(bits, layout_.total_bytes), bits);
    }
  }

  [[nodiscard]] const RuntimeConfig& config() const { return config_; }
  [[nodiscard]] const RuntimeLayout& layout() const { return layout_; }
  [[nodiscard]] RuntimeStatus& status() {
    return *reinterpret_cast<RuntimeStatus*>(region_.bytes().data() +
                                             region_layout().status_offset);
  }
  // As the host has it.
  [[nodiscard]] const unsigned char* image() const {
    return static_cast<const unsigned char*>(mapping_.base());
  }
  [[nodiscard]] const RegionLayout& region_layout() const { return region_.plan().layout; }
  [[nodiscard]] RegionPort& port() { return region_.port(); }
  [[nodiscard]] const DeviceMemory& memory() const { return memory_; }
  StoredTensor& tensor(std::uint32_t task, std::uint32_t index) {
    return reinterpret_cast<StoredTensor*>(base() + layout_.entry_offset)[task * 2 + index];
  }
  TaskSlot& slot(std::uint32_t task) {
    return reinterpret_cast<TaskSlot*>(base() + layout_.rings[0].slots_offset)[task % kWindow];
  }
  DepEntry& dep(std::uint32_t place) {
    return reinterpret_cast<DepEntry*>(base() + layout_.rings[0].deps_offset)[place];
  }

 private:
  unsigned char* base() { return static_cast<unsigned char*>(mapping_.base()); }
  static std::uint64_t word_below(SeededBits& bits, std::uint64_t bytes) {
    return bits.below(bytes / 8) * 8;
  }
  std::uint64_t number(SeededBits& bits) {
    const std::uint64_t edges[] = {0,
                                   1,
                                   ~0ull,
                                   ~0ull - 1,
                                   1ull << 63,
                                   0xFFFFFFFFull,
                                   0xFFFFFFFF00000000ull,
                                   layout_.total_bytes,
                                   layout_.total_bytes - 1};
    const std::uint64_t choice = bits.below(12);
    if (choice < std::size(edges)) return edges[choice];
    if (choice == 9) return bits.below(kWindow * 2);
    if (choice == 10) return bits.below(6) << 32 | bits.below(6);  // two small words
    return bits.next();
  }
  void put(std::uint64_t offset, SeededBits& bits) {
    const std::uint64_t value = number(bits);
    std::memcpy(region_.bytes().data() + offset, &value, 8);
  }
  void put_memory(std::uint64_t offset, SeededBits& bits) {
    const std::uint64_t value = number(bits);
    std::memcpy(base() + offset, &value, 8);
  }

  void fill() {
    const UnitCounts units = config_.units();
    RuntimeStatus* const status = &this->status();
    status->submitted.store_release(kTasks + 1);
    status->rings[0].head.store_release(kTasks + 1);
    status->rings[0].tail.store_release(kFirst);
    std::strcpy(status->site_files[0], "program.h");
    for (std::uint32_t unit = 0; unit < units.total(); ++unit) {
      UnitProgress& line = unit_lines(status)[unit];
      line.state.store_release(UnitState::kBusy);
      line.since_ticks.store_release(1000 + unit);
      line.task_id.store_release(unit < units.core(0) ? kTasks : kFirst + unit - units.core(0));
    }
    for (std::uint32_t task = kFirst; task <= kTasks; ++task) {
      TaskSlot& at = slot(task);
      at.id = TaskId::make(0, task);
      at.block_count = 1;
      at.tensor_count = 2;
      at.args_offset = layout_.entry_offset + task * 2 * sizeof(StoredTensor);
      at.submit_line = 10 + task;
      at.kernels[1] = at.kernels[2] = kNoKernel;
      at.pending.store_release(task == kFirst ? 0 : 1);
      at.parts_left.store_release(1);
      // Each waits for the one before it.
      at.waiters.store_release(task < kTasks ? task : kNoEntry);
      dep(task) = {.next = kNoEntry, .consumer = SlotRef::make(0, task + 1).value};
      for (std::uint32_t i = 0; i < 2; ++i) {
        StoredTensor& stored = tensor(task, i);
        stored = {};
        stored.view =
            TensorView::row_major(layout_.rings[0].heap_offset, DType::kFloat32, {1, {kElements}});
        stored.access = i == 0 ? Access::kInput : Access::kOutput;
      }
    }
  }

  RuntimeConfig config_;
  RuntimeLayout layout_;
  PlannedRegion region_;
  DeviceMemory memory_;
  MappedMemory mapping_;
  std::vector<unsigned char> good_region_, good_memory_;
};

}  // namespace tidemark::samples
