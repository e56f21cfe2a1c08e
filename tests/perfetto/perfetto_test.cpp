// SPDX-License-Identifier: Apache-2.0
// The Perfetto trace, decoded by protobuf's own parser with the published field numbers: every task
// and every dependency is in it, slices nest and never run backwards, names resolve.
#include <map>
#include <set>

#include "tests/command_line_fixture.h"
#include "tests/perfetto/trace.pb.h"
#include "tidemark/run/json.h"

namespace tidemark {
namespace {

namespace pb = perfetto::protos;

struct Slice {
  std::string name;
  std::string task;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::size_t depth = 0;
};

// A trace as a viewer builds it.
struct ReadTrace {
  std::map<std::uint64_t, pb::TrackDescriptor> tracks;
  std::map<std::uint64_t, std::vector<Slice>> slices;  // by track
  std::map<std::uint64_t, std::vector<std::pair<std::uint64_t, std::int64_t>>> counters;
  std::multiset<std::string> instants;
  struct End {
    std::string task;
    std::uint64_t time_ns = 0;
  };
  std::map<std::uint64_t, End> flow_begins, flow_ends;
};

class PerfettoTrace : public CommandLine {
 protected:
  ReadTrace read_trace(const std::string& file) {
    ReadTrace read_one;
    pb::Trace trace;
    std::ifstream stream(path(file), std::ios::binary);
    EXPECT_TRUE(trace.ParseFromIstream(&stream)) << "protobuf refuses it";
    EXPECT_TRUE(trace.unknown_fields().empty());
    std::map<std::uint64_t, std::string> names, notes;
    std::map<std::uint64_t, std::vector<Slice>> open;
    bool cleared = false;
    for (const auto& packet : trace.packet()) {
      EXPECT_EQ(packet.trusted_packet_sequence_id(), 1u);
      EXPECT_TRUE(packet.unknown_fields().empty());
      cleared = cleared || (packet.sequence_flags() & 1) != 0;
      for (const auto& name : packet.interned_data().event_names()) names[name.iid()] = name.name();
      for (const auto& name : packet.interned_data().debug_annotation_names())
        notes[name.iid()] = name.name();
      if (packet.has_track_descriptor()) {
        const auto& track = packet.track_descriptor();
        EXPECT_TRUE(read_one.tracks.emplace(track.uuid(), track).second) << "a track twice";
        continue;
      }
      EXPECT_TRUE(cleared);
      EXPECT_NE(packet.sequence_flags() & 2, 0u);
      const auto& event = packet.track_event();
      EXPECT_TRUE(event.unknown_fields().empty());
      EXPECT_TRUE(read_one.tracks.contains(event.track_uuid())) << "no such track";
      std::string task;
      for (const auto& note : event.debug_annotations()) {
        EXPECT_TRUE(notes.contains(note.name_iid()));
        if (notes[note.name_iid()] == "task") task = note.string_value();
      }
      const std::uint64_t time = packet.timestamp();
      for (const std::uint64_t flow : event.flow_ids())
        EXPECT_TRUE(read_one.flow_begins.emplace(flow, ReadTrace::End{task, time}).second);
      for (const std::uint64_t flow : event.terminating_flow_ids())
        EXPECT_TRUE(read_one.flow_ends.emplace(flow, ReadTrace::End{task, time}).second);
      auto& stack = open[event.track_uuid()];
      auto& done = read_one.slices[event.track_uuid()];
      switch (event.type()) {
        case pb::TrackEvent::TYPE_SLICE_BEGIN:
          EXPECT_TRUE(names.contains(event.name_iid())) << "a name that was never interned";
          if (stack.empty() && !done.empty()) {
            EXPECT_GE(time, done.back().end_ns) << "overlap on " << event.track_uuid();
          }
          if (!stack.empty()) {
            EXPECT_GE(time, stack.back().begin_ns);
          }
          stack.push_back({names[event.name_iid()], task, time, 0, stack.size()});
          break;
        case pb::TrackEvent::TYPE_SLICE_END: {
          if (stack.empty()) {
            ADD_FAILURE() << "an end without a begin";
            break;
          }
          Slice slice = stack.back();
          stack.pop_back();
          slice.end_ns = time;
          EXPECT_GE(slice.end_ns, slice.begin_ns) << "a negative slice";
          done.push_back(slice);
          break;
        }
        case pb::TrackEvent::TYPE_INSTANT:
          read_one.instants.insert(names[event.name_iid()]);
          break;
        case pb::TrackEvent::TYPE_COUNTER:
          EXPECT_TRUE(read_one.tracks[event.track_uuid()].has_counter());
          read_one.counters[event.track_uuid()].emplace_back(time, event.counter_value());
          break;
        default:
          ADD_FAILURE() << "an event without a type";
      }
    }
    for (const auto& [track, stack] : open) EXPECT_TRUE(stack.empty()) << "left open: " << track;
    return read_one;
  }

