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
  memory.ready(slot.shape).template push<Env>(ready_task(ref, slot), [&] {
    return memory.control().error.load_relaxed() != ErrorCode::kNone;
  });
  memory.scheduler_bell(teller).template ring<Env>();
}

// A task is complete; it is counted later.
template <UnitEnv Env>
TM_DEVICE void end_task(const RuntimeMemory& memory, SlotRef ref) {
  TaskSlot& slot = memory.slot(ref);
  // [list closed]: with all that the task wrote; pairs with [waiter linked]
  for (std::uint32_t link = slot.waiters.exchange_acq_rel(kListClosed); link != kNoEntry;) {
    const SlotRef place{link};
    const DepEntry entry = memory.dep(place.ring(), place.place());
    TaskSlot& consumer = memory.slot({entry.consumer});
    // Its entry goes with it once it runs: nothing of it is read after this. Whoever counts to 0
    // sees what all the others did: [producer done]; pairs with [producer done].
    if (consumer.pending.subtract_acq_rel(1) == 1)
      make_ready<Env>(memory, {entry.consumer}, consumer);
    link = entry.next;
  }
  for (std::uint32_t i = 0; i < slot.fanin_count; ++i) {
    const std::uint32_t producer = memory.fanin(slot, i);
    if ((producer & SlotRef::kRetainsBit) == 0) continue;
    memory.slot({producer & ~SlotRef::kRetainsBit}).released.add_acq_rel(1);  // [memory released]
  }
  slot.state.store_release(TaskState::kCompleted);  // [task complete]
}

TM_DEVICE inline void count_completed(const RuntimeMemory& memory, std::uint64_t count) {
  memory.control().completed.add_acq_rel(count);  // [completed counted]
}

template <UnitEnv Env>
TM_DEVICE void complete_task(const RuntimeMemory& memory, SlotRef ref) {
  end_task<Env>(memory, ref);
  count_completed(memory, 1);
}

}  // namespace tidemark
