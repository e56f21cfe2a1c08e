// SPDX-License-Identifier: Apache-2.0
// The task graph read back from its records: tensors and their versions, questions about chains,
// and that everything missing is counted.
#include "tidemark/analyze/task_graph.h"

#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "tidemark/analyze/testing/hand_capture.h"
#include "tidemark/schema/access.h"
#include "tidemark/schema/dtype.h"
#include "tidemark/schema/task_limits.h"

namespace tidemark {
namespace {

RuntimeConfig graph_config() {
  RuntimeConfig config;
  config.streams[StreamId::kEdges] = 1;
  return config;
}

struct Argument {
  Access access = Access::kInput;
  std::uint64_t buffer = 0;
  std::uint64_t owner = kNoOwner;
  std::uint8_t output_index = 0;
};

// Writes a graph as the orchestrator does.
class GraphByHand {
 public:
  GraphByHand() : capture_(graph_config()), lane_(capture_.lanes().edges()) {}

  void task(std::uint64_t id, const std::vector<Argument>& args = {}) {
    head(id, args.size());
    for (std::size_t i = 0; i < args.size(); ++i) {
      argument(id, i, args[i], 3);
      dimensions(id, 0, 2);
      dimensions(id, 2, 1);
    }
  }
  void edge(std::uint64_t producer, std::uint64_t consumer) {
    capture_.write(lane_, GraphEdgeRecord{.producer = producer, .consumer = consumer});
  }

  void head(std::uint64_t id, std::size_t tensors, std::uint8_t writers_evicted = 0) {
    capture_.write(lane_, GraphTask{.task_id = id,
                                    .time_ticks = samples::kLaunchTicks + id,
                                    .kernels = {0xFFFF, 1, 0xFFFF},
                                    .tensor_count = static_cast<std::uint8_t>(tensors),
                                    .writers_evicted = writers_evicted});
  }
  void argument(std::uint64_t id, std::size_t index, const Argument& arg, std::uint8_t rank) {
    capture_.write(lane_, GraphArgument{.task_id = id,
                                        .start_offset = 7,
                                        .buffer = arg.buffer,
                                        .owner = arg.owner,
                                        .index = static_cast<std::uint8_t>(index),
                                        .access = arg.access,
                                        .rank = rank,
                                        .output_index = arg.output_index});
  }
  // Of a tensor of 2 x 3 x 4 elements without gaps.
  void dimensions(std::uint64_t id, std::uint8_t first, std::uint8_t count) {
    constexpr std::uint64_t kExtent[] = {2, 3, 4, 1}, kStride[] = {12, 4, 1, 1};
    capture_.write(lane_, GraphDimensions{.task_id = id,
                                          .extent = {kExtent[first], kExtent[first + 1]},
                                          .stride = {kStride[first], kStride[first + 1]},
                                          .first = first,
                                          .count = count});
  }
  void lose() { capture_.lose(lane_); }

  [[nodiscard]] TaskGraph load() const {
    const samples::TemporaryDirectory directory;
    RunCapture run = capture_.open(directory);
    return TaskGraph::load(run).value();
  }

