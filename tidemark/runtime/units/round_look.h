// SPDX-License-Identifier: Apache-2.0
// What a scheduler looks at in every round: counts of the run, and where its queues are. On a GPU
// each lane reads one of these words, which are all as far away: the round waits once.
#pragma once

#include <cstdint>

#include "tidemark/runtime/runtime_memory.h"
#include "tidemark/runtime/units/lanes.h"

namespace tidemark {

template <UnitEnv Env>
class RoundLook {
  using Lanes = LanesOf<Env>;

 public:
  TM_DEVICE RoundLook(const RuntimeMemory& memory, std::uint32_t index)
      : memory_(memory), index_(index) {
    RuntimeControl& control = memory.control();
    for (std::uint32_t i = 0; i < kTaskShapeCount; ++i) {
      const auto shape = static_cast<TaskShape>(i);
      set_first(shape, 0);
      at_[kTaken + i] = &memory.ready(shape).taken_word();
      at_[kPushed + i] = &memory.ready(shape).pushed_word();
    }
    at_[kCompleted] = &control.completed;
    at_[kSubmitted] = &control.submitted;
  }

  // By all lanes.
  TM_DEVICE void look() {
    const bool failed = memory_.control().error.load_relaxed() != ErrorCode::kNone;
    TM_UNROLL
    for (std::uint32_t i = Lanes::lane(); i < kWordCount; i += Lanes::kCount)
      seen_[i] = at_[i]->load_relaxed();
    const std::uint32_t full = full_types();
    std::uint32_t waiting = 0;
    TM_UNROLL
    for (std::uint32_t i = Lanes::lane(); i < kTaskShapeCount; i += Lanes::kCount)
      if (!memory_.ready(static_cast<TaskShape>(i)).still_empty(seen_[kTurn + i], first_[i]))
        waiting |= 1u << i;
    waiting = static_cast<std::uint32_t>(Lanes::united(waiting));
    Lanes::meet();
    by_first<Lanes>([&] {
      failed_ = failed;
      full_types_ = full;
      waiting_ = waiting;
    });
  }

  // What was seen.
  TM_DEVICE bool failed() const { return failed_; }
  TM_DEVICE bool all_counted() const { return seen_[kCompleted] == seen_[kSubmitted]; }
  // Something is in its queue, or was since the look before.
  TM_DEVICE bool any_waits() const { return waiting_ != 0; }
  TM_DEVICE bool waits(TaskShape shape) const { return (waiting_ >> index(shape) & 1) != 0; }
  TM_DEVICE std::uint64_t taken(TaskShape shape) const { return seen_[kTaken + index(shape)]; }
  // The age of what is given now (own_cores.h).
  TM_DEVICE std::uint64_t age(CoreType type) const {
    return taken(shape_of(type)) + taken(TaskShape::kMix);
  }
  // Of schedulers with one thread too many would read this while it is written.
  TM_DEVICE std::uint64_t waiting(TaskShape shape) const {
    static_assert(Lanes::kCount > 1);
    const std::uint64_t pushed = seen_[kPushed + index(shape)];
    return pushed > taken(shape) ? pushed - taken(shape) : 0;
  }

  // No other scheduler has a core of the type that has nothing to do.
  TM_DEVICE bool others_are_full(CoreType type) const {
    return (full_types_ >> static_cast<std::uint32_t>(type) & 1) != 0;
  }

  // The first place of a queue, as far as is known.
  TM_DEVICE std::uint64_t first(TaskShape shape) const {
    const std::uint64_t known = first_[index(shape)];
    return known > taken(shape) ? known : taken(shape);
  }
  TM_DEVICE void set_first(TaskShape shape, std::uint64_t position) {
    first_[index(shape)] = position;
    at_[kTurn + index(shape)] = &memory_.ready(shape).turn_word(position);
  }

 private:
  TM_DEVICE static constexpr std::uint32_t index(TaskShape shape) {
    return static_cast<std::uint32_t>(shape);
  }
  TM_DEVICE std::uint32_t full_types() const {
    if constexpr (Lanes::kCount == 1) return 0;  // asked for when it matters
    const std::uint32_t count = memory_.config().scheduler_count, lane = Lanes::lane();
    if (count > Lanes::kCount) return 0;
    const std::uint32_t full =
        lane < count && lane != index_ ? memory_.full_types(lane).load_relaxed() : 3;
    return Lanes::common(full);
  }
  static constexpr std::uint32_t kTurn = 0, kTaken = kTurn + kTaskShapeCount,
                                 kCompleted = kTaken + kTaskShapeCount, kSubmitted = kCompleted + 1,
                                 kPushed = kSubmitted + 1, kAll = kPushed + kTaskShapeCount;
  static constexpr std::uint32_t kWordCount = Lanes::kCount > 1 ? kAll : kPushed;

  const RuntimeMemory& memory_;
  std::uint32_t index_;
  const DeviceWord<std::uint64_t>* at_[kAll];
  std::uint64_t seen_[kAll] = {};
  std::uint64_t first_[kTaskShapeCount] = {};
  std::uint32_t waiting_ = 0, full_types_ = 0;
  bool failed_ = false;
};

}  // namespace tidemark
