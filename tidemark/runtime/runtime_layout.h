// SPDX-License-Identifier: Apache-2.0
// Where everything of a runtime is in device memory, as a pure function of its configuration.
// All references inside are offsets and places: the memory means the same wherever it is mapped,
// so a graph built on the host is uploaded as it is.
//
//   control │ mailboxes │ dispatches │ ready queues │ roots │ tensor map │ rings: slots, arguments,
//   dependencies, fanin, heap │ buffers of the workload │ scratch memory of the dump │ keys of the
//   tensor map's groups
#pragma once

#include <cstdint>

#include "tidemark/base/align.h"
#include "tidemark/runtime/entry_args.h"
#include "tidemark/runtime/graph/map_entry.h"
#include "tidemark/runtime/kernel_info.h"
#include "tidemark/runtime/runtime_status.h"
#include "tidemark/runtime/task_slot.h"
#include "tidemark/runtime/units/mailbox.h"
#include "tidemark/runtime/units/ready_queue.h"
#include "tidemark/schema/runtime_config.h"

namespace tidemark {

static_assert(kTaskArgsBytesMax ==
              kTensorsMax * sizeof(StoredTensor) + kScalarsMax * sizeof(StoredScalar));
// Buffers of the workload begin here, as the outputs of tasks do.
inline constexpr std::uint64_t kEntryAlign = 1024;

// Words of the whole device. What many look at is not beside what many change.
struct alignas(64) RuntimeControl {
  DeviceWord<ErrorCode> error;  // the first one stays; every unit looks at it in every turn
  alignas(64) DeviceWord<std::uint64_t> completed;   // tasks
  alignas(64) DeviceWord<std::uint64_t> collecting;  // whose blocks must start together: turns.h
  alignas(64) DeviceWord<std::uint64_t> submitted;
  DeviceWord<std::uint32_t> orchestration_done;
  Doorbell orchestrator;
  EntryArgs entry;
  // Of a graph that is run again (iterations.h). Writer: host, before launch.
  alignas(64) std::uint64_t root_count;  // tasks that wait for nobody
  std::uint64_t tasks_per_iteration;     // that somebody completes: not at once
  // Writer: the scheduler that completes the last task of an iteration.
  DeviceWord<std::uint64_t> iteration;
  DeviceWord<std::uint64_t> iteration_end;  // `completed` at the end of this one
  DeviceWord<std::uint64_t> roots_open;     // of all iterations so far
  // Writers: schedulers.
  alignas(64) DeviceWord<std::uint64_t> roots_taken;
};

// Of one scheduler. Bit per core type: each of its cores has something to do.
struct alignas(64) FullTypes {
  DeviceWord<std::uint32_t> bits;
};

struct RingLayout {
  std::uint64_t slots_offset = 0;
  std::uint64_t args_offset = 0;
  std::uint64_t args_bytes = 0;
  std::uint64_t deps_offset = 0;
  std::uint64_t fanin_offset = 0;
  std::uint64_t heap_offset = 0;
};

struct RuntimeLayout {
  RuntimeConfig config;
  std::uint64_t mailboxes_offset = 0;
  std::uint64_t dispatches_offset = 0;
  std::uint64_t bells_offset = 0;  // of the schedulers
  std::uint64_t full_offset = 0;   // of the schedulers, a line each
  std::uint64_t peers_offset = 0;  // what each scheduler saw of each, for its watchdog
  std::uint64_t ready_offset = 0;
  std::uint64_t ready_cells = 0;
  std::uint32_t ready_bits = 0;    // 2^bits cells
  std::uint64_t ready_bytes = 0;   // of one queue
  std::uint64_t roots_offset = 0;  // tasks that wait for nobody; only of a graph that is run again
  std::uint64_t buckets_offset = 0;
  std::uint64_t map_offset = 0;
  std::uint64_t groups_offset = 0;  // of the tensor map
  std::uint64_t group_keys_offset = 0;
  RingLayout rings[kRingCount];
  std::uint64_t entry_offset = 0;
  std::uint64_t scratch_words_offset = 0;  // of the dump: one word and one piece of memory per core
  std::uint64_t scratch_offset = 0;
  std::uint64_t scratch_bytes = 0;  // of one piece
  std::uint64_t total_bytes = 0;
};

TM_DEVICE constexpr RuntimeLayout lay_out(const RuntimeConfig& config) {
  RuntimeLayout layout{.config = config};
  std::uint64_t at = 0;
  const auto take = [&at](std::uint64_t bytes) {
    const std::uint64_t offset = at;
    at = round_up(at + bytes, 4096);
    return offset;
  };
  take(sizeof(RuntimeControl));
  layout.mailboxes_offset = take(config.core_count() * sizeof(Mailbox));
  layout.dispatches_offset =
      take(std::uint64_t{config.core_count()} * config.mailbox_depth * sizeof(DispatchCell));
  layout.bells_offset = take(config.scheduler_count * sizeof(Doorbell));
  layout.full_offset = take(config.scheduler_count * sizeof(FullTypes));
  layout.peers_offset =
      take(std::uint64_t{config.scheduler_count} * config.scheduler_count * sizeof(std::uint64_t));
  std::uint64_t slots = 0;
  for (const RingSizes& ring : config.rings) slots += ring.task_window;
  layout.ready_cells = 1;
  while (layout.ready_cells < slots) layout.ready_cells *= 2;
  layout.ready_bits = ReadyQueue::bits_of(layout.ready_cells);
  layout.ready_bytes =
      round_up(sizeof(ReadyQueueWords) + layout.ready_cells * sizeof(ReadyCell), 4096);
  layout.ready_offset = take(layout.ready_bytes * kTaskShapeCount);
  if (config.repeats()) layout.roots_offset = take(slots * sizeof(std::uint32_t));
  layout.buckets_offset = take(map_buckets(config.tensormap_entries) * sizeof(MapBucket));
  layout.map_offset = take(std::uint64_t{config.tensormap_entries} * sizeof(MapEntry));
  layout.groups_offset = take(std::uint64_t{config.tensormap_entries} * sizeof(MapGroup));
  for (std::uint32_t i = 0; i < kRingCount; ++i) {
    const RingSizes& sizes = config.rings[i];
    RingLayout& ring = layout.rings[i];
    ring.slots_offset = take(std::uint64_t{sizes.task_window} * sizeof(TaskSlot));
    ring.args_bytes = args_bytes_of(sizes);
    ring.args_offset = take(ring.args_bytes);
    ring.deps_offset = take(std::uint64_t{sizes.dep_pool} * sizeof(DepEntry));
    ring.fanin_offset = take(std::uint64_t{sizes.dep_pool} * sizeof(std::uint32_t));
    ring.heap_offset = take(sizes.heap_bytes);
  }
  layout.entry_offset = take(config.entry_bytes);
  if (config.dump.needs_scratch()) {
    layout.scratch_bytes = round_up(config.dump.scratch_bytes, 4096);
    layout.scratch_words_offset = take(config.core_count() * sizeof(DeviceWord<std::uint32_t>));
    layout.scratch_offset = take(config.core_count() * layout.scratch_bytes);
  }
  layout.group_keys_offset = take(std::uint64_t{config.tensormap_entries} * sizeof(MapGroupKey));
  layout.total_bytes = at;
  return layout;
}

}  // namespace tidemark
