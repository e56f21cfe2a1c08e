// SPDX-License-Identifier: Apache-2.0
#include "tidemark/analyze/task_graph.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

#include "tidemark/base/mix.h"
#include "tidemark/schema/task_limits.h"

namespace tidemark {
namespace {

// A dimensions record continues the argument before it.
void add_dimensions(TaskArgument& argument, const GraphDimensions& dims) {
  for (std::uint32_t i = 0; i < dims.count && i < 2; ++i) {
    const std::uint32_t dim = dims.first + i;
    if (dim >= argument.view.rank || dim != argument.known_dims) return;
    argument.view.extent[dim] = dims.extent[i];
    argument.view.stride[dim] = dims.stride[i];
    ++argument.known_dims;
  }
}

std::uint64_t elements_reached(const GraphTensorView& view) {
  std::uint64_t last = view.start_offset;
  for (std::uint32_t i = 0; i < view.rank; ++i) {
    if (view.extent[i] == 0) return view.start_offset;
    last += (view.extent[i] - 1) * view.stride[i];
  }
  return last + 1;
}

// The task that made a buffer, and its output index. A caller may bring several under one
// number.
using BufferKey = std::tuple<std::uint64_t, std::uint8_t, std::uint64_t>;

BufferKey key_of(const GraphArgument& said) {
  return {said.owner, said.output_index, said.owner == kNoOwner ? said.buffer : 0};
}

}  // namespace

std::string node_kernel_name(const RunCapture& run, const GraphTask& task) {
  std::string text;
  for (const std::uint16_t kernel : task.kernels)
    if (kernel != kNoKernel) text += (text.empty() ? "" : "+") + run.kernel_name(kernel);
  if (text.empty()) return task.at_once != 0 ? "allocate" : "dummy";
  return text;
}

Expected<TaskGraph> TaskGraph::load(RunCapture& run) {
  if (!run.has(StreamId::kEdges))
    return failure(ErrorKind::kUsage, "{}: no graph was recorded; run with --enable-dep-gen",
                   run.directory());
  TaskGraph graph;
  for (const LaneIndex lane : run.lanes_of(StreamId::kEdges)) graph.read_lane(run, lane);
  TM_TRY(graph.missing_records, run.missing(StreamId::kEdges));
  graph.name_tensors();
  graph.count_what_is_missing();
  return graph;
}

void TaskGraph::read_lane(RunCapture& run, LaneIndex lane) {
  RecordCursor cursor = run.records(lane);
  TaskArgument* last = nullptr;  // the argument whose dimensions may follow
  std::uint64_t last_number = 0;
  while (cursor.next()) {
    const std::uint64_t* words = cursor.words();
    switch (graph_record_kind(words)) {
      case GraphRecordKind::kTask: {
        const auto task = cursor.as<GraphTask>();
        if (index_.emplace(task.task_id, tasks.size()).second)
          tasks.push_back({.task = task, .args = {}});
        break;
      }
      case GraphRecordKind::kArgument: {
        const auto said = cursor.as<GraphArgument>();
        const auto found = index_.find(said.task_id);
        if (found == index_.end() || said.rank > kRankMax) break;  // its task was lost
        auto& args = tasks[found->second].args;
        args.push_back(
            {.said = said, .view = {.rank = said.rank, .start_offset = said.start_offset}});
        last = &args.back();
        last_number = cursor.number();
        break;
      }
      case GraphRecordKind::kDimensions: {
        const auto dims = cursor.as<GraphDimensions>();
        if (last == nullptr || dims.task_id != last->said.task_id ||
            cursor.number() != last_number + 1)
          break;
        add_dimensions(*last, dims);
        last_number = cursor.number();
        break;
      }
      case GraphRecordKind::kEdge:
        edges.push_back(cursor.as<GraphEdgeRecord>());
        break;
    }
  }
}

// In the order of the submits: what a task reads is what the last writer before it left.
void TaskGraph::name_tensors() {
  std::map<BufferKey, std::uint32_t> newest;
  std::map<std::pair<std::uint64_t, std::uint8_t>, std::map<std::uint64_t, std::uint64_t>> places;
  const auto make = [&](const TaskArgument& arg, const GraphTensor* before) {
    auto& alike = places[{arg.said.owner, arg.said.output_index}];
    const std::uint64_t place =
        alike.emplace(std::get<2>(key_of(arg.said)), alike.size()).first->second;
    const std::uint64_t base = mix(mix(arg.said.owner + 1) + arg.said.output_index) + place;
    const auto index = static_cast<std::uint32_t>(tensors.size());
    const std::uint32_t version = before == nullptr ? 0 : before->version + 1;
    tensors.push_back({.id = mix(mix(base) + version),
                       .buffer = arg.said.buffer,
                       .dtype = arg.said.dtype,
                       .version = version,
                       .first = before == nullptr ? index : before->first});
    return index;
  };
  std::map<BufferKey, std::uint64_t> numel;
  for (auto& node : tasks) {
    for (const bool writers : {false, true})
      for (auto& arg : node.args) {
        if (writes(arg.said.access) != writers) continue;
        const BufferKey key = key_of(arg.said);
        auto& reached = numel[key];
        reached = std::max(reached, elements_reached(arg.view));
        const auto found = newest.find(key);
        if (found == newest.end())
          arg.tensor = make(arg, nullptr);
        else if (writers)
          arg.tensor = make(arg, &tensors[found->second]);
        else
          arg.tensor = found->second;
        newest[key] = arg.tensor;
      }
  }
  for (const auto& node : tasks)
    for (const auto& arg : node.args) tensors[arg.tensor].numel = numel[key_of(arg.said)];
}

void TaskGraph::count_what_is_missing() {
  for (const auto& node : tasks) {
    const bool dims_known =
        std::all_of(node.args.begin(), node.args.end(),
                    [](const TaskArgument& arg) { return arg.known_dims == arg.said.rank; });
    if (node.args.size() < node.task.tensor_count || !dims_known) ++tasks_cut;
    if (node.task.writers_evicted != 0) ++tasks_after_eviction;
  }
  for (const auto& edge : edges)
    if (index_.count(edge.producer) == 0 || index_.count(edge.consumer) == 0) ++edges_without_task;
}

std::size_t TaskGraph::index_of(std::uint64_t task_id) const {
  const auto found = index_.find(task_id);
  return found == index_.end() ? kNoTask : found->second;
}

const TaskNode* TaskGraph::find(std::uint64_t task_id) const {
  const std::size_t index = index_of(task_id);
  return index == kNoTask ? nullptr : &tasks[index];
}

TaskGraph::Links TaskGraph::links() const {
  Links links;
  links.producers.resize(tasks.size());
  links.consumers.resize(tasks.size());
  for (const auto& edge : edges) {
    const std::size_t producer = index_of(edge.producer), consumer = index_of(edge.consumer);
    if (producer == kNoTask || consumer == kNoTask) continue;
    links.producers[consumer].push_back(static_cast<std::uint32_t>(producer));
    links.consumers[producer].push_back(static_cast<std::uint32_t>(consumer));
  }
  for (auto* side : {&links.producers, &links.consumers})
    for (auto& list : *side) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
  return links;
}

std::vector<std::uint64_t> TaskGraph::path(std::uint64_t from, std::uint64_t to) const {
  const std::size_t first = index_of(from), last = index_of(to);
  if (first == kNoTask || last == kNoTask) return {};
  const Links linked = links();
  std::vector<std::uint32_t> came_from(tasks.size(), ~0u);
  std::deque<std::uint32_t> open{static_cast<std::uint32_t>(first)};
  came_from[first] = static_cast<std::uint32_t>(first);
  while (!open.empty() && came_from[last] == ~0u) {
    const std::uint32_t task = open.front();
    open.pop_front();
    for (const std::uint32_t next : linked.consumers[task]) {
      if (came_from[next] != ~0u) continue;
      came_from[next] = task;
      open.push_back(next);
    }
  }
  if (came_from[last] == ~0u) return {};
  std::vector<std::uint64_t> chain;
  for (auto at = static_cast<std::uint32_t>(last);; at = came_from[at]) {
    chain.push_back(tasks[at].task.task_id);
    if (at == first) break;
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

std::vector<std::uint32_t> TaskGraph::in_order(const Links& linked) const {
  std::vector<std::uint32_t> order, waits(tasks.size(), 0);
  order.reserve(tasks.size());
  for (std::uint32_t i = 0; i < tasks.size(); ++i) {
    waits[i] = static_cast<std::uint32_t>(linked.producers[i].size());
    if (waits[i] == 0) order.push_back(i);
  }
  for (std::size_t at = 0; at < order.size(); ++at)
    for (const std::uint32_t next : linked.consumers[order[at]])
      if (--waits[next] == 0) order.push_back(next);
  for (std::uint32_t i = 0; i < tasks.size(); ++i)
    if (waits[i] != 0) order.push_back(i);
  return order;
}

// Edges run forward in the order of the submits, except those added late; so a search from the
// other producers of a task that never goes behind the producer in question decides each pair.
std::vector<std::pair<std::uint64_t, std::uint64_t>> TaskGraph::reduced() const {
  const Links linked = links();
  // Order by longest chain: a producer always has a smaller rank than its consumers.
  std::vector<std::uint32_t> rank(tasks.size(), 0);
  for (const std::uint32_t task : in_order(linked))
    for (const std::uint32_t before : linked.producers[task])
      rank[task] = std::max(rank[task], rank[before] + 1);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> kept;
  std::vector<std::uint32_t> seen(tasks.size(), ~0u), stack;
  for (std::uint32_t consumer = 0; consumer < tasks.size(); ++consumer) {
    const auto& producers = linked.producers[consumer];
    if (producers.empty()) continue;
    // Everything that a producer waits for, as far back as the earliest producer.
    std::uint32_t least = ~0u;
    for (const std::uint32_t producer : producers) least = std::min(least, rank[producer]);
    stack.clear();
    const auto visit_producers = [&](std::uint32_t task) {
      for (const std::uint32_t before : linked.producers[task]) {
        if (seen[before] == consumer || rank[before] < least) continue;
        seen[before] = consumer;
        stack.push_back(before);
      }
    };
    for (const std::uint32_t producer : producers) visit_producers(producer);
    while (!stack.empty()) {
      const std::uint32_t task = stack.back();
      stack.pop_back();
      visit_producers(task);
    }
    for (const std::uint32_t producer : producers)
      if (seen[producer] != consumer)
        kept.emplace_back(tasks[producer].task.task_id, tasks[consumer].task.task_id);
  }
  return kept;
}

}  // namespace tidemark
