// SPDX-License-Identifier: Apache-2.0
// Edges between tasks that are in the graph already, which only a graph built on the host has. They
// are wired as they come, each in one step; what they have to do with the rest of the graph is seen
// once, when it is whole: an edge that came twice counts once, and a circle is refused.
#pragma once

#include <cstdint>

#include "tidemark/runtime/graph/error_text.h"
#include "tidemark/runtime/graph/ring_set.h"

namespace tidemark {

template <UnitEnv Env, GraphWatch Watch>
class LateEdges {
 public:
  TM_DEVICE LateEdges(const RuntimeMemory& memory, RingSet<Env, Watch>& rings, Watch& watch)
      : memory_(memory), rings_(rings), watch_(watch) {}

  // Reports every late edge, without those that were there before. `serial` is the last submit's.
  TM_DEVICE void settle(std::uint64_t& serial) {
    each_waiting([&](SlotRef producer) { settle_one(producer, ++serial); });
  }

  // A task of a circle, or kNoTask. `text` says which tasks are in it.
  TM_DEVICE std::uint32_t find_circle(ErrorText& text) {
    each_waiting([&](SlotRef ref) {
      TaskSlot& slot = memory_.slot(ref);
      // alone: nothing runs yet; without the submit's own count
      count_of(slot) = slot.pending.load_relaxed() - 1;
    });
    std::uint32_t free = kNoTask;
    each_waiting([&](SlotRef ref) {
      if (count_of(memory_.slot(ref)) == 0) push(free, ref);
    });
    while (free != kNoTask) {
      const SlotRef ref{free};
      free = link_of(memory_.slot(ref));
      each_consumer(ref, [&](SlotRef consumer) {
        if (--count_of(memory_.slot(consumer)) == 0) push(free, consumer);
      });
    }
    return name_circle(text);
  }

  static constexpr std::uint32_t kNoTask = ~0u;
  static constexpr std::uint32_t kLateBit = SlotRef::kRetainsBit;  // of DepEntry::consumer

 private:
  // Words of the orchestrator that no submit uses any more.
  TM_DEVICE static std::uint32_t& count_of(TaskSlot& slot) { return slot.fanin_place; }
  TM_DEVICE static std::uint32_t& link_of(TaskSlot& slot) { return slot.told_arg; }
  TM_DEVICE void push(std::uint32_t& first, SlotRef ref) {
    link_of(memory_.slot(ref)) = first;
    first = ref.value;
  }

  template <class Use>
  TM_DEVICE void each_waiting(const Use& use) {
    for (std::uint32_t ring = 0; ring < kRingCount; ++ring)
      for (std::uint64_t number = 0; number < rings_.ring(ring).window.head(); ++number) {
        const SlotRef ref = rings_.ref_of(ring, number);
        // alone: nothing runs yet
        if (memory_.slot(ref).state.load_relaxed() != TaskState::kCompleted) use(ref);
      }
  }
  TM_DEVICE DepEntry& entry_of(std::uint32_t link) {
    return memory_.dep(SlotRef{link}.ring(), SlotRef{link}.place());
  }
  template <class Use>
  TM_DEVICE void each_consumer(SlotRef producer, const Use& use) {
    for (std::uint32_t link = memory_.slot(producer).waiters.load_relaxed(); link != kNoEntry;) {
      const DepEntry& entry = entry_of(link);
      link = entry.next;
      use(SlotRef{entry.consumer});
    }
  }

  TM_DEVICE void settle_one(SlotRef producer, std::uint64_t serial) {
    TaskSlot& slot = memory_.slot(producer);
    bool late = false;
    for (std::uint32_t link = slot.waiters.load_relaxed(); link != kNoEntry;) {
      const DepEntry& entry = entry_of(link);
      link = entry.next;
      if ((entry.consumer & kLateBit) == 0)
        memory_.slot({entry.consumer}).noted_by = Noted{serial}.listed();
      else
        late = true;
    }
    if (!late) return;
    std::uint32_t first = slot.waiters.load_relaxed();
    for (std::uint32_t* from = &first; *from != kNoEntry;) {
      DepEntry& entry = entry_of(*from);
      if (!is_new(slot, entry, serial))
        *from = entry.next;
      else
        from = &entry.next;
    }
    slot.waiters.store_relaxed(first);
  }
  // False: the consumer is on the list already.
  TM_DEVICE bool is_new(const TaskSlot& producer, DepEntry& entry, std::uint64_t serial) {
    if ((entry.consumer & kLateBit) == 0) return true;
    entry.consumer &= ~kLateBit;
    TaskSlot& consumer = memory_.slot({entry.consumer});
    if (consumer.noted_by == Noted{serial}.listed()) {
      consumer.pending.store_relaxed(consumer.pending.load_relaxed() - 1);
      return false;
    }
    consumer.noted_by = Noted{serial}.listed();
    watch_.edge({.producer = producer.id, .consumer = consumer.id});
    return true;
  }

  // Every task that is left waits for one that is left: following them ends in a circle.
  TM_DEVICE std::uint32_t name_circle(ErrorText& text) {
    std::uint64_t left = 0;
    std::uint32_t at = kNoTask;
    each_waiting([&](SlotRef ref) {
      if (count_of(memory_.slot(ref)) == 0) return;
      ++left;
      at = ref.value;
      each_consumer(ref, [&](SlotRef consumer) {
        if (count_of(memory_.slot(consumer)) > 0) link_of(memory_.slot(consumer)) = ref.value;
      });
    });
    if (at == kNoTask) return kNoTask;
    for (std::uint64_t i = 0; i < left; ++i) at = link_of(memory_.slot({at}));
    text.add("a circle: task ").add(memory_.slot({at}).id.value);
    std::uint32_t next = at;
    for (std::uint32_t named = 0; named < kNamedMax; ++named) {
      next = link_of(memory_.slot({next}));
      text.add(" waits for ").add(memory_.slot({next}).id.value);
      if (next == at) return at;
    }
    text.add(" ...");
    return at;
  }
  static constexpr std::uint32_t kNamedMax = 4;

  const RuntimeMemory& memory_;
  RingSet<Env, Watch>& rings_;
  Watch& watch_;
};

}  // namespace tidemark
