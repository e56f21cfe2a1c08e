// SPDX-License-Identifier: Apache-2.0
// Finds the producers of a task being submitted and makes it wait for them: the creators of its
// tensors, writers found in the tensor map, and tasks named by the program. Every edge is told
// once per (producer, consumer, argument).
#pragma once

#include <cstdint>

#include "tidemark/runtime/graph/far_words.h"
#include "tidemark/runtime/graph/graph_watch.h"
#include "tidemark/runtime/graph/late_edges.h"
#include "tidemark/runtime/graph/ring_set.h"
#include "tidemark/runtime/graph/submit_args.h"
#include "tidemark/runtime/tensor/overlap.h"

namespace tidemark {

template <UnitEnv Env, GraphWatch Watch>
class ProducerSet {
 public:
  using Rings = RingSet<Env, Watch>;

  // The place of the submit in the program is asked for where it waits.
  TM_DEVICE ProducerSet(Rings& rings, const TaskPlan& plan, TaskId task, SlotRef consumer,
                        std::uint64_t serial)
      : rings_(rings),
        plan_(plan),
        task_(task),
        consumer_(consumer),
        slot_(rings.memory().slot(consumer)),
        noted_{serial},
        tracks_readers_(rings.memory().config().track_war != 0) {}

  // Where one far word takes as long as many: what the others look at is asked for together.
  TM_DEVICE TM_NOINLINE_ON_GPU void fetch(GivenArgs args) {
    if constexpr (kLoadsTogether < Env >> 1) {
      FarWords far(&slot_);
      std::uint64_t last = kNoOwner;
      TM_UNROLL_NEVER
      for (std::uint32_t i = 0; i < args.tensor_count(); ++i) {
        const GivenArgs::Tensor& tensor = args.tensor(i);
        if (tensor.access == Access::kOutput) continue;
        if (tensor.ref.owner != last && tensor.ref.owner != kNoOwner) {
          last = tensor.ref.owner;
          far.add(&memory().slot(slot_of({last})), 0);
        }
        const MapEntry* const entry = rings().map().lone_entry(tensor.ref.view.buffer);
        if (entry != nullptr)
          for (const std::uint32_t at : {0u, 28u, 60u, 92u, 108u}) far.add(entry, at);
      }
      args.each_after([&](const TaskHandle& other) {
        far.add(&memory().slot(slot_of(other.id)), 0);
        return true;
      });
      far.fetch();
    }
  }

  // All of these return false when the run is ending.
  TM_DEVICE bool add_creator(const TensorRef& ref, std::uint32_t arg) {
    if (ref.owner == kNoOwner) return true;
    return add({ref.owner}, true, {arg, ref.argument, EdgeSource::kCreator, ViewOverlap::kCovered});
  }
  // With explicit edges only, tags still say whose memory is used.
  TM_DEVICE bool retain_creator(const TensorRef& ref) {
    if (ref.owner == kNoOwner) return true;
    TaskSlot& slot = memory().slot(slot_of({ref.owner}));
    const bool listed = slot.noted_by == noted_.listed();
    if (!listed) slot.noted_by = noted_.listed();
    return remember(slot, slot_of({ref.owner}), true, listed);
  }
  // Also a task whose scope is closed: if its slot is somebody else's by now, it is complete.
  TM_DEVICE TM_NOINLINE_ON_GPU bool add_explicit(const TaskHandle& task) {
    const TaskSlot& slot = memory().slot(slot_of(task.id));
    const std::uint64_t noted_by = slot.noted_by;
    const bool its_own = slot.id == task.id;
    // Wired automatically already, or named twice.
    if ((its_own && noted_by == noted_.waited()) || was_told(task.id)) return true;
    const EdgeVia via{kNoArg, kNoArg, EdgeSource::kExplicit, ViewOverlap::kNone};
    if (its_own) return add(task.id, false, via);
    note_told(task.id);
    tell(task.id, via, true);
    return true;
  }
  // An edge between two tasks that are in the graph already: see LateEdges.
  TM_DEVICE bool add_late(const TaskHandle& task) {
    const SlotRef producer = slot_of(task.id);
    return wire(memory().slot(producer), LateEdges<Env, Watch>::kLateBit);
  }
  TM_DEVICE bool add_overlapping(const TensorView& view, Access access, std::uint32_t arg) {
    const bool any = rings().map().may_have(view.buffer);
    if (any || registers(access)) canonical_[arg] = canonical_of(view);
    if (any) return add_found(access, arg);
    found_[arg] = {TensorMap::kNone, 0};
    return true;
  }

