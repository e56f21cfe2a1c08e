// SPDX-License-Identifier: Apache-2.0
// Several tasks of one block, or blocks of one task, that one claim takes from a queue: it is
// touched once. Where a scheduler has several threads, each gives one of them to a core of its own.
#pragma once

#include <cstdint>

#include "tidemark/runtime/runtime_memory.h"
#include "tidemark/runtime/units/own_cores.h"
#include "tidemark/runtime/units/round_look.h"
#include "tidemark/runtime/units/scheduler_records.h"

namespace tidemark {

template <UnitEnv Env>
class Batch {
  using Lanes = LanesOf<Env>;

 public:
  TM_DEVICE Batch(const RuntimeMemory& memory, OwnCores<Env>& cores, SchedulerRecords<Env>& records)
      : memory_(memory), cores_(cores), records_(records) {}

  // By one thread: the first task of a queue and those behind it. False: it goes alone, or somebody
  // else took some.
  TM_DEVICE bool give(TaskShape shape, ReadyQueue& queue, const ReadyHead& head) {
    if (shape == TaskShape::kMix || head.ready.together) return false;
    const std::uint64_t waiting = queue.count() + head.ready.blocks - 1;
    if (waiting < 2 || !memory_.ready(TaskShape::kMix).empty()) return false;
    const CoreType type = type_of(shape);
    std::uint32_t most = ReadyQueue::kBatchMost;
    const std::uint32_t each = waiting > most && cores_.others_are_full(type)
                                   ? cores_.allowed_load(type, waiting - most)
                                   : 1;
    const std::uint32_t room = cores_.room(type, each);
    if (room < most) most = room;
    if (most < 2) return false;
    ReadyTask tasks[ReadyQueue::kBatchMost];
    const std::uint32_t count = queue.take_batch(head, most, tasks);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t core = cores_.least_loaded(type, false);
      cores_.give(core, dispatch_of(tasks[i]));
    }
    count_given(count);
    return count > 0;
  }

  // By all lanes, one of which is there for each core, while no mix waits: what is first in the
  // queue to those cores that have the least to do, one each.
  enum class Given : std::uint32_t {
    kNone,  // no task, or no core that may take one
    kSome,
    kMissed,  // somebody else took it
    kNotSo,   // the blocks of the first one start together
  };
  TM_DEVICE Given give_to_least(TaskShape shape, RoundLook<Env>& look) {
    ReadyQueue queue = memory_.ready(shape);
    std::uint32_t least = 0;
    const std::uint32_t open = open_cores(shape, look, least);
    if (open == 0) return Given::kNone;
    const std::uint32_t core = cores_.first() + Lanes::lane(), place = rank_among<Lanes>(open);
    ReadyHead head{.position = look.first(shape), .ready = {}};
    ReadyTask task;
    const bool is_open = (open >> Lanes::lane() & 1) != 0;
    const bool any = is_open && queue.glance_at(head.position + place, task);
    const std::uint32_t leader = lowest_bit(open);
    if ((Lanes::ballot(any) >> leader & 1) == 0) return missed(shape, queue, look);
    if ((Lanes::ballot(task.together) >> leader & 1) != 0) return Given::kNotSo;
    head.ready.blocks = static_cast<std::uint32_t>(Lanes::of_lane(task.blocks, leader));
    if (head.ready.blocks > 1)
      return give_blocks(queue, head, least, open, look.age(type_of(shape)));
    bool gives = is_open;
    if (const std::uint32_t ends =
            Lanes::ballot(is_open && (!any || task.blocks > 1 || task.together)))
      gives = gives && Lanes::lane() < lowest_bit(ends);
    const std::uint32_t givers = Lanes::ballot(gives), count = count_bits(givers);
    if (!first_says<Lanes>([&] { return queue.claim(head, count); }))
      return missed(shape, queue, look);
    if (gives) {
      queue.look_at(head.position + place, task);
      queue.leave(head.position + place);
      cores_.give_and_tell(core, dispatch_of(task), least > 0 ? look.age(type_of(shape)) : 0);
    }
    by_first<Lanes>([&] {
      look.set_first(shape, head.position + count);
      cores_.note_given(cores_.first() + highest_bit(givers), givers);
      count_given(count);
    });
    return Given::kSome;
  }

