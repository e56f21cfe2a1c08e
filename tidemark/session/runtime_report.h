// SPDX-License-Identifier: Apache-2.0
// What a task runtime says of itself in the region, read from outside: counts, progress, and its
// error as a message with the knob to turn. Nothing read is trusted further than its own text.
#pragma once

#include <cstdint>
#include <optional>

#include "tidemark/collect/region_port.h"
#include "tidemark/run/run_report.h"
#include "tidemark/schema/runtime_config.h"

namespace tidemark {

// Zeros where there is no task runtime.
TaskCounts read_task_counts(const RegionPort& port, const RegionLayout& layout);

// Of a graph that is run again; zeros where none is.
IterationCounts read_iterations(const RegionPort& port, const RegionLayout& layout,
                                std::uint64_t ticks_per_second);

// The latched error; nothing if there is none, or if it is only the host's own abort.
std::optional<RunError> read_runtime_error(const RegionPort& port, const RegionLayout& layout,
                                           const RuntimeConfig& config);

// RING_BUFFER_BACKPRESSURE, if the orchestrator was held back for a large share of the run.
inline constexpr double kBackpressureShare = 0.25;
std::optional<RunError> read_backpressure(const RegionPort& port, const RegionLayout& layout);

}  // namespace tidemark
