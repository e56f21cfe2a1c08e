// SPDX-License-Identifier: Apache-2.0
// The one list of streams: a new stream is a header beside this one, its number in stream_id.h, a
// line here and an exporter; one that units of the runtime write also has a line in stream_lanes.h.
// Nothing between producer and exporter knows what a record means.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tidemark/schema/dump_frame.h"
#include "tidemark/schema/field.h"
#include "tidemark/schema/graph_record.h"
#include "tidemark/schema/phase_span.h"
#include "tidemark/schema/scope_boundary.h"
#include "tidemark/schema/stamp.h"
#include "tidemark/schema/stream_id.h"
#include "tidemark/schema/stream_lanes.h"
#include "tidemark/schema/task_span.h"
#include "tidemark/schema/user_event.h"

namespace tidemark {

// A record lane may be wider than its record: readers step by the lane's record_bytes and
// understand the first `record_bytes` of the registry. Zero means framed payload: the fields of a
// kind are those of a frame's header.
struct StreamInfo {
  StreamId id;
  std::string_view name;
  std::uint32_t record_bytes;
  std::span<const RecordKind> kinds;
  std::span<const Field> trailer = {};  // at the end of a frame
  std::string_view content;
  std::string_view asked_by;    // what turns it on
  std::uint32_t level_max = 0;  // of its own in StreamSelection; 0: none
  const char* flag = nullptr;   // of the command line, that sets the level and nothing else
  const char* flag_help = nullptr;

  // Null: none that is known.
  [[nodiscard]] const RecordKind* kind_of(const void* record) const {
    for (const RecordKind& kind : kinds)
      if (kind.fits(record)) return &kind;
    return nullptr;
  }
};

inline constexpr StreamInfo kStreams[] = {
    {.id = StreamId::kSwimlane,
     .name = "swimlane",
     .record_bytes = TaskSpan::kBytes,
     .kinds = kTaskSpanKinds,
     .content = "task spans: task, kernel, core, block, begin, end",
     .asked_by = "--enable-l2-swimlane[=1..4]",
     .level_max = kSwimlaneLevelMax,
     .flag = "--enable-l2-swimlane{4}",
     .flag_help =
         "Task timing. =1: start and end of every block; =2: also dispatch and finish; =3: "
         "also scheduler phases; =4 or bare: also submits"},
    {.id = StreamId::kPhases,
     .name = "phases",
     .record_bytes = SchedulerPhase::kBytes,
     .kinds = kPhaseKinds,
     .content = "what each scheduler round and each submit did, and for how long",
     .asked_by = "--enable-l2-swimlane=3 or 4"},
    {.id = StreamId::kEdges,
     .name = "edges",
     .record_bytes = GraphEdgeRecord::kBytes,
     .kinds = kGraphKinds,
     .content = "the task graph: tasks, their tensors, dependencies",
     .asked_by = "--enable-dep-gen",
     .level_max = 1,
     .flag = "--enable-dep-gen",
     .flag_help = "The task graph: tasks, tensors, and every dependency with its reason"},
    {.id = StreamId::kScopes,
     .name = "scopes",
     .record_bytes = ScopeBoundary::kBytes,
     .kinds = kScopeKinds,
     .content = "begin and end of every scope, with the realised peaks of rings and pools",
     .asked_by = "--enable-scope-stats",
     .level_max = 1,
     .flag = "--enable-scope-stats",
     .flag_help = "Begin and end of every scope, with the peaks of rings and pools inside it"},
    {.id = StreamId::kDump,
     .name = "dump",
     .record_bytes = 0,
     .kinds = kDumpKinds,
     .trailer = kDumpStatsFields,
     .content = "arguments of tasks before and after, as frames of any size",
     .asked_by = "--dump-tensor",
     .level_max = 1},
    {.id = StreamId::kEvents,
     .name = "events",
     .record_bytes = UserEvent::kBytes,
     .kinds = kUserEventKinds,
     .content = "user-defined marks and counters, by name",
     .asked_by = "with any other stream"},
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
    for (const auto& kind : stream.kinds)
      for (const auto& field : kind.fields)
        if (stream.record_bytes != 0 && field.offset % kQuantumBytes >= kStampOffset) return false;
  }
  return true;
}
static_assert(every_stream_is_stamped(), "the last 2 bytes of every quantum belong to the stamp");

// What a trace begins with is found without knowing the record.
constexpr bool every_first_time_is_in_word_1() {
  for (const auto& stream : kStreams)
    for (const auto& kind : stream.kinds)
      for (const auto& field : kind.fields) {
        if (field.type != FieldType::kTicks48) continue;
        if (field.offset != 8) return false;
        break;
      }
  return true;
}
static_assert(every_first_time_is_in_word_1());

}  // namespace tidemark