  // Some producer has the consumer on its list.
  TM_DEVICE bool wired() const { return wired_; }
  TM_DEVICE std::uint32_t fanin_count() const { return fanin_count_; }

  // After all look-ups: the task becomes a writer (or a tracked reader) of the view.
  TM_DEVICE bool register_access(const TensorRef& ref, Access access, std::uint32_t arg) {
    return !registers(access) || register_found(ref, access, arg);
  }

 private:
  TM_DEVICE Rings& rings() const {
#if TM_ON_GPU
    return rings_of_block<Env, Watch>();
#else
    return rings_;
#endif
  }
  TM_DEVICE const RuntimeMemory& memory() const { return rings().memory(); }
  TM_DEVICE Watch& watch() const { return rings().watch(); }
  TM_DEVICE TaskSlot& own_slot() const { return slot_; }

  // How an edge came about.
  struct EdgeVia {
    std::uint32_t arg, producer_arg;
    EdgeSource source;
    ViewOverlap overlap;
  };
  // What a search has found for an argument, if that can be said in a word: one entry or none.
  struct FoundEntry {
    std::uint32_t link;
    std::uint64_t serial;  // of the entry; kMany: there are others besides it
  };
  static constexpr std::uint64_t kMany = ~std::uint64_t{0};

  TM_DEVICE SlotRef slot_of(TaskId id) const { return rings().ref_of(id.ring(), id.local()); }
  TM_DEVICE bool registers(Access access) const {
    return writes(access) || (tracks_readers_ && access == Access::kInput);
  }
  TM_DEVICE SpaceRequest request_for(Resource resource) const {
    return {.resource = resource,
            .ring = task_.ring(),
            .task_id = task_.value,
            .kernel = plan_.name,
            .submit = plan_.site};
  }

  TM_DEVICE TM_NOINLINE_ON_GPU bool add_found(Access access, std::uint32_t arg) {
    TensorMap& map = rings().map();
    TaskId told{kNoOwner};
    const std::uint32_t first = rings().find(canonical_[arg], writes(access));
    found_[arg] = {first, 0};
    for (std::uint32_t link = first; link != TensorMap::kNone;) {
      // A wait for space may free entries, but none is used again before all look-ups are over.
      const MapEntry& entry = map.entry(link);
      found_[arg].serial = link == first ? entry.serial : kMany;
      link = entry.found;
      if (entry.task == told) continue;  // its entries follow each other
      told = entry.task;
      const EdgeVia via{arg, entry.arg, EdgeSource::kTensorMap, entry.overlap};
      if (entry.retired != 0)
        tell_retired(entry.task, via);
      else if (!add(entry.task, false, via))
        return false;
    }
    return true;
  }

  TM_DEVICE TM_NOINLINE_ON_GPU bool add(TaskId id, bool retains, EdgeVia via) {
    const SlotRef producer = slot_of(id);
    TaskSlot& slot = memory().slot(producer);
    // All of its words are asked for before any is looked at.
    const std::uint64_t noted_by = slot.noted_by;
    const std::uint32_t told_arg = slot.told_arg;
    const bool waited = noted_by == noted_.waited();
    const bool told = waited && told_arg == via.arg;
    slot.told_arg = via.arg;
    slot.noted_by = noted_.waited();
    const bool noted = remember(slot, producer, retains, waited || noted_by == noted_.listed()) &&
                       (waited || wire(slot));
    if (!told) tell(id, via, slot.linked == kListClosed);
    return noted;
  }

