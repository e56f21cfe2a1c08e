// SPDX-License-Identifier: Apache-2.0
// What the runtime shows the host while it runs: counts, one progress line per unit, the latched
// error. It is in the region, so it survives the device and can be read by another process.
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

// Writer: the unit. 128 bytes: a line of its own even where lines come in pairs.
struct alignas(128) UnitProgress {
  // One quantum: whoever sees the state sees since when.
  alignas(16) SharedWord<std::uint64_t> since_ticks;  // in this state
  SharedWord<UnitState> state;
  SharedWord<std::uint32_t> kernel;   // of the task
  SharedWord<std::uint64_t> task_id;  // worker: runs it; orchestrator: submitted it last
  SharedWord<std::uint64_t> count;    // worker: parts run; scheduler: tasks completed
  SharedWord<std::uint32_t> block;    // orchestrator: the ring it waits for
  SharedWord<Resource> waits_for;     // while waiting
  RecorderLine recorder;
  SharedWord<std::uint64_t> waited_before_ticks;  // for the recorder, when the state was entered
  SharedWord<std::uint64_t> loops;                // scheduler: rounds
  // What it was doing when it left, for whoever looks later.
  SharedWord<std::uint64_t> left_since_ticks;
  SharedWord<UnitState> left_state;
  SharedWord<std::uint32_t> place;  // the multiprocessor it is on, + 1; 0: not known
  // Of the submit of its task, file number << 32 | line: slots are lost with a GPU's context.
  SharedWord<std::uint64_t> site;
};
static_assert(sizeof(UnitProgress) == 128 && sizeof(UnitImage) <= sizeof(UnitProgress));
static_assert(offsetof(UnitImage, recorder_waiting) == offsetof(UnitProgress, recorder));
static_assert(offsetof(UnitImage, loops) == offsetof(UnitProgress, loops));
static_assert(offsetof(UnitImage, place) == offsetof(UnitProgress, place));
static_assert(offsetof(UnitImage, site) == offsetof(UnitProgress, site));

// Writer: the unit that latched the error, once; `code` is stored last.
template <template <class> class Word>
struct LatchedErrorOf {
  Word<ErrorCode> code;
  Word<Resource> resource;
  Word<std::uint32_t> ring;
  Word<std::uint32_t> arg;  // kNoArg: none
  Word<std::uint64_t> used;
  Word<std::uint64_t> capacity;
  Word<std::uint64_t> requested;
  Word<std::uint64_t> task_id;
  Word<std::uint32_t> scope_line;
  Word<std::uint32_t> submit_line;
  Word<HangClass> hang_class;  // where the code is SCHEDULER_TIMEOUT
  Word<std::uint32_t> unit;    // that is stuck, or that latched it
  char scope_file[kStatusTextBytes];
  char submit_file[kStatusTextBytes];
  char kernel[kStatusTextBytes];
  char text[kStatusTextBytes];
};
using LatchedError = LatchedErrorOf<SharedWord>;

// Writer: orchestrator.
template <template <class> class Word>
struct RingStatusOf {
  Word<std::uint64_t> head, tail;            // tasks
  Word<std::uint64_t> heap_head, heap_tail;  // bytes
  Word<std::uint64_t> dep_head, dep_tail;
  Word<std::uint64_t> fanin_head, fanin_tail;
  Word<std::uint64_t> args_head, args_tail;  // bytes
};
using RingStatus = RingStatusOf<SharedWord>;

// How long the orchestrator was held back, and by what it was longest. Writer: orchestrator.
template <template <class> class Word>
struct BackpressureStatusOf {
  Word<std::uint64_t> ticks;
  Word<std::uint64_t> longest_ticks;
  Word<std::uint32_t> ring;
  Word<Resource> resource;
  Word<std::uint32_t> scope_line;
  Word<std::uint32_t> waits;
  char scope_file[kStatusTextBytes];
};
using BackpressureStatus = BackpressureStatusOf<SharedWord>;

// Writer: host, before launch. What another process needs to understand the rest.
template <template <class> class Word>
struct RuntimeShapeOf {
  Word<std::uint64_t> task_window[kRingCount];
  Word<std::uint64_t> heap_bytes[kRingCount];
  Word<std::uint64_t> dep_pool[kRingCount];
  Word<std::uint64_t> tensormap_entries;
  Word<std::uint64_t> scheduler_count;
  Word<std::uint64_t> core_count;
  Word<std::uint64_t> timeout_ms;
  Word<std::uint64_t> kernel_count;
  char kernels[kKernelNumbersMax][kStatusKernelBytes];
};
using RuntimeShape = RuntimeShapeOf<SharedWord>;

template <template <class> class Word>
struct RuntimeStatusOf {
  // Writer: orchestrator.
  Word<std::uint64_t> submitted;
  Word<std::uint64_t> completed_at_once;  // by the orchestrator itself
  Word<std::uint64_t> scopes;
  Word<std::uint32_t> orchestration_done;
  Word<std::uint32_t> map_entries;
  Word<std::uint32_t> scheduler_count;  // so that another process can read the progress lines
  Word<std::uint32_t> reserved;
  Word<std::uint64_t> map_evictions;  // writers' entries that made room in the tensor map
  Word<std::uint64_t> begin_ticks;
  Word<std::uint64_t> end_ticks;
  RingStatusOf<Word> rings[kRingCount];
  BackpressureStatusOf<Word> backpressure;
  LatchedErrorOf<Word> error;
  // Of a graph that is run again. Writer of the first one: host.
  Word<std::uint64_t> repeat;                  // 0 or 1: it is not
  Word<std::uint64_t> iterations;              // that are over; writer: the scheduler that ends one
  Word<std::uint64_t> iterations_begin_ticks;  // writer: the first scheduler
  Word<std::uint64_t> first_iteration_ticks;   // when it was over
  Word<std::uint64_t> last_iteration_ticks;    // when the last one was that is over
  // Writer: the thread of the device process that a signal came to.
  Word<std::uint32_t> fault_signal;
  Word<std::uint32_t> fault_unit;  // + 1; 0: none of the units
  // Writer: orchestrator. The source files of the submits, by number.
  char site_files[kSiteFilesMax][kStatusTextBytes];
  RuntimeShapeOf<Word> shape;
  // After it: one UnitProgress per orchestrator, scheduler and core, in this order.
};
using RuntimeStatus = RuntimeStatusOf<SharedWord>;

inline constexpr std::uint64_t kUnitLinesOffset = (sizeof(RuntimeStatus) + 127) / 128 * 128;
TM_DEVICE constexpr std::uint64_t status_bytes(const UnitCounts& units) {
  return kUnitLinesOffset + std::uint64_t{units.total()} * sizeof(UnitProgress);
}

}  // namespace tidemark
