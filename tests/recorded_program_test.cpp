// SPDX-License-Identifier: Apache-2.0
// What the streams say of random programs, counted a second time: peaks by a model that replays the
// allocations, edges by what the orchestrator found and by the conflicts of a naive executor, spans
// by the blocks of the program. On every platform and with every way to build a graph.
#include "tests/recorded_program.h"

#include <gtest/gtest.h>

#include "tidemark/analyze/scope_report.h"
#include "tidemark/analyze/task_graph.h"
#include "tidemark/analyze/task_rows.h"
#include "tidemark/base/testing/seed_range.h"

namespace tidemark::random_program {
namespace {

std::uint64_t seeds_for(std::string_view platform) {
  return platform == "sim" ? seed_count({.campaign = 1000, .quick = 60, .under_sanitizer = 20})
                           : seed_count({.campaign = 30, .quick = 8, .under_sanitizer = 3});
}

RuntimeConfig config_for(const char* platform, BuildKind build, bool track_war) {
  RuntimeConfig config;
  config.build = build;
  config.track_war = track_war ? 1 : 0;
  config.cluster_count = cluster_count_of(*find_platform(platform));
  config.scheduler_count = find_platform(platform)->scheduler_count;
  config.tensormap_entries = 4096;
  for (RingSizes& ring : config.rings) ring = {1024, 16384, 4 << 20};
  config.streams[StreamId::kSwimlane] = 4;
  config.streams[StreamId::kEdges] = 1;
  config.streams[StreamId::kScopes] = 1;
  return config;
}

void expect_same(const ScopePeaks& recorded, const ScopePeaks& counted) {
  for (std::uint32_t i = 0; i < kRingCount; ++i) {
    EXPECT_EQ(recorded.tasks[i], counted.tasks[i]) << "tasks of ring " << i;
    EXPECT_EQ(recorded.heap_bytes[i], counted.heap_bytes[i]) << "heap of ring " << i;
    EXPECT_EQ(recorded.deps[i], counted.deps[i]) << "dependencies of ring " << i;
    EXPECT_EQ(recorded.fanin[i], counted.fanin[i]) << "fanin of ring " << i;
    EXPECT_EQ(recorded.heap_request[i], counted.heap_request[i]) << "request of ring " << i;
    EXPECT_EQ(recorded.args_bytes[i], counted.args_bytes[i]) << "arguments of ring " << i;
  }
  EXPECT_EQ(recorded.map_entries, counted.map_entries);
}

void check_scopes(RunCapture& run, const AllocationModel& model) {
  std::size_t at = 0;
  std::uint64_t last_ticks = 0;
  run.for_each<ScopeBoundary>([&](const ScopeBoundary& recorded, LaneIndex) {
    ASSERT_LT(at, model.boundaries.size());
    const ScopeBoundary& counted = model.boundaries[at++];
    SCOPED_TRACE(fmt::format("boundary {}", at));
    EXPECT_EQ(recorded.phase, counted.phase);
    EXPECT_EQ(recorded.ring, counted.ring);
    EXPECT_EQ(recorded.marks.task_head, counted.marks.task_head);
    EXPECT_EQ(recorded.marks.task_tail, counted.marks.task_tail);
    EXPECT_EQ(recorded.marks.heap_head, counted.marks.heap_head);
    EXPECT_EQ(recorded.marks.heap_tail, counted.marks.heap_tail);
    EXPECT_EQ(recorded.marks.dep_head, counted.marks.dep_head);
    EXPECT_EQ(recorded.marks.dep_tail, counted.marks.dep_tail);
    EXPECT_EQ(recorded.marks.fanin_head, counted.marks.fanin_head);
    EXPECT_EQ(recorded.marks.fanin_tail, counted.marks.fanin_tail);
    EXPECT_EQ(recorded.map_entries, counted.map_entries);
    EXPECT_GE(recorded.time_ticks, last_ticks);
    last_ticks = recorded.time_ticks;
    expect_same(recorded.peaks, counted.peaks);
  });
  EXPECT_EQ(at, model.boundaries.size());
}

void check_graph(RunCapture& run, const Program& program, const OwnNotes& notes) {
  const auto graph = TaskGraph::load(run);
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_TRUE(graph->complete());
  ASSERT_EQ(graph->tasks.size(), program.tasks.size());
  std::map<std::uint64_t, std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < program.tasks.size(); ++i) {
    const Task& task = program.tasks[i];
    const TaskNode& node = graph->tasks[i];
    numbers[task.id.value] = i;
    EXPECT_EQ(node.task.task_id, task.id.value);
    EXPECT_EQ(node.task.block_count, task.blocks);
    ASSERT_EQ(node.args.size(), task.args.size());
    for (std::size_t k = 0; k < task.args.size(); ++k) {
      const TensorView& view = task.args[k].view;
      EXPECT_EQ(node.args[k].said.access, task.args[k].access);
      EXPECT_EQ(node.args[k].said.dtype, view.dtype);
      ASSERT_EQ(node.args[k].view.rank, view.shape.rank);
      EXPECT_EQ(node.args[k].view.start_offset, view.offset);
      for (std::uint32_t dim = 0; dim < view.shape.rank; ++dim) {
        EXPECT_EQ(node.args[k].view.extent[dim], view.shape.extent[dim]);
        EXPECT_EQ(node.args[k].view.stride[dim], view.stride[dim]);
      }
    }
  }
  ASSERT_EQ(graph->edges.size(), notes.edges.size());
  PairSet pairs;
  for (std::size_t i = 0; i < notes.edges.size(); ++i) {
    const GraphEdgeRecord& recorded = graph->edges[i];
    const GraphEdge& found = notes.edges[i];
    EXPECT_EQ(recorded.producer, found.producer.value);
    EXPECT_EQ(recorded.consumer, found.consumer.value);
    EXPECT_EQ(recorded.arg, found.arg);
    EXPECT_EQ(recorded.source, found.source);
    EXPECT_EQ(recorded.overlap, found.overlap);
    pairs.emplace(numbers.at(recorded.producer), numbers.at(recorded.consumer));
    // Through which argument the producer wrote: one of its own, of the same buffer.
    if (recorded.source == EdgeSource::kExplicit) continue;
    const Task& producer = program.tasks[numbers.at(recorded.producer)];
    ASSERT_LT(recorded.producer_arg, producer.args.size());
    EXPECT_EQ(producer.args[recorded.producer_arg].base,
              program.tasks[numbers.at(recorded.consumer)].args.at(recorded.arg).base);
  }
  const auto before = closure_of(pairs, program.tasks.size());
  for (const Pair& pair : conflicts_of(program))
    ASSERT_TRUE(before[pair.second].test(pair.first))
        << "no path " << pair.first << " " << pair.second;
  // What a reduction leaves has the same closure, and no pair in it can go.
  PairSet reduced;
  for (const auto& [first, second] : graph->reduced())
    reduced.emplace(numbers.at(first), numbers.at(second));
  EXPECT_EQ(closure_of(reduced, program.tasks.size()), before);
  for (const auto& pair : reduced) {
    PairSet less = reduced;
    less.erase(pair);
    EXPECT_FALSE(closure_of(less, program.tasks.size())[pair.second].test(pair.first));
    if (reduced.size() > 60) break;  // one is enough of a large one
  }
}

void check_spans(RunCapture& run, const Program& program) {
  std::map<std::uint64_t, const Task*> tasks;
  std::uint64_t expected = 0;
  for (const Task& task : program.tasks) {
    tasks[task.id.value] = &task;
    expected += task.unit_count();
  }
  std::set<std::tuple<std::uint64_t, std::uint16_t, std::uint32_t>> seen;
  std::map<std::uint16_t, std::uint64_t> last_end;  // by core
  for_each_task_row(run, [&](const TaskRow& row) {
    ASSERT_TRUE(tasks.contains(row.task_id));
    EXPECT_LT(row.block, tasks[row.task_id]->blocks);
    EXPECT_TRUE(seen.emplace(row.task_id, row.kernel, row.block).second) << "a row stands twice";
    ASSERT_TRUE(row.has_finish);
    EXPECT_LE(row.dispatch_ticks, row.start_ticks);
    EXPECT_LE(row.start_ticks, row.end_ticks);
    EXPECT_LE(row.end_ticks, row.finish_ticks);
    EXPECT_GE(row.start_ticks, last_end[row.core]) << "two at a time on core " << row.core;
    last_end[row.core] = row.end_ticks;
  });
  EXPECT_EQ(seen.size(), expected);
}

class RecordedPrograms : public testing::TestWithParam<std::tuple<const char*, BuildKind>> {};

TEST_P(RecordedPrograms, SayWhatASecondCountSays) {
  const auto [platform, build] = GetParam();
  const bool is_explicit = build == BuildKind::kExplicit;
  for (std::uint64_t seed = 0; seed < seeds_for(platform) && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {} on {}", seed, platform));
    const bool track_war = !is_explicit && seed % 2 == 0;
    const Program program = Generator(seed, is_explicit ? Edges::kAllExplicit
                                            : track_war ? Edges::kTracked
                                                        : Edges::kWarExplicit)
                                .make();
    RecordedRun recorded(program, config_for(platform, build, track_war), platform, seed * 31);
    const RunResult result = recorded.run();
    ASSERT_EQ(result.exit_code, 0) << (result.report.error ? result.report.error->message : "");
    EXPECT_TRUE(result.report.ledger_closes());
    EXPECT_EQ(result.report.total().dropped, 0u);
    EXPECT_EQ(result.report.tasks.completed, program.tasks.size());
    auto run = RunCapture::open(recorded.directory());
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_FALSE(run->fatal());
    check_scopes(*run, recorded.notes().model);
    check_graph(*run, program, recorded.notes());
    check_spans(*run, program);
  }
}

// The sizes that the report calls enough are.
TEST(RecordedProgram, RunsAgainInTheSmallestSizesItsReportNames) {
  for (std::uint64_t seed = 0; seed < seeds_for("sim") && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Program program = Generator(seed, Edges::kTracked).make();
    RuntimeConfig config = config_for("sim", BuildKind::kTensorMap, true);
    {
      RecordedRun roomy(program, config, "sim", seed);
      ASSERT_EQ(roomy.run().exit_code, 0);
      auto run = RunCapture::open(roomy.directory());
      ASSERT_TRUE(run);
      const auto report = report_scopes(*run);
      ASSERT_TRUE(report);
      for (const ResourceUse& use : report->resources) {
        EXPECT_LE(use.peak, use.capacity);
        if (use.resource == "task window")
          config.rings[use.ring].task_window = static_cast<std::uint32_t>(use.needed);
        else if (use.resource == "heap")
          config.rings[use.ring].heap_bytes = use.needed;
        else if (use.resource == "arguments")
          config.rings[use.ring].args_bytes = use.needed;
        else if (use.resource == "tensor map")
          config.tensormap_entries = static_cast<std::uint32_t>(use.needed);
        // How many dependency entries are needed depends on how fast producers are.
      }
    }
    RecordedRun small(program, config, "sim", seed + 1);
    const RunResult result = small.run();
    EXPECT_EQ(result.exit_code, 0) << (result.report.error ? result.report.error->message : "");
    EXPECT_EQ(result.report.tasks.completed, program.tasks.size());
    auto run = RunCapture::open(small.directory());
    ASSERT_TRUE(run);
    check_spans(*run, program);
  }
}

std::string name_of(const testing::TestParamInfo<RecordedPrograms::ParamType>& param) {
  const char* const builds[] = {"tensormap", "explicit", "host"};
  return fmt::format("{}_{}", std::get<0>(param.param),
                     builds[static_cast<std::size_t>(std::get<1>(param.param))]);
}

INSTANTIATE_TEST_SUITE_P(EveryPlatformAndRuntime, RecordedPrograms,
                         testing::Combine(testing::Values("sim", "a2a3sim", "a5sim"),
                                          testing::Values(BuildKind::kTensorMap,
                                                          BuildKind::kExplicit,
                                                          BuildKind::kHostBuild)),
                         name_of);

}  // namespace
}  // namespace tidemark::random_program