  // Notes the producer in the fanin list, once.
  TM_DEVICE bool remember(TaskSlot& slot, SlotRef producer, bool retains, bool seen) {
    if (!seen) {
      slot.fanin_place = fanin_count_;
      if (fanin_count_ >= kFaninInline && !take_spill()) return false;
      memory().fanin(own_slot(), fanin_count_++) =
          producer.value | (retains ? SlotRef::kRetainsBit : 0);
      if (retains) ++slot.retained;
      return true;
    }
    if (!retains) return true;
    std::uint32_t& noted = memory().fanin(own_slot(), slot.fanin_place);
    if ((noted & SlotRef::kRetainsBit) != 0) return true;
    noted |= SlotRef::kRetainsBit;
    ++slot.retained;
    return true;
  }

  TM_DEVICE TM_NOINLINE_ON_GPU bool take_spill() {
    Ring& ring = rings().ring(task_.ring());
    const auto has_room = [&] { return !ring.fanin.full(); };
    if (!has_room() && !rings().wait_for(request_for(Resource::kFanin), has_room)) return false;
    const std::uint32_t place = ring.fanin.push();
    watch().took(Resource::kFanin, task_.ring(), ring.fanin.used());
    if (fanin_count_ == kFaninInline) own_slot().fanin_spill = place;
    return true;
  }

  // Puts the consumer on the producer's list, unless that is complete. Only this thread adds to the
  // list, so what it linked last is its head, or the list is closed: nothing is read first.
  TM_DEVICE bool wire(TaskSlot& slot, std::uint32_t late_bit = 0) {
    std::uint32_t linked = slot.linked;
    if (linked == kListClosed) return true;
    const std::uint32_t ring_index = task_.ring();
    Ring& ring = rings().ring(ring_index);
    if (ring.deps.full()) {
      if (!await_dep(slot, ring)) return false;
      linked = slot.linked;
      if (linked == kListClosed) return true;
    }
    const std::uint32_t place = ring.deps.push();
    watch().took(Resource::kDepPool, ring_index, ring.deps.used());
    DepEntry& entry = memory().dep(ring_index, place);
    entry.consumer = consumer_.value | late_bit;
    entry.next = linked;
    own_slot().pending.add_relaxed(1);  // goes out with [waiter linked]
    const std::uint32_t link = SlotRef::make(ring_index, place).value;
    // [waiter linked]
    if (slot.waiters.replace_release(linked, link)) {
      slot.linked = link;
      wired_ = true;
    } else {
      linked = slot.waiters.load_acquire();  // pairs with [list closed]
      TM_CHECK(linked == kListClosed);
      slot.linked = linked;
      // Nobody else has it on a list for that, so it does not end there.
      own_slot().pending.subtract_acq_rel(1);  // alone: takes back the add
    }
    return true;
  }
  TM_DEVICE TM_NOINLINE bool await_dep(TaskSlot& slot, Ring& ring) {
    return rings().wait_for(request_for(Resource::kDepPool), [&] {
      // pairs with [list closed]
      if (slot.waiters.load_acquire() == kListClosed) slot.linked = kListClosed;
      return slot.linked == kListClosed || !ring.deps.full();
    });
  }

  TM_DEVICE TM_NOINLINE_ON_GPU bool register_found(const TensorRef& ref, Access access,
                                                   std::uint32_t arg) {
    TensorMap& map = rings().map();
    const CanonicalView& view = canonical_[arg];
    const std::uint32_t replaced = writes(access) ? drop_superseded(view, found_[arg]) : 0;
    if (replaced != TensorMap::kNone) {
      rings().replace_entry(replaced, task_, consumer_, arg, map_first_);
    } else {
      const auto has_room = [&] { return map.has_room(); };
      if (!has_room() && !rings().wait_for(request_for(Resource::kTensorMap), has_room))
        return false;
      rings().note_evictions();
      rings().add_entry(view, task_, consumer_, !writes(access), arg, map_first_);
    }
    if (ref.owner != kNoOwner) memory().slot(slot_of({ref.owner})).entries_on_it = 1;
    own_slot().map_first = map_first_;
    watch().took(Resource::kTensorMap, 0, map.live_count());
    return true;
  }

