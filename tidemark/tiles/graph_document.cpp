// SPDX-License-Identifier: Apache-2.0
// doc/graph and its pages: every task with what it waited for, who waited for it, and its times.
#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "tidemark/base/human_text.h"
#include "tidemark/schema/task_id.h"
#include "tidemark/schema/task_limits.h"
#include "tidemark/tiles/analysed_run.h"

namespace tidemark {
namespace {

constexpr std::uint32_t kNoScope = ~0u;

// The number of a task in its ring: heads and tails of rings count by it.
std::uint64_t number_of(std::uint64_t task_id) {
  const TaskId id{task_id};
  return id.lap() << 32 | id.local();
}

// The innermost scope in which each task was submitted, by its place in `sites`. A scope submits to
// its own ring alone, and says at its begin and end how many tasks the ring had seen.
class ScopesOfTasks {
 public:
  ScopesOfTasks(RunCapture& run, const TaskGraph& graph) : scopes_(graph.tasks.size(), kNoScope) {
    if (!run.has(StreamId::kScopes)) return;
    run.for_each<ScopeBoundary>([&](const ScopeBoundary& boundary, LaneIndex) {
      if (boundary.ring < kRingCount) boundaries_[boundary.ring].push_back(read(run, boundary));
    });
    for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
      const std::uint64_t id = graph.tasks[i].task.task_id;
      scopes_[i] = scope_of(TaskId{id}.ring(), number_of(id));
    }
  }

  // Empty: not recorded.
  [[nodiscard]] std::string_view site_of(std::size_t task) const {
    return scopes_[task] == kNoScope ? std::string_view() : sites_[scopes_[task]];
  }

 private:
  struct Boundary {
    std::uint64_t task_head;
    std::uint32_t site;
    std::uint16_t depth;
    bool begins;
  };

  Boundary read(const RunCapture& run, const ScopeBoundary& boundary) {
    const auto key = std::pair(boundary.file, boundary.line);
    const auto [found, fresh] = numbers_.emplace(key, static_cast<std::uint32_t>(sites_.size()));
    if (fresh) sites_.push_back(run.site_of(boundary.file, boundary.line));
    return {boundary.marks.task_head, found->second, boundary.depth,
            boundary.phase == ScopeBoundary::Phase::kBegin};
  }
  // Tasks of a ring come in the order of their numbers.
  std::uint32_t scope_of(std::uint32_t ring, std::uint64_t number) {
    auto& open = open_[ring];
    for (auto& at = next_[ring]; at < boundaries_[ring].size(); ++at) {
      const Boundary& boundary = boundaries_[ring][at];
      if (boundary.task_head > number) break;
      // Scopes as deep as this one or deeper are over, even if their ends were lost.
      while (!open.empty() && open.back().depth >= boundary.depth) open.pop_back();
      if (boundary.begins) open.push_back(boundary);
    }
    return open.empty() ? kNoScope : open.back().site;
  }

  std::vector<std::uint32_t> scopes_;  // by task
  std::vector<std::string> sites_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> numbers_;
  std::array<std::vector<Boundary>, kRingCount> boundaries_;
  std::array<std::vector<Boundary>, kRingCount> open_;  // outermost first
  std::array<std::size_t, kRingCount> next_{};
};

// Edges by their consumers.
class EdgesOfTasks {
 public:
  explicit EdgesOfTasks(const TaskGraph& graph) : graph_(graph) {
    std::vector<std::size_t> consumer(graph.edges.size());
    first_.resize(graph.tasks.size() + 1);
    for (std::size_t i = 0; i < graph.edges.size(); ++i) {
      consumer[i] = graph.index_of(graph.edges[i].consumer);
      if (consumer[i] != TaskGraph::kNoTask) ++first_[consumer[i] + 1];
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    edges_.resize(first_.back());
    auto next = first_;
    for (std::size_t i = 0; i < graph.edges.size(); ++i)
      if (consumer[i] != TaskGraph::kNoTask) edges_[next[consumer[i]]++] = i;
  }

  // fn(edge) in the order in which they were recorded.
  template <class Fn>
  void for_each_of(std::size_t task, const Fn& fn) const {
    for (std::size_t i = first_[task]; i < first_[task + 1]; ++i) fn(graph_.edges[edges_[i]]);
  }

 private:
  const TaskGraph& graph_;
  std::vector<std::size_t> first_;  // by task, in edges_
  std::vector<std::size_t> edges_;
};

class GraphWriter {
 public:
  explicit GraphWriter(const AnalysedRun& analysed)
      : analysed_(analysed),
        graph_(*analysed.graph),
        scopes_(analysed.run, graph_),
        edges_(graph_),
        is_critical_(graph_.tasks.size()) {
    if (!analysed.path) return;
    for (const PathStep& step : analysed.path->steps) is_critical_[step.task] = true;
  }

