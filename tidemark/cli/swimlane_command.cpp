// SPDX-License-Identifier: Apache-2.0
// tidemark swimlane: where the time went.
#include <fmt/core.h>

#include "tidemark/analyze/critical_path.h"
#include "tidemark/base/human_text.h"
#include "tidemark/cli/command_line.h"
#include "tidemark/cli/file_mode_option.h"
#include "tidemark/cli/terminal.h"
#include "tidemark/export/artifact.h"

namespace tidemark::cli {
namespace {

struct SwimlaneArgs {
  std::string run;
  std::string perfetto;
  std::size_t slowest = kSlowestDefault;
  std::size_t steps = 20;
};

std::string us(double ns) { return fmt::format("{:.1f}", ns / 1000); }

void print_kernels(const Timeline& timeline) {
  print("\nKernels (microseconds)\n");
  print("  {:<20} {:>9} {:>12} {:>10} {:>10} {:>10} {:>10} {:>9} {:>9}\n", "kernel", "blocks",
        "total", "mean", "least", "most", "latency", "head", "tail");
  for (const auto& kernel : timeline.kernels) {
    const bool known = kernel.latency.count > 0;
    const auto mean = [&](const DurationStats& stats) {
      return known ? us(stats.mean_ns()) : std::string("-");
    };
    print("  {:<20} {:>9} {:>12} {:>10} {:>10} {:>10} {:>10} {:>9} {:>9}\n", kernel.name,
          with_commas(kernel.execution.count), us(kernel.execution.total_ns),
          us(kernel.execution.mean_ns()), us(kernel.execution.least_ns),
          us(kernel.execution.most_ns), mean(kernel.latency), mean(kernel.head), mean(kernel.tail));
  }
  print(
      "  execution: start to end. latency: dispatch to finish, head + execution + tail "
      "(means; from level 2)\n");
}

void print_cores(const Timeline& timeline) {
  print("\nCores, over {} us between the first dispatch and the last finish\n",
        us(timeline.active_ns));
  for (const auto& use : timeline.core_types)
    print("  {:<4} {:>4} core{} busy {:5.1f} %\n", to_text(use.type), use.cores,
          use.cores == 1 ? " " : "s", use.share * 100);
}

void print_slowest(const RunCapture& run, const Timeline& timeline) {
  print("\nSlowest\n");
  for (const auto& row : timeline.slowest) {
    const double ns = static_cast<double>(run.clock().to_ns(row.end_ticks)) -
                      static_cast<double>(run.clock().to_ns(row.start_ticks));
    print("  {:>10} us  {:<12} block {:<5} {:<20} core {:<4} at {} us\n", us(ns),
          task_text(row.task_id), row.block, run.kernel_name(row.kernel), row.core,
          us(static_cast<double>(run.clock().to_ns(row.start_ticks))));
  }
}

void print_path(const RunCapture& run, const TaskGraph& graph, const CriticalPath& path,
                std::size_t shown) {
  const double all = path.length_ns > 0 ? path.length_ns : 1;
  print("\nCritical path{}: {} of {} tasks, {} us\n",
        run.runtime()->repeats() ? " of the first iteration" : "", path.steps.size(),
        with_commas(graph.tasks.size()), us(path.length_ns));
  print(
      "  execution {:.1f} %, waiting for a core {:.1f} %, scheduler {:.1f} %, orchestrator "
      "{:.1f} %\n",
      path.execution_ns / all * 100, path.core_wait_ns / all * 100, path.scheduler_ns / all * 100,
      path.orchestrator_ns / all * 100);
  print("  {:<10} {:<20} {:>5} {:>11} {:>11} {:>11} {:>11} {:>12}\n", "task", "kernel", "core",
        "data wait", "core wait", "scheduler", "execution", "orchestrator");
  const std::size_t first = path.steps.size() > shown ? path.steps.size() - shown : 0;
  if (first > 0) print("  ... {} earlier steps (--steps N shows more)\n", first);
  for (std::size_t i = first; i < path.steps.size(); ++i) {
    const PathStep& step = path.steps[i];
    print("  {:<10} {:<20} {:>5} {:>11} {:>11} {:>11} {:>11} {:>12}\n", task_text(step.task_id),
          node_kernel_name(run, graph.tasks[step.task].task),
          step.ran ? fmt::format("{}", step.core) : "-", us(step.data_wait_ns),
          us(step.core_wait_ns), us(step.scheduler_ns), us(step.execution_ns),
          us(step.orchestrator_ns));
  }
}

void print_starvation(const std::vector<Starvation>& found) {
  print("\nIdle core while a ready task exists\n");
  for (const auto& starved : found)
    print("  {:<4} {} us in all, {} core-us, {:.1f} % of the core time\n", to_text(starved.type),
          us(starved.wall_ns), us(starved.core_ns), starved.share * 100);
}

Expected<int> show(const SwimlaneArgs& args) {
  TM_TRY(const auto directory, resolve_run(args.run));
  TM_TRY(auto run, RunCapture::open(directory));
  TM_TRY(const auto timeline, read_timeline(run, args.slowest));
  print("{}: {} on {}, {} blocks of tasks\n", directory, run.description().run.workload,
        run.description().run.platform, with_commas(timeline.rows));
  if (const auto missing = run.missing(StreamId::kSwimlane); missing && *missing > 0)
    print("  {} span records are missing; the figures are of what is there\n",
          with_commas(*missing));
  print_kernels(timeline);
  print_cores(timeline);
  print_slowest(run, timeline);
  if (run.has(StreamId::kEdges) && run.runtime()) {
    TM_TRY(const auto graph, TaskGraph::load(run));
    const GraphTimes times = join_times(run, graph);
    print_path(run, graph, find_critical_path(*run.runtime(), run.clock(), graph, times),
               args.steps);
    print_starvation(find_starvation(*run.runtime(), run.clock(), graph, times));
  } else {
    print("\nCritical path and starvation need the graph: run with --enable-dep-gen\n");
  }
  if (args.perfetto.empty()) return 0;
  TM_TRY_DO(write_perfetto_trace(run, args.perfetto));
  print("\n{}: open it at https://ui.perfetto.dev\n", args.perfetto);
  return 0;
}

}  // namespace

void add_swimlane_command(Command& program) {
  Command& command =
      program.command("swimlane", "Where the time went: kernels, cores, critical path, starvation");
  auto& args = add_run_arguments<SwimlaneArgs>(command, show);
  command.option("--perfetto", &args.perfetto, "Also write a Perfetto trace to this file");
  command.option("--slowest", &args.slowest, "How many of the slowest blocks to list",
                 kShowsDefault);
  command.option("--steps", &args.steps, "How many steps of the critical path to list",
                 kShowsDefault);
  add_file_mode_option(command);
}

}  // namespace tidemark::cli
