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
    json_.StartObject();
    put(json_, "schema_version", 1);
    put(json_, "complete", graph_.complete());
    if (!graph_.complete()) put_missing();
    put_list("tasks", graph_.tasks, [&](const TaskNode& node) { put_task(node); });
    put_list("tensors", graph_.tensors, [&](const GraphTensor& tensor) { put_tensor(tensor); });
    put_list("edges", graph_.edges, [&](const GraphEdgeRecord& edge) { put_edge(edge); });
    put_events(file_, run_);
    json_.EndObject();
  }

 private:
  template <class List, class Put>
  void put_list(const char* key, const List& list, const Put& put_one) {
    put_key(json_, key);
    json_.StartArray();
    for (const auto& item : list) {
      file_.line_break();
      json_.StartObject();
      put_one(item);
      json_.EndObject();
    }
    json_.EndArray();
  }
  void put_decimal(const char* key, std::uint64_t value) {
    put(json_, key, fmt::format("{}", value));
  }
  void put_numbers(const std::string& key, const std::uint64_t* values, std::uint32_t count) {
    put_key(json_, key);
    json_.StartArray();
    for (std::uint32_t i = 0; i < count; ++i) json_.Uint64(values[i]);
    json_.EndArray();
  }
  void put_view(const std::string& prefix, const GraphTensorView& view) {
    put_numbers(prefix + "shape", view.extent, view.rank);
    put(json_, prefix + "start_offset", view.start_offset);
    put_numbers(prefix + "strides", view.stride, view.rank);
  }
  void put_nulls(std::initializer_list<const char*> keys) {
    for (const char* key : keys) {
      put_key(json_, key);
      json_.Null();
    }
  }

  void put_missing() {
    put_key(json_, "missing");
    json_.StartObject();
    put(json_, "records", graph_.missing_records);
    put(json_, "tasks_without_all_tensors", graph_.tasks_cut);
    put(json_, "edges_with_an_unknown_end", graph_.edges_without_task);
    json_.EndObject();
  }

  void put_task(const TaskNode& node) {
    const GraphTask& task = node.task;
    put_decimal("task_id", task.task_id);
    put(json_, "task", task_text(task.task_id));
    const bool manual = run_.runtime() && run_.runtime()->build == BuildKind::kExplicit;
    put(json_, "scope", std::string_view(manual ? "manual" : "auto"));
    put(json_, "kernel", node_kernel_name(run_, task));
    put_key(json_, "kernel_ids");
    json_.StartArray();
    for (const std::uint16_t kernel : task.kernels) json_.Int(kernel == kNoKernel ? -1 : kernel);
    json_.EndArray();
    put(json_, "block_num", task.block_count);
    put(json_, "submit_time_us", run_.clock().to_us(task.time_ticks));
    put(json_, "site", run_.site_of(task.submit_file, task.submit_line));
    put(json_, "scalar_count", static_cast<std::uint32_t>(task.scalar_count));
    put_key(json_, "args");
    json_.StartArray();
    for (const auto& arg : node.args) {
      json_.StartObject();
      put(json_, "idx", static_cast<std::uint32_t>(arg.said.index));
      put(json_, "type", to_text(arg.said.access));
      put_decimal("tensor_id", graph_.tensors[arg.tensor].id);
      put(json_, "dtype", to_text(arg.said.dtype));
      put_view("", arg.view);
      json_.EndObject();
    }
    json_.EndArray();
  }

  void put_tensor(const GraphTensor& tensor) {
    put_decimal("tensor_id", tensor.id);
    put_decimal("buffer_addr", tensor.buffer);
    put(json_, "version", tensor.version);
    put(json_, "dtype", to_text(tensor.dtype));
    put_decimal("buffer_numel", tensor.numel);
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
    put_decimal("pred", edge.producer);
    put_decimal("succ", edge.consumer);
    put(json_, "arg", edge.arg == kNoArg ? -1 : static_cast<int>(edge.arg));
    put(json_, "source", to_text(edge.source));
    const bool covered = edge.overlap == ViewOverlap::kCovered;
    put(json_, "overlap", std::string_view(covered ? "covered" : "other"));
    put(json_, "satisfied", edge.satisfied != 0);
    if (const TaskArgument* carried = written != nullptr ? written : read)
      put_decimal("tensor_id", graph_.tensors[carried->tensor].id);
    else
      put_nulls({"tensor_id"});
    if (read != nullptr) {
      put(json_, "consumer_dtype", to_text(read->said.dtype));
      put_view("consumer_", read->view);
    } else {
      put_nulls({"consumer_dtype", "consumer_shape", "consumer_start_offset", "consumer_strides"});
    }
    if (written != nullptr)
      put_view("producer_", written->view);
    else
      put_nulls({"producer_shape", "producer_start_offset", "producer_strides"});
  }

  RunCapture& run_;
  const TaskGraph& graph_;
  JsonFile& file_;
  JsonFile::Writer& json_;
};

}  // namespace

Expected<void> write_deps_json(RunCapture& run, const std::string& path) {
  const auto graph = TaskGraph::load(run);
  if (!graph) return tl::unexpected(graph.error());
  auto file = JsonFile::create(path);
  if (!file) return tl::unexpected(file.error());
  DepsWriter(run, *graph, **file).write();
  return (*file)->finish();
}

}  // namespace tidemark
