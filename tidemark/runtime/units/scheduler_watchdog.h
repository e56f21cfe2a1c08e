// SPDX-License-Identifier: Apache-2.0
// A scheduler's own watchdog. It ends the run when a kernel it dispatched runs past its time, or
// when nothing runs although tasks remain. Waits for the recorder and copies for the dump do not
// count, nor does time in which this scheduler itself did not run; and a scheduler that does not
// poll is the host's to find (session/host_watchdog.h).
#pragma once

#include <cstdint>

#include "tidemark/base/watched_time.h"
#include "tidemark/record/device_env.h"
#include "tidemark/runtime/error_latch.h"
#include "tidemark/runtime/runtime_memory.h"
#include "tidemark/runtime/units/iterations.h"
#include "tidemark/runtime/units/unit_line.h"
#include "tidemark/schema/cluster_range.h"

namespace tidemark {

template <DeviceEnv Env>
class SchedulerWatchdog {
 public:
  TM_DEVICE SchedulerWatchdog(const RuntimeMemory& memory, RuntimeStatus* status,
                              std::uint32_t index)
      : memory_(memory),
        status_(status),
        latch_(&memory.control(), status),
        index_(index),
        clusters_(clusters_of(memory.config(), index)),
        limit_ticks_(memory.config().task_timeout_ticks),
        time_(limit_ticks_ / 8) {}

  // True: the run is over. Cheap enough for every idle round.
  TM_DEVICE bool look() {
    if (limit_ticks_ == 0) return false;
    const std::uint64_t now_ticks = Env::now_ticks();
    if (now_ticks - time_.last() < limit_ticks_ / 32) return false;
    const std::uint64_t watched_ticks = time_.look(now_ticks);
    if (time_.surplus() > 0) note_freeze(now_ticks, time_.surplus());
    return finds_late_kernel() || finds_no_progress(watched_ticks);
  }

 private:
  static constexpr std::uint32_t kFreezesMax = 8;

  // Time in which nobody watched: it ended then, and was so much more than a step.
  struct Freeze {
    std::uint64_t end_ticks;
    std::uint64_t surplus_ticks;
  };

  // The oldest two become one where there is no place: a kernel may get too much time, never too
  // little.
  TM_DEVICE void note_freeze(std::uint64_t end_ticks, std::uint64_t surplus_ticks) {
    if (freeze_count_ == kFreezesMax) {
      freezes_[1].surplus_ticks += freezes_[0].surplus_ticks;
      for (std::uint32_t i = 1; i < kFreezesMax; ++i) freezes_[i - 1] = freezes_[i];
      --freeze_count_;
    }
    freezes_[freeze_count_++] = {end_ticks, surplus_ticks};
  }
  // Of the time since then.
  TM_DEVICE std::uint64_t frozen_ticks(std::uint64_t since_ticks) const {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < freeze_count_; ++i) {
      if (freezes_[i].end_ticks <= since_ticks) continue;
      const std::uint64_t most = freezes_[i].end_ticks - since_ticks;
      sum += freezes_[i].surplus_ticks < most ? freezes_[i].surplus_ticks : most;
    }
    return sum;
  }

  TM_DEVICE const UnitProgress& line(std::uint32_t unit) const { return unit_lines(status_)[unit]; }

  TM_DEVICE TM_NOINLINE bool finds_late_kernel() {
    const UnitCounts units = memory_.config().units();
    for (std::uint32_t core = clusters_.first * kCoresPerCluster;
         core < clusters_.last * kCoresPerCluster; ++core) {
      const Mailbox& mailbox = memory_.mailbox(core);
      const std::uint64_t finished = mailbox.finished.load_acquire();  // pairs with [finished]
      if (mailbox.dispatched.load_relaxed() == finished || !is_late(line(units.core(core))))
        continue;
      // Just in time? pairs with [finished]
      if (mailbox.finished.load_acquire() != finished) continue;
      // Its line is that of the kernel before, until it has begun the next one.
      const SlotRef task{memory_.dispatch(core, finished).dispatch.task};
      if (memory_.slot(task).id.value != line(units.core(core)).task_id.load_relaxed()) continue;
      tell(HangClass::kRunningStalled, task.value, units.core(core));
      return true;
    }
    return false;
  }
  // In its kernel for too long, less what it waited for the recorder meanwhile.
  TM_DEVICE bool is_late(const UnitProgress& unit) const {
    // pairs with [unit state]
    if (unit.state.load_acquire() != UnitState::kBusy) return false;
    const std::uint64_t since_ticks = unit.since_ticks.load_relaxed();
    const std::uint64_t before_ticks = unit.waited_before_ticks.load_relaxed();
    // pairs with [wait begun] and [wait ended]
    if (unit.recorder.waiting.load_acquire() != 0) return false;
    const std::uint64_t waited_ticks =
        unit.recorder.waited_ticks.load_relaxed() - before_ticks + frozen_ticks(since_ticks);
    const std::uint64_t now_ticks = Env::now_ticks();
    return now_ticks > since_ticks && now_ticks - since_ticks > waited_ticks &&
           now_ticks - since_ticks - waited_ticks > patience_ticks() &&
           unit.since_ticks.load_acquire() == since_ticks;  // alone: a second look at one word
  }

