// SPDX-License-Identifier: Apache-2.0
// A scheduler owns some clusters: it observes what their cores finished, completes tasks, and
// dispatches ready ones, which all schedulers share. It records blocks and rounds, where asked.
#pragma once

#include <cstdint>

#include "tidemark/runtime/error_latch.h"
#include "tidemark/runtime/units/answers.h"
#include "tidemark/runtime/units/dispatcher.h"
#include "tidemark/runtime/units/iterations.h"
#include "tidemark/runtime/units/overtaken.h"
#include "tidemark/runtime/units/scheduler_records.h"
#include "tidemark/runtime/units/scheduler_watchdog.h"
#include "tidemark/runtime/units/unit_line.h"

namespace tidemark {

template <UnitEnv Env>
class Scheduler {
  using Lanes = LanesOf<Env>;

 public:
  TM_DEVICE Scheduler(const RuntimeMemory& memory, RuntimeStatus* status, std::uint32_t index,
                      const RegionView* region = nullptr)
      : memory_(memory),
        latch_(&memory.control(), status),
        line_(status, memory.config().units().scheduler(index)),
        bell_(memory.scheduler_bell(index)),
        index_(index),
        look_(memory_, index),
        cores_(memory_, index),
        overtaken_(memory_, cores_),
        watchdog_(memory, status, index),
        iterations_(memory, status, index),
        graph_is_whole_(tidemark::graph_is_whole(memory)),
        records_(memory, index, region, line_.recorder()),
        dispatcher_(memory_, look_, cores_, overtaken_, records_, index) {}

  // `stopped` says that the host wants the end. Returns when all tasks are complete or the run is
  // ending; then the cores have been asked to leave. All lanes of the scheduler come to it.
  template <class Stopped>
  TM_DEVICE void run(const Stopped& stopped) {
    by_first<Lanes>([&] { line_.enter(UnitState::kBusy, Env::now_ticks()); });
    look_.look();
    for (bool worked = true; first_says<Lanes>([&] { return goes_on(worked, stopped); });)
      worked = !leaves_all_to_first() && work();
    by_first<Lanes>([&] {
      send_home();
      records_.close();
      line_.leave(Env::now_ticks());
    });
  }

 private:
  // Before each round. False: there is none.
  template <class Stopped>
  TM_DEVICE bool goes_on(bool worked, const Stopped& stopped) {
    if (loop_ > 0 && !has_time(worked, stopped)) return false;
    if (look_.failed() || (look_.all_counted() && all_complete(memory_))) return false;
    ++loop_;
    if (kSleeps<Env> || loop_ % kLoopsPerLine == 0) line_.loops(loop_);
    for (std::uint32_t i = 0; must_stall() && !(kSleeps<Env> && stopped()); ++i) Env::pause(i);
    return true;
  }
  // Now and then, and where nothing was to do: looks around and waits. False: the run is ending.
  template <class Stopped>
  TM_DEVICE bool has_time(bool worked, const Stopped& stopped) {
    const bool looks_around = ++looks_ % kLooksPerStop == 0 || round_ >= kRoundsAwake<Env>;
    if ((!worked && is_time_to_look(round_)) || looks_around) {
      if (stopped()) latch_.latch({.code = ErrorCode::kAborted});
      if (latch_.set() || watchdog_.look()) return false;
    }
    relieves_ = looks_around || round_ + 1 >= kRoundsAwake<Env>;
    if (worked) {
      round_ = 0;
      return true;
    }
    bell_.template wait<Env>(round_++,
                             [&] { return has_work() || all_complete(memory_) || latch_.set(); });
    return true;
  }
  // The clock, too, costs a thread of a GPU more than a look at its words.
  TM_DEVICE static constexpr bool is_time_to_look(std::uint32_t round) {
    return kSleeps<Env> || round % kLoadsTogether<Env> == 0;
  }

  // One round. True: there was something to do.
  TM_DEVICE bool work() {
    std::uint64_t looked = 0;
    if constexpr (Lanes::kCount > 1) {
      looked = cores_.look();
      look_.look();
      if (Lanes::ballot(cores_.has_finished(looked)) == 0 && has_nothing_to_give()) return false;
    }
    if (!records_.has_phases()) {
      const bool seen = observe(looked);
      return dispatch() || seen;
    }
    const std::uint64_t begin_ticks = Env::now_ticks();
    const bool seen = observe(looked);
    const std::uint64_t seen_ticks = seen ? Env::now_ticks() : begin_ticks;
    by_first<Lanes>([&] {
      if (seen)
        records_.phase(PhaseKind::kComplete, begin_ticks, seen_ticks, loop_, records_.handled);
      records_.handled = 0;
    });
    const bool given = dispatch();
    by_first<Lanes>([&] {
      if (given)
        records_.phase(PhaseKind::kDispatch, seen_ticks, Env::now_ticks(), loop_, records_.given);
      records_.given = 0;
    });
    return seen || given;
  }
  // As the look says. All lanes come to it.
  TM_DEVICE bool has_nothing_to_give() {
    if (look_.any_waits() || relieves_ || overtaken_.holds_any() || memory_.config().repeats())
      return false;
    by_first<Lanes>([&] { ++records_.pop_miss; });
    return true;
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
      if (queue.peek(head) && dispatcher_.has_place(wanted, queue, head)) return true;
    }
    return false;
  }

