// SPDX-License-Identifier: Apache-2.0
#include "tidemark/analyze/timeline.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>

#include "tidemark/schema/task_id.h"

namespace tidemark {
namespace {

double ns_between(const RunClock& clock, std::uint64_t from_ticks, std::uint64_t to_ticks) {
  return static_cast<double>(static_cast<std::int64_t>(to_ticks - from_ticks)) * 1e9 /
         static_cast<double>(clock.ticks_per_second);
}

struct ShorterFirst {
  bool operator()(const TaskRow& a, const TaskRow& b) const {
    return a.end_ticks - a.start_ticks > b.end_ticks - b.start_ticks;
  }
};

}  // namespace

void DurationStats::add(double ns) {
  least_ns = count == 0 ? ns : std::min(least_ns, ns);
  most_ns = count == 0 ? ns : std::max(most_ns, ns);
  total_ns += ns;
  ++count;
}

Expected<Timeline> read_timeline(RunCapture& run, std::size_t slowest) {
  if (!run.has(StreamId::kSwimlane))
    return failure(ErrorKind::kUsage,
                   "{}: no task spans were recorded; run with "
                   "--enable-l2-swimlane",
                   run.directory());
  Timeline timeline;
  std::map<std::uint16_t, KernelTiming> kernels;
  std::map<CoreType, double> busy_ns;
  std::priority_queue<TaskRow, std::vector<TaskRow>, ShorterFirst> longest;
  std::uint64_t first_ticks = ~std::uint64_t{0}, last_ticks = 0;
  std::uint32_t cores_seen = 0;
  const RunClock& clock = run.clock();
  for_each_task_row(run, [&](const TaskRow& row) {
    ++timeline.rows;
    KernelTiming& kernel = kernels[row.kernel];
    const double execution_ns = ns_between(clock, row.start_ticks, row.end_ticks);
    kernel.execution.add(execution_ns);
    busy_ns[run.runtime() ? core_type(row.core) : CoreType::kAiv] += execution_ns;
    cores_seen = std::max<std::uint32_t>(cores_seen, row.core + 1u);
    if (row.has_finish) {
      kernel.latency.add(ns_between(clock, row.dispatch_ticks, row.finish_ticks));
      kernel.head.add(ns_between(clock, row.dispatch_ticks, row.start_ticks));
      kernel.tail.add(ns_between(clock, row.end_ticks, row.finish_ticks));
    }
    first_ticks = std::min(first_ticks, row.has_finish ? row.dispatch_ticks : row.start_ticks);
    last_ticks = std::max(last_ticks, row.has_finish ? row.finish_ticks : row.end_ticks);
    // Of equal ones the first stay.
    if (longest.size() == slowest && (slowest == 0 || !ShorterFirst()(row, longest.top()))) return;
    longest.push(row);
    if (longest.size() > slowest) longest.pop();
  });
  if (timeline.rows > 0) timeline.active_ns = ns_between(clock, first_ticks, last_ticks);
  for (auto& [number, kernel] : kernels) {
    kernel.kernel = number;
    kernel.name = run.kernel_name(number);
    timeline.kernels.push_back(kernel);
  }
  std::ranges::stable_sort(timeline.kernels, std::greater{},
                           [](const KernelTiming& kernel) { return kernel.execution.total_ns; });
  for (const CoreType type : {CoreType::kAic, CoreType::kAiv}) {
    const std::uint32_t cores = run.runtime()            ? run.runtime()->core_count(type)
                                : type == CoreType::kAiv ? cores_seen
                                                         : 0;
    if (cores == 0) continue;
    const double capacity_ns = timeline.active_ns * cores;
    timeline.core_types.push_back({.type = type,
                                   .cores = cores,
                                   .busy_ns = busy_ns[type],
                                   .share = capacity_ns > 0 ? busy_ns[type] / capacity_ns : 0});
  }
  for (; !longest.empty(); longest.pop()) timeline.slowest.push_back(longest.top());
  std::reverse(timeline.slowest.begin(), timeline.slowest.end());
  return timeline;
}

GraphTimes join_times(RunCapture& run, const TaskGraph& graph) {
  GraphTimes times;
  times.tasks.resize(graph.tasks.size());
  // What the host built before launch counts as submitted at launch.
  for (std::size_t i = 0; i < graph.tasks.size(); ++i)
    times.tasks[i].submit_ticks =
        std::max(graph.tasks[i].task.time_ticks, run.clock().launch_ticks);
  const bool repeats = run.runtime() && run.runtime()->repeats();
  for_each_task_row(run, [&](const TaskRow& row) {
    // Every iteration ran the same graph: its times are those of the first one.
    if (repeats && TaskId{row.task_id}.lap() != 0) return;
    times.rows.push_back(row);
    const std::size_t index = graph.index_of(row.task_id);
    if (index == TaskGraph::kNoTask) return;
    TaskTimes& task = times.tasks[index];
    const std::uint64_t dispatch = row.has_finish ? row.dispatch_ticks : row.start_ticks;
    const std::uint64_t finish = row.has_finish ? row.finish_ticks : row.end_ticks;
    if (!task.ran || dispatch < task.dispatch_ticks) task.dispatch_ticks = dispatch;
    if (!task.ran || row.start_ticks < task.start_ticks) task.start_ticks = row.start_ticks;
    if (!task.ran || row.end_ticks > task.end_ticks) {
      task.end_ticks = row.end_ticks;
      task.last_row = row;
    }
    task.complete_ticks = task.ran ? std::max(task.complete_ticks, finish) : finish;
    task.ran = true;
  });
  std::stable_sort(times.rows.begin(), times.rows.end(), [](const TaskRow& a, const TaskRow& b) {
    return a.core != b.core ? a.core < b.core : a.start_ticks < b.start_ticks;
  });
  const TaskGraph::Links links = graph.links();
  for (const std::uint32_t i : graph.in_order(links)) {
    TaskTimes& task = times.tasks[i];
    task.ready_ticks = task.submit_ticks;
    std::uint64_t latest = 0;
    for (const std::uint32_t producer : links.producers[i]) {
      const std::uint64_t complete = times.tasks[producer].complete_ticks;
      if (complete < latest) continue;
      latest = complete;
      task.last_producer = producer;
    }
    task.ready_ticks = std::max(task.ready_ticks, latest);
    if (!task.ran) task.complete_ticks = task.ready_ticks;  // an allocation or a joint
  }
  return times;
}

std::vector<Starvation> find_starvation(const RuntimeConfig& config, const RunClock& clock,
                                        const TaskGraph& graph, const GraphTimes& times) {
  struct Change {
    std::uint64_t ticks;
    int waiting;
    int busy;
  };
  std::vector<Starvation> found;
  for (const CoreType type : {CoreType::kAic, CoreType::kAiv}) {
    std::vector<Change> changes;
    for (const TaskRow& row : times.rows) {
      if (core_type(row.core) != type) continue;
      changes.push_back({row.start_ticks, 0, 1});
      changes.push_back({row.end_ticks, 0, -1});
      const std::size_t index = graph.index_of(row.task_id);
      if (index == TaskGraph::kNoTask) continue;
      const std::uint64_t ready = times.tasks[index].ready_ticks;
      if (ready >= row.start_ticks) continue;
      changes.push_back({ready, 1, 0});
      changes.push_back({row.start_ticks, -1, 0});
    }
    std::ranges::sort(changes, {}, &Change::ticks);
    Starvation starvation{.type = type};
    const auto cores = static_cast<int>(config.core_count(type));
    int waiting = 0, busy = 0;
    for (std::size_t i = 0; i + 1 < changes.size(); ++i) {
      waiting += changes[i].waiting;
      busy += changes[i].busy;
      const int idle = std::min(waiting, cores - busy);
      if (idle <= 0) continue;
      const double ns = ns_between(clock, changes[i].ticks, changes[i + 1].ticks);
      starvation.wall_ns += ns;
      starvation.core_ns += ns * idle;
    }
    if (!changes.empty() && cores > 0) {
      const double all_ns = ns_between(clock, changes.front().ticks, changes.back().ticks) * cores;
      starvation.share = all_ns > 0 ? starvation.core_ns / all_ns : 0;
    }
    if (cores > 0) found.push_back(starvation);
  }
  return found;
}

}  // namespace tidemark