  rapidjson::Document json_of(const std::string& file) {
    rapidjson::Document document;
    document.Parse(read(path(file)).c_str());
    EXPECT_FALSE(document.HasParseError());
    return document;
  }

  static std::string short_task(std::uint64_t id) {
    return id >> 32 == 0 ? fmt::format("t{}", id)
                         : fmt::format("r{}t{}", id >> 32, id & 0xFFFFFFFF);
  }
  static std::uint64_t track_named(const ReadTrace& trace, const std::string& name) {
    for (const auto& [uuid, track] : trace.tracks)
      if (track.name() == name) return uuid;
    ADD_FAILURE() << "no track " << name;
    return 0;
  }

  // Everything the other artifacts list stands in the trace.
  void compare(const ReadTrace& trace, const std::string& directory) {
    const auto swimlane = json_of(directory + "/l2_swimlane_records.json");
    std::size_t rows = 0;
    std::map<std::string, std::multiset<std::string>> expected, found;  // by track
    for (const auto& row : swimlane["tasks"].GetArray()) {
      ++rows;
      expected[fmt::format("core {} ({})", row["core_id"].GetUint(), row["core_type"].GetString())]
          .insert(fmt::format("{} {}", row["func_name"].GetString(),
                              short_task(row["task_id"].GetUint64())));
    }
    std::size_t slices = 0;
    for (const auto& [uuid, list] : trace.slices) {
      const std::string& name = trace.tracks.at(uuid).name();
      if (!name.starts_with("core ")) continue;
      for (const Slice& slice : list) {
        ++slices;
        EXPECT_EQ(slice.depth, 0u);
        found[name].insert(slice.name + " " + slice.task);
      }
    }
    EXPECT_EQ(slices, rows);
    EXPECT_EQ(found, expected);
    const auto deps = json_of(directory + "/deps.json");
    std::set<std::pair<std::string, std::string>> pairs, flows;
    for (const auto& edge : deps["edges"].GetArray())
      pairs.emplace(short_task(std::stoull(edge["pred"].GetString())),
                    short_task(std::stoull(edge["succ"].GetString())));
    EXPECT_EQ(trace.flow_begins.size(), pairs.size());
    EXPECT_EQ(trace.flow_ends.size(), pairs.size());
    for (const auto& [flow, begin] : trace.flow_begins) {
      ASSERT_TRUE(trace.flow_ends.contains(flow)) << "a flow that goes nowhere";
      const auto& end = trace.flow_ends.at(flow);
      EXPECT_LE(begin.time_ns, end.time_ns) << begin.task << " -> " << end.task;
      flows.emplace(begin.task, end.task);
    }
    EXPECT_EQ(flows, pairs);
  }
};

constexpr const char* kAll = "--enable-l2-swimlane --enable-dep-gen --enable-scope-stats";

TEST_F(PerfettoTrace, HoldsEveryTaskAndEveryEdge) {
  for (const char* workload :
       {"vector_example", "paged_attention --case VarSeq4", "mixed_example", "spmd_blocks"})
    for (const char* where : {"sim", "a2a3sim", "a5sim --runtime host_build_graph",
                              "sim --runtime aicpu_build_graph"}) {
      SCOPED_TRACE(std::string(workload) + " on " + where);
      ASSERT_EQ(run(fmt::format("run {} -p {} {} --output-prefix r --force", workload, where, kAll))
                    .exit_code,
                0);
      ASSERT_EQ(run("export r trace.pftrace").exit_code, 0);
      compare(read_trace("r/trace.pftrace"), "r");
    }
}

TEST_F(PerfettoTrace, ShowsScopesSubmitsPhasesAndOccupancy) {
  ASSERT_EQ(run(fmt::format("run vector_example {} --output-prefix r", kAll)).exit_code, 0);
  ASSERT_EQ(run("swimlane r --perfetto r/t.pftrace").exit_code, 0);
  const ReadTrace trace = read_trace("r/t.pftrace");
  const auto& scopes = trace.slices.at(track_named(trace, "orchestrator: scopes"));
  ASSERT_EQ(scopes.size(), 2u);
  EXPECT_EQ(scopes[0].depth, 1u);  // the inner one ends first
  EXPECT_EQ(scopes[1].depth, 0u);
  EXPECT_EQ(trace.slices.at(track_named(trace, "orchestrator: submits")).size(), 5u);
  std::set<std::string> phases;
  for (const Slice& slice : trace.slices.at(track_named(trace, "scheduler 0")))
    phases.insert(slice.name);
  EXPECT_EQ(phases, (std::set<std::string>{"complete", "dispatch"}));
  const auto& tasks = trace.counters.at(track_named(trace, "ring 1: tasks"));
  ASSERT_EQ(tasks.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(tasks[i].second, static_cast<std::int64_t>(i) + 1);
  const auto& heap = trace.counters.at(track_named(trace, "ring 1: heap"));
  EXPECT_EQ(heap.back().second, 196608);
  EXPECT_GT(trace.counters.at(track_named(trace, "ready tasks")).size(), 0u);
}

TEST_F(PerfettoTrace, ShowsMarksCountersGapsAndStalls) {
  ASSERT_EQ(run(fmt::format("run spmd_blocks {} --output-prefix r", kAll)).exit_code, 0);
  ASSERT_EQ(run("export r trace.pftrace").exit_code, 0);
  const auto events = json_of("r/l2_swimlane_records.json");
  std::size_t marks = 0;
  for (const auto& event : events["events"].GetArray())
    marks += event["kind"].GetString() == std::string("mark") ? 1 : 0;
  const ReadTrace trace = read_trace("r/trace.pftrace");
  EXPECT_GT(marks, 0u);
  EXPECT_EQ(trace.instants.count("spmd.block"), marks);
  EXPECT_EQ(trace.counters.at(track_named(trace, "spmd.elements (orchestrator)")).size(), 10u);

  ASSERT_EQ(run("run synthetic_producer --lanes 2 --records 200000 --policy drop --page-bytes 4096 "
                "--pool-bytes 16384 --inject drain_slow=200 --output-prefix d")
                .exit_code,
            0);
  ASSERT_EQ(run("export d trace.pftrace l2_swimlane_records.json").exit_code, 0);
  const ReadTrace dropped = read_trace("d/trace.pftrace");
  const auto swimlane = json_of("d/l2_swimlane_records.json");
  std::size_t gaps = 0, stalls = 0;
  for (const auto& [uuid, list] : dropped.slices)
    for (const Slice& slice : list) {
      gaps += slice.name.starts_with("gap") ? 1 : 0;
      stalls += slice.name == "recorder stall" ? 1 : 0;
    }
  EXPECT_GT(gaps, 0u) << "a drainer so slow drops something";
  EXPECT_EQ(gaps, swimlane["gaps"].Size());

  ASSERT_EQ(run("run synthetic_producer --lanes 2 --records 50000 --page-bytes 4096 --pool-bytes "
                "8192 --inject drain_slow=200 --output-prefix w")
                .exit_code,
            0);
  ASSERT_EQ(run("export w trace.pftrace").exit_code, 0);
  const ReadTrace waited = read_trace("w/trace.pftrace");
  for (const auto& [uuid, list] : waited.slices)
    for (const Slice& slice : list) stalls += slice.name == "recorder stall" ? 1 : 0;
  EXPECT_GT(stalls, 0u);
}

}  // namespace
}  // namespace tidemark
