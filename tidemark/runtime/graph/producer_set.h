// SPDX-License-Identifier: Apache-2.0
// Finds the producers of a task being submitted and makes it wait for them: the creators of its
// tensors, writers found in the tensor map, and tasks named by the program. Every edge is told
// once per (producer, consumer, argument).
#pragma once

#include <cstdint>

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

  TM_DEVICE ProducerSet(const RuntimeMemory& memory, Rings& rings, Watch& watch,
                        const SpaceRequest& request, SlotRef consumer, std::uint64_t serial)
      : memory_(memory),
        rings_(rings),
        watch_(watch),
        request_(request),
        consumer_(consumer),
        slot_(memory.slot(consumer)),
        serial_(serial),
        tracks_readers_(memory.config().track_war != 0) {}

  // All of these return false when the run is ending.
  TM_DEVICE bool add_creator(const TensorRef& ref, std::uint32_t arg) {
    if (ref.owner == kNoOwner) return true;
    const TaskId owner{ref.owner};
    return add(slot_of(owner), owner, true,
               {.arg = arg,
                .source = EdgeSource::kCreator,
                .overlap = ViewOverlap::kCovered,
                .producer_arg = ref.argument});
  }
  // With explicit edges only, tags still say whose memory is used.
  TM_DEVICE bool retain_creator(const TensorRef& ref) {
    if (ref.owner == kNoOwner) return true;
    return remember(slot_of({ref.owner}), true);
  }
  // Also a task whose scope is closed: if its slot is somebody else's by now, it is complete.
  TM_DEVICE bool add_explicit(const TaskHandle& task) {
    const SlotRef producer = slot_of(task.id);
    const TaskSlot& slot = memory_.slot(producer);
    // Wired automatically already, or named twice.
    if ((slot.id == task.id && slot.waited_by == serial_) || was_told(task.id)) return true;
    const GraphEdge edge{.arg = kNoArg, .source = EdgeSource::kExplicit};
    if (slot.id == task.id) return add(producer, task.id, false, edge);
    note_told(task.id);
    tell_complete(task.id, edge);
    return true;
  }
  // An edge between two tasks that are in the graph already: see LateEdges.
  TM_DEVICE bool add_late(const TaskHandle& task) {
    return wire(slot_of(task.id), LateEdges<Env, Watch>::kLateBit);
  }
  TM_DEVICE bool add_overlapping(const TensorView& view, Access access, std::uint32_t arg) {
    TensorMap& map = rings_.map();
    canonical_[arg] = canonical_of(view);
    TaskId told{kNoOwner};
    for (std::uint32_t link = map.find(canonical_[arg], {.readers = writes(access)});
         link != TensorMap::kNone;) {
      // A wait for space may free entries, but none is used again before all look-ups are over.
      const MapEntry& entry = map.entry(link);
      link = entry.found;
      if (entry.task == told) continue;  // its entries follow each other
      told = entry.task;
      const GraphEdge edge{.arg = arg,
                           .source = EdgeSource::kTensorMap,
                           .overlap = entry.overlap,
                           .producer_arg = entry.arg};
      if (entry.retired != 0)
        tell_retired(entry.task, edge);
      else if (!add({entry.slot}, entry.task, false, edge))
        return false;
    }
    return true;
  }

  // Some producer has the consumer on its list.
  TM_DEVICE bool wired() const { return wired_; }

  // After all look-ups: the task becomes a writer (or a tracked reader) of the view.
  TM_DEVICE bool register_access(const TensorRef& ref, Access access, std::uint32_t arg) {
    if (!writes(access) && !(tracks_readers_ && access == Access::kInput)) return true;
    TensorMap& map = rings_.map();
    if (writes(access)) drop_superseded(canonical_[arg]);
    SpaceRequest request = request_;
    request.resource = Resource::kTensorMap;
    if (!rings_.wait_for(request, [&] { return map.has_room(); })) return false;
    rings_.note_evictions();
    map.add(canonical_[arg], slot_.id, consumer_, !writes(access), arg, slot_.map_first);
    watch_.took(Resource::kTensorMap, 0, map.live_count());
    if (ref.owner != kNoOwner) ++memory_.slot(slot_of({ref.owner})).buffer_entries;
    return true;
  }

 private:
  TM_DEVICE SlotRef slot_of(TaskId id) const { return rings_.ref_of(id.ring(), id.local()); }

  TM_DEVICE bool add(SlotRef producer, TaskId id, bool retains, GraphEdge edge) {
    TaskSlot& slot = memory_.slot(producer);
    const bool waited = slot.waited_by == serial_;
    const bool told = waited && slot.told_arg == edge.arg;
    slot.told_arg = edge.arg;
    slot.waited_by = serial_;
    const bool noted = remember(producer, retains) && (waited || wire(producer));
    if (!told) {
      edge.producer = id;
      edge.consumer = slot_.id;
      edge.satisfied = slot.linked == kListClosed;
      watch_.edge(edge);
    }
    return noted;
  }

  // Notes the producer in the fanin list, once.
  TM_DEVICE bool remember(SlotRef producer, bool retains) {
    TaskSlot& slot = memory_.slot(producer);
    if (slot.seen_by != serial_) {
      slot.seen_by = serial_;
      slot.fanin_place = slot_.fanin_count;
      if (slot_.fanin_count >= kFaninInline && !take_spill()) return false;
      memory_.fanin(slot_, slot_.fanin_count++) = producer.value;
    }
    std::uint32_t& noted = memory_.fanin(slot_, slot.fanin_place);
    if (retains && (noted & SlotRef::kRetainsBit) == 0) {
      noted |= SlotRef::kRetainsBit;
      ++slot.retained;
    }
    return true;
  }

  TM_DEVICE bool take_spill() {
    Ring& ring = rings_.ring(slot_.id.ring());
    SpaceRequest request = request_;
    request.resource = Resource::kFanin;
    if (!rings_.wait_for(request, [&] { return !ring.fanin.full(); })) return false;
    const std::uint32_t place = ring.fanin.push();
    watch_.took(Resource::kFanin, slot_.id.ring(), ring.fanin.used());
    if (slot_.fanin_count == kFaninInline) slot_.fanin_spill = place;
    return true;
  }

  // Puts the consumer on the producer's list, unless that is complete. Only this thread adds to the
  // list, so what it linked last is its head, or the list is closed: nothing is read first.
  TM_DEVICE bool wire(SlotRef producer, std::uint32_t late_bit = 0) {
    TaskSlot& slot = memory_.slot(producer);
    if (slot.linked == kListClosed) return true;
    Ring& ring = rings_.ring(slot_.id.ring());
    if (ring.deps.full() && !await_dep(slot, ring)) return false;
    if (slot.linked == kListClosed) return true;
    const std::uint32_t place = ring.deps.push();
    watch_.took(Resource::kDepPool, slot_.id.ring(), ring.deps.used());
    DepEntry& entry = memory_.dep(slot_.id.ring(), place);
    entry.consumer = consumer_.value | late_bit;
    entry.next = slot.linked;
    slot_.pending.add_relaxed(1);  // goes out with [waiter linked]
    const std::uint32_t link = SlotRef::make(slot_.id.ring(), place).value;
    // [waiter linked]; pairs with [list closed]
    if (slot.waiters.replace_acq_rel(slot.linked, link)) {
      slot.linked = link;
      wired_ = true;
    } else {
      TM_CHECK(slot.linked == kListClosed);
      // Nobody else has it on a list for that, so it does not end there.
      slot_.pending.subtract_acq_rel(1);  // alone: takes back the add
    }
    return true;
  }
  TM_DEVICE TM_NOINLINE bool await_dep(TaskSlot& slot, Ring& ring) {
    SpaceRequest request = request_;
    request.resource = Resource::kDepPool;
    return rings_.wait_for(request, [&] {
      // pairs with [list closed]
      if (slot.waiters.load_acquire() == kListClosed) slot.linked = kListClosed;
      return slot.linked == kListClosed || !ring.deps.full();
    });
  }

  // Its slot is somebody else's by now; only the edge is reported.
  TM_DEVICE void tell_retired(TaskId task, const GraphEdge& edge) {
    if (!note_told(task)) retired_untold_ = true;
    tell_complete(task, edge);
  }
  TM_DEVICE void tell_complete(TaskId producer, GraphEdge edge) {
    edge.producer = producer;
    edge.consumer = slot_.id;
    edge.satisfied = true;
    watch_.edge(edge);
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
    if (!retired_untold_) return false;
    // More than could be remembered: they are found again.
    const StoredTensor* tensors = memory_.tensors(slot_);
    for (std::uint32_t i = 0; i < slot_.tensor_count; ++i)
      if (tensors[i].access != Access::kOutput && tensors[i].access != Access::kNoDep &&
          is_producer(id, canonical_[i], tensors[i].access))
        return true;
    return false;
  }
  TM_DEVICE bool is_producer(TaskId id, const CanonicalView& view, Access access) {
    TensorMap& map = rings_.map();
    for (std::uint32_t link = map.find(view, {.readers = writes(access)}); link != TensorMap::kNone;
         link = map.entry(link).found)
      if (map.entry(link).task == id) return true;
    return false;
  }

  TM_DEVICE static bool writes(Access access) {
    return access == Access::kInout || access == Access::kOutputExisting;
  }

  // Whoever comes next waits for this task, which waits for what it overwrites.
  TM_DEVICE void drop_superseded(const CanonicalView& view) {
    TensorMap& map = rings_.map();
    for (std::uint32_t link = map.find(view, {.readers = tracks_readers_});
         link != TensorMap::kNone;) {
      const MapEntry& entry = map.entry(link);
      const std::uint32_t next = entry.found;
      const bool own = entry.retired == 0 && entry.slot == consumer_.value;
      if (!own && overlap_of(entry.view, view) == ViewOverlap::kCovered) rings_.drop_entry(link);
      link = next;
    }
  }

  static constexpr std::uint32_t kRetiredTold = 64;
  const RuntimeMemory& memory_;
  Rings& rings_;
  Watch& watch_;
  SpaceRequest request_;
  SlotRef consumer_;
  TaskSlot& slot_;
  std::uint64_t serial_;
  bool tracks_readers_;
  bool wired_ = false;
  std::uint32_t retired_told_ = 0;
  bool retired_untold_ = false;           // there were more
  std::uint64_t retired_[kRetiredTold];   // tasks whose edges are reported
  CanonicalView canonical_[kTensorsMax];  // of the arguments that were looked up
};

}  // namespace tidemark
