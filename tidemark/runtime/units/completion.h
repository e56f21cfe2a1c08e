// SPDX-License-Identifier: Apache-2.0
// What happens when a task is ready and when it is complete. Used by schedulers and by the
// orchestrator. Nothing of the task may be touched after its state says complete: the orchestrator
// may give its slot to another one at once.
#pragma once

#include <cstdint>

#include "tidemark/runtime/runtime_memory.h"
#include "tidemark/runtime/units/unit_env.h"

namespace tidemark {

TM_DEVICE inline ReadyTask ready_task(SlotRef ref, const TaskSlot& slot) {
  ReadyTask ready{.task = ref.value,
                  .blocks = slot.shape == TaskShape::kDummy ? 1 : slot.block_count,
                  .parts = 0,
                  .together = slot.sync_start != 0 && slot.block_count > 1};
  for (std::uint32_t part = 0; part < kKernelsMax; ++part)
    if (slot.kernels[part] != kNoKernel) ready.parts |= 1u << part;
  if (slot.block_count != 1) return ready;
  if (slot.shape == TaskShape::kAic) ready.kernel = slot.kernels[0];
  if (slot.shape == TaskShape::kAiv) ready.kernel = slot.kernels[1];
  return ready;
}

// Which scheduler is woken first when there is something to dispatch; any of them may take it.
template <UnitEnv Env>
TM_DEVICE void make_ready(const RuntimeMemory& memory, SlotRef ref, TaskSlot& slot) {
  const std::uint32_t teller = slot.id.local() % memory.config().scheduler_count;
  // A mix competes with the tasks of two queues: what is in them now is before it.
  if (slot.shape == TaskShape::kMix) {
    slot.behind[0].store_relaxed(memory.ready(TaskShape::kAic).pushed());
    slot.behind[1].store_relaxed(memory.ready(TaskShape::kAiv).pushed());
  }
  const TaskShape queue = memory.config().queue_of(slot.shape);
  memory.ready(queue).template push<Env>(ready_task(ref, slot), [&] {
    return memory.control().error.load_relaxed() != ErrorCode::kNone;
  });
  memory.scheduler_bell(teller).template ring<Env>();
}

// For the next iteration, as it was at launch. Only the caller, who ends the task, knows the slot:
// its producers count it down again when they have run again. True: there is a next one.
TM_DEVICE inline bool rearm(const RuntimeMemory& memory, TaskSlot& slot) {
  if (!memory.config().repeats() || slot.id.lap() + 1 >= memory.config().repeat) return false;
  std::uint32_t kernel_count = 0;
  for (const std::uint16_t kernel : slot.kernels) kernel_count += kernel != kNoKernel ? 1 : 0;
  // All of these are handed on with the count of the task: [completed counted].
  slot.pending.store_relaxed(slot.pending_first);
  slot.parts_left.store_relaxed(slot.block_count * kernel_count);
  slot.placed.store_relaxed(0);
  slot.dump_gate.store_relaxed(0);
  slot.dump_left.store_relaxed(slot.block_count * kernel_count);
  slot.id = slot.id.next_lap();
  return true;
}

// Of a graph that is whole: nobody adds to the list of those that wait, and it stays for the next
// iteration; nothing is given back.
template <class Ready>
TM_DEVICE void end_task_of_whole(const RuntimeMemory& memory, TaskSlot& slot, const Ready& ready) {
  const bool again = rearm(memory, slot);
  for (std::uint32_t link = slot.waiters.load_relaxed(); link != kNoEntry;) {
    const SlotRef place{link};
    const DepEntry entry = memory.dep(place.ring(), place.place());
    TaskSlot& consumer = memory.slot({entry.consumer});
    if (consumer.pending.subtract_acq_rel(1) == 1)  // [producer done]; pairs with [producer done]
      ready(SlotRef{entry.consumer}, consumer);
    link = entry.next;
  }
  if (!again) slot.state.store_release(TaskState::kCompleted);  // [task complete]
}

// Parts of tasks that have ended. Those of one task often end together, and are counted once.
class PartCounts {
 public:
  static constexpr std::uint32_t kNoTask = ~0u;

