// SPDX-License-Identifier: Apache-2.0
// A scheduler owns some clusters: it observes what their cores finished, completes tasks, and
// dispatches ready ones, which all schedulers share. It records blocks and rounds, where asked.
#pragma once

#include <cstdint>

#include "tidemark/record/recorder.h"
#include "tidemark/runtime/error_latch.h"
#include "tidemark/runtime/units/completion.h"
#include "tidemark/runtime/units/scheduler_watchdog.h"
#include "tidemark/runtime/units/unit_line.h"
#include "tidemark/runtime/units/unit_recorder.h"
#include "tidemark/schema/cluster_range.h"
#include "tidemark/schema/phase_span.h"
#include "tidemark/schema/task_span.h"

namespace tidemark {

template <UnitEnv Env>
class Scheduler {
 public:
  TM_DEVICE Scheduler(const RuntimeMemory& memory, RuntimeStatus* status, std::uint32_t index,
                      const RegionView* region = nullptr)
      : memory_(memory),
        latch_(&memory.control(), status),
        line_(status, memory.config().units().scheduler(index)),
        bell_(memory.scheduler_bell(index)),
        index_(index),
        clusters_(clusters_of(memory.config(), index)),
        depth_(memory.config().mailbox_depth),
        watchdog_(memory, status, index),
        finishes_(recorder_of<Recorder<TaskSpan, Env>>(
            region, memory.config().lanes().finishes(index), line_.recorder())),
        phases_(recorder_of<Recorder<SchedulerPhase, Env>>(
            region, memory.config().lanes().phases(index), line_.recorder())) {}

  // `stopped` says that the host wants the end. Returns when all tasks are complete or the run is
  // ending; then the cores have been asked to leave.
  template <class Stopped>
  TM_DEVICE void run(const Stopped& stopped) {
    line_.enter(UnitState::kBusy, Env::now_ticks());
    std::uint32_t looks = 0;
    for (std::uint32_t round = 0; !all_done();) {
      if (latch_.set()) break;
      line_.loops(++loop_);
      for (std::uint32_t i = 0; must_stall() && !stopped(); ++i) Env::pause(i);
      const bool worked = !leaves_all_to_first() && work();
      if (!worked || ++looks % kLooksPerStop == 0) {
        if (stopped()) latch_.latch({.code = ErrorCode::kAborted});
        if (latch_.set() || watchdog_.look()) break;
      }
      if (worked) {
        round = 0;
        continue;
      }
      bell_.template wait<Env>(round++, [&] { return has_work() || all_done() || latch_.set(); });
    }
    send_home();
    finishes_.close();
    phases_.close();
    line_.leave(Env::now_ticks());
  }

 private:
  // One round. True: there was something to do.
  TM_DEVICE bool work() {
    if (!phases_.enabled()) {
      const bool seen = observe();
      return dispatch() || seen;
    }
    const std::uint64_t begin_ticks = Env::now_ticks();
    const bool seen = observe();
    const std::uint64_t seen_ticks = seen ? Env::now_ticks() : begin_ticks;
    if (seen) tell(PhaseKind::kComplete, begin_ticks, seen_ticks, handled_);
    handled_ = 0;
    const bool given = dispatch();
    if (given) tell(PhaseKind::kDispatch, seen_ticks, Env::now_ticks(), given_);
    given_ = 0;
    return seen || given;
  }
  TM_DEVICE void tell(PhaseKind kind, std::uint64_t begin_ticks, std::uint64_t end_ticks,
                      std::uint32_t processed) {
    std::uint64_t ready = 0;
    for (std::uint32_t shape = 0; shape < kTaskShapeCount; ++shape)
      ready += memory_.ready(static_cast<TaskShape>(shape)).count();
    phases_.write({.kind = kind,
                   .begin_ticks = begin_ticks,
                   .end_ticks = end_ticks,
                   .loop = loop_,
                   .processed = processed,
                   .pop_hit = pop_hit_,
                   .pop_miss = pop_miss_,
                   .ready = static_cast<std::uint32_t>(ready)});
    pop_hit_ = pop_miss_ = 0;
  }

