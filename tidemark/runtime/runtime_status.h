// SPDX-License-Identifier: Apache-2.0
// What the runtime tells the host while it runs: counts, one progress line per unit, the latched
// error. It stands in the region, so it survives the device and can be read by another process.
#pragma once

#include <cstdint>

#include "tidemark/runtime/runtime_error.h"
#include "tidemark/transport/shared_word.h"

namespace tidemark {

inline constexpr std::uint32_t kRingCount = 4;
inline constexpr std::uint32_t kStatusTextBytes = 96;

// What a unit is doing. Watchdogs subtract the waits that are not its own fault.
enum class UnitState : std::uint32_t {
  kNotStarted,
  kIdle,
  kBusy,       // worker: in a kernel; scheduler: in a round; orchestrator: in the program
  kWaiting,    // orchestrator: for space, for a tensor, for the end
  kRecording,  // waits for a page of the recorder
  kLeft,
};

// Writer: the unit. 128 bytes: a line of its own also where lines come in pairs.
struct alignas(128) UnitProgress {
  SharedWord<std::uint32_t> state;
  SharedWord<std::uint32_t> kernel;       // of the task
  SharedWord<std::uint64_t> task_id;      // worker: runs it; orchestrator: submitted it last
  SharedWord<std::uint64_t> since_ticks;  // in this state
  SharedWord<std::uint64_t> count;        // worker: parts run; scheduler: tasks completed
  SharedWord<std::uint32_t> block;
  SharedWord<std::uint32_t> waits_for;  // Resource, while waiting
  SharedWord<std::uint64_t> recorder_wait_ticks;
  SharedWord<std::uint64_t> loops;
};
static_assert(sizeof(UnitProgress) == 128);

// Writer: the unit that latched the error, once; `code` is stored last.
struct LatchedError {
  SharedWord<std::uint32_t> code;
  SharedWord<std::uint32_t> resource;
  SharedWord<std::uint32_t> ring;
  SharedWord<std::uint32_t> arg;  // ~0: none
  SharedWord<std::uint64_t> used;
  SharedWord<std::uint64_t> capacity;
  SharedWord<std::uint64_t> requested;
  SharedWord<std::uint64_t> task_id;
  SharedWord<std::uint32_t> scope_line;
  SharedWord<std::uint32_t> submit_line;
  char scope_file[kStatusTextBytes];
  char submit_file[kStatusTextBytes];
  char kernel[kStatusTextBytes];
  char text[kStatusTextBytes];
};

// Writer: orchestrator.
struct RingStatus {
  SharedWord<std::uint64_t> head, tail;            // tasks
  SharedWord<std::uint64_t> heap_head, heap_tail;  // bytes
  SharedWord<std::uint64_t> dep_head, dep_tail;
  SharedWord<std::uint64_t> fanin_head, fanin_tail;
};

// How long the orchestrator was held back, and by what it was longest. Writer: orchestrator.
struct BackpressureStatus {
  SharedWord<std::uint64_t> ticks;
  SharedWord<std::uint64_t> longest_ticks;
  SharedWord<std::uint32_t> ring;
  SharedWord<std::uint32_t> resource;
  SharedWord<std::uint32_t> scope_line;
  SharedWord<std::uint32_t> waits;
  char scope_file[kStatusTextBytes];
};

struct RuntimeStatus {
  // Writer: orchestrator.
  SharedWord<std::uint64_t> submitted;
  SharedWord<std::uint64_t> completed_at_once;  // by the orchestrator itself
  SharedWord<std::uint64_t> scopes;
  SharedWord<std::uint32_t> orchestration_done;
  SharedWord<std::uint32_t> map_entries;
  SharedWord<std::uint32_t> scheduler_count;  // so that who finds the region can read the lines
  SharedWord<std::uint32_t> reserved;
  SharedWord<std::uint64_t> begin_ticks;
  SharedWord<std::uint64_t> end_ticks;
  RingStatus rings[kRingCount];
  BackpressureStatus backpressure;
  LatchedError error;
  // Behind it: one UnitProgress per orchestrator, scheduler and core, in this order.
};

// The units of a device, as lines of the status.
struct UnitCounts {
  std::uint32_t schedulers = 1;
  std::uint32_t cores = 3;

  TM_DEVICE constexpr std::uint32_t total() const { return 1 + schedulers + cores; }
  TM_DEVICE constexpr std::uint32_t scheduler(std::uint32_t index) const { return 1 + index; }
  TM_DEVICE constexpr std::uint32_t core(std::uint32_t index) const {
    return 1 + schedulers + index;
  }
};

inline constexpr std::uint64_t kUnitLinesOffset = (sizeof(RuntimeStatus) + 127) / 128 * 128;
TM_DEVICE constexpr std::uint64_t status_bytes(const UnitCounts& units) {
  return kUnitLinesOffset + std::uint64_t{units.total()} * sizeof(UnitProgress);
}

}  // namespace tidemark