  // Another part of this task. Returns the task before it, if with what ended all of its parts
  // have.
  TM_DEVICE std::uint32_t add(const RuntimeMemory& memory, std::uint32_t task) {
    const std::uint32_t ended = task == task_ ? kNoTask : settle(memory);
    task_ = task;
    ++count_;
    return ended;
  }
  // The same for the last one: nothing is left to be counted.
  TM_DEVICE std::uint32_t settle(const RuntimeMemory& memory) {
    const std::uint32_t count = count_;
    count_ = 0;
    if (count == 0) return kNoTask;
    // [part finished]; pairs with [part finished]: the last one sees what all parts wrote
    const bool ended = memory.slot({task_}).parts_left.subtract_acq_rel(count) == count;
    return ended ? task_ : kNoTask;
  }

 private:
  std::uint32_t task_ = 0, count_ = 0;
};

// All of the graph is there before any of it runs.
TM_DEVICE inline bool graph_is_whole(const RuntimeMemory& memory) {
  return !memory.config().reclaims() && memory.control().tasks_per_iteration > 0;
}

// A task is complete; it is counted later. is_whole: graph_is_whole(). ready(SlotRef, TaskSlot&) is
// told of each task that waited for it alone: make_ready, or what does as much.
template <class Ready>
TM_DEVICE void end_task(const RuntimeMemory& memory, SlotRef ref, bool is_whole,
                        const Ready& ready) {
  TaskSlot& slot = memory.slot(ref);
  if (is_whole) return end_task_of_whole(memory, slot, ready);
  // [list closed]: with all that the task wrote; pairs with [waiter linked]
  for (std::uint32_t link = slot.waiters.exchange_acq_rel(kListClosed); link != kNoEntry;) {
    const SlotRef place{link};
    const DepEntry entry = memory.dep(place.ring(), place.place());
    TaskSlot& consumer = memory.slot({entry.consumer});
    // Its entry goes with it once it runs: nothing of it is read after this. Whoever counts to 0
    // sees what all the others did: [producer done]; pairs with [producer done].
    if (consumer.pending.subtract_acq_rel(1) == 1) ready(SlotRef{entry.consumer}, consumer);
    link = entry.next;
  }
  for (std::uint32_t i = 0; i < slot.fanin_count; ++i) {
    const std::uint32_t producer = memory.fanin(slot, i);
    if ((producer & SlotRef::kRetainsBit) == 0) continue;
    memory.slot({producer & ~SlotRef::kRetainsBit}).released.add_acq_rel(1);  // [memory released]
  }
  slot.state.store_release(TaskState::kCompleted);  // [task complete]
}

// Returns how many there are now.
TM_DEVICE inline std::uint64_t count_completed(const RuntimeMemory& memory, std::uint64_t count) {
  return memory.control().completed.add_acq_rel(count) + count;  // [completed counted]
}

// The graph is whole, and all of it is complete.
TM_DEVICE inline bool all_complete(const RuntimeMemory& memory) {
  const RuntimeControl& control = memory.control();
  if (control.completed.load_relaxed() != control.submitted.load_relaxed()) return false;
  // pairs with [graph built] and [completed counted]
  return control.orchestration_done.load_relaxed() != 0 &&
         control.orchestration_done.load_acquire() != 0 &&
         control.completed.load_acquire() == control.submitted.load_acquire();
}

template <UnitEnv Env>
TM_DEVICE void complete_task(const RuntimeMemory& memory, SlotRef ref) {
  end_task(memory, ref, graph_is_whole(memory),
           [&](SlotRef consumer, TaskSlot& slot) { make_ready<Env>(memory, consumer, slot); });
  count_completed(memory, 1);
}

}  // namespace tidemark