  // Takes the answers of the cores. True: there were some.
  TM_DEVICE bool observe(std::uint64_t looked) {
    Answers<Env> answers(memory_, cores_, records_.has_finishes(), looked);
    PartCounts parts;
    std::uint32_t handled = 0, ended = 0;  // ended: by this lane
    auto kept = dispatcher_.keeper();
    Answer answer;
    for (std::uint32_t lanes = 0; (lanes = Lanes::ballot(answers.next(answer))) != 0;) {
      const bool mine = (lanes >> Lanes::lane() & 1) != 0;
      if (records_.has_finishes())
        in_turn<Lanes>(lanes, [&] { records_.finish(answer.core, answer.done, answer.ticks); });
      handled += count_bits(lanes);
      if (!mine) continue;
      const std::uint32_t task = answer.done.task;
      ended += end((answer.done.flags & kOnlyPart) != 0 ? task : parts.add(memory_, task), kept);
    }
    const bool seen = Lanes::ballot(answers.any()) != 0;
    if (seen) {
      ended += end(parts.settle(memory_), kept);
      note(answers, handled, ended);
      dispatcher_.give(kept);
    }
    if (seen || Lanes::kCount == 1) look_.look();
    return seen;
  }
  TM_DEVICE void note(const Answers<Env>& answers, std::uint32_t handled, std::uint32_t ended) {
    const std::uint64_t idle = Lanes::united(answers.idle());
    const std::uint32_t all_ended = Lanes::sum(ended);
    by_first<Lanes>([&] {
      cores_.note_handled(idle);
      records_.handled += handled;
      count_ended(all_ended);
    });
  }

  // Returns how many that were.
  template <class Ready>
  TM_DEVICE std::uint32_t end(std::uint32_t task, Ready& ready) {
    if (task == PartCounts::kNoTask) return 0;
    end_task(memory_, {task}, graph_is_whole(),
             [&](SlotRef ref, TaskSlot& slot) { ready.take(ref, slot); });
    return 1;
  }
  // A device that builds none finds it ready when it starts.
  TM_DEVICE bool graph_is_whole() const {
    if constexpr (requires { Env::kBuildsNoGraphAhead; }) return graph_is_whole_;
    return tidemark::graph_is_whole(memory_);
  }
  TM_DEVICE void count_ended(std::uint32_t ended) {
    if (ended == 0) return;
    const std::uint64_t all = count_completed(memory_, ended);
    completed_ += ended;
    line_.count(completed_);
    if (iterations_.end_with(all)) dispatcher_.ring_others();
  }

  TM_DEVICE bool dispatch() {
    bool given = iterations_.release_roots();
    given |= first_says<Lanes>([&] {
      if (!look_.waits(TaskShape::kMix)) cores_.hold(0, 0);
      return end_dummies();
    });
    for (const CoreType type : {CoreType::kAic, CoreType::kAiv})
      given |= overtaken_.move(type, look_.age(type));
    given |= dispatcher_.dispatch();
    if (relieves_) given |= overtaken_.relieve();
    by_first<Lanes>([&] {
      cores_.tell_idle();
      cores_.tell_cores();
    });
    return given;
  }
  TM_DEVICE bool end_dummies() {
    ReadyQueue queue = memory_.ready(TaskShape::kDummy);
    std::uint32_t ended = 0;
    if (look_.waits(TaskShape::kDummy)) {
      auto pushed = dispatcher_.pusher();
      for (std::uint32_t task = 0; queue.take(task); ended += end(task, pushed)) ++records_.pop_hit;
      look_.set_first(TaskShape::kDummy, queue.taken());
    }
    if (ended == 0) ++records_.pop_miss;
    count_ended(ended);
    return ended > 0;
  }

  TM_DEVICE void send_home() {
    cores_.send_home();
    dispatcher_.ring_others();  // whoever sleeps must see the end too
    memory_.control().orchestrator.template ring<Env>();
  }

  static constexpr std::uint32_t kLoopsPerLine = 32;   // a store to the host each
  static constexpr std::uint32_t kLooksPerStop = 256;  // rounds in which there was something to do

  RuntimeMemory memory_;
  ErrorLatch latch_;
  UnitLine line_;
  Doorbell& bell_;
  std::uint32_t index_;
  RoundLook<Env> look_;
  OwnCores<Env> cores_;
  Overtaken<Env> overtaken_;
  SchedulerWatchdog<Env> watchdog_;
  Iterations<Env> iterations_;
  bool graph_is_whole_;
  std::uint32_t round_ = 0, looks_ = 0;  // without work; in all
  bool relieves_ = false;                // in this round
  std::uint64_t completed_ = 0, loop_ = 0;
  SchedulerRecords<Env> records_;
  Dispatcher<Env> dispatcher_;
};

}  // namespace tidemark
