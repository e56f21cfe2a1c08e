// SPDX-License-Identifier: Apache-2.0
// A scheduler owns some clusters: it observes what their cores finished, completes tasks, and
// dispatches ready ones, which all schedulers share. It records blocks and rounds, where asked.
#pragma once

#include <cstdint>

#include "tidemark/runtime/error_latch.h"
#include "tidemark/runtime/units/iterations.h"
#include "tidemark/runtime/units/overtaken.h"
#include "tidemark/runtime/units/own_cores.h"
#include "tidemark/runtime/units/scheduler_records.h"
#include "tidemark/runtime/units/scheduler_watchdog.h"
#include "tidemark/runtime/units/turns.h"
#include "tidemark/runtime/units/unit_line.h"

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
        depth_(memory.config().mailbox_depth),
        turns_(memory_),
        cores_(memory_, index),
        overtaken_(memory_, cores_),
        watchdog_(memory, status, index),
        iterations_(memory, status, index),
        records_(memory, index, region, line_.recorder()) {}

  // `stopped` says that the host wants the end. Returns when all tasks are complete or the run is
  // ending; then the cores have been asked to leave.
  template <class Stopped>
  TM_DEVICE void run(const Stopped& stopped) {
    line_.enter(UnitState::kBusy, Env::now_ticks());
    for (std::uint32_t round = 0, looks = 0; !all_complete(memory_);) {
      if (latch_.set()) break;
      ++loop_;
      if (kSleeps<Env> || loop_ % kLoopsPerLine == 0) line_.loops(loop_);
      for (std::uint32_t i = 0; must_stall() && !(kSleeps<Env> && stopped()); ++i) Env::pause(i);
      const bool worked = !leaves_all_to_first() && work();
      const bool looks_around = ++looks % kLooksPerStop == 0 || round >= kRoundsAwake<Env>;
      if (!worked || looks_around) {
        if (stopped()) latch_.latch({.code = ErrorCode::kAborted});
        if (latch_.set() || watchdog_.look()) break;
      }
      const bool relieved = looks_around && !leaves_all_to_first() && overtaken_.relieve();
      if (worked || relieved) {
        round = 0;
        continue;
      }
      bell_.template wait<Env>(round++,
                               [&] { return has_work() || all_complete(memory_) || latch_.set(); });
    }
    send_home();
    records_.close();
    line_.leave(Env::now_ticks());
  }

 private:
  // One round. True: there was something to do.
  TM_DEVICE bool work() {
    if (!records_.has_phases()) {
      const bool seen = observe();
      return dispatch() || seen;
    }
    const std::uint64_t begin_ticks = Env::now_ticks();
    const bool seen = observe();
    const std::uint64_t seen_ticks = seen ? Env::now_ticks() : begin_ticks;
    if (seen)
      records_.phase(PhaseKind::kComplete, begin_ticks, seen_ticks, loop_, records_.handled);
    records_.handled = 0;
    const bool given = dispatch();
    if (given)
      records_.phase(PhaseKind::kDispatch, seen_ticks, Env::now_ticks(), loop_, records_.given);
    records_.given = 0;
    return seen || given;
  }
  // For tests of the host watchdog: the first scheduler stops polling while one of its cores has a
  // task, which then nobody else can complete. The others leave all work to it: on a busy machine
  // they would finish everything before its turn comes.
  TM_DEVICE bool leaves_all_to_first() const {
    return memory_.config().stall_scheduler_after != 0 && index_ != 0;
  }
  TM_DEVICE bool must_stall() const {
    const std::uint32_t after = memory_.config().stall_scheduler_after;
    return after != 0 && index_ == 0 && completed_ >= after && cores_.any_busy();
  }

  TM_DEVICE bool has_work() const {
    for (std::uint32_t core = cores_.first(); core < cores_.last(); ++core)
      if (memory_.mailbox(core).finished.load_acquire() != cores_.handled(core))
        return true;  // pairs with [finished]
    if (iterations_.has_roots()) return true;
    for (std::uint32_t shape = 0; shape < kTaskShapeCount; ++shape) {
      const auto wanted = static_cast<TaskShape>(shape);
      const ReadyQueue queue = memory_.ready(wanted);
      ReadyHead head;
      if (queue.peek(head) && place_for(wanted, queue, head) != kNone) return true;
    }
    return false;
  }

  // Takes the answers of the cores. True: there were some.
  TM_DEVICE bool observe() {
    bool seen = false;
    for (std::uint32_t core = cores_.first(); core < cores_.last(); core += kLoadsTogether<Env>)
      for (std::uint32_t bits = cores_.answered(core); bits != 0; bits &= bits - 1)
        seen |= observe(core + lowest_bit(bits));
    end(parts_.settle(memory_));
    if (seen) count_ended();
    return seen;
  }
  TM_DEVICE bool observe(std::uint32_t core) {
    const Mailbox& mailbox = memory_.mailbox(core);
    const std::uint64_t finished = mailbox.finished.load_acquire();  // pairs with [finished]
    const std::uint64_t finish_ticks = records_.has_finishes() ? Env::ordered_ticks() : 0;
    bool seen = false;
    for (std::uint64_t token = cores_.handled(core); token < finished; ++token, seen = true) {
      const DispatchCell& cell = memory_.dispatch(core, token);
      const DispatchClaim::Fate fate = mailbox.fate(token, cell);
      if (fate == DispatchClaim::Fate::kMoving) break;  // not copied out yet
      cores_.handle(core);
      if (fate == DispatchClaim::Fate::kMoved) continue;
      const Dispatch done = cell.dispatch;
      if (records_.has_finishes()) records_.finish(core, done, finish_ticks);
      ++records_.handled;
      end((done.flags & kOnlyPart) != 0 ? done.task : parts_.add(memory_, done.task));
    }
    return seen;
  }

  TM_DEVICE void end(std::uint32_t task) {
    if (task == PartCounts::kNoTask) return;
    end_task<Env>(memory_, {task});
    ++ended_;
  }
  TM_DEVICE void count_ended() {
    if (ended_ == 0) return;
    const std::uint64_t all = count_completed(memory_, ended_);
    completed_ += ended_;
    ended_ = 0;
    line_.count(completed_);
    if (iterations_.end_with(all)) ring_others();
  }

  TM_DEVICE bool dispatch() {
    bool given = iterations_.release_roots();
    const std::uint32_t waiting = waiting_shapes();
    given |= end_dummies(waiting);
    given |= overtaken_.move(CoreType::kAic);
    given |= overtaken_.move(CoreType::kAiv);
    given |= dispatch_all(TaskShape::kMix, waiting);
    given |= dispatch_all(TaskShape::kAic, waiting);
    given |= dispatch_all(TaskShape::kAiv, waiting);
    cores_.tell_idle();
    cores_.tell_cores();
    return given;
  }
  // Bit per shape: something is in its queue, or was since the last look.
  TM_DEVICE std::uint32_t waiting_shapes() const {
    std::uint64_t turns[kTaskShapeCount];
    TM_UNROLL
    for (std::uint32_t shape = 0; shape < kTaskShapeCount; ++shape)
      turns[shape] = memory_.ready(static_cast<TaskShape>(shape)).cell_turn(first_[shape]);
    std::uint32_t bits = 0;
    TM_UNROLL
    for (std::uint32_t shape = 0; shape < kTaskShapeCount; ++shape)
      if (!memory_.ready(static_cast<TaskShape>(shape)).still_empty(turns[shape], first_[shape]))
        bits |= 1u << shape;
    return bits;
  }
  TM_DEVICE static constexpr bool has(std::uint32_t shapes, TaskShape shape) {
    return (shapes >> static_cast<std::uint32_t>(shape) & 1) != 0;
  }
  TM_DEVICE std::uint64_t& first_of(TaskShape shape) {
    return first_[static_cast<std::uint32_t>(shape)];
  }
  TM_DEVICE bool end_dummies(std::uint32_t waiting) {
    ReadyQueue queue = memory_.ready(TaskShape::kDummy);
    bool any = false;
    if (has(waiting, TaskShape::kDummy)) {
      for (std::uint32_t task = 0; queue.take(task); any = true) {
        ++records_.pop_hit;
        end(task);
      }
      first_of(TaskShape::kDummy) = queue.taken();
    }
    if (!any) ++records_.pop_miss;
    count_ended();
    return any;
  }

  TM_DEVICE bool dispatch_all(TaskShape shape, std::uint32_t waiting) {
    if (has(waiting, shape)) return dispatch_all(shape);
    if (shape == TaskShape::kMix) cores_.hold(0, 0);
    ++records_.pop_miss;
    return false;
  }
  // What is first in a queue, again and again, until there is nothing or no place for it.
  TM_DEVICE TM_NOINLINE bool dispatch_all(TaskShape shape) {
    ReadyQueue queue = memory_.ready(shape);
    bool given = false;
    for (ReadyHead head; queue.peek(head, first_of(shape));) {
      if (shape == TaskShape::kMix) hold_for(head);
      const std::uint32_t place = place_for(shape, queue, head);
      if (place == kNone) {
        if (is_due(shape, head)) pass_on(shape, head);
        return given;
      }
      if (give_batch(shape, queue, head)) {
        given = true;
        continue;
      }
      if (!take(queue, shape, head)) continue;
      if (shape == TaskShape::kMix)
        give_mix(place, head.ready);
      else
        give_single(place, head.ready);
      given = true;
    }
    if (shape == TaskShape::kMix) cores_.hold(0, 0);
    ++records_.pop_miss;
    return given;
  }

  // Several tasks of one block, or blocks of one task, by one claim: queues are touched once.
  TM_DEVICE bool give_batch(TaskShape shape, ReadyQueue& queue, const ReadyHead& head) {
    if (shape == TaskShape::kMix || head.ready.together) return false;
    const std::uint64_t waiting = queue.count() + head.ready.blocks - 1;
    if (waiting < 2 || !memory_.ready(TaskShape::kMix).empty()) return false;
    const CoreType type = shape == TaskShape::kAic ? CoreType::kAic : CoreType::kAiv;
    std::uint32_t most = ReadyQueue::kBatchMost;
    const std::uint32_t each =
        waiting > most && cores_.others_are_full(type) ? allowed_load(type, waiting - most) : 1;
    const std::uint32_t room = cores_.room(type, each);
    if (room < most) most = room;
    if (most < 2) return false;
    ReadyTask tasks[ReadyQueue::kBatchMost];
    const std::uint32_t count = head.ready.blocks == 1 ? queue.take_batch(head, most, tasks)
                                                       : queue.take_blocks(head, most, tasks);
    for (std::uint32_t i = 0; i < count; ++i)
      give_single(cores_.least_loaded(type, false), tasks[i]);
    records_.pop_hit += count;
    return count > 0;
  }

  // A block of the first task of a queue could be given if there was a core for it.
  TM_DEVICE bool is_due(TaskShape shape, const ReadyHead& head) const {
    return turns_.of(shape, head) != Turn::kLater;
  }
  // The core, or for a mix the cluster, that takes a block of the first task of a queue now.
  TM_DEVICE std::uint32_t place_for(TaskShape shape, const ReadyQueue& queue,
                                    const ReadyHead& head) const {
    if (shape == TaskShape::kDummy) return 0;
    const Turn turn = turns_.of(shape, head);
    if (turn == Turn::kLater || overtaken_.holds(head.ready.parts)) return kNone;
    if (shape == TaskShape::kMix) return cores_.free_cluster(head.ready.parts);
    const CoreType type = shape == TaskShape::kAic ? CoreType::kAic : CoreType::kAiv;
    const std::uint32_t core = cores_.least_loaded(type, turn == Turn::kElsewhere);
    if (core == kNone || cores_.load(core) == 0) return core;
    if (head.ready.together || turn == Turn::kElsewhere) return kNone;
    const std::uint64_t waiting = queue.count() + head.ready.blocks - 1;
    const bool may_wait = cores_.load(core) < allowed_load(type, waiting);
    return may_wait && cores_.others_are_full(type) ? core : kNone;
  }
  // A core waits behind its work only if there is more to do than the device has cores, and none of
  // them is idle: otherwise another one, which may be another scheduler's, is free sooner.
  TM_DEVICE std::uint32_t allowed_load(CoreType type, std::uint64_t waiting) const {
    const std::uint64_t others = waiting > 0 ? waiting - 1 : 0;
    const std::uint64_t allowed = 1 + others / memory_.config().core_count(type);
    return allowed < depth_ ? static_cast<std::uint32_t>(allowed) : depth_;
  }

  // A mix whose turn has come keeps clusters free of what is younger: each scheduler some for one
  // of many blocks, one of them a cluster for one of one.
  TM_DEVICE void hold_for(const ReadyHead& mix) {
    const bool alone = mix.ready.blocks == 1;
    const bool holds = is_due(TaskShape::kMix, mix) &&
                       (!alone || mix.position % memory_.config().scheduler_count == index_);
    cores_.hold(mix.ready.parts, holds ? mix.ready.blocks : 0);
  }

  // A block of the first task; with it the right to collect cores, where its blocks start together.
  TM_DEVICE bool take(ReadyQueue& queue, TaskShape shape, const ReadyHead& head) {
    if (head.ready.together && !turns_.collect(shape, head.position)) return false;
    const bool taken = queue.take(head);
    ++(taken ? records_.pop_hit : records_.pop_miss);
    // The last one, or all of them were taken since the look.
    const bool over = taken ? head.ready.blocks == 1 : queue.taken() != head.position;
    if (head.ready.together && over) turns_.end_collecting(shape, head.position);
    if (over && (head.ready.together || shape == TaskShape::kMix)) ring_others();
    return taken;
  }

  TM_DEVICE void give_single(std::uint32_t core, const ReadyTask& ready) {
    if (ready.kernel != kNoKernel) {
      ++records_.given;
      return cores_.give(core, {.task = ready.task,
                                .kernel = ready.kernel,
                                .part = 0,
                                .block = 0,
                                .flags = kOnlyPart,
                                .dispatch_ticks = records_.dispatch_ticks()});
    }
    const TaskSlot& slot = memory_.slot({ready.task});
    const std::uint32_t block_count = slot.block_count;
    const std::uint32_t only = block_count == 1 ? kOnlyPart : 0;
    ++records_.given;
    cores_.give(core, {.task = ready.task,
                       .kernel = slot.kernels[core_type(core) == CoreType::kAic ? 0 : 1],
                       .part = 0,
                       .block = block_count - ready.blocks,
                       .flags = only | (ready.together ? kStartsTogether : 0),
                       .dispatch_ticks = records_.dispatch_ticks()});
    if (ready.together) note_placed(ready, block_count);
  }
  // All kernels of a block at once: two mixes are in the same order in all mailboxes. Nothing of
  // the slot is read once the last kernel of the last block is given: the task may be complete
  // then.
  TM_DEVICE void give_mix(std::uint32_t cluster, const ReadyTask& ready) {
    const TaskSlot& slot = memory_.slot({ready.task});
    const std::uint32_t block_count = slot.block_count;
    const std::uint16_t kernels[kKernelsMax] = {slot.kernels[0], slot.kernels[1], slot.kernels[2]};
    for (std::uint32_t part = 0; part < kKernelsMax; ++part) {
      if (kernels[part] == kNoKernel) continue;
      ++records_.given;
      cores_.give(core_number(cluster, part), {.task = ready.task,
                                               .kernel = kernels[part],
                                               .part = static_cast<std::uint16_t>(part),
                                               .block = block_count - ready.blocks,
                                               .flags = ready.together ? kStartsTogether : 0,
                                               .dispatch_ticks = records_.dispatch_ticks()});
    }
    if (ready.together) note_placed(ready, block_count);
  }
  // The cores with the other blocks wait for the last one.
  TM_DEVICE void note_placed(const ReadyTask& ready, std::uint32_t block_count) {
    // [block placed]; the task cannot be complete before this
    if (memory_.slot({ready.task}).placed.add_acq_rel(1) + 1 < block_count) return;
    for (std::uint32_t core = 0; core < memory_.config().core_count(); ++core)
      memory_.mailbox(core).doorbell.template ring<Env>();
  }

  // There is more to do than this scheduler has cores for: the next one may be asleep beside some.
  // Once for each task: whoever has no core for it either says so to the next.
  TM_DEVICE void pass_on(TaskShape shape, const ReadyHead& head) {
    const std::uint32_t count = memory_.config().scheduler_count;
    std::uint64_t& passed = passed_[static_cast<std::uint32_t>(shape)];
    if (count == 1 || passed == head.position + 1) return;
    passed = head.position + 1;
    memory_.scheduler_bell((index_ + 1) % count).template ring<Env>();
  }
  // What held others back is over.
  TM_DEVICE void ring_others() {
    for (std::uint32_t i = 0; i < memory_.config().scheduler_count; ++i)
      if (i != index_) memory_.scheduler_bell(i).template ring<Env>();
  }

  TM_DEVICE void send_home() {
    cores_.send_home();
    ring_others();  // whoever sleeps must see the end too
    memory_.control().orchestrator.template ring<Env>();
  }

  static constexpr std::uint32_t kNone = OwnCores<Env>::kNone;
  static constexpr std::uint32_t kLoopsPerLine = 32;   // a store to the host each
  static constexpr std::uint32_t kLooksPerStop = 256;  // rounds in which there was something to do

  RuntimeMemory memory_;
  ErrorLatch latch_;
  UnitLine line_;
  Doorbell& bell_;
  std::uint32_t index_;
  std::uint32_t depth_;
  Turns turns_;
  OwnCores<Env> cores_;
  Overtaken<Env> overtaken_;
  SchedulerWatchdog<Env> watchdog_;
  PartCounts parts_;
  Iterations<Env> iterations_;
  std::uint64_t passed_[kTaskShapeCount] = {};          // positions, + 1
  std::uint64_t first_[kTaskShapeCount] = {};           // of the queues, as they were seen last
  std::uint64_t completed_ = 0, ended_ = 0, loop_ = 0;  // ended: not counted yet
  SchedulerRecords<Env> records_;
};

}  // namespace tidemark
