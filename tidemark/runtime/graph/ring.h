// SPDX-License-Identifier: Apache-2.0
// One ring as the orchestrator keeps it, and what it says when it has no room.
#pragma once

#include <cstdint>

#include "tidemark/runtime/error_latch.h"
#include "tidemark/runtime/graph/counter_ring.h"
#include "tidemark/runtime/graph/heap_ring.h"
#include "tidemark/runtime/graph/scope_stack.h"
#include "tidemark/runtime/graph/task_window.h"
#include "tidemark/runtime/runtime_layout.h"

namespace tidemark {

struct Ring {
  TM_DEVICE Ring(const RingSizes& sizes, const RingLayout& layout)
      : window(sizes.task_window),
        heap(sizes.heap_bytes),
        deps(sizes.dep_pool),
        fanin(sizes.dep_pool),
        args(layout.args_bytes) {}
  TaskWindow window;
  HeapRing heap;
  CounterRing deps;
  CounterRing fanin;
  ArgRing args;
};

// What is asked of a ring, for the error that may come of it.
struct SpaceRequest {
  Resource resource = Resource::kNone;
  std::uint32_t ring = 0;
  std::uint64_t requested = 1;
  std::uint64_t task_id = kNoOwner;
  const char* kernel = "";
  Site submit;
};

// Why a wait for room can never end. map_used: entries of the tensor map.
TM_DEVICE TM_NOINLINE inline ErrorDetails deadlock_of(const SpaceRequest& request, const Ring& ring,
                                                      const OpenScope& scope,
                                                      std::uint64_t map_used,
                                                      std::uint64_t map_capacity) {
  ErrorDetails details{.resource = request.resource,
                       .ring = request.ring,
                       .requested = request.requested,
                       .task_id = request.task_id,
                       .scope = scope.site,
                       .submit = request.submit,
                       .kernel = request.kernel};
  switch (request.resource) {
    case Resource::kTaskWindow:
      details.code = scope.task_count + 1 == ring.window.slot_count()
                         ? ErrorCode::kScopeDeadlock
                         : ErrorCode::kFlowControlDeadlock;
      details.used = ring.window.live_count();
      details.capacity = ring.window.slot_count();
      break;
    case Resource::kHeap:
      details.code = ErrorCode::kHeapRingDeadlock;
      details.used = ring.heap.used_bytes();
      details.capacity = ring.heap.capacity();
      break;
    case Resource::kArguments:
      details.code = ErrorCode::kHeapRingDeadlock;
      details.used = ring.args.used_bytes();
      details.capacity = ring.args.capacity();
      break;
    case Resource::kDepPool:
      details.code = ErrorCode::kDepPoolOverflow;
      details.used = ring.deps.used();
      details.capacity = ring.deps.capacity();
      break;
    case Resource::kFanin:
      details.code = ErrorCode::kDepPoolOverflow;
      details.used = ring.fanin.used();
      details.capacity = ring.fanin.capacity();
      break;
    default:
      details.code = ErrorCode::kTensormapOverflow;
      details.used = map_used;
      details.capacity = map_capacity;
  }
  return details;
}

}  // namespace tidemark