  // For tests of the host watchdog: the first scheduler stops polling while one of its cores has a
  // task, which then nobody else can complete. The others leave all work to it: on a busy machine
  // they would finish everything before its turn comes.
  TM_DEVICE bool leaves_all_to_first() const {
    return memory_.config().stall_scheduler_after != 0 && index_ != 0;
  }
  TM_DEVICE bool must_stall() const {
    const std::uint32_t after = memory_.config().stall_scheduler_after;
    if (after == 0 || index_ != 0 || completed_ < after) return false;
    for (std::uint32_t core = first_core(); core < last_core(); ++core)
      if (load(core) > 0) return true;
    return false;
  }

  TM_DEVICE bool all_done() const {
    const RuntimeControl& control = memory_.control();
    // pairs with [graph built] and [completed counted]
    return control.orchestration_done.load_acquire() != 0 &&
           control.completed.load_acquire() == control.submitted.load_acquire();
  }
  TM_DEVICE bool has_work() const {
    for (std::uint32_t core = first_core(); core < last_core(); ++core)
      if (memory_.mailbox(core).finished.load_acquire() != memory_.mailbox(core).handled)
        return true;  // pairs with [finished]
    for (std::uint32_t shape = 0; shape < kTaskShapeCount; ++shape)
      if (!memory_.ready(static_cast<TaskShape>(shape)).empty() && could_take(shape)) return true;
    return false;
  }
  TM_DEVICE bool could_take(std::uint32_t shape) const {
    const auto wanted = static_cast<TaskShape>(shape);
    if (wanted == TaskShape::kDummy) return true;
    const CoreType type = wanted == TaskShape::kAic ? CoreType::kAic : CoreType::kAiv;
    for (std::uint32_t core = first_core(); core < last_core(); ++core)
      if (load(core) == 0 && (wanted == TaskShape::kMix || core_type(core) == type)) return true;
    return false;
  }

  TM_DEVICE std::uint32_t first_core() const { return clusters_.first * kCoresPerCluster; }
  TM_DEVICE std::uint32_t last_core() const { return clusters_.last * kCoresPerCluster; }
  // Dispatches given and not seen finished.
  TM_DEVICE std::uint32_t load(std::uint32_t core) const {
    const Mailbox& mailbox = memory_.mailbox(core);
    return static_cast<std::uint32_t>(mailbox.dispatched.load_relaxed() - mailbox.handled);
  }

  // Takes the answers of the cores. True: there were some.
  TM_DEVICE bool observe() {
    bool seen = false;
    for (std::uint32_t core = first_core(); core < last_core(); ++core) {
      Mailbox& mailbox = memory_.mailbox(core);
      const std::uint64_t finished = mailbox.finished.load_acquire();  // pairs with [finished]
      if (mailbox.handled == finished) continue;
      const std::uint64_t finish_ticks = finishes_.enabled() ? Env::ordered_ticks() : 0;
      for (; mailbox.handled < finished; seen = true) {
        const Dispatch done = memory_.dispatch(core, mailbox.handled++);
        if (finishes_.enabled()) tell_finish(core, done, finish_ticks);
        ++handled_;
        // [part finished]; pairs with [part finished]: the last one sees what all parts wrote
        if (memory_.slot({done.task}).parts_left.subtract_acq_rel(1) == 1) complete({done.task});
      }
    }
    return seen;
  }

  TM_DEVICE void tell_finish(std::uint32_t core, const Dispatch& done, std::uint64_t ticks) {
    finishes_.write({.task_id = memory_.slot({done.task}).id.value,
                     .begin_ticks = done.dispatch_ticks,
                     .end_ticks = ticks,
                     .block = done.block,
                     .kernel = done.kernel,
                     .core = static_cast<std::uint16_t>(core)});
  }

  TM_DEVICE void complete(SlotRef ref) {
    complete_task<Env>(memory_, ref);
    line_.count(++completed_);
  }

  TM_DEVICE bool dispatch() {
    bool given = false;
    std::uint32_t task = 0;
    while (take(memory_.ready(TaskShape::kDummy), task)) {
      complete({task});
      given = true;
    }
    given |= dispatch_mixes();
    given |= dispatch_singles(TaskShape::kAic);
    given |= dispatch_singles(TaskShape::kAiv);
    return given;
  }

  TM_DEVICE bool take(ReadyQueue queue, std::uint32_t& task) {
    const bool taken = queue.take(task);
    ++(taken ? pop_hit_ : pop_miss_);
    return taken;
  }

