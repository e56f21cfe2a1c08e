// SPDX-License-Identifier: Apache-2.0
// Whose turn it is. Each queue is served in its order. A mix needs cores that tasks of two other
// queues want, too; it knows where they were when it became ready:
//
//   queue of AIV tasks:  ── older than the mix ──┬── may go before it ──┬── wait for it ──
//                                             behind           behind + cores × depth
//
// It begins when the older ones have begun. Tasks whose blocks must start together collect their
// cores one at a time: two that each hold some would wait for ever.
#pragma once

#include <cstdint>

#include "tidemark/runtime/runtime_memory.h"

namespace tidemark {

enum class Turn {
  kNow,
  kElsewhere,  // not on cores that are held for a mix
  kLater,
};

class Turns {
 public:
  TM_DEVICE explicit Turns(const RuntimeMemory& memory) : memory_(&memory) {}

  // Of the first task of a queue.
  TM_DEVICE Turn of(TaskShape shape, const ReadyHead& head) const {
    if (shape == TaskShape::kDummy) return Turn::kNow;
    if (head.ready.together && !may_collect(shape, head.position)) return Turn::kLater;
    if (shape == TaskShape::kMix) return has_come(head) ? Turn::kNow : Turn::kLater;
    return of_single(shape == TaskShape::kAic ? CoreType::kAic : CoreType::kAiv, head);
  }

  // The right to collect cores. Also true for whoever helps a task that has it.
  TM_DEVICE bool collect(TaskShape shape, std::uint64_t position) const {
    std::uint64_t owner = 0;
    return memory_->control().collecting.replace_acq_rel(owner, name_of(shape, position)) ||
           owner == name_of(shape, position);  // pairs with [cores collected]
  }
  TM_DEVICE void end_collecting(TaskShape shape, std::uint64_t position) const {
    std::uint64_t owner = name_of(shape, position);
    memory_->control().collecting.replace_acq_rel(owner, 0);  // [cores collected]
  }

 private:
  TM_DEVICE Turn of_single(CoreType type, const ReadyHead& head) const {
    const ReadyQueue mixes = memory_->ready(TaskShape::kMix);
    ReadyHead mix;
    if (!mixes.peek(mix, first_mix_)) return Turn::kNow;
    // The first one may want no such core; then only those behind it may.
    if ((mix.ready.parts & memory_->config().parts_of(type)) == 0 && mixes.count() == 1)
      return Turn::kNow;
    const std::uint64_t behind = behind_of(mix, type);
    if (head.position < behind) return Turn::kNow;
    // Cores that it has already are not free for the mix: it must get the others.
    if (head.ready.together)
      return collects(shape_of(type), head.position) ? Turn::kNow : Turn::kLater;
    return head.position < behind + may_go_before(type) ? Turn::kElsewhere : Turn::kLater;
  }
  // Everything older than the mix has begun.
  TM_DEVICE bool has_come(const ReadyHead& mix) const {
    return has_come(mix, CoreType::kAic) && has_come(mix, CoreType::kAiv);
  }
  TM_DEVICE bool has_come(const ReadyHead& mix, CoreType type) const {
    return (mix.ready.parts & memory_->config().parts_of(type)) == 0 ||
           memory_->ready(shape_of(type)).taken() >= behind_of(mix, type);
  }
  TM_DEVICE bool may_collect(TaskShape shape, std::uint64_t position) const {
    return memory_->control().collecting.load_relaxed() == 0 || collects(shape, position);
  }

  // Zero is nobody. Positions do not repeat, so a name that came too late is nobody's.
  TM_DEVICE static constexpr std::uint64_t name_of(TaskShape shape, std::uint64_t position) {
    return (position << 2 | static_cast<std::uint64_t>(shape)) + 1;
  }
  TM_DEVICE bool collects(TaskShape shape, std::uint64_t position) const {
    return memory_->control().collecting.load_relaxed() == name_of(shape, position);
  }
  TM_DEVICE std::uint64_t behind_of(const ReadyHead& mix, CoreType type) const {
    return memory_->slot({mix.ready.task}).behind[static_cast<std::uint32_t>(type)].load_relaxed();
  }
  TM_DEVICE std::uint64_t may_go_before(CoreType type) const {
    return std::uint64_t{memory_->config().core_count(type)} * memory_->config().mailbox_depth;
  }

  const RuntimeMemory* memory_;
  mutable std::uint64_t first_mix_ = 0;  // of the queue, as it was seen last
};

}  // namespace tidemark
