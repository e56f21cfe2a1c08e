// SPDX-License-Identifier: Apache-2.0
// What happens when a task is ready and when it is complete. Used by schedulers and by the
// orchestrator. Nothing of the task may be touched after its state says complete: the orchestrator
// may give its slot to another one at once.
#pragma once

#include <cstdint>

#include "tidemark/runtime/runtime_memory.h"
#include "tidemark/runtime/units/unit_env.h"

namespace tidemark {

template <UnitEnv Env>
TM_DEVICE void push_ready(const RuntimeMemory& memory, ReadyQueue queue, SlotRef ref) {
  queue.template push<Env>(ref.value, [&] {
    return memory.control().error.load_acquire() != ErrorCode::kNone;  // pairs with [error latched]
  });
}

// Which scheduler is woken first when there is something to dispatch; any of them may take it.
template <UnitEnv Env>
TM_DEVICE void make_ready(const RuntimeMemory& memory, SlotRef ref, const TaskSlot& slot) {
  const std::uint32_t teller = slot.id.local() % memory.config().scheduler_count;
  push_ready<Env>(memory, memory.ready(slot.shape), ref);
  memory.scheduler_bell(teller).template ring<Env>();
}

template <UnitEnv Env>
TM_DEVICE void complete_task(const RuntimeMemory& memory, SlotRef ref) {
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
  memory.control().completed.add_acq_rel(1);        // [completed counted]
}

}  // namespace tidemark