  // An orchestration that waits for what the kernel writes has the same limit, and speaks first.
  TM_DEVICE std::uint64_t patience_ticks() const {
    const UnitProgress& orchestrator = line(0);
    const bool wants_element =
        // pairs with [unit state]
        orchestrator.state.load_acquire() == UnitState::kWaiting &&
        orchestrator.waits_for.load_relaxed() == Resource::kNone &&
        status_->orchestration_done.load_relaxed() == 0;
    return wants_element ? limit_ticks_ + limit_ticks_ / 2 : limit_ticks_;
  }

  TM_DEVICE TM_NOINLINE bool finds_no_progress(std::uint64_t watched_ticks) {
    // pairs with [completed counted]
    const std::uint64_t completed = memory_.control().completed.load_acquire();
    const std::uint64_t submitted = status_->submitted.load_acquire();  // alone: a figure
    if (completed != completed_ || submitted != submitted_ || completed >= submitted ||
        something_runs() || orchestrator_is_at_it()) {
      completed_ = completed;
      submitted_ = submitted;
      progress_ticks_ = watched_ticks;
      for (std::uint32_t i = 0; i < scheduler_count(); ++i) seen()[i] = loops_of(i);
      return false;
    }
    if (watched_ticks - progress_ticks_ < limit_ticks_) return false;
    for (std::uint32_t i = 0; i < scheduler_count(); ++i)
      if (i != index_ && loops_of(i) == seen()[i]) return false;
    bool ready = false;
    for (std::uint32_t shape = 0; shape < kTaskShapeCount; ++shape)
      ready = ready || !memory_.ready(static_cast<TaskShape>(shape)).empty();
    tell(ready ? HangClass::kReadyAllIdle : HangClass::kDependencyDeadlock, oldest_incomplete(),
         memory_.config().units().scheduler(index_));
    return true;
  }
  TM_DEVICE std::uint32_t scheduler_count() const { return memory_.config().scheduler_count; }
  // The rounds of all schedulers when there was progress last.
  TM_DEVICE std::uint64_t* seen() const { return memory_.seen_of_peers(index_); }
  TM_DEVICE std::uint64_t loops_of(std::uint32_t scheduler) const {
    return line(memory_.config().units().scheduler(scheduler)).loops.load_relaxed();
  }
  TM_DEVICE bool something_runs() const {
    for (std::uint32_t core = 0; core < memory_.config().core_count(); ++core) {
      const Mailbox& mailbox = memory_.mailbox(core);
      // pairs with [finished] and [dispatched]
      if (mailbox.finished.load_acquire() == mailbox.dispatched.load_acquire()) continue;
      // Not while it waits for other blocks to be placed; pairs with [unit state].
      if (line(memory_.config().units().core(core)).state.load_acquire() != UnitState::kWaiting)
        return true;
    }
    return false;
  }
  // In the program, or in a submit: its task is counted and not released yet.
  TM_DEVICE bool orchestrator_is_at_it() const {
    const UnitProgress& orchestrator = line(0);
    // pairs with [unit state], [wait begun] and [wait ended]
    return orchestrator.state.load_acquire() == UnitState::kBusy ||
           orchestrator.recorder.waiting.load_acquire() != 0;
  }

  static constexpr std::uint32_t kNoTask = ~0u;

  TM_DEVICE std::uint32_t oldest_incomplete() const {
    for (std::uint32_t ring = 0; ring < kRingCount; ++ring) {
      const std::uint32_t window = memory_.config().rings[ring].task_window;
      // alone: figures; a slot that they name wrongly is in another state, or names another task
      const std::uint64_t head = status_->rings[ring].head.load_acquire();
      std::uint64_t tail = status_->rings[ring].tail.load_acquire();  // alone: as above
      for (std::uint32_t step = 0; tail < head && step < window; ++tail, ++step) {
        const SlotRef ref = SlotRef::make(ring, static_cast<std::uint32_t>(tail & (window - 1)));
        if (!is_complete(memory_, memory_.slot(ref))) return ref.value;
      }
    }
    return kNoTask;
  }

  TM_DEVICE void tell(HangClass hang, std::uint32_t task, std::uint32_t unit) {
    ErrorDetails details{.code = ErrorCode::kSchedulerTimeout};
    details.hang = hang;
    details.unit = unit;
    details.capacity = memory_.config().task_timeout_ms;
    if (task != kNoTask) {
      const TaskSlot& slot = memory_.slot({task});
      details.task_id = slot.id.value;
      if (slot.submit_file < kSiteFilesMax)
        details.submit = {status_->site_files[slot.submit_file], slot.submit_line};
    }
    latch_.latch(details);
  }

  RuntimeMemory memory_;
  RuntimeStatus* status_;
  ErrorLatch latch_;
  std::uint32_t index_;
  ClusterRange clusters_;
  std::uint64_t limit_ticks_;
  WatchedTime time_;
  Freeze freezes_[kFreezesMax] = {};
  std::uint32_t freeze_count_ = 0;
  std::uint64_t completed_ = 0, submitted_ = 0, progress_ticks_ = 0;
};

}  // namespace tidemark
