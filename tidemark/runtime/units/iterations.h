// SPDX-License-Identifier: Apache-2.0
// A graph that is run again (RuntimeConfig::repeat). The host built it, so all of it is there, and
// nobody adds an edge any more. Whoever ends a task makes its slot ready for the next iteration at
// once; the task's id says which one that is. An iteration begins when all tasks of the one before
// are complete: the scheduler that counts the last one opens the roots, the tasks that wait for
// nobody, and all schedulers release them, some at a time.
//
//   end task ──▶ slot as it was at launch, id of the next iteration ──▶ count
//                                                    the last one ──▶ open the roots
//   every scheduler: roots open? take some ──▶ ready queues
//
// The workload's buffers are as the iteration before left them.
#pragma once

#include <cstdint>

#include "tidemark/runtime/runtime_status.h"
#include "tidemark/runtime/units/completion.h"
#include "tidemark/runtime/units/lanes.h"

namespace tidemark {

// By the host, for each such task.
TM_DEVICE inline void note_root(const RuntimeMemory& memory, SlotRef ref) {
  memory.root(memory.control().root_count++) = ref.value;
}
// By the host, at last. What is complete at once counts for every iteration.
TM_DEVICE inline void note_iterations(const RuntimeMemory& memory, std::uint64_t submitted,
                                      std::uint64_t complete_at_once) {
  RuntimeControl& control = memory.control();
  const std::uint64_t at_once = complete_at_once * memory.config().repeat;
  control.tasks_per_iteration = submitted - complete_at_once;
  control.completed.store_relaxed(at_once);
  control.iteration_end.store_relaxed(at_once + control.tasks_per_iteration);
  control.roots_open.store_relaxed(control.root_count);  // the host releases them itself
  control.roots_taken.store_relaxed(control.root_count);
}

// A scheduler's part in it.
template <UnitEnv Env>
class Iterations {
  using Lanes = LanesOf<Env>;

 public:
  TM_DEVICE Iterations(const RuntimeMemory& memory, RuntimeStatus* status, std::uint32_t scheduler)
      : memory_(memory), status_(status), repeats_(memory.config().repeats()) {
    if (repeats_ && scheduler == 0) status_->iterations_begin_ticks.store_relaxed(Env::now_ticks());
  }

  // The caller has counted `completed` tasks in all. True: with them an iteration is over, and the
  // next one begins.
  TM_DEVICE bool end_with(std::uint64_t completed) {
    // Nobody moves it while tasks of the iteration are left: pairs with [roots opened].
    return repeats_ && completed == memory_.control().iteration_end.load_relaxed() && begin_next();
  }
  TM_DEVICE bool has_roots() const {
    const RuntimeControl& control = memory_.control();
    return repeats_ && control.roots_taken.load_relaxed() < control.roots_open.load_relaxed();
  }
  // Some of the roots, by all lanes of the scheduler. False: there were none.
  TM_DEVICE bool release_roots() {
    if (!repeats_ || !first_says<Lanes>([&] { return has_roots() && take_some(); })) return false;
    for (std::uint64_t i = begin_ + Lanes::lane(); i < end_; i += Lanes::kCount) {
      const SlotRef ref{memory_.root(i % memory_.control().root_count)};
      make_ready<Env>(memory_, ref, memory_.slot(ref));
    }
    return true;
  }

 private:
  static constexpr std::uint64_t kAtOnce = 16;

  TM_DEVICE TM_NOINLINE bool begin_next() {
    RuntimeControl& control = memory_.control();
    const std::uint64_t next = control.iteration.load_relaxed() + 1;
    const std::uint64_t now_ticks = Env::now_ticks();
    if (next == 1) status_->first_iteration_ticks.store_relaxed(now_ticks);
    status_->last_iteration_ticks.store_relaxed(now_ticks);
    status_->iterations.store_relaxed(next);
    if (next == memory_.config().repeat) return false;
    control.iteration.store_relaxed(next);
    control.iteration_end.store_relaxed(control.iteration_end.load_relaxed() +
                                        control.tasks_per_iteration);
    // [roots opened]: with all slots as they were at launch
    control.roots_open.store_release((next + 1) * control.root_count);
    return true;
  }
  TM_DEVICE TM_NOINLINE bool take_some() {
    RuntimeControl& control = memory_.control();
    const std::uint64_t open = control.roots_open.load_acquire();  // pairs with [roots opened]
    begin_ = control.roots_taken.load_relaxed();
    do {
      if (begin_ >= open) return false;
      end_ = open - begin_ < kAtOnce ? open : begin_ + kAtOnce;
    } while (!control.roots_taken.replace_acq_rel(begin_, end_));  // alone: it divides the roots
    return true;
  }

  RuntimeMemory memory_;
  RuntimeStatus* status_;
  bool repeats_;
  std::uint64_t begin_ = 0, end_ = 0;  // roots that were taken last
};

// The task is complete in this iteration, whether or not it will run again.
TM_DEVICE inline bool is_complete(const RuntimeMemory& memory, const TaskSlot& slot) {
  // pairs with [task complete]
  if (slot.state.load_acquire() == TaskState::kCompleted) return true;
  return memory.config().repeats() && slot.id.lap() > memory.control().iteration.load_relaxed();
}

}  // namespace tidemark