  // Its slot is somebody else's by now; only the edge is reported.
  TM_DEVICE void tell_retired(TaskId task, EdgeVia via) {
    if (!note_told(task)) retired_untold_ = true;
    tell(task, via, true);
  }
  TM_DEVICE void tell(TaskId producer, EdgeVia via, bool satisfied) {
    watch().edge({.producer = producer,
                  .consumer = task_,
                  .arg = via.arg,
                  .source = via.source,
                  .overlap = via.overlap,
                  .producer_arg = via.producer_arg,
                  .satisfied = satisfied});
  }
  // False: no room to remember it.
  TM_DEVICE bool note_told(TaskId id) {
    if (retired_told_ == kRetiredTold) return false;
    retired_[retired_told_++] = id.value;
    return true;
  }
  TM_DEVICE bool was_told(TaskId id) {
    for (std::uint32_t i = 0; i < retired_told_; ++i)
      if (retired_[i] == id.value) return true;
    return retired_untold_ && is_found(id);
  }
  // More than could be remembered: they are found again.
  TM_DEVICE TM_NOINLINE_ON_GPU bool is_found(TaskId id) {
    const StoredTensor* tensors = memory().tensors(own_slot());
    for (std::uint32_t i = 0; i < own_slot().tensor_count; ++i)
      if (tensors[i].access != Access::kOutput && tensors[i].access != Access::kNoDep &&
          is_producer(id, canonical_of(tensors[i].view), tensors[i].access))
        return true;
    return false;
  }
  TM_DEVICE bool is_producer(TaskId id, const CanonicalView& view, Access access) {
    TensorMap& map = rings().map();
    for (std::uint32_t link = rings().find(view, writes(access)); link != TensorMap::kNone;
         link = map.entry(link).found)
      if (map.entry(link).task == id) return true;
    return false;
  }

  TM_DEVICE static bool writes(Access access) {
    return access == Access::kInout || access == Access::kOutputExisting;
  }

  // Whoever comes next waits for this task, which waits for what it overwrites. Returns an entry of
  // the same elements in the same form, if there is one, for the task to take over.
  TM_DEVICE std::uint32_t drop_superseded(const CanonicalView& view, const FoundEntry& found) {
    TensorMap& map = rings().map();
    if (found.link == TensorMap::kNone) return TensorMap::kNone;
    std::uint32_t same = TensorMap::kNone;
    if (found.serial != kMany) {
      // It may be gone, with what another argument of the task has superseded.
      if (map.entry(found.link).serial == found.serial) drop_covered(found.link, view, same);
      return same;
    }
    for (std::uint32_t link = rings().find(view, tracks_readers_); link != TensorMap::kNone;) {
      const MapEntry& entry = map.entry(link);
      const std::uint32_t next = entry.found;
      if (entry.retired != 0 || entry.slot != consumer_.value) drop_covered(link, view, same);
      link = next;
    }
    return same;
  }
  TM_DEVICE void drop_covered(std::uint32_t link, const CanonicalView& view, std::uint32_t& same) {
    const MapEntry& entry = rings().map().entry(link);
    if (overlap_of(entry.view, view) != ViewOverlap::kCovered) return;
    if (same == TensorMap::kNone && entry.view.is_same_as(view))
      same = link;
    else
      rings().drop_entry(link);
  }

  static constexpr std::uint32_t kRetiredTold = 64;
  Rings& rings_;
  const TaskPlan& plan_;
  TaskId task_;
  SlotRef consumer_;
  TaskSlot& slot_;
  Noted noted_;
  // The orchestrator's own words of the slot: they are written there, never read back.
  std::uint32_t fanin_count_ = 0;
  std::uint32_t map_first_ = TensorMap::kNone;
  bool tracks_readers_;
  bool wired_ = false;
  std::uint32_t retired_told_ = 0;
  bool retired_untold_ = false;           // there were more
  std::uint64_t retired_[kRetiredTold];   // tasks whose edges are reported
  CanonicalView canonical_[kTensorsMax];  // of the arguments that were looked up
  FoundEntry found_[kTensorsMax];
};

}  // namespace tidemark
