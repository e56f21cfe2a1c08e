// SPDX-License-Identifier: Apache-2.0
#include "tidemark/analyze/critical_path.h"

#include <algorithm>

namespace tidemark {
namespace {

// When all cores of a type were busy: sorted stretches, with their lengths summed up.
class BusyStretches {
 public:
  BusyStretches(const std::vector<TaskRow>& rows, CoreType type, std::uint32_t cores) {
    std::vector<std::pair<std::uint64_t, int>> changes;
    for (const TaskRow& row : rows)
      if (core_type(row.core) == type) {
        changes.emplace_back(row.start_ticks, 1);
        changes.emplace_back(row.end_ticks, -1);
      }
    std::sort(changes.begin(), changes.end());
    std::uint32_t busy = 0;
    for (const auto& [ticks, change] : changes) {
      const bool was_full = busy == cores && cores > 0;
      busy += static_cast<std::uint32_t>(change);
      const bool is_full = busy == cores && cores > 0;
      if (!was_full && is_full) from_.push_back(ticks);
      if (was_full && !is_full) {
        to_.push_back(ticks);
        sums_.push_back((sums_.empty() ? 0 : sums_.back()) + ticks - from_.back());
      }
    }
    from_.resize(to_.size());
  }

  // Ticks of [from, to) in which all were busy.
  [[nodiscard]] std::uint64_t within(std::uint64_t from, std::uint64_t to) const {
    return to <= from ? 0 : before(to) - before(from);
  }

 private:
  [[nodiscard]] std::uint64_t before(std::uint64_t ticks) const {
    const auto next = std::upper_bound(from_.begin(), from_.end(), ticks) - from_.begin();
    if (next == 0) return 0;
    const auto last = static_cast<std::size_t>(next) - 1;
    const std::uint64_t whole = last == 0 ? 0 : sums_[last - 1];
    return whole + std::min(ticks, to_[last]) - from_[last];
  }

  std::vector<std::uint64_t> from_, to_, sums_;
};

// When the core was through with what it ran before this row; 0: nothing.
std::uint64_t previous_end(const std::vector<TaskRow>& rows, const TaskRow& row) {
  const auto at =
      std::lower_bound(rows.begin(), rows.end(), row, [](const TaskRow& a, const TaskRow& b) {
        return a.core != b.core ? a.core < b.core : a.start_ticks < b.start_ticks;
      });
  if (at == rows.begin()) return 0;
  const TaskRow& before = *(at - 1);
  return before.core == row.core ? before.end_ticks : 0;
}

}  // namespace

CriticalPath find_critical_path(const RuntimeConfig& config, const RunClock& clock,
                                const TaskGraph& graph, const GraphTimes& times) {
  CriticalPath path;
  if (times.tasks.empty()) return path;
  const BusyStretches busy[] = {{times.rows, CoreType::kAic, config.core_count(CoreType::kAic)},
                                {times.rows, CoreType::kAiv, config.core_count(CoreType::kAiv)}};
  const auto ns = [&](std::uint64_t ticks) {
    return static_cast<double>(ticks) * 1e9 / static_cast<double>(clock.ticks_per_second);
  };
  const auto later = [](std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; };

  std::size_t at = 0;
  for (std::size_t i = 0; i < times.tasks.size(); ++i)
    if (times.tasks[i].complete_ticks > times.tasks[at].complete_ticks) at = i;
  const std::uint64_t epoch = clock.launch_ticks;
  path.length_ns = ns(later(times.tasks[at].complete_ticks, epoch));

  for (std::size_t guard = 0; guard < times.tasks.size(); ++guard) {
    const TaskTimes& task = times.tasks[at];
    PathStep step{.task_id = graph.tasks[at].task.task_id,
                  .task = static_cast<std::uint32_t>(at),
                  .ran = task.ran};
    if (task.ran) {
      const TaskRow& row = task.last_row;
      step.kernel = row.kernel;
      step.core = row.core;
      const std::uint64_t dispatch = row.has_finish ? row.dispatch_ticks : row.start_ticks;
      const std::uint64_t ready = std::min(task.ready_ticks, dispatch);
      const std::uint64_t queued =
          std::min(later(std::min(previous_end(times.rows, row), row.start_ticks), dispatch),
                   later(row.start_ticks, dispatch));
      const std::uint64_t full =
          busy[core_type(row.core) == CoreType::kAic ? 0 : 1].within(ready, dispatch);
      step.core_wait_ns = ns(full + queued);
      step.scheduler_ns = ns(later(dispatch, ready) - full) +
                          ns(later(row.start_ticks, dispatch) - queued) +
                          ns(later(task.complete_ticks, row.end_ticks));
      step.execution_ns = ns(later(row.end_ticks, row.start_ticks));
    }
    const bool has_producer = task.last_producer != ~0u;
    const std::uint64_t producer_done =
        has_producer ? times.tasks[task.last_producer].complete_ticks : epoch;
    step.data_wait_ns = ns(later(producer_done, task.submit_ticks));
    const bool late_submit = task.submit_ticks > producer_done;
    if (late_submit) step.orchestrator_ns = ns(later(task.submit_ticks, producer_done));
    path.steps.push_back(step);
    if (!has_producer) break;
    at = task.last_producer;
  }
  std::reverse(path.steps.begin(), path.steps.end());
  for (const PathStep& step : path.steps) {
    path.execution_ns += step.execution_ns;
    path.core_wait_ns += step.core_wait_ns;
    path.scheduler_ns += step.scheduler_ns;
    path.orchestrator_ns += step.orchestrator_ns;
  }
  return path;
}

}  // namespace tidemark