 private:
  samples::HandCapture capture_;
  std::uint32_t lane_;
};

const GraphTensor& tensor_of(const TaskGraph& graph, std::uint64_t task, std::uint32_t arg) {
  return graph.tensors[graph.find(task)->arg(arg)->tensor];
}

TEST(TaskGraph, GivesATensorANewVersionWithEveryWriter) {
  GraphByHand hand;
  const Argument reader{.access = Access::kInput, .owner = 10};
  hand.task(10, {{.access = Access::kOutput, .owner = 10}});
  hand.task(11, {reader});
  hand.task(12, {reader});
  hand.task(13, {{.access = Access::kInout, .owner = 10}});
  hand.task(14, {reader});
  hand.task(15, {{.access = Access::kOutputExisting, .owner = 10}});
  hand.task(16, {{.access = Access::kNoDep, .owner = 10}});
  const TaskGraph graph = hand.load();
  ASSERT_TRUE(graph.complete());
  const std::uint32_t versions[] = {0, 0, 0, 1, 1, 2, 2};
  std::set<std::uint64_t> ids;
  for (std::uint64_t i = 0; i < std::size(versions); ++i) {
    EXPECT_EQ(tensor_of(graph, 10 + i, 0).version, versions[i]) << "task " << 10 + i;
    EXPECT_EQ(graph.tensors[tensor_of(graph, 10 + i, 0).first].version, 0u) << "task " << 10 + i;
    ids.insert(tensor_of(graph, 10 + i, 0).id);
  }
  EXPECT_EQ(ids.size(), 3u);
  EXPECT_EQ(graph.tensors.size(), 3u);
}

TEST(TaskGraph, LetsATaskThatReadsAndWritesATensorReadTheVersionBefore) {
  GraphByHand hand;
  hand.task(1, {{.access = Access::kOutput, .owner = 1}});
  hand.task(
      2, {{.access = Access::kOutputExisting, .owner = 1}, {.access = Access::kInput, .owner = 1}});
  const TaskGraph graph = hand.load();
  EXPECT_EQ(tensor_of(graph, 2, 0).version, 1u);
  EXPECT_EQ(tensor_of(graph, 2, 1).version, 0u);
  EXPECT_EQ(tensor_of(graph, 2, 1).id, tensor_of(graph, 1, 0).id);
}

TEST(TaskGraph, KeepsTheOutputsOfATaskApart) {
  GraphByHand hand;
  hand.task(1, {{.access = Access::kOutput, .owner = 1, .output_index = 0},
                {.access = Access::kOutput, .owner = 1, .output_index = 1}});
  hand.task(2, {{.access = Access::kInput, .owner = 1, .output_index = 1},
                {.access = Access::kInput, .owner = 1, .output_index = 0}});
  const TaskGraph graph = hand.load();
  EXPECT_NE(tensor_of(graph, 1, 0).id, tensor_of(graph, 1, 1).id);
  EXPECT_EQ(tensor_of(graph, 2, 0).id, tensor_of(graph, 1, 1).id);
  EXPECT_EQ(tensor_of(graph, 2, 1).id, tensor_of(graph, 1, 0).id);
}

std::vector<std::uint64_t> tensor_ids(const TaskGraph& graph) {
  std::vector<std::uint64_t> ids;
  for (const TaskNode& node : graph.tasks)
    for (const TaskArgument& arg : node.args) ids.push_back(graph.tensors[arg.tensor].id);
  return ids;
}

TEST(TaskGraph, NamesTensorsTheSameWhereverTheirBuffersLie) {
  const auto load_at = [](std::uint64_t first, std::uint64_t second, std::uint64_t heap) {
    GraphByHand hand;
    hand.task(1, {{.access = Access::kInput, .buffer = first},
                  {.access = Access::kInput, .buffer = second},
                  {.access = Access::kOutput, .buffer = heap, .owner = 1}});
    hand.task(2, {{.access = Access::kInput, .buffer = heap, .owner = 1},
                  {.access = Access::kInout, .buffer = second}});
    hand.task(3, {{.access = Access::kInput, .buffer = second},
                  {.access = Access::kOutputExisting, .buffer = first}});
    return hand.load();
  };
  const TaskGraph low = load_at(0x1000, 0x2000, 0x3000);
  const TaskGraph high = load_at(0x99000, 0x8000, 0x500);  // in another order, too
  EXPECT_EQ(tensor_ids(low), tensor_ids(high));
  const auto ids = tensor_ids(low);
  EXPECT_EQ((std::set<std::uint64_t>{ids.begin(), ids.end()}).size(), 5u);
  EXPECT_EQ(tensor_of(low, 1, 1).buffer, 0x2000u);
  EXPECT_EQ(tensor_of(high, 1, 1).buffer, 0x8000u);
}

TEST(TaskGraph, ReadsTheViewOfAnArgument) {
  GraphByHand hand;
  hand.task(1, {{.access = Access::kOutput, .owner = 1}});
  const TaskGraph graph = hand.load();
  const TaskArgument& arg = *graph.find(1)->arg(0);
  EXPECT_EQ(arg.known_dims, 3);
  EXPECT_EQ(arg.view.start_offset, 7u);
  for (int dim = 0; dim < 3; ++dim) {
    EXPECT_EQ(arg.view.extent[dim], (std::vector<std::uint64_t>{2, 3, 4})[dim]);
    EXPECT_EQ(arg.view.stride[dim], (std::vector<std::uint64_t>{12, 4, 1})[dim]);
  }
  EXPECT_EQ(graph.tensors[arg.tensor].numel, 7u + 24u);
}

TEST(TaskGraph, FindsAShortestChain) {
  GraphByHand hand;
  for (std::uint64_t id = 1; id <= 6; ++id) hand.task(id);
  hand.edge(1, 2);
  hand.edge(2, 3);
  hand.edge(3, 4);
  hand.edge(1, 5);
  hand.edge(5, 4);
  const TaskGraph graph = hand.load();
  EXPECT_EQ(graph.path(1, 4), (std::vector<std::uint64_t>{1, 5, 4}));
  EXPECT_EQ(graph.path(2, 4), (std::vector<std::uint64_t>{2, 3, 4}));
  EXPECT_TRUE(graph.path(4, 1).empty());
  EXPECT_TRUE(graph.path(1, 6).empty());
  EXPECT_TRUE(graph.path(1, 99).empty());
}

using Pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

TEST(TaskGraph, LeavesOutTheShortcutOfADiamond) {
  GraphByHand hand;
  for (std::uint64_t id = 1; id <= 4; ++id) hand.task(id);
  hand.edge(1, 2);
  hand.edge(1, 3);
  hand.edge(2, 4);
  hand.edge(3, 4);
  hand.edge(1, 4);  // the shortcut
  hand.edge(2, 4);  // through another argument
  const TaskGraph graph = hand.load();
  EXPECT_EQ(graph.edges.size(), 6u);
  Pairs kept = graph.reduced();
  std::sort(kept.begin(), kept.end());
  EXPECT_EQ(kept, (Pairs{{1, 2}, {1, 3}, {2, 4}, {3, 4}}));
}

// True if the consumer still waits for the producer when the edge between them is taken away.
bool is_shortcut(const std::vector<std::vector<bool>>& edge, std::size_t from, std::size_t to) {
  std::vector<bool> reached(edge.size());
  for (std::size_t i = from + 1; i < to; ++i)
    for (std::size_t j = from; j < i; ++j)
      if ((j == from || reached[j]) && edge[j][i]) reached[i] = true;
  for (std::size_t i = from + 1; i < to; ++i)
    if (reached[i] && edge[i][to]) return true;
  return false;
}

TEST(TaskGraph, LeavesOutExactlyTheShortcutsOfRandomGraphs) {
  std::mt19937_64 random(81);
  for (int round = 0; round < 60 && !HasFailure(); ++round) {
    const std::size_t count = 2 + random() % 25;
    const std::uint64_t density = 1 + random() % 8;
    std::vector<std::vector<bool>> edge(count, std::vector<bool>(count));
    GraphByHand hand;
    for (std::size_t to = 0; to < count; ++to) {
      hand.task(100 + to);
      for (std::size_t from = 0; from < to; ++from)
        if (random() % 10 < density) {
          edge[from][to] = true;
          hand.edge(100 + from, 100 + to);
        }
    }
    Pairs expected;
    for (std::size_t from = 0; from < count; ++from)
      for (std::size_t to = from + 1; to < count; ++to)
        if (edge[from][to] && !is_shortcut(edge, from, to))
          expected.emplace_back(100 + from, 100 + to);
    Pairs kept = hand.load().reduced();
    std::sort(kept.begin(), kept.end());
    EXPECT_EQ(kept, expected);
  }
}

TEST(TaskGraph, CountsTasksWhoseGroupIsCut) {
  const Argument argument{.access = Access::kOutput, .owner = 1};
  GraphByHand hand;
  hand.task(1, {argument, argument});
  hand.head(2, 2);  // its second argument is missing
  hand.argument(2, 0, argument, 3);
  hand.dimensions(2, 0, 2);
  hand.dimensions(2, 2, 1);
  hand.head(3, 1);  // all of the dimensions
  hand.argument(3, 0, argument, 3);
  hand.head(4, 1);  // the last dimension
  hand.argument(4, 0, argument, 3);
  hand.dimensions(4, 0, 2);
  hand.head(5, 1);  // the first two
  hand.argument(5, 0, argument, 3);
  hand.dimensions(5, 2, 1);
  hand.head(6, 1);  // a scalar view has none
  hand.argument(6, 0, argument, 0);
  const TaskGraph graph = hand.load();
  EXPECT_EQ(graph.tasks.size(), 6u);
  EXPECT_EQ(graph.tasks_cut, 4u);
  EXPECT_EQ(graph.missing_records, 0u);
  EXPECT_FALSE(graph.complete());
}

TEST(TaskGraph, TakesNoDimensionsFromBehindALoss) {
  const Argument argument{.access = Access::kOutput, .owner = 1};
  GraphByHand hand;
  hand.head(1, 2);
  hand.argument(1, 0, argument, 1);
  hand.lose();               // the dimensions
  hand.lose();               // the second argument
  hand.dimensions(1, 0, 1);  // of that argument
  const TaskGraph graph = hand.load();
  EXPECT_EQ(graph.find(1)->arg(0)->known_dims, 0);
  EXPECT_EQ(graph.tasks_cut, 1u);
  EXPECT_EQ(graph.missing_records, 2u);
}

TEST(TaskGraph, IsNotCompleteAfterWritersWereEvicted) {
  GraphByHand hand;
  hand.head(1, 0);
  hand.head(2, 0, 1);
  hand.head(3, 0, 1);
  const TaskGraph graph = hand.load();
  EXPECT_EQ(graph.tasks_after_eviction, 2u);
  EXPECT_EQ(graph.missing_records, 0u);
  EXPECT_FALSE(graph.complete());
}

TEST(TaskGraph, CountsEdgesWhoseTasksAreMissing) {
  GraphByHand hand;
  hand.task(1);
  hand.edge(1, 2);
  hand.edge(2, 3);
  hand.lose();  // task 2
  hand.task(3);
  const TaskGraph graph = hand.load();
  EXPECT_EQ(graph.missing_records, 1u);
  EXPECT_EQ(graph.edges_without_task, 2u);
  EXPECT_FALSE(graph.complete());
  EXPECT_TRUE(graph.reduced().empty());
  EXPECT_EQ(graph.find(2), nullptr);
}

TEST(TaskGraph, IsRefusedWhereNoGraphWasRecorded) {
  RuntimeConfig config;
  config.streams[StreamId::kSwimlane] = 1;
  const samples::TemporaryDirectory directory;
  RunCapture run = samples::HandCapture(config).open(directory);
  EXPECT_FALSE(TaskGraph::load(run));
}

}  // namespace
}  // namespace tidemark
