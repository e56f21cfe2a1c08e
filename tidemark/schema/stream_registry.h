// SPDX-License-Identifier: Apache-2.0
// The one list of streams: a new kind of record is a header beside this one, a line here and an
// exporter. Nothing between the two knows what a record means.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tidemark/schema/field.h"
#include "tidemark/schema/graph_record.h"
#include "tidemark/schema/phase_span.h"
#include "tidemark/schema/scope_boundary.h"
#include "tidemark/schema/stamp.h"
#include "tidemark/schema/stream_id.h"
#include "tidemark/schema/task_span.h"
#include "tidemark/schema/user_event.h"

namespace tidemark {

// A record lane may be wider than its record: readers step by the lane's record_bytes and
// understand the first `record_bytes` of the registry. Zero means framed payload.
struct StreamInfo {
  StreamId id;
  std::string_view name;
  std::uint32_t record_bytes;
  std::span<const Field> fields;
  std::string_view content;
};

inline constexpr StreamInfo kStreams[] = {
    {StreamId::kSwimlane, "swimlane", TaskSpan::kBytes, kTaskSpanFields,
     "task spans: task, kernel, core, block, begin, end"},
    {StreamId::kPhases, "phases", SchedulerPhase::kBytes, kPhaseFields,
     "what each scheduler round and each submit did, and for how long"},
    {StreamId::kEdges, "edges", GraphEdgeRecord::kBytes, kGraphFields,
     "the task graph: tasks, their tensors, dependencies"},
    {StreamId::kScopes, "scopes", ScopeBoundary::kBytes, kScopeFields,
     "begin and end of every scope, with the realised peaks of rings and pools"},
    {StreamId::kDump, "dump", 0, {}, "arguments of tasks before and after, as frames of any size"},
    {StreamId::kEvents, "events", UserEvent::kBytes, kUserEventFields,
     "user-defined marks and counters, by name"},
};

constexpr const StreamInfo* find_stream(StreamId id) {
  for (const auto& stream : kStreams)
    if (stream.id == id) return &stream;
  return nullptr;
}

constexpr const StreamInfo* find_stream(std::string_view name) {
  for (const auto& stream : kStreams)
    if (stream.name == name) return &stream;
  return nullptr;
}

constexpr bool every_stream_is_stamped() {
  for (const auto& stream : kStreams) {
    if (stream.record_bytes % kQuantumBytes != 0) return false;
    for (const auto& field : stream.fields)
      if (field.offset % kQuantumBytes >= kStampOffset) return false;
  }
  return true;
}
static_assert(every_stream_is_stamped(), "the last 2 bytes of every quantum belong to the stamp");

}  // namespace tidemark
