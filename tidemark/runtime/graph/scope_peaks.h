// SPDX-License-Identifier: Apache-2.0
// The realised peaks of the open scopes. A scope's peaks start at the occupancy found at its begin,
// are raised by every allocation made inside it, and are folded into those of the scope around it
// at its end. Only the innermost scope is touched by an allocation.
#pragma once

#include <cstdint>

#include "tidemark/base/check.h"
#include "tidemark/runtime/graph/scope_stack.h"
#include "tidemark/schema/scope_boundary.h"

namespace tidemark {

class PeakStack {
 public:
  TM_DEVICE void open(const ScopePeaks& occupancy) {
    TM_CHECK(depth_ < kScopeDepthMax);
    peaks_[depth_++] = occupancy;
  }
  // `used` includes what was taken.
  TM_DEVICE void took(Resource resource, std::uint32_t ring, std::uint64_t used,
                      std::uint64_t taken) {
    if (depth_ == 0) return;
    ScopePeaks& inner = peaks_[depth_ - 1];
    const auto count = static_cast<std::uint32_t>(used);
    switch (resource) {
      case Resource::kTaskWindow:
        return raise(inner.tasks[ring], count);
      case Resource::kHeap:
        raise(inner.heap_request[ring], taken);
        return raise(inner.heap_bytes[ring], used);
      case Resource::kDepPool:
        return raise(inner.deps[ring], count);
      case Resource::kFanin:
        return raise(inner.fanin[ring], count);
      case Resource::kTensorMap:
        return raise(inner.map_entries, count);
      case Resource::kArguments:
        return raise(inner.args_bytes[ring], used);
      case Resource::kNone:
        return;
    }
  }
  // The peaks of the scope that ends.
  TM_DEVICE ScopePeaks close() {
    TM_CHECK(depth_ > 0);
    const ScopePeaks ended = peaks_[--depth_];
    if (depth_ > 0) raise(peaks_[depth_ - 1], ended);
    return ended;
  }

 private:
  ScopePeaks peaks_[kScopeDepthMax];
  std::uint32_t depth_ = 0;
};

// What the rings hold now.
template <class Rings>
TM_DEVICE ScopePeaks occupancy_of(Rings& rings) {
  ScopePeaks now;
  for (std::uint32_t i = 0; i < kRingCount; ++i) {
    const auto& ring = rings.ring(i);
    now.tasks[i] = static_cast<std::uint32_t>(ring.window.live_count());
    now.heap_bytes[i] = ring.heap.used_bytes();
    now.deps[i] = static_cast<std::uint32_t>(ring.deps.used());
    now.fanin[i] = static_cast<std::uint32_t>(ring.fanin.used());
    now.args_bytes[i] = ring.args.used_bytes();
  }
  now.map_entries = rings.map().live_count();
  return now;
}

template <class Rings>
TM_DEVICE RingMarks marks_of(Rings& rings, std::uint32_t index) {
  const auto& ring = rings.ring(index);
  return {.task_tail = ring.window.tail(),
          .task_head = ring.window.head(),
          .heap_tail = ring.heap.tail(),
          .heap_head = ring.heap.head(),
          .dep_tail = ring.deps.tail(),
          .dep_head = ring.deps.head(),
          .fanin_tail = ring.fanin.tail(),
          .fanin_head = ring.fanin.head()};
}

}  // namespace tidemark