  // By all lanes, as above: tasks of one block that some of them have, `place` by `place`, to idle
  // cores. Returns how many of them got one.
  TM_DEVICE std::uint32_t hand_over(TaskShape shape, bool has_one, std::uint32_t place,
                                    const ReadyTask& task, std::uint32_t tasks) {
    const CoreType type = type_of(shape);
    const std::uint32_t core = cores_.first() + Lanes::lane();
    const bool idle =
        core < cores_.last() && cores_.type_of(core) == type && cores_.load(core) == 0;
    if (has_one) handed_[place] = {task.task, task.kernel};
    const std::uint32_t turn = rank_among<Lanes>(Lanes::ballot(idle));
    const bool gets = idle && turn < tasks;
    const std::uint32_t getters = Lanes::ballot(gets);
    Lanes::meet();
    if (getters == 0) return 0;
    if (gets) {
      const ReadyTask handed{.task = handed_[turn].task, .kernel = handed_[turn].kernel};
      cores_.give_and_tell(core, dispatch_of(handed), 0);
    }
    by_first<Lanes>([&] {
      cores_.note_given(cores_.first() + highest_bit(getters), getters);
      records_.given += count_bits(getters);
    });
    return count_bits(getters);
  }

  // Of a task that has one kernel.
  TM_DEVICE Dispatch dispatch_of(const ReadyTask& ready) const {
    Dispatch made{.task = ready.task,
                  .kernel = ready.kernel,
                  .part = 0,
                  .block = 0,
                  .flags = kOnlyPart,
                  .dispatch_ticks = records_.dispatch_ticks()};
    if (ready.kernel != kNoKernel) return made;
    const TaskSlot& slot = memory_.slot({ready.task});
    made.kernel = slot.kernels[slot.shape == TaskShape::kAic ? 0 : 1];
    made.block = slot.block_count - ready.blocks;
    made.flags = (slot.block_count == 1 ? kOnlyPart : 0) | (ready.together ? kStartsTogether : 0);
    return made;
  }

 private:
  // Blocks of the first task, one to each of these cores, but for its last one.
  TM_DEVICE Given give_blocks(ReadyQueue& queue, ReadyHead& head, std::uint32_t least,
                              std::uint32_t open, std::uint64_t age) {
    if (!queue.look_at(head.position, head.ready)) head.ready.blocks = 0;
    const std::uint32_t most = count_bits(open);
    const std::uint64_t claimed = first_says<Lanes>([&] { return queue.claim_blocks(head, most); });
    const auto count = static_cast<std::uint32_t>(claimed);
    if (count == 0) return Given::kMissed;
    const std::uint32_t place = rank_among<Lanes>(open);
    const bool gives = (open >> Lanes::lane() & 1) != 0 && place < count;
    if (gives) {
      ReadyTask task = head.ready;
      task.blocks = static_cast<std::uint32_t>(claimed >> 32) - place;
      cores_.give_and_tell(cores_.first() + Lanes::lane(), dispatch_of(task), least > 0 ? age : 0);
    }
    const std::uint32_t givers = Lanes::ballot(gives);
    by_first<Lanes>([&] {
      cores_.note_given(cores_.first() + highest_bit(givers), givers);
      count_given(count);
    });
    return Given::kSome;
  }
  TM_DEVICE static constexpr CoreType type_of(TaskShape shape) {
    return shape == TaskShape::kAic ? CoreType::kAic : CoreType::kAiv;
  }
  // Bit per core of the scheduler: it has as little to do as any of the shape's, and may take one.
  TM_DEVICE std::uint32_t open_cores(TaskShape shape, const RoundLook<Env>& look,
                                     std::uint32_t& least) const {
    const CoreType type = type_of(shape);
    const std::uint32_t core = cores_.first() + Lanes::lane();
    const bool fits = core < cores_.last() && cores_.type_of(core) == type;
    const std::uint32_t load = fits ? cores_.load(core) : OwnCores<Env>::kNone;
    least = Lanes::least(load);
    if (least > 0 && (least == OwnCores<Env>::kNone || !look.others_are_full(type) ||
                      least >= cores_.allowed_load(type, look.waiting(shape))))
      return 0;
    return Lanes::ballot(fits && load == least);
  }
  TM_DEVICE Given missed(TaskShape shape, const ReadyQueue& queue, RoundLook<Env>& look) const {
    return first_says<Lanes>([&] {
      const std::uint64_t first = queue.taken();
      const bool moved = first != look.first(shape);
      look.set_first(shape, first);
      return moved ? Given::kMissed : Given::kNone;
    });
  }
  TM_DEVICE void count_given(std::uint32_t count) {
    records_.given += count;
    records_.pop_hit += count;
  }

  const RuntimeMemory& memory_;
  OwnCores<Env>& cores_;
  SchedulerRecords<Env>& records_;
  struct Handed {
    std::uint32_t task;
    std::uint16_t kernel;
  };
  Handed handed_[Lanes::kCount] = {};
};

}  // namespace tidemark
