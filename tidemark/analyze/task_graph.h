// SPDX-License-Identifier: Apache-2.0
// The task graph of a run, as it was recorded: tasks, their tensors, and the dependencies between
// them with their reasons. Held whole in memory; questions about it are answered from there.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "tidemark/run/run_capture.h"
#include "tidemark/schema/graph_record.h"

namespace tidemark {

struct GraphTensorView {
  std::uint8_t rank = 0;
  std::uint64_t extent[kRankMax] = {};
  std::uint64_t stride[kRankMax] = {};
  std::uint64_t start_offset = 0;
};

struct TaskArgument {
  GraphArgument said;
  std::uint32_t tensor = 0;  // in TaskGraph::tensors; what it reads, or what it leaves behind
  std::uint8_t known_dims = 0;
  GraphTensorView view;
};

// A buffer in one of its states: every task that writes into it makes the next version.
struct GraphTensor {
  std::uint64_t id = 0;  // of owner, place and version: the same in every run of a program
  std::uint64_t buffer = 0;
  DType dtype{};
  std::uint32_t version = 0;
  std::uint32_t first = 0;  // the same buffer in its first state, in TaskGraph::tensors
  std::uint64_t numel = 0;  // of the buffer, as far as it was seen
};

struct TaskNode {
  GraphTask task;
  std::vector<TaskArgument> args;

  // Null: not recorded.
  [[nodiscard]] const TaskArgument* arg(std::uint32_t index) const {
    for (const auto& candidate : args)
      if (candidate.said.index == index) return &candidate;
    return nullptr;
  }
};

class TaskGraph {
 public:
  static Expected<TaskGraph> load(RunCapture& run);

  std::vector<TaskNode> tasks;  // in the order of their submits
  std::vector<GraphEdgeRecord> edges;
  std::vector<GraphTensor> tensors;
  std::uint64_t missing_records = 0;
  std::uint64_t tasks_cut = 0;           // some of their tensors were not recorded
  std::uint64_t edges_without_task = 0;  // an end of theirs was not recorded
  std::uint64_t tasks_after_eviction =
      0;  // the tensor map had given up writers: they may lack edges

  [[nodiscard]] bool complete() const {
    return missing_records == 0 && tasks_cut == 0 && edges_without_task == 0 &&
           tasks_after_eviction == 0;
  }
  // Null: no such task was recorded.
  [[nodiscard]] const TaskNode* find(std::uint64_t task_id) const;
  [[nodiscard]] std::size_t index_of(std::uint64_t task_id) const;  // kNoTask: none
  static constexpr std::size_t kNoTask = ~std::size_t{0};

  // The tasks each task waits for, and those that wait for it, once each, as indices.
  struct Links {
    std::vector<std::vector<std::uint32_t>> producers;
    std::vector<std::vector<std::uint32_t>> consumers;
  };
  [[nodiscard]] Links links() const;
  // Every task after all that it waits for; tasks that wait for each other come last.
  [[nodiscard]] std::vector<std::uint32_t> in_order(const Links& links) const;
  // A shortest chain of tasks from one to the other; empty: none of them waits for the other.
  [[nodiscard]] std::vector<std::uint64_t> path(std::uint64_t from, std::uint64_t to) const;
  // (producer, consumer) pairs that no longer chain makes unnecessary.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> reduced() const;

 private:
  void read_lane(RunCapture& run, LaneIndex lane);
  void name_tensors();
  void count_what_is_missing();

  std::unordered_map<std::uint64_t, std::size_t> index_;
};

// "add", or "qk+softmax" for a mix, or what a task without a kernel is.
std::string node_kernel_name(const RunCapture& run, const GraphTask& task);

}  // namespace tidemark
