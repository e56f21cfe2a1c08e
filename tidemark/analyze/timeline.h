// SPDX-License-Identifier: Apache-2.0
// What the cores did with their time: per kernel, per core type, the slowest blocks, and how long
// a core was idle while a task was ready. The figures per kernel and core stream; what needs the
// graph holds one row per block.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidemark/analyze/task_graph.h"
#include "tidemark/analyze/task_rows.h"
#include "tidemark/schema/core_type.h"

namespace tidemark {

struct DurationStats {
  std::uint64_t count = 0;
  double total_ns = 0;
  double least_ns = 0;
  double most_ns = 0;

  void add(double ns);
  [[nodiscard]] double mean_ns() const {
    return count == 0 ? 0 : total_ns / static_cast<double>(count);
  }
};

struct KernelTiming {
  std::uint16_t kernel = 0;
  std::string name;
  DurationStats execution;  // start to end
  DurationStats latency;    // dispatch to finish
  DurationStats head;       // dispatch to start
  DurationStats tail;       // end to finish
};

struct CoreTypeUse {
  CoreType type = CoreType::kAiv;
  std::uint32_t cores = 0;
  double busy_ns = 0;
  double share = 0;  // of all its cores over the active time
};

// While a task was ready, and a core of its type idle.
struct Starvation {
  CoreType type = CoreType::kAiv;
  double wall_ns = 0;  // some core idle beside some ready task
  double core_ns = 0;  // summed over the cores that could have run one
  double share = 0;    // of all core time of the type
};

struct Timeline {
  std::uint64_t rows = 0;
  double active_ns = 0;               // first start (or dispatch) to last end (or finish)
  std::vector<KernelTiming> kernels;  // most time first
  std::vector<CoreTypeUse> core_types;
  std::vector<TaskRow> slowest;  // longest execution first
};

inline constexpr std::size_t kSlowestDefault = 10;

Expected<Timeline> read_timeline(RunCapture& run, std::size_t slowest = kSlowestDefault);

// One task over all its blocks and kernels.
struct TaskTimes {
  bool ran = false;
  std::uint64_t submit_ticks = 0;
  std::uint64_t ready_ticks = 0;  // submitted, and all it waits for complete
  std::uint64_t dispatch_ticks = 0;
  std::uint64_t start_ticks = 0;
  std::uint64_t end_ticks = 0;
  std::uint64_t complete_ticks = 0;
  std::uint32_t last_producer = ~0u;  // the one that was complete last; ~0: none
  TaskRow last_row;                   // the block that ended last
};

// The rows of a run beside its graph.
struct GraphTimes {
  std::vector<TaskRow> rows;     // by core, in time
  std::vector<TaskTimes> tasks;  // by index in the graph
};

GraphTimes join_times(RunCapture& run, const TaskGraph& graph);
std::vector<Starvation> find_starvation(const RuntimeConfig& config, const RunClock& clock,
                                        const TaskGraph& graph, const GraphTimes& times);

}  // namespace tidemark
