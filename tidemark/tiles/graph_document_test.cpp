// SPDX-License-Identifier: Apache-2.0
// The pages of the task graph against the records that it was written from: every task and edge is
// there once, in its page, with its times, its scope and whether it decided how long the run took.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "tidemark/analyze/critical_path.h"
#include "tidemark/base/testing/seed_range.h"
#include "tidemark/schema/task_id.h"
#include "tidemark/tiles/testing/documented_run.h"

namespace tidemark {
namespace {

using samples::all_streams;
using samples::document;
using samples::DocumentedRun;
using samples::HandCapture;
using samples::kLaunchTicks;

using Pair = std::pair<std::string, std::string>;

std::string id_of(std::uint64_t task) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%016lx", static_cast<unsigned long>(task));
  return text;
}

// A random graph on random cores. Each task runs for a while on a core that is free.
class RandomGraph {
 public:
  RandomGraph(std::uint64_t seed, std::size_t tasks) : random_(seed), capture_(all_streams()) {
    for (std::size_t i = 0; i < tasks; ++i) add_task();
  }

  [[nodiscard]] std::uint64_t below(std::uint64_t end) {
    return std::uniform_int_distribution<std::uint64_t>(0, end - 1)(random_);
  }
  [[nodiscard]] HandCapture& capture() { return capture_; }

  std::vector<std::uint64_t> ids;
  std::multiset<Pair> edges;  // consumer, producer
  std::map<std::uint64_t, TaskSpan> spans;
  std::map<std::uint64_t, std::uint64_t> submits;

 private:
  void add_task() {
    const StreamLanes lanes = capture_.lanes();
    const auto ring = static_cast<std::uint32_t>(below(kRingCount));
    const std::uint64_t id = TaskId::make(ring, next_[ring]++).value;
    std::uint64_t ready = now_;
    for (std::uint64_t n = std::min<std::uint64_t>(below(50) == 0 ? 0 : 1 + below(3), ids.size());
         n > 0; --n) {
      const std::uint64_t producer =
          ids[ids.size() - 1 - below(std::min<std::size_t>(50, ids.size()))];
      capture_.write(lanes.edges(), GraphEdgeRecord{.producer = producer,
                                                    .consumer = id,
                                                    .arg = static_cast<std::uint16_t>(n),
                                                    .source = EdgeSource::kCreator});
      edges.emplace(id_of(id), id_of(producer));
      if (spans.contains(producer)) ready = std::max(ready, spans[producer].end_ticks);
    }
    const bool runs = below(10) != 0;  // others only join what comes before them
    const auto kernel = static_cast<std::uint16_t>(runs ? below(3) : kNoKernel);
    capture_.write(lanes.edges(), GraphTask{.task_id = id,
                                            .time_ticks = now_,
                                            .submit_line = 5,
                                            .kernels = {kNoKernel, kernel, kNoKernel},
                                            .submit_file = 0xF11E});
    submits[id] = now_;
    if (runs) add_span(id, kernel, ready);
    ids.push_back(id);
    now_ += 1 + below(20);
  }
  void add_span(std::uint64_t id, std::uint16_t kernel, std::uint64_t ready) {
    const std::uint64_t core = 1 + below(2);
    TaskSpan span{.task_id = id,
                  .begin_ticks = std::max(ready, free_[core]) + 1 + below(5),
                  .kernel = kernel,
                  .core = static_cast<std::uint16_t>(core)};
    span.end_ticks = span.begin_ticks + below(100);
    free_[core] = span.end_ticks;
    capture_.write(capture_.lanes().spans(span.core), span);
    spans[id] = span;
  }

