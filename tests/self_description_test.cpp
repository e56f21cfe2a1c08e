// SPDX-License-Identifier: Apache-2.0
// A capture can be read without this source: a reader that has only FORMAT.md and the description
// in the capture (plain_capture.h) finds every record of every kind that our own reader finds,
// field by field.
#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>

#include "tests/plain_capture.h"
#include "tests/streams_fixture.h"
#include "tidemark/run/for_each_frame.h"
#include "tidemark/run/run_capture.h"
#include "tidemark/schema/dump_frame.h"
#include "tidemark/schema/stream_registry.h"

namespace tidemark {
namespace {

using plain::Fields;
using plain::Record;

constexpr const char* kFormatFile = TIDEMARK_SOURCE_DIR "/tidemark/capture/FORMAT.md";

Record said(const TaskSpan& span) {
  return {"span",
          {{"task_id", span.task_id},
           {"begin", span.begin_ticks},
           {"end", span.end_ticks},
           {"block", span.block},
           {"kernel", span.kernel},
           {"core", span.core}}};
}
Record said(const SchedulerPhase& phase) {
  return {phase.kind == PhaseKind::kComplete ? "complete" : "dispatch",
          {{"loop", phase.loop},
           {"begin", phase.begin_ticks},
           {"end", phase.end_ticks},
           {"processed", phase.processed},
           {"pop_hit", phase.pop_hit},
           {"pop_miss", phase.pop_miss},
           {"ready", phase.ready},
           {"kind", stored_bits(phase.kind)}}};
}
Record said(const SubmitSpan& submit) {
  return {"submit",
          {{"task_id", submit.task_id},
           {"begin", submit.begin_ticks},
           {"end", submit.end_ticks},
           {"index", submit.index},
           {"heap_bytes", submit.heap_bytes},
           {"live_tasks", submit.live_tasks},
           {"kind", 3}}};
}
Record said(const GraphTask& task) {
  return {"task",
          {{"task_id", task.task_id},
           {"time", task.time_ticks},
           {"block_count", task.block_count},
           {"submit_line", task.submit_line},
           {"kernel_0", task.kernels[0]},
           {"kernel_1", task.kernels[1]},
           {"kernel_2", task.kernels[2]},
           {"submit_file", task.submit_file},
           {"kind", 1},
           {"shape", stored_bits(task.shape)},
           {"tensor_count", task.tensor_count},
           {"scalar_count", task.scalar_count},
           {"at_once", task.at_once},
           {"writers_evicted", task.writers_evicted}}};
}
Record said(const GraphArgument& argument) {
  return {"argument",
          {{"task_id", argument.task_id},
           {"start_offset", argument.start_offset},
           {"buffer", argument.buffer},
           {"index", argument.index},
           {"access", stored_bits(argument.access)},
           {"dtype", stored_bits(argument.dtype)},
           {"rank", argument.rank},
           {"output_index", argument.output_index},
           {"owner", argument.owner},
           {"kind", 2}}};
}
Record said(const GraphDimensions& dims) {
  Record record{dims.count == 1 ? "one_dimension" : "two_dimensions",
                {{"task_id", dims.task_id},
                 {"extent_0", dims.extent[0]},
                 {"stride_0", dims.stride[0]},
                 {"first", dims.first},
                 {"count", dims.count},
                 {"kind", 3}}};
  if (dims.count == 2)
    record.fields.merge(Fields{{"extent_1", dims.extent[1]}, {"stride_1", dims.stride[1]}});
  return record;
}
Record said(const GraphEdgeRecord& edge) {
  return {"edge",
          {{"producer", edge.producer},
           {"consumer", edge.consumer},
           {"arg", edge.arg},
           {"producer_arg", edge.producer_arg},
           {"source", stored_bits(edge.source)},
           {"overlap", stored_bits(edge.overlap)},
           {"satisfied", edge.satisfied},
           {"kind", 4}}};
}
Record said(const ScopeBoundary& scope) {
  const RingMarks& marks = scope.marks;
  Record record{"boundary",
                {{"file", scope.file},
                 {"time", scope.time_ticks},
                 {"line", scope.line},
                 {"depth", scope.depth},
                 {"ring", scope.ring},
                 {"phase", stored_bits(scope.phase)},
                 {"serial", scope.serial},
                 {"heap_tail", marks.heap_tail},
                 {"task_tail", marks.task_tail},
                 {"heap_head", marks.heap_head},
                 {"task_head", marks.task_head},
                 {"dep_tail", marks.dep_tail},
                 {"fanin_tail", marks.fanin_tail},
                 {"dep_head", marks.dep_head},
                 {"fanin_head", marks.fanin_head},
                 {"map_entries", scope.map_entries},
                 {"map_entries_peak", scope.peaks.map_entries}}};
  for (std::uint32_t ring = 0; ring < kRingCount; ++ring) {
    const std::string number = "_" + std::to_string(ring);
    record.fields["heap_peak" + number] = scope.peaks.heap_bytes[ring];
    record.fields["tasks_peak" + number] = scope.peaks.tasks[ring];
    record.fields["deps_peak" + number] = scope.peaks.deps[ring];
    record.fields["fanin_peak" + number] = scope.peaks.fanin[ring];
    record.fields["heap_request" + number] = scope.peaks.heap_request[ring];
    record.fields["args_peak" + number] = scope.peaks.args_bytes[ring];
  }
  return record;
}
Record said(const UserEvent& event) {
  return {"event",
          {{"name", event.name_hash},
           {"time", event.time_ticks},
           {"value", static_cast<std::uint64_t>(event.value)},
           {"kind", stored_bits(event.kind)},
           {"unit", event.unit}}};
}
Record said(const DumpHeader& header) {
  Record record{"argument",
                {{"magic", header.magic},
                 {"core", header.core},
                 {"stage", stored_bits(header.stage)},
                 {"kind", stored_bits(header.kind)},
                 {"task_id", header.task_id},
                 {"time", header.time_ticks},
                 {"payload_bytes", header.payload_bytes},
                 {"logical_bytes", header.logical_bytes},
                 {"start_offset", header.start_offset},
                 {"scalar", header.scalar},
                 {"access", stored_bits(header.access)},
                 {"dtype", stored_bits(header.dtype)},
                 {"rank", header.rank},
                 {"arg_index", header.arg_index},
                 {"flags", header.flags},
                 {"skip_reason", stored_bits(header.skip_reason)},
                 {"block_count", header.block_count}}};
  for (std::uint32_t i = 0; i < kKernelsMax; ++i)
    record.fields["kernel_" + std::to_string(i)] = header.kernels[i];
  for (std::uint32_t i = 0; i < kRankMax; ++i) {
    record.fields["extent_" + std::to_string(i)] = header.extent[i];
    record.fields["stride_" + std::to_string(i)] = header.stride[i];
  }
  return record;
}
Fields said(const DumpStats& stats) {
  return {{"min", std::bit_cast<std::uint64_t>(stats.min)},
          {"max", std::bit_cast<std::uint64_t>(stats.max)},
          {"mean", std::bit_cast<std::uint64_t>(stats.mean)},
          {"l2", std::bit_cast<std::uint64_t>(stats.l2)},
          {"nan", stats.nan},
          {"inf", stats.inf},
          {"zero", stats.zero},
          {"hash", stats.hash}};
}

Record said_by(StreamId stream, const RecordCursor& cursor) {
  switch (stream) {
    case StreamId::kSwimlane:
      return said(cursor.as<TaskSpan>());
    case StreamId::kPhases:
      return phase_kind(cursor.words()) == PhaseKind::kSubmit ? said(cursor.as<SubmitSpan>())
                                                              : said(cursor.as<SchedulerPhase>());
    case StreamId::kEdges:
      switch (graph_record_kind(cursor.words())) {
        case GraphRecordKind::kTask:
          return said(cursor.as<GraphTask>());
        case GraphRecordKind::kArgument:
          return said(cursor.as<GraphArgument>());
        case GraphRecordKind::kDimensions:
          return said(cursor.as<GraphDimensions>());
        case GraphRecordKind::kEdge:
          return said(cursor.as<GraphEdgeRecord>());
      }
      return {};
    case StreamId::kScopes:
      return said(cursor.as<ScopeBoundary>());
    case StreamId::kEvents:
      return said(cursor.as<UserEvent>());
    case StreamId::kDump:
    case StreamId::kNone:
      break;
  }
  return {};
}

std::vector<Record> records_of(RunCapture& run, LaneIndex lane) {
  std::vector<Record> records;
  const LanePlan& plan = run.lanes()[lane];
  if (plan.record_bytes != 0) {
    for (RecordCursor cursor = run.records(lane); cursor.next();)
      records.push_back(said_by(plan.stream, cursor));
    return records;
  }
  for_each_frame(run, lane, [&](std::uint64_t, std::span<const unsigned char> frame) {
    DumpHeader header;
    ASSERT_GE(frame.size(), sizeof(header));
    std::memcpy(&header, frame.data(), sizeof(header));
    Record& record = records.emplace_back(said(header));
    if ((header.flags & kDumpHasStats) == 0) return;
    DumpStats stats;
    ASSERT_EQ(frame.size(), sizeof(header) + header.payload_bytes + sizeof(stats));
    std::memcpy(&stats, frame.data() + frame.size() - sizeof(stats), sizeof(stats));
    record.fields.merge(said(stats));
  });
  return records;
}

class SelfDescription : public Streams {
 protected:
  // Compares a run of the workload; adds "stream.kind" of what it has.
  void compare(const std::string& run_arguments) {
    SCOPED_TRACE(run_arguments);
    ASSERT_NO_FATAL_FAILURE(run_ok("run " + run_arguments + " --force --output-prefix r"));
    const auto lanes = plain::read_capture(path("r/capture.tide"), kFormatFile);
    auto run = RunCapture::open(path("r"));
    ASSERT_TRUE(run) << run.error().message;
    ASSERT_EQ(lanes.size(), run->lanes().size());
    for (const auto& [number, lane] : lanes) {
      SCOPED_TRACE(fmt::format("lane {} of {}", number, lane.stream));
      EXPECT_EQ(lane.unknown, 0u);
      const auto wanted = records_of(*run, static_cast<LaneIndex>(number));
      ASSERT_EQ(lane.records.size(), wanted.size());
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        ASSERT_EQ(lane.records[i].kind, wanted[i].kind) << "record " << i;
        ASSERT_EQ(lane.records[i].fields, wanted[i].fields) << "record " << i;
        seen_.insert(lane.stream + "." + wanted[i].kind);
      }
    }
  }

  std::set<std::string> seen_;
};

TEST_F(SelfDescription, IsEnoughToReadEveryKindOfRecord) {
  const std::string streams = std::string(" --dump-tensor ") + kAllStreams;
  for (const char* workload : {"vector_example", "spmd_blocks", "paged_attention --case Small2"})
    compare(workload + streams);
  std::set<std::string> wanted;
  for (const auto& stream : kStreams)
    for (const auto& kind : stream.kinds) wanted.insert(std::string(stream.name) + "." + kind.name);
  EXPECT_EQ(seen_, wanted) << "the runs above have every kind";
}

// The tables of kinds are for people; they say what the registry says.
TEST(FormatTables, NameEveryFieldOfEveryKindWithItsTypeAndOffset) {
  std::ifstream file(kFormatFile);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const auto& stream : kStreams)
    for (const auto& kind : stream.kinds)
      for (const auto& field : kind.fields) {
        const auto row =
            fmt::format("\n| {} | {} | `{}` |", field.offset, to_text(field.type), field.name);
        EXPECT_NE(text.find(row), std::string::npos) << stream.name << "." << kind.name << row;
      }
}

}  // namespace
}  // namespace tidemark