  // A core waits behind its work only if there is much of it: otherwise another core, or another
  // scheduler's, may be free sooner.
  TM_DEVICE std::uint32_t allowed_load(std::uint64_t waiting, std::uint32_t cores) const {
    const std::uint64_t allowed = 1 + waiting / (cores > 0 ? cores : 1);
    return allowed < depth_ ? static_cast<std::uint32_t>(allowed) : depth_;
  }

  TM_DEVICE bool dispatch_singles(TaskShape shape) {
    const CoreType type = shape == TaskShape::kAic ? CoreType::kAic : CoreType::kAiv;
    ReadyQueue queue = memory_.ready(shape);
    const std::uint32_t cores = (clusters_.last - clusters_.first) * cores_in_cluster(type);
    bool given = false;
    for (;;) {
      const std::uint64_t waiting = queue.count();
      if (waiting == 0) {
        ++pop_miss_;
        return given;
      }
      const std::uint32_t core = least_loaded(type, allowed_load(waiting - 1, cores));
      if (core == kNoCore) {
        pass_on();
        return given;
      }
      std::uint32_t task = 0;
      if (!take(queue, task)) return given;
      TaskSlot& slot = memory_.slot({task});
      const std::uint16_t kernel = slot.kernels[type == CoreType::kAic ? 0 : 1];
      if (slot.block_count == 1) {
        give(core, task, kernel, 0, 0);
        given = true;
        continue;
      }
      const Given blocks = give_blocks(queue, {task}, type, kernel);
      given |= blocks.some;
      if (!blocks.all) return given;
    }
  }

  // There is more to do than this scheduler has cores for: the next one may be asleep beside some.
  TM_DEVICE void pass_on() {
    const std::uint32_t count = memory_.config().scheduler_count;
    if (count > 1) memory_.scheduler_bell((index_ + 1) % count).template ring<Env>();
  }

  struct Given {
    bool some = false, all = false;
  };

  // Blocks of one task, until they are all given or `find` knows no place. A task that has blocks
  // left goes back into the queue, for whoever has a core next.
  template <class Find, class GiveOne>
  TM_DEVICE Given give_blocks(ReadyQueue& queue, SlotRef ref, const Find& find,
                              const GiveOne& give_one) {
    TaskSlot& slot = memory_.slot(ref);
    const bool together = slot.sync_start != 0;
    Given given;
    if (together && !claim_sync(ref)) {
      push_ready<Env>(memory_, queue, ref);
      return given;
    }
    // Nothing of the slot is read once the last block is given: the task may be complete then.
    const std::uint32_t block_count = slot.block_count;
    // pairs with [blocks left]
    for (std::uint32_t block = slot.next_block.load_acquire(); block < block_count; ++block) {
      const std::uint32_t place = find();
      if (place == kNoCore) {
        slot.next_block.store_release(block);  // [blocks left]
        push_ready<Env>(memory_, queue, ref);
        return given;
      }
      if (together && block + 1 == block_count) leave_sync();
      give_one(place, block);
      given.some = true;
    }
    given.all = true;
    return given;
  }
  TM_DEVICE Given give_blocks(ReadyQueue& queue, SlotRef ref, CoreType type, std::uint16_t kernel) {
    return give_blocks(
        queue, ref, [&] { return least_loaded(type, 1); },
        [&](std::uint32_t core, std::uint32_t block) { give(core, ref.value, kernel, block, 0); });
  }

  // One task at a time may collect cores: two that each hold some would wait for ever.
  TM_DEVICE bool claim_sync(SlotRef ref) {
    std::uint32_t owner = 0;
    return memory_.control().sync_owner.replace_acq_rel(owner, ref.value + 1) ||
           owner == ref.value + 1;  // pairs with [cores collected]
  }
  // [cores collected]
  TM_DEVICE void leave_sync() { memory_.control().sync_owner.store_release(0); }

  TM_DEVICE bool dispatch_mixes() {
    ReadyQueue queue = memory_.ready(TaskShape::kMix);
    bool given = false;
    std::uint32_t task = 0;
    while (!queue.empty()) {
      if (!any_free_cluster()) {
        pass_on();
        return given;
      }
      if (!take(queue, task)) return given;
      const Given blocks = give_mix(queue, {task});
      given |= blocks.some;
      if (!blocks.all) return given;
    }
    return given;
  }