  std::mt19937_64 random_;
  HandCapture capture_;
  std::uint64_t next_[kRingCount] = {};
  std::uint64_t free_[3] = {};
  std::uint64_t now_ = kLaunchTicks + 10;
};

TEST(GraphDocument, HasEveryTaskAndEdgeOnce) {
  for (std::uint64_t seed = 1; seed <= seed_count({50, 3, 1}); ++seed) {
    RandomGraph graph(seed, 2048 + 1000 * seed);
    const DocumentedRun made = document(graph.capture());
    EXPECT_EQ(made.list.tasks, graph.ids.size());
    std::vector<std::string> ids, written;
    std::multiset<Pair> pred;
    std::set<Pair> succ;
    for (const auto& row : made.rows("graph/", "tasks")) {
      ids.emplace_back(row["id"].GetString());
      for (const auto& edge : row["pred"].GetArray()) {
        pred.emplace(ids.back(), edge[0].GetString());
        EXPECT_STREQ(edge[2].GetString(), "creator");
        EXPECT_FALSE(edge[3].GetBool());
      }
      for (const auto& other : row["succ"].GetArray()) succ.emplace(other.GetString(), ids.back());
    }
    for (const std::uint64_t id : graph.ids) written.push_back(id_of(id));
    EXPECT_EQ(ids, written) << "in the order of the submits";
    EXPECT_EQ(pred, graph.edges);
    EXPECT_EQ(succ, std::set<Pair>(graph.edges.begin(), graph.edges.end()));
  }
}

TEST(GraphDocument, LeadsFromATaskToItsPage) {
  RandomGraph graph(7, 5000);
  const DocumentedRun made = document(graph.capture());
  const auto about = made.tiles.json("doc/graph");
  EXPECT_TRUE(about["complete"].GetBool());
  EXPECT_STREQ(about["why_incomplete"].GetString(), "");
  EXPECT_EQ(about["tasks"].GetUint64(), 5000u);
  EXPECT_EQ(about["edges"].GetUint64(), graph.edges.size());
  EXPECT_EQ(about["page"].GetUint64(), 2048u);
  EXPECT_EQ(about["index"].Size(), 3 * kRingCount);
  for (std::size_t i = 0; i < graph.ids.size(); ++i) {
    const std::string id = id_of(graph.ids[i]);
    std::vector<std::uint64_t> pages;
    for (const auto& entry : about["index"].GetArray())
      if (entry[0].GetString() <= id && id <= entry[1].GetString())
        pages.push_back(entry[2].GetUint64());
    ASSERT_EQ(pages, std::vector<std::uint64_t>{i / 2048}) << id;
  }
  EXPECT_FALSE(made.tiles.has("graph/3"));
}

TEST(GraphDocument, HasTheTimesOfEachTaskAndTheCriticalPath) {
  RandomGraph graph(3, 3000);
  const DocumentedRun made = document(graph.capture());
  RunCapture run = RunCapture::open(made.directory->path()).value();
  const auto task_graph = TaskGraph::load(run).value();
  const auto times = join_times(run, task_graph);
  std::set<std::string> critical, marked;
  const auto path = find_critical_path(*run.runtime(), run.clock(), task_graph, times);
  for (const PathStep& step : path.steps) critical.insert(id_of(step.task_id));
  for (const auto& row : made.rows("graph/", "tasks")) {
    const std::uint64_t id = std::strtoull(row["id"].GetString(), nullptr, 16);
    if (row["critical"].GetBool()) marked.insert(row["id"].GetString());
    EXPECT_EQ(row["submit"].GetUint64(), graph.submits[id] - kLaunchTicks);
    EXPECT_STREQ(row["site"].GetString(), "0x000000000000f11e:5");
    const auto span = graph.spans.find(id);
    if (span == graph.spans.end()) {
      EXPECT_TRUE(row["start"].IsNull() && row["end"].IsNull() && row["track"].IsNull());
      EXPECT_TRUE(row["complete"].IsUint64()) << "a joint is complete when it is ready";
      EXPECT_STREQ(row["kernel"].GetString(), "dummy");
      continue;
    }
    EXPECT_EQ(row["start"].GetUint64(), span->second.begin_ticks - kLaunchTicks);
    EXPECT_EQ(row["end"].GetUint64(), span->second.end_ticks - kLaunchTicks);
    EXPECT_EQ(row["track"].GetUint64(), span->second.core);
    const char* names[] = {"add", "mul", "exp"};
    EXPECT_STREQ(row["kernel"].GetString(), names[span->second.kernel]);
  }
  EXPECT_GT(critical.size(), 3u);
  EXPECT_EQ(marked, critical);
}

TEST(GraphDocument, SaysWhatIsMissingAndKeepsTheRest) {
  HandCapture capture(all_streams());
  const std::uint32_t lane = capture.lanes().edges();
  capture.write(lane, GraphTask{.task_id = 1, .time_ticks = kLaunchTicks, .tensor_count = 2});
  capture.lose(lane);
  capture.write(lane, GraphEdgeRecord{.producer = 1, .consumer = 3});
  capture.write(lane, GraphEdgeRecord{.producer = 2, .consumer = 3});
  capture.write(lane, GraphTask{.task_id = 3, .time_ticks = kLaunchTicks + 5});
  const DocumentedRun made = document(capture);
  const auto about = made.tiles.json("doc/graph");
  EXPECT_FALSE(about["complete"].GetBool());
  EXPECT_STREQ(about["why_incomplete"].GetString(),
               "1 records are missing, 1 tasks lack tensors, 1 edges have an unknown end");
  const auto rows = made.rows("graph/", "tasks");
  ASSERT_EQ(rows.size(), 2u);
  ASSERT_EQ(rows[1]["pred"].Size(), 2u) << "also of the task that was lost";
  EXPECT_STREQ(rows[1]["pred"][1][0].GetString(), id_of(2).c_str());
  EXPECT_TRUE(rows[1]["pred"][1][1].IsNull());
  EXPECT_TRUE(rows[1]["complete"].IsNull() || rows[1]["complete"].IsUint64());
}

TEST(GraphDocument, OfTooManyRecordsIsNotMade) {
  RandomGraph graph(1, 100);
  const DocumentedRun made = document(graph.capture(), {}, nullptr, {.graph_records_max = 99});
  EXPECT_FALSE(made.tiles.has("doc/graph"));
  const auto overview = made.tiles.json("doc/overview");
  ASSERT_GE(overview["not_made"].Size(), 1u);
  const std::string why = overview["not_made"][0]["why"].GetString();
  EXPECT_NE(why.find("records, more than the 99 that are held in memory"), std::string::npos)
      << why;
}

// Scopes at random depths submit to their rings; each task knows the innermost one.
TEST(GraphDocument, KnowsTheScopeOfEachTask) {
  std::mt19937_64 random(5);
  HandCapture capture(all_streams());
  const StreamLanes lanes = capture.lanes();
  std::vector<std::uint32_t> open;  // lines, innermost last
  std::uint64_t next[kRingCount] = {};
  std::vector<std::string> expected;
  std::uint64_t ticks = kLaunchTicks;
  const auto put = [&](ScopeBoundary::Phase phase, bool lost) {
    const std::size_t depth = open.size() - 1;
    ScopeBoundary boundary{.file = 0xF11E, .time_ticks = ++ticks, .line = open.back()};
    boundary.depth = static_cast<std::uint16_t>(depth);
    boundary.ring = static_cast<std::uint8_t>(std::min<std::size_t>(depth, kRingCount - 1));
    boundary.phase = phase;
    boundary.marks.task_head = next[boundary.ring];
    capture.write_or_lose(lanes.scopes(), boundary, lost);
  };
  for (int step = 0; step < 4000; ++step) {
    const auto choice = random() % 4;
    if (choice == 0 && open.size() < 8) {
      open.push_back(static_cast<std::uint32_t>(random() % 100));
      put(ScopeBoundary::Phase::kBegin, false);
    } else if (choice == 1 && open.size() > 1) {
      // A lost end does no harm where a ring has scopes of one depth only.
      put(ScopeBoundary::Phase::kEnd, open.size() < kRingCount && random() % 10 == 0);
      open.pop_back();
    } else if (!open.empty()) {
      const auto ring = static_cast<std::uint32_t>(std::min<std::size_t>(open.size() - 1, 3));
      capture.write(lanes.edges(), GraphTask{.task_id = TaskId::make(ring, next[ring]++).value,
                                             .time_ticks = ++ticks});
      expected.push_back("f.h:" + std::to_string(open.back()));
    }
  }
  const DocumentedRun made = document(capture, {.names = {{0xF11E, "f.h"}}});
  const auto rows = made.rows("graph/", "tasks");
  ASSERT_EQ(rows.size(), expected.size());
  std::size_t unlike = 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    unlike += rows[i]["scope"].GetString() != expected[i];
  EXPECT_EQ(unlike, 0u);
}

}  // namespace
}  // namespace tidemark
