// SPDX-License-Identifier: Apache-2.0
// tidemark deps: the task graph of a run, and why a task waits.
#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "tidemark/analyze/timeline.h"
#include "tidemark/base/human_text.h"
#include "tidemark/base/nearest_name.h"
#include "tidemark/cli/command_line.h"
#include "tidemark/cli/file_mode_option.h"
#include "tidemark/cli/terminal.h"
#include "tidemark/export/part_file.h"
#include "tidemark/schema/task_id.h"
#include "tidemark/schema/task_limits.h"
#include "tidemark/schema/task_shape.h"

namespace tidemark::cli {
namespace {

struct DepsArgs {
  std::string run;
  bool list = false;
  bool reduce = false;
  std::string dot;
  std::vector<std::string> path;
  std::string why;
};

using Pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

Pairs all_pairs(const TaskGraph& graph) {
  Pairs pairs;
  for (const auto& edge : graph.edges) pairs.emplace_back(edge.producer, edge.consumer);
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

std::string label(const RunCapture& run, const TaskGraph& graph, std::uint64_t task_id) {
  const TaskNode* node = graph.find(task_id);
  return node == nullptr
             ? task_text(task_id) + " (not recorded)"
             : fmt::format("{} {}", task_text(task_id), node_kernel_name(run, node->task));
}

std::string reason(const GraphEdgeRecord& edge) {
  std::string text(to_text(edge.source));
  if (edge.arg != kNoArg) text += fmt::format(", argument {}", edge.arg);
  if (edge.satisfied != 0) text += ", already complete";
  return text;
}

void print_summary(const RunCapture& run, const TaskGraph& graph) {
  std::map<std::string_view, std::uint64_t> sources;
  std::uint64_t satisfied = 0;
  for (const auto& edge : graph.edges) {
    ++sources[to_text(edge.source)];
    satisfied += edge.satisfied;
  }
  const TaskGraph::Links links = graph.links();
  std::size_t roots = 0, leaves = 0, most_in = 0, most_out = 0;
  std::vector<std::uint32_t> depth(graph.tasks.size(), 1);
  std::uint32_t longest = 0;
  for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
    roots += links.producers[i].empty();
    leaves += links.consumers[i].empty();
    if (links.producers[i].size() > links.producers[most_in].size()) most_in = i;
    if (links.consumers[i].size() > links.consumers[most_out].size()) most_out = i;
    for (const std::uint32_t producer : links.producers[i])
      depth[i] = std::max(depth[i], depth[producer] + 1);
    longest = std::max(longest, depth[i]);
  }
  print("{}: {} on {}\n", run.directory(), run.description().run.workload,
        run.description().run.platform);
  print("  {} tasks, {} tensors (versions of buffers), {} edges between {} pairs\n",
        with_commas(graph.tasks.size()), with_commas(graph.tensors.size()),
        with_commas(graph.edges.size()), with_commas(all_pairs(graph).size()));
  for (const auto& [source, count] : sources) print("  {:<10} {}\n", source, with_commas(count));
  print("  {} of the edges led to a task that was already complete\n", with_commas(satisfied));
  print("  tasks that wait for nobody: {}; that nobody waits for: {}; longest chain: {} tasks\n",
        with_commas(roots), with_commas(leaves), with_commas(longest));
  if (!graph.tasks.empty()) {
    print("  most producers: {} ({})\n", label(run, graph, graph.tasks[most_in].task.task_id),
          links.producers[most_in].size());
    print("  most consumers: {} ({})\n", label(run, graph, graph.tasks[most_out].task.task_id),
          links.consumers[most_out].size());
  }
  if (!graph.complete())
    print(
        "  INCOMPLETE: {} records are missing, {} tasks lack tensors, {} edges have an unknown "
        "end, {} tasks may lack edges (the tensor map was too small)\n",
        with_commas(graph.missing_records), with_commas(graph.tasks_cut),
        with_commas(graph.edges_without_task), with_commas(graph.tasks_after_eviction));
}

void print_list(const RunCapture& run, const TaskGraph& graph) {
  std::map<std::uint64_t, std::vector<const GraphEdgeRecord*>> by_consumer;
  for (const auto& edge : graph.edges) by_consumer[edge.consumer].push_back(&edge);
  for (const auto& node : graph.tasks) {
    print("{} at {}\n", label(run, graph, node.task.task_id),
          run.site_of(node.task.submit_file, node.task.submit_line));
    for (const auto* edge : by_consumer[node.task.task_id])
      print("  <- {:<24} {}\n", label(run, graph, edge->producer), reason(*edge));
  }
}

Expected<void> write_dot(const RunCapture& run, const TaskGraph& graph, const Pairs& pairs,
                         const std::string& path) {
  std::string text = "digraph tasks {\n  rankdir=LR;\n  node [shape=box];\n";
  for (const auto& node : graph.tasks)
    text += fmt::format("  \"{}\" [label=\"{}\\n{}\"];\n", task_text(node.task.task_id),
                        task_text(node.task.task_id), node_kernel_name(run, node.task));
  for (const auto& [producer, consumer] : pairs)
    text += fmt::format("  \"{}\" -> \"{}\";\n", task_text(producer), task_text(consumer));
  text += "}\n";
  if (path != "-") return write_part_file(path, text);
  print_text(text);
  return {};
}

Expected<std::uint64_t> known_task(const TaskGraph& graph, const std::string& text) {
  const auto task = parse_task(text);
  if (!task)
    return failure(ErrorKind::kUsage, "{}: not a task; write it as r1t42, t42 or 0x…", text);
  if (const std::uint64_t first = TaskId{*task}.without_lap().value;
      graph.find(*task) == nullptr && graph.find(first) != nullptr)
    return failure(
        ErrorKind::kUsage,
        "{}: the graph is recorded once for all iterations; name {}, its times are those "
        "of the first one",
        text, task_text(first));
  if (graph.find(*task) == nullptr)
    return failure(ErrorKind::kUsage, "{}: no such task was recorded{}", text,
                   did_you_mean(text, graph.tasks,
                                [](const TaskNode& node) { return task_text(node.task.task_id); }));
  return *task;
}

Expected<void> print_path(const RunCapture& run, const TaskGraph& graph, const DepsArgs& args) {
  TM_TRY(const auto from, known_task(graph, args.path[0]));
  TM_TRY(const auto to, known_task(graph, args.path[1]));
  auto chain = graph.path(from, to);
  if (chain.empty()) chain = graph.path(to, from);
  if (chain.empty()) {
    print("neither {} nor {} waits for the other\n", args.path[0], args.path[1]);
    return {};
  }
  for (std::size_t i = 0; i < chain.size(); ++i)
    print("{}{}\n", i == 0 ? "" : "  -> ", label(run, graph, chain[i]));
  return {};
}

Expected<void> print_why(RunCapture& run, const TaskGraph& graph, const DepsArgs& args) {
  TM_TRY(const auto task, known_task(graph, args.why));
  const std::size_t index = graph.index_of(task);
  const TaskNode& node = graph.tasks[index];
  print("{} was submitted at {}\n", label(run, graph, task),
        run.site_of(node.task.submit_file, node.task.submit_line));
  const bool timed = run.has(StreamId::kSwimlane);
  const GraphTimes times = timed ? join_times(run, graph) : GraphTimes{};
  const auto when = [&](std::uint64_t ticks) {
    return fmt::format("{:.1f} us", run.clock().to_us(ticks));
  };
  bool any = false;
  for (const auto& edge : graph.edges) {
    if (edge.consumer != task) continue;
    if (!any) print("it waits for\n");
    any = true;
    const std::size_t producer = graph.index_of(edge.producer);
    const TaskArgument* arg = edge.arg == kNoArg ? nullptr : node.arg(edge.arg);
    print("  {:<24} {}{}{}\n", label(run, graph, edge.producer), reason(edge),
          arg == nullptr ? "" : fmt::format(" ({})", to_text(arg->said.access)),
          timed && producer != TaskGraph::kNoTask
              ? fmt::format(", complete at {}", when(times.tasks[producer].complete_ticks))
              : "");
  }
  if (!any) print("it waits for nobody\n");
  if (!timed) {
    print("times need the spans: run with --enable-l2-swimlane too\n");
    return {};
  }
  const TaskTimes& own = times.tasks[index];
  print("submitted at {}, ready at {}", when(own.submit_ticks), when(own.ready_ticks));
  if (own.ran)
    print(", dispatched at {}, started at {} on core {}\n", when(own.dispatch_ticks),
          when(own.start_ticks), own.last_row.core);
  else
    print("; {}\n", node.task.shape == TaskShape::kDummy ? "it has no kernel" : "it never ran");
  if (own.last_producer != ~0u && own.ready_ticks > own.submit_ticks)
    print("the last to be complete was {}\n",
          label(run, graph, graph.tasks[own.last_producer].task.task_id));
  return {};
}

Expected<int> show(const DepsArgs& args) {
  TM_TRY(const auto directory, resolve_run(args.run));
  TM_TRY(auto run, RunCapture::open(directory));
  TM_TRY(const auto graph, TaskGraph::load(run));
  if (!args.path.empty()) {
    TM_TRY_DO(print_path(run, graph, args));
  } else if (!args.why.empty()) {
    TM_TRY_DO(print_why(run, graph, args));
  } else {
    const Pairs pairs = args.reduce ? graph.reduced() : all_pairs(graph);
    if (args.dot != "-") print_summary(run, graph);
    if (args.reduce && args.dot != "-")
      print("  {} pairs remain without those that longer chains imply\n",
            with_commas(pairs.size()));
    if (args.list) print_list(run, graph);
    if (!args.dot.empty()) TM_TRY_DO(write_dot(run, graph, pairs, args.dot));
  }
  return 0;
}

}  // namespace

void add_deps_command(Command& program) {
  Command& command = program.command("deps", "The task graph of a run, and why a task waits");
  auto& args = add_run_arguments<DepsArgs>(command, show);
  command.flag("--list", &args.list, "Every task with what it waits for, and why");
  command.option("--dot", &args.dot, "Write the graph for Graphviz to this file (-: print)");
  command.flag("--reduce", &args.reduce,
               "Leave out what longer chains imply (transitive reduction)");
  command.option("--path", &args.path, "A chain of dependencies between two tasks", {.values = 2});
  command.option("--why", &args.why, "Why does this task wait? (r1t42, t42 or 0x…)");
  add_file_mode_option(command);
}

}  // namespace tidemark::cli
