// SPDX-License-Identifier: Apache-2.0
// The chain of tasks that decided how long a run took, and what each moment on it was spent on.
// From the task that was complete last, each step goes back to what the task was waiting for last:
// a producer, or the orchestrator, which had not submitted it yet.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/analyze/timeline.h"

namespace tidemark {

struct PathStep {
  std::uint64_t task_id = 0;
  std::uint32_t task = 0;  // index in the graph
  bool ran = false;        // false: an allocation or a joint
  std::uint16_t kernel = 0;
  std::uint16_t core = 0;
  double data_wait_ns = 0;  // submitted, but a producer was not complete: spent on the steps before
  double core_wait_ns = 0;  // ready, and every core it could have run on was busy
  double scheduler_ns = 0;  // ready with a core idle, on its way to the core, or finished and not
                            // yet seen
  double execution_ns = 0;
  double orchestrator_ns = 0;  // nothing but its submit was missing

  // On this step itself.
  [[nodiscard]] double spent_ns() const {
    return core_wait_ns + scheduler_ns + execution_ns + orchestrator_ns;
  }
};

struct CriticalPath {
  std::vector<PathStep> steps;  // first to last
  double length_ns = 0;         // from launch to the last completion
  double execution_ns = 0;
  double core_wait_ns = 0;
  double scheduler_ns = 0;
  double orchestrator_ns = 0;  // before the first step, and wherever a submit came too late
};

CriticalPath find_critical_path(const RuntimeConfig& config, const RunClock& clock,
                                const TaskGraph& graph, const GraphTimes& times);

}  // namespace tidemark
