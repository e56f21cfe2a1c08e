// SPDX-License-Identifier: Apache-2.0
// What can be seen of a graph while it is built. The orchestrator calls a watch at these points;
// this one sees nothing and costs nothing.
#pragma once

#include <cstdint>

#include "tidemark/runtime/overlap.h"
#include "tidemark/runtime/task_slot.h"

namespace tidemark {

enum class EdgeSource : std::uint8_t { kExplicit, kCreator, kTensorMap };

inline constexpr std::uint32_t kNoArg = ~0u;

struct GraphEdge {
  TaskId producer;
  TaskId consumer;
  std::uint32_t arg = kNoArg;
  EdgeSource source = EdgeSource::kExplicit;
  ViewOverlap overlap = ViewOverlap::kNone;
};

struct NoWatch {
  TM_DEVICE void edge(const GraphEdge&) {}
  TM_DEVICE void submitted(const TaskSlot&) {}
  TM_DEVICE void reclaimed(const TaskSlot&) {}
};

}  // namespace tidemark
