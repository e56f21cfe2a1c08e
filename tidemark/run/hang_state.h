// SPDX-License-Identifier: Apache-2.0
// The runtime as it was when a run was stopped: what every unit did, the rings, and the tasks
// that were not complete with who waits for whom. Read before the device is reset
// (session/read_hang_state.h), kept in the capture, explained by analyze/hang_report.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tidemark/run/producer_state.h"
#include "tidemark/run/run_report.h"
#include "tidemark/run/unit_stack.h"
#include "tidemark/schema/hang_class.h"
#include "tidemark/schema/runtime_config.h"
#include "tidemark/schema/task_limits.h"
#include "tidemark/schema/task_shape.h"
#include "tidemark/schema/unit_counts.h"
#include "tidemark/schema/unit_image.h"

namespace tidemark {

struct StuckTask {
  std::uint64_t id = 0;
  std::uint16_t kernels[kKernelsMax] = {kNoKernel, kNoKernel, kNoKernel};
  std::string site;              // of its submit
  std::uint32_t pending = 0;     // producers it waits for
  std::uint32_t parts_left = 0;  // (block, kernel) pairs not finished
  std::uint32_t block_count = 0;
  std::vector<std::uint64_t> waiters;  // tasks that wait for it
};

struct RingState {
  std::uint64_t head = 0, tail = 0, window = 0;
  std::uint64_t heap_used = 0, heap_bytes = 0;
  std::uint64_t deps_used = 0, fanin_used = 0, dep_pool = 0;

  [[nodiscard]] std::uint64_t tasks() const { return head - std::min(head, tail); }
};

struct HangState {
  HangClass hang = HangClass::kNone;
  std::string error_class;  // as run.json has it
  std::uint32_t code = 0;
  std::string name, message;
  std::uint32_t unit = 0;  // that is stuck, or that crashed
  bool has_unit = false;
  std::uint64_t limit_ms = 0;
  std::uint64_t detected_ticks = 0, launch_ticks = 0, ticks_per_second = 0;
  UnitCounts units;
  std::vector<UnitImage> lines;
  RingState rings[kRingCount];
  std::uint64_t map_entries = 0, map_capacity = 0;
  std::uint64_t submitted = 0, completed = 0, scopes = 0;
  std::string last_site;  // of the task that was submitted last
  bool orchestration_done = false;
  std::uint64_t ready[kTaskShapeCount] = {};
  std::vector<StuckTask> tasks;  // not complete, oldest first within a ring
  bool tasks_cut = false;        // there were more
  bool tasks_lost = false;       // they were in memory that was lost with its device
  std::vector<std::string> kernels;
  std::vector<std::string> site_files;       // by number
  std::vector<std::uint32_t> waiting_lanes;  // whose producers waited for a page
  KeptCore core;                             // of a GPU
  std::vector<UnitStack> stacks;             // read from it, those of a unit one after the other
  // Of a recording, which has no runtime: its producers that have not closed their lanes.
  std::vector<ProducerState> producers;
  std::uint64_t producers_ended = 0;

  [[nodiscard]] bool is_recording() const { return !producers.empty() || producers_ended > 0; }

  // Of the units whose lines were read.
  [[nodiscard]] std::span<const UnitImage> scheduler_lines() const {
    return lines_from(units.scheduler(0), units.schedulers);
  }
  [[nodiscard]] std::span<const UnitImage> core_lines() const {
    return lines_from(units.core(0), units.cores);
  }
  [[nodiscard]] std::span<const UnitImage> lines_from(std::size_t first, std::size_t count) const {
    first = std::min(first, lines.size());
    return {lines.data() + first, std::min(count, lines.size() - first)};
  }
  // Submitted and not complete.
  [[nodiscard]] std::uint64_t in_flight() const {
    return submitted - std::min(submitted, completed);
  }
  [[nodiscard]] std::uint64_t ready_tasks() const {
    return std::accumulate(std::begin(ready), std::end(ready), std::uint64_t{0});
  }
  [[nodiscard]] std::uint64_t recorder_waited_ticks() const {
    std::uint64_t waited = 0;
    for (const auto& line : lines) waited += line.recorder_waited_ticks;
    return waited;
  }
};

std::string to_json(const HangState& state);
// The same state with the tasks that units were at and some of the oldest, for a disk that has no
// room for all; its JSON takes at most hang_state_bytes.
HangState cut_hang_state(HangState state);
std::uint64_t hang_state_bytes(const UnitCounts& units, std::size_t lanes);
std::uint64_t recording_state_bytes(std::size_t lanes);
std::optional<HangState> parse_hang_state(const std::string& json);

// A unit in words: "orchestrator", "scheduler 0", "core 3".
std::string unit_text(const UnitCounts& units, std::uint32_t unit);

}  // namespace tidemark
