// SPDX-License-Identifier: Apache-2.0
// Gives what is ready to the cores of a scheduler: all lanes at once to a core each, or, where it
// is a matter of turns, the first lane one after the other.
#pragma once

#include <cstdint>

#include "tidemark/runtime/units/batch.h"
#include "tidemark/runtime/units/overtaken.h"
#include "tidemark/runtime/units/turns.h"

namespace tidemark {

template <UnitEnv Env>
class Dispatcher {
  using Lanes = LanesOf<Env>;

 public:
  TM_DEVICE Dispatcher(const RuntimeMemory& memory, RoundLook<Env>& look, OwnCores<Env>& cores,
                       const Overtaken<Env>& overtaken, SchedulerRecords<Env>& records,
                       std::uint32_t index)
      : memory_(memory),
        look_(look),
        cores_(cores),
        overtaken_(overtaken),
        records_(records),
        index_(index),
        turns_(memory),
        batch_(memory, cores, records) {}

  // By all lanes, after a look. True: something was given.
  TM_DEVICE bool dispatch() {
    bool given = false;
    // What one may give alone all may give at once, unless it is a matter of turns.
    if (all_at_once() && !look_.waits(TaskShape::kMix) && !overtaken_.holds_any()) {
      for (const TaskShape shape : {TaskShape::kAic, TaskShape::kAiv})
        given |= dispatch_at_once(shape);
    } else {
      for (const TaskShape shape : {TaskShape::kMix, TaskShape::kAic, TaskShape::kAiv})
        given |= dispatch_all(shape);
    }
    return given;
  }

  // What became ready by what a lane's cores have finished. The first task of one block is kept for
  // an idle core of this scheduler, where nothing waits that is older; the others go into queues.
  class Ready {
   public:
    TM_DEVICE Ready(const RuntimeMemory& memory, bool keeps) : memory_(memory), keeps_(keeps) {}
    TM_DEVICE void take(SlotRef ref, TaskSlot& slot) {
      const TaskShape shape = memory_.config().queue_of(slot.shape);
      if (!keeps_ || slot.block_count != 1 || shape == TaskShape::kMix ||
          shape == TaskShape::kDummy)
        return make_ready<Env>(memory_, ref, slot);
      keeps_ = false;
      kept_ = ready_task(ref, slot);
      shape_ = shape;
    }
    TM_DEVICE bool has(TaskShape shape) const { return kept_.blocks != 0 && shape_ == shape; }
    TM_DEVICE const ReadyTask& kept() const { return kept_; }

   private:
    const RuntimeMemory& memory_;
    bool keeps_;
    ReadyTask kept_{.blocks = 0};
    TaskShape shape_{};
  };
  TM_DEVICE Ready keeper() const {
    return {memory_, all_at_once() && !look_.any_waits() && !overtaken_.holds_any()};
  }
  TM_DEVICE Ready pusher() const { return {memory_, false}; }
  // By all lanes: what they kept.
  TM_DEVICE void give(const Ready& ready) {
    if constexpr (Lanes::kCount > 1)
      for (const TaskShape shape : {TaskShape::kAic, TaskShape::kAiv}) {
        const std::uint32_t givers = Lanes::ballot(ready.has(shape));
        if (givers == 0) continue;
        const std::uint32_t place = rank_among<Lanes>(givers);
        const std::uint32_t count =
            batch_.hand_over(shape, ready.has(shape), place, ready.kept(), count_bits(givers));
        if (!ready.has(shape) || place < count) continue;
        const SlotRef ref{ready.kept().task};
        make_ready<Env>(memory_, ref, memory_.slot(ref));
      }
  }
  TM_DEVICE bool has_place(TaskShape shape, const ReadyQueue& queue, const ReadyHead& head) const {
    return place_for(shape, queue, head) != kNone;
  }
  // What held others back is over.
  TM_DEVICE void ring_others() {
    for (std::uint32_t i = 0; i < memory_.config().scheduler_count; ++i)
      if (i != index_) memory_.scheduler_bell(i).template ring<Env>();
  }

 private:
  // There is a lane for each core.
  TM_DEVICE bool all_at_once() const {
    return Lanes::kCount > 1 && cores_.last() - cores_.first() <= Lanes::kCount;
  }
  TM_DEVICE bool dispatch_at_once(TaskShape shape) {
    if constexpr (Lanes::kCount > 1) {
      using Given = typename Batch<Env>::Given;
      if (!look_.waits(shape)) return false;
      for (std::uint32_t misses = 0; misses < kMissesMost; ++misses) {
        const Given given = batch_.give_to_least(shape, look_);
        if (given != Given::kMissed)
          return given == Given::kNotSo ? dispatch_all(shape) : given == Given::kSome;
      }
    }
    return false;
  }

  enum class Step : std::uint32_t { kNoTask, kNoPlace, kAgain, kGiven };
  // What is first in a queue, again and again, until there is nothing or no place for it.
  TM_DEVICE bool dispatch_all(TaskShape shape) {
    return first_says<Lanes>([&] {
      bool given = false;
      for (Step step{}; (step = next_step(shape)) > Step::kNoPlace;) given |= step == Step::kGiven;
      return given;
    });
  }
  TM_DEVICE Step next_step(TaskShape shape) {
    const Step step = look_.waits(shape) ? give_first(shape) : Step::kNoTask;
    if (step != Step::kNoTask) return step;
    if (shape == TaskShape::kMix) cores_.hold(0, 0);
    ++records_.pop_miss;
    return step;
  }
  TM_DEVICE TM_NOINLINE Step give_first(TaskShape shape) {
    ReadyQueue queue = memory_.ready(shape);
    ReadyHead head;
    std::uint64_t first = look_.first(shape);
    const bool any = queue.peek(head, first);
    look_.set_first(shape, first);
    if (!any) return Step::kNoTask;
    if (shape == TaskShape::kMix) hold_for(head);
    const std::uint32_t place = place_for(shape, queue, head);
    if (place == kNone) {
      if (is_due(shape, head)) pass_on(shape, head);
      return Step::kNoPlace;
    }
    if (batch_.give(shape, queue, head)) return Step::kGiven;
    if (!take(queue, shape, head)) return Step::kAgain;
    if (shape == TaskShape::kMix)
      give_mix(place, head.ready);
    else
      give_single(place, head.ready);
    return Step::kGiven;
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
    const bool may_wait = cores_.load(core) < cores_.allowed_load(type, waiting);
    return may_wait && cores_.others_are_full(type) ? core : kNone;
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
    const std::uint32_t block_count = ready.together ? memory_.slot({ready.task}).block_count : 1;
    ++records_.given;
    cores_.give(core, batch_.dispatch_of(ready));
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

  static constexpr std::uint32_t kNone = OwnCores<Env>::kNone;
  static constexpr std::uint32_t kMissesMost = 8;  // before cores are looked at again

  const RuntimeMemory& memory_;
  RoundLook<Env>& look_;
  OwnCores<Env>& cores_;
  const Overtaken<Env>& overtaken_;
  SchedulerRecords<Env>& records_;
  std::uint32_t index_;
  Turns turns_;
  Batch<Env> batch_;
  std::uint64_t passed_[kTaskShapeCount] = {};  // positions, + 1
};

}  // namespace tidemark
