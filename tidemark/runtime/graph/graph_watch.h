// SPDX-License-Identifier: Apache-2.0
// What can be seen of a graph while it is built. The orchestrator calls a watch at these points;
// this one sees nothing and costs nothing. Others derive from it and hide what they want to see.
#pragma once

#include <cstdint>

#include "tidemark/record/event_recorder.h"
#include "tidemark/runtime/graph/scope_stack.h"
#include "tidemark/runtime/graph/slot_filling.h"
#include "tidemark/schema/graph_record.h"
#include "tidemark/schema/resource.h"
#include "tidemark/schema/task_limits.h"

namespace tidemark {

struct GraphEdge {
  TaskId producer;
  TaskId consumer;
  std::uint32_t arg = kNoArg;
  EdgeSource source = EdgeSource::kExplicit;
  ViewOverlap overlap = ViewOverlap::kNone;
  std::uint32_t producer_arg = kNoArg;  // through which it wrote
  bool satisfied = false;               // the producer was complete when it was found
};

struct NoWatch {
  TM_DEVICE void edge(const GraphEdge&) {}
  TM_DEVICE void submit_begins() {}
  // Written down and connected; nobody else knows of it yet.
  TM_DEVICE void submitted(const TaskSlot&) {}
  TM_DEVICE void described(const RuntimeMemory&, const TaskSlot&, const TaskPlan&) {}
  // What the raw words of a task mean was said afterwards.
  TM_DEVICE void informed(const RuntimeMemory&, const TaskSlot&) {}
  template <class Rings>
  TM_DEVICE void submit_ends(TaskId, Rings&) {}
  TM_DEVICE void reclaimed(const TaskSlot&) {}
  // The tensor map was too small for all writers: tasks from now on may lack edges.
  TM_DEVICE void writers_evicted() {}
  template <class Rings>
  TM_DEVICE void scope_opened(const ScopeStack&, Rings&) {}
  template <class Rings>
  TM_DEVICE void scope_closes(const ScopeStack&, Rings&) {}
  // Something was taken; `used` includes it.
  TM_DEVICE void took(Resource, std::uint32_t, std::uint64_t, std::uint64_t = 1) {}
  TM_DEVICE NoEvents recorder() { return {}; }
  // Where the orchestrator shows that it waits for a recorder of the watch; nullptr: nowhere.
  TM_DEVICE void tell_waits_to(RecorderCosts*) {}
  // The orchestration is over; nothing follows but tell_waits_to.
  TM_DEVICE void ended() {}
};

struct AnyRings;  // in place of the orchestrator's rings, which know their watch

template <class Watch>
concept GraphWatch = requires(Watch& watch, const GraphEdge& edge, const TaskSlot& slot,
                              const TaskPlan& plan, const RuntimeMemory& memory,
                              const ScopeStack& scopes, AnyRings& rings) {
  watch.edge(edge);
  watch.submit_begins();
  watch.submitted(slot);
  watch.described(memory, slot, plan);
  watch.informed(memory, slot);
  watch.submit_ends(slot.id, rings);
  watch.reclaimed(slot);
  watch.writers_evicted();
  watch.scope_opened(scopes, rings);
  watch.scope_closes(scopes, rings);
  watch.took(Resource::kHeap, 0u, std::uint64_t{1});
  watch.recorder();
  watch.tell_waits_to(nullptr);
  watch.ended();
};
static_assert(GraphWatch<NoWatch>);

}  // namespace tidemark