  TM_DEVICE bool any_free_cluster() const {
    for (std::uint32_t core = first_core(); core < last_core(); ++core)
      if (load(core) == 0) return true;
    return false;
  }

  TM_DEVICE Given give_mix(ReadyQueue& queue, SlotRef ref) {
    const TaskSlot& slot = memory_.slot(ref);
    const std::uint16_t kernels[kKernelsMax] = {slot.kernels[0], slot.kernels[1], slot.kernels[2]};
    return give_blocks(
        queue, ref, [&] { return free_cluster(kernels); },
        [&](std::uint32_t cluster, std::uint32_t block) {
          // All kernels of a block at once: two mixes are in the same order in all mailboxes.
          for (std::uint32_t part = 0; part < kKernelsMax; ++part)
            if (kernels[part] != kNoKernel)
              give(core_number(cluster, part), ref.value, kernels[part], block, part);
        });
  }

  static constexpr std::uint32_t kNoCore = ~0u;
  static constexpr std::uint32_t kLooksPerStop = 256;  // while there is always something to do

  // The core of a type with the least to do, below the limit. Looks first at the one used last: it
  // is awake.
  TM_DEVICE std::uint32_t least_loaded(CoreType type, std::uint32_t limit) {
    const std::uint32_t first = first_core(), count = last_core() - first;
    std::uint32_t& last = type == CoreType::kAic ? last_aic_ : last_aiv_;
    std::uint32_t best = kNoCore, best_load = limit;
    for (std::uint32_t step = 0; step < count; ++step) {
      std::uint32_t core = last + step;
      if (core >= count) core -= count;
      if (core_type(first + core) != type) continue;
      const std::uint32_t now = load(first + core);
      if (now >= best_load) continue;
      best = core;
      best_load = now;
      if (now == 0) break;
    }
    if (best == kNoCore) return kNoCore;
    last = best;
    return first + best;
  }

  TM_DEVICE std::uint32_t free_cluster(const std::uint16_t* kernels) const {
    for (std::uint32_t cluster = clusters_.first; cluster < clusters_.last; ++cluster) {
      bool free = true;
      for (std::uint32_t part = 0; part < kKernelsMax; ++part)
        free = free && (kernels[part] == kNoKernel || load(core_number(cluster, part)) == 0);
      if (free) return cluster;
    }
    return kNoCore;
  }

  TM_DEVICE void give(std::uint32_t core, std::uint32_t task, std::uint16_t kernel,
                      std::uint32_t block, std::uint32_t part) {
    ++given_;
    Mailbox& mailbox = memory_.mailbox(core);
    const std::uint64_t token = mailbox.dispatched.load_relaxed();
    memory_.dispatch(core, token) = {.task = task,
                                     .kernel = kernel,
                                     .part = static_cast<std::uint16_t>(part),
                                     .block = block,
                                     .reserved = 0,
                                     .dispatch_ticks = Env::now_ticks()};
    mailbox.dispatched.store_release(token + 1);  // [dispatched]
    mailbox.doorbell.template ring<Env>();
  }

  TM_DEVICE void send_home() {
    for (std::uint32_t core = first_core(); core < last_core(); ++core) {
      memory_.mailbox(core).leave.store_release(1);  // [sent home]
      memory_.mailbox(core).doorbell.template ring<Env>();
    }
    // Whoever sleeps must see the end too.
    for (std::uint32_t i = 0; i < memory_.config().scheduler_count; ++i)
      memory_.scheduler_bell(i).template ring<Env>();
    memory_.control().orchestrator.template ring<Env>();
  }

  RuntimeMemory memory_;
  ErrorLatch latch_;
  UnitLine line_;
  Doorbell& bell_;
  std::uint32_t index_;
  ClusterRange clusters_;
  std::uint32_t depth_;
  SchedulerWatchdog<Env> watchdog_;
  std::uint32_t last_aic_ = 0, last_aiv_ = 1;
  std::uint64_t completed_ = 0, loop_ = 0;
  std::uint32_t handled_ = 0, given_ = 0, pop_hit_ = 0, pop_miss_ = 0;  // since the last record
  Recorder<TaskSpan, Env> finishes_;
  Recorder<SchedulerPhase, Env> phases_;
};

}  // namespace tidemark
