// SPDX-License-Identifier: Apache-2.0
// What the runtime tells the host while it runs: counts, one progress line per unit, the latched
// error. It stands in the region, so it survives the device and can be read by another process.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tidemark/schema/error_code.h"
#include "tidemark/schema/hang_class.h"
#include "tidemark/schema/resource.h"
#include "tidemark/schema/task_limits.h"
#include "tidemark/schema/unit_counts.h"
#include "tidemark/schema/unit_image.h"
#include "tidemark/schema/unit_state.h"
#include "tidemark/transport/lane.h"
#include "tidemark/transport/shared_word.h"

namespace tidemark {

inline constexpr std::uint32_t kStatusTextBytes = 96;
inline constexpr std::uint32_t kSiteFilesMax = 8;
inline constexpr std::uint32_t kStatusKernelBytes = 32;

// Writer: the unit. 128 bytes: a line of its own also where lines come in pairs.
struct alignas(128) UnitProgress {
  SharedWord<UnitState> state;
  SharedWord<std::uint32_t> kernel;       // of the task
  SharedWord<std::uint64_t> task_id;      // worker: runs it; orchestrator: submitted it last
  SharedWord<std::uint64_t> since_ticks;  // in this state
  SharedWord<std::uint64_t> count;        // worker: parts run; scheduler: tasks completed
  SharedWord<std::uint32_t> block;        // orchestrator: the ring it waits for
  SharedWord<Resource> waits_for;         // while waiting
  RecorderLine recorder;
  SharedWord<std::uint64_t> waited_before_ticks;  // for the recorder, when the state was entered
  SharedWord<std::uint64_t> loops;                // scheduler: rounds
  // What it was doing when it left, for who comes later.
  SharedWord<std::uint64_t> left_since_ticks;
  SharedWord<UnitState> left_state;
  SharedWord<std::uint32_t> reserved;
};
static_assert(sizeof(UnitProgress) == 128 && sizeof(UnitImage) <= sizeof(UnitProgress));
static_assert(offsetof(UnitImage, recorder_waiting) == offsetof(UnitProgress, recorder));
static_assert(offsetof(UnitImage, loops) == offsetof(UnitProgress, loops));

// Writer: the unit that latched the error, once; `code` is stored last.
struct LatchedError {
  SharedWord<ErrorCode> code;
  SharedWord<Resource> resource;
  SharedWord<std::uint32_t> ring;
  SharedWord<std::uint32_t> arg;  // kNoArg: none
  SharedWord<std::uint64_t> used;
  SharedWord<std::uint64_t> capacity;
  SharedWord<std::uint64_t> requested;
  SharedWord<std::uint64_t> task_id;
  SharedWord<std::uint32_t> scope_line;
  SharedWord<std::uint32_t> submit_line;
  SharedWord<HangClass> hang_class;  // where the code is SCHEDULER_TIMEOUT
  SharedWord<std::uint32_t> unit;    // that is stuck, or that latched it
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
  SharedWord<Resource> resource;
  SharedWord<std::uint32_t> scope_line;
  SharedWord<std::uint32_t> waits;
  char scope_file[kStatusTextBytes];
};

// Writer: host, before launch. What another process needs to understand the rest.
struct RuntimeShape {
  SharedWord<std::uint64_t> task_window[kRingCount];
  SharedWord<std::uint64_t> heap_bytes[kRingCount];
  SharedWord<std::uint64_t> dep_pool[kRingCount];
  SharedWord<std::uint64_t> tensormap_entries;
  SharedWord<std::uint64_t> scheduler_count;
  SharedWord<std::uint64_t> core_count;
  SharedWord<std::uint64_t> timeout_ms;
  SharedWord<std::uint64_t> kernel_count;
  char kernels[kKernelNumbersMax][kStatusKernelBytes];
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
  // Writer: the thread of the device process that a signal came to.
  SharedWord<std::uint32_t> fault_signal;
  SharedWord<std::uint32_t> fault_unit;  // + 1; 0: none of the units
  // Writer: orchestrator. The source files that submits stand in, by number.
  char site_files[kSiteFilesMax][kStatusTextBytes];
  RuntimeShape shape;
  // Behind it: one UnitProgress per orchestrator, scheduler and core, in this order.
};

inline constexpr std::uint64_t kUnitLinesOffset = (sizeof(RuntimeStatus) + 127) / 128 * 128;
TM_DEVICE constexpr std::uint64_t status_bytes(const UnitCounts& units) {
  return kUnitLinesOffset + std::uint64_t{units.total()} * sizeof(UnitProgress);
}

}  // namespace tidemark
