// SPDX-License-Identifier: Apache-2.0
// deps.json: the task graph, as it was recorded.
#include "tidemark/analyze/task_graph.h"
#include "tidemark/export/artifact.h"
#include "tidemark/export/event_json.h"
#include "tidemark/schema/task_limits.h"
#include "tidemark/schema/view_overlap.h"

namespace tidemark {
namespace {

class DepsWriter {
 public:
  DepsWriter(RunCapture& run, const TaskGraph& graph, JsonFile& file)
      : run_(run), graph_(graph), file_(file), json_(file.json()) {}

  void write() {
    put(json_, "schema_version", 1);
    put(json_, "complete", graph_.complete());
    if (!graph_.complete()) put_missing();
    put_lines(file_, "tasks", graph_.tasks, [&](const TaskNode& node) { put_task(node); });
    put_lines(file_, "tensors", graph_.tensors, [&](const auto& tensor) { put_tensor(tensor); });
    put_lines(file_, "edges", graph_.edges, [&](const auto& edge) { put_edge(edge); });
    put_events(file_, run_);
  }

 private:
  // Null: without it the keys are null, too.
  void put_view(const std::string& prefix, const GraphTensorView* view) {
    std::optional<std::span<const std::uint64_t>> shape, strides;
    std::optional<std::uint64_t> start;
    if (view != nullptr) {
      shape = std::span(view->extent, view->rank);
      start = view->start_offset;
      strides = std::span(view->stride, view->rank);
    }
    put(json_, prefix + "shape", shape);
    put(json_, prefix + "start_offset", start);
    put(json_, prefix + "strides", strides);
  }

  void put_missing() {
    put_object(json_, "missing", [&] {
      put(json_, "records", graph_.missing_records);
      put(json_, "tasks_without_all_tensors", graph_.tasks_cut);
      put(json_, "edges_with_an_unknown_end", graph_.edges_without_task);
      put(json_, "tasks_after_evicted_writers", graph_.tasks_after_eviction);
    });
  }

  void put_task(const TaskNode& node) {
    const GraphTask& task = node.task;
    put(json_, "task_id", std::to_string(task.task_id));
    put(json_, "task", task_text(task.task_id));
    const bool manual = run_.runtime() && run_.runtime()->build == BuildKind::kExplicit;
    put(json_, "scope", manual ? "manual" : "auto");
    put(json_, "kernel", node_kernel_name(run_, task));
    std::vector<int> kernels;
    for (const std::uint16_t kernel : task.kernels)
      kernels.push_back(kernel == kNoKernel ? -1 : kernel);
    put(json_, "kernel_ids", kernels);
    put(json_, "block_num", task.block_count);
    put(json_, "submit_time_us", run_.clock().to_us(task.time_ticks));
    put(json_, "site", run_.site_of(task.submit_file, task.submit_line));
    put(json_, "scalar_count", task.scalar_count);
    put_list(json_, "args", node.args, [&](const TaskArgument& arg) {
      put(json_, "idx", arg.said.index);
      put(json_, "type", to_text(arg.said.access));
      put(json_, "tensor_id", std::to_string(graph_.tensors[arg.tensor].id));
      put(json_, "dtype", to_text(arg.said.dtype));
      put_view("", &arg.view);
    });
  }

  void put_tensor(const GraphTensor& tensor) {
    put(json_, "tensor_id", std::to_string(tensor.id));
    put(json_, "buffer_addr", std::to_string(tensor.buffer));
    put(json_, "version", tensor.version);
    put(json_, "dtype", to_text(tensor.dtype));
    put(json_, "buffer_numel", std::to_string(tensor.numel));
  }

  // What travels along an edge is what its producer left behind.
  void put_edge(const GraphEdgeRecord& edge) {
    const TaskNode* producer = graph_.find(edge.producer);
    const TaskNode* consumer = graph_.find(edge.consumer);
    const TaskArgument* written = producer != nullptr && edge.producer_arg != kNoArg
                                      ? producer->arg(edge.producer_arg)
                                      : nullptr;
    const TaskArgument* read =
        consumer != nullptr && edge.arg != kNoArg ? consumer->arg(edge.arg) : nullptr;
    put(json_, "pred", std::to_string(edge.producer));
    put(json_, "succ", std::to_string(edge.consumer));
    put(json_, "arg", edge.arg == kNoArg ? -1 : static_cast<int>(edge.arg));
    put(json_, "source", to_text(edge.source));
    const bool covered = edge.overlap == ViewOverlap::kCovered;
    put(json_, "overlap", covered ? "covered" : "other");
    put(json_, "satisfied", edge.satisfied != 0);
    std::optional<std::string> tensor, dtype;
    if (const TaskArgument* carried = written != nullptr ? written : read)
      tensor = std::to_string(graph_.tensors[carried->tensor].id);
    if (read != nullptr) dtype = to_text(read->said.dtype);
    put(json_, "tensor_id", tensor);
    put(json_, "consumer_dtype", dtype);
    put_view("consumer_", read == nullptr ? nullptr : &read->view);
    put_view("producer_", written == nullptr ? nullptr : &written->view);
  }

  RunCapture& run_;
  const TaskGraph& graph_;
  JsonFile& file_;
  JsonFile::Writer& json_;
};

}  // namespace

Expected<void> write_deps_json(RunCapture& run, const std::string& path) {
  TM_TRY(const auto graph, TaskGraph::load(run));
  return write_json(path, [&](JsonFile& file) { DepsWriter(run, graph, file).write(); });
}

}  // namespace tidemark