  void put_about(CompactJsonWriter& json) const {
    put(json, "complete", graph_.complete());
    put(json, "why_incomplete", why_incomplete());
    put(json, "tasks", graph_.tasks.size());
    put(json, "edges", graph_.edges.size());
    put(json, "has_times", analysed_.times.has_value());
    put(json, "scopes_missing", analysed_.scopes ? analysed_.scopes->dropped : 0);
    put(json, "page", kRowsPerPage);
    TaskPages index;
    for (std::size_t i = 0; i < graph_.tasks.size(); ++i)
      index.add(graph_.tasks[i].task.task_id, i);
    index.put(json, "index");
  }

  void put_page(CompactJsonWriter& json, std::size_t first) const {
    put_key(json, "tasks");
    json.StartArray();
    const std::size_t last = std::min<std::size_t>(graph_.tasks.size(), first + kRowsPerPage);
    for (std::size_t i = first; i < last; ++i) put_object(json, [&] { put_task(json, i); });
    json.EndArray();
  }

 private:
  [[nodiscard]] std::string why_incomplete() const {
    std::vector<std::string> reasons;
    const auto add = [&](std::uint64_t count, const char* what) {
      if (count > 0) reasons.push_back(with_commas(count) + " " + what);
    };
    add(graph_.missing_records, "records are missing");
    add(graph_.tasks_cut, "tasks lack tensors");
    add(graph_.edges_without_task, "edges have an unknown end");
    add(graph_.tasks_after_eviction, "tasks may lack edges: the tensor map was too small");
    return joined(reasons, ", ");
  }

  void put_task(CompactJsonWriter& json, std::size_t i) const {
    const GraphTask& task = graph_.tasks[i].task;
    put(json, "id", id_text(task.task_id));
    put(json, "text", task_text(task.task_id));
    put(json, "kernel", node_kernel_name(analysed_.run, task));
    put(json, "blocks", task.block_count);
    put(json, "site", analysed_.run.site_of(task.submit_file, task.submit_line));
    put(json, "scope", scopes_.site_of(i));
    put_times(json, i);
    put(json, "critical", static_cast<bool>(is_critical_[i]));
    put_key(json, "pred");
    json.StartArray();
    edges_.for_each_of(i, [&](const GraphEdgeRecord& edge) {
      FieldWriter v(json);
      v.row(id_text(edge.producer),
            edge.arg == kNoArg ? std::nullopt : std::optional<std::uint32_t>(edge.arg),
            to_text(edge.source), edge.satisfied != 0);
    });
    json.EndArray();
    put_key(json, "succ");
    json.StartArray();
    for (const std::uint32_t consumer : analysed_.links.consumers[i])
      put_value(json, id_text(graph_.tasks[consumer].task.task_id));
    json.EndArray();
  }

  // Null: not known. A task without a kernel is complete as soon as it is ready.
  void put_times(CompactJsonWriter& json, std::size_t i) const {
    const GraphTask& task = graph_.tasks[i].task;
    const TaskTimes* times = analysed_.times ? &analysed_.times->tasks[i] : nullptr;
    const bool has_kernel =
        std::ranges::any_of(task.kernels, [](std::uint16_t kernel) { return kernel != kNoKernel; });
    const bool ran = times != nullptr && times->ran;
    const bool ended = ran || (times != nullptr && !has_kernel);
    const auto when = [&](bool known, std::uint64_t TaskTimes::*ticks) {
      return known ? std::optional(analysed_.time_of(times->*ticks)) : std::nullopt;
    };
    put(json, "track", ran ? analysed_.track_of_core(times->last_row.core) : std::nullopt);
    put(json, "submit", analysed_.time_of(task.time_ticks));
    put(json, "ready", when(ended, &TaskTimes::ready_ticks));
    put(json, "dispatch", when(ran, &TaskTimes::dispatch_ticks));
    put(json, "start", when(ran, &TaskTimes::start_ticks));
    put(json, "end", when(ran, &TaskTimes::end_ticks));
    put(json, "complete", when(ended, &TaskTimes::complete_ticks));
  }

  const AnalysedRun& analysed_;
  const TaskGraph& graph_;
  ScopesOfTasks scopes_;
  EdgesOfTasks edges_;
  std::vector<bool> is_critical_;
};

}  // namespace

Expected<void> put_graph(const AnalysedRun& analysed, DocumentSink& sink) {
  const GraphWriter writer(analysed);
  for (std::size_t first = 0; first < analysed.graph->tasks.size(); first += kRowsPerPage)
    TM_TRY_DO(sink.put_object(fmt::format("graph/{}", first / kRowsPerPage), kNsDecimals,
                              [&](CompactJsonWriter& json) { writer.put_page(json, first); }));
  return sink.put_object("doc/graph", kNsDecimals,
                         [&](CompactJsonWriter& json) { writer.put_about(json); });
}

}  // namespace tidemark
