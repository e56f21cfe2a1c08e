// SPDX-License-Identifier: Apache-2.0
// doc/overview: findings, time per kernel and core type, the critical path, the slowest blocks,
// starvation, and every loss.
#include <algorithm>
#include <functional>

#include "tidemark/schema/stream_registry.h"
#include "tidemark/tiles/analysed_run.h"

namespace tidemark {
namespace {

constexpr std::size_t kLossesMax = 1000;
constexpr std::size_t kStepsMax = 2000;

class OverviewWriter {
 public:
  OverviewWriter(const AnalysedRun& analysed, CompactJsonWriter& json)
      : analysed_(analysed), run_(analysed.run), json_(json) {}

  void write() {
    put_findings();
    put_timeline();
    put_path();
    put_list(json_, "starvation", analysed_.starvation, [&](const Starvation& starved) {
      put(json_, "type", to_text(starved.type));
      put(json_, "total_ns", starved.wall_ns);
      put(json_, "core_ns", starved.core_ns);
      put(json_, "share", starved.share);
    });
    put_losses();
    put_list(json_, "not_made", analysed_.not_made, [&](const NotMade& not_made) {
      put(json_, "document", not_made.document);
      put(json_, "why", not_made.why);
    });
  }

 private:
  void put_findings() {
    put_list(json_, "findings", find_findings(facts_of(analysed_)), [&](const Finding& finding) {
      put(json_, "severity", to_text(finding.severity));
      put(json_, "text", finding.text);
      const FindingLink& link = finding.link;
      put_object(json_, "link", [&] {
        put(json_, "panel", link.panel);
        if (link.task) put(json_, "task", id_text(*link.task));
        if (link.track) put(json_, "track", *link.track);
        if (link.time) put(json_, "time", *link.time);
        if (!link.site.empty()) put(json_, "site", link.site);
        if (link.row) put(json_, "row", *link.row);
      });
    });
  }

  void put_timeline() {
    static const Timeline kNothing;
    const Timeline& timeline = analysed_.timeline ? *analysed_.timeline : kNothing;
    put(json_, "active_ns", timeline.active_ns);
    put_list(json_, "kernels", timeline.kernels, [&](const KernelTiming& kernel) {
      put(json_, "name", kernel.name);
      put(json_, "count", kernel.execution.count);
      put(json_, "total_ns", kernel.execution.total_ns);
      put(json_, "mean_ns", kernel.execution.mean_ns());
      put(json_, "least_ns", kernel.execution.least_ns);
      put(json_, "most_ns", kernel.execution.most_ns);
    });
    put_list(json_, "core_types", timeline.core_types, [&](const CoreTypeUse& use) {
      put(json_, "type", to_text(use.type));
      put(json_, "cores", use.cores);
      put(json_, "busy_ns", use.busy_ns);
      put(json_, "share", use.share);
    });
    put_list(json_, "slowest", timeline.slowest, [&](const TaskRow& row) {
      put_task(row.task_id);
      put(json_, "kernel", run_.kernel_name(row.kernel));
      put_core(row.core);
      put(json_, "block", row.block);
      put_times(row.start_ticks, row.end_ticks);
    });
  }

  void put_path() {
    if (!analysed_.path) return put(json_, "critical_path", nullptr);
    const CriticalPath& path = *analysed_.path;
    put_object(json_, "critical_path", [&] {
      FieldWriter v(json_);
      TM_FIELDS(v, path, length_ns, execution_ns, core_wait_ns, scheduler_ns, orchestrator_ns);
      put(json_, "complete", analysed_.graph->complete());
      put(json_, "step_count", path.steps.size());
      const auto shown = longest_steps(path);
      put(json_, "steps_left_out", path.steps.size() - shown.size());
      put_list(json_, "steps", shown, [&](const std::size_t i) { put_step(path.steps[i]); });
    });
  }
  // In the order of the path.
  static std::vector<std::size_t> longest_steps(const CriticalPath& path) {
    std::vector<std::size_t> steps(path.steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) steps[i] = i;
    if (steps.size() <= kStepsMax) return steps;
    std::ranges::stable_sort(steps, std::greater{},
                             [&](std::size_t i) { return path.steps[i].spent_ns(); });
    steps.resize(kStepsMax);
    std::ranges::sort(steps);
    return steps;
  }
  void put_step(const PathStep& step) {
    put_task(step.task_id);
    put(json_, "kernel", node_kernel_name(run_, analysed_.graph->tasks[step.task].task));
    const TaskTimes& times = analysed_.times->tasks[step.task];
    if (step.ran)
      put_core(step.core);
    else
      put_no_core();
    put_times(step.ran ? times.start_ticks : times.ready_ticks,
              step.ran ? times.end_ticks : times.complete_ticks);
    FieldWriter v(json_);
    TM_FIELDS(v, step, data_wait_ns, execution_ns, core_wait_ns, scheduler_ns, orchestrator_ns);
  }

  void put_losses() {
    const auto& losses = analysed_.losses;
    const std::size_t shown = std::min(losses.size(), kLossesMax);
    put(json_, "losses_left_out", losses.size() - shown);
    put_list(json_, "losses", std::span(losses.data(), shown), [&](const LossRow& row) {
      const LanePlan& plan = run_.lanes()[row.lane];
      const StreamInfo* stream = find_stream(plan.stream);
      put(json_, "stream", stream == nullptr ? "unknown" : stream->name);
      put(json_, "lane", row.lane);
      put(json_, "producer", plan.producer);
      put(json_, "lost", row.lost);
      put(json_, "reason", row.reason);
      put(json_, "track", analysed_.loss_track_of(row.lane));
      put(json_, "from", analysed_.time_of(row.from_ticks));
      put(json_, "to", analysed_.time_of(row.to_ticks));
    });
  }

  void put_task(std::uint64_t task_id) {
    put(json_, "task", id_text(task_id));
    put(json_, "text", task_text(task_id));
  }
  void put_core(std::uint32_t core) {
    put(json_, "core", core);
    put(json_, "track", analysed_.track_of_core(core));
  }
  void put_no_core() {
    put(json_, "core", nullptr);
    put(json_, "track", nullptr);
  }
  void put_times(std::uint64_t start_ticks, std::uint64_t end_ticks) {
    put(json_, "start", analysed_.time_of(start_ticks));
    put(json_, "end", analysed_.time_of(end_ticks));
  }

  const AnalysedRun& analysed_;
  const RunCapture& run_;
  CompactJsonWriter& json_;
};

}  // namespace

Expected<void> put_overview(const AnalysedRun& analysed, DocumentSink& sink) {
  return sink.put_object("doc/overview", kNsDecimals,
                         [&](CompactJsonWriter& json) { OverviewWriter(analysed, json).write(); });
}

}  // namespace tidemark
