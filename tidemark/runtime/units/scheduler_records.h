// SPDX-License-Identifier: Apache-2.0
// What a scheduler records, where it is asked to: blocks from when they were given to when they
// were seen finished, and rounds with what they did.
#pragma once

#include <cstdint>

#include "tidemark/record/recorder.h"
#include "tidemark/runtime/runtime_memory.h"
#include "tidemark/runtime/units/unit_env.h"
#include "tidemark/runtime/units/unit_recorder.h"
#include "tidemark/schema/phase_span.h"
#include "tidemark/schema/task_span.h"

namespace tidemark {

template <UnitEnv Env>
class SchedulerRecords {
 public:
  // Counts since the last record of a round.
  std::uint32_t handled = 0, given = 0, pop_hit = 0, pop_miss = 0;

  TM_DEVICE SchedulerRecords(const RuntimeMemory& memory, std::uint32_t index,
                             const RegionView* region, RecorderCosts* costs)
      : memory_(memory),
        finishes_(recorder_of<Recorder<TaskSpan, Env>>(
            region, memory.config().lanes().finishes(index), costs)),
        phases_(recorder_of<Recorder<SchedulerPhase, Env>>(
            region, memory.config().lanes().phases(index), costs)),
        has_finishes_(finishes_.enabled()),
        has_phases_(phases_.enabled()) {}

  TM_DEVICE bool has_finishes() const { return has_finishes_; }
  TM_DEVICE bool has_phases() const { return has_phases_; }
  // Only a record of the finish says when a task was given.
  TM_DEVICE std::uint64_t dispatch_ticks() const { return has_finishes() ? Env::now_ticks() : 0; }

  TM_DEVICE void finish(std::uint32_t core, const Dispatch& done, std::uint64_t ticks) {
    finishes_.write({.task_id = memory_.slot({done.task}).id.value,
                     .begin_ticks = done.dispatch_ticks,
                     .end_ticks = ticks,
                     .block = done.block,
                     .kernel = done.kernel,
                     .core = static_cast<std::uint16_t>(core)});
  }
  TM_DEVICE void phase(PhaseKind kind, std::uint64_t begin_ticks, std::uint64_t end_ticks,
                       std::uint64_t loop, std::uint32_t processed) {
    std::uint64_t ready = 0;
    for (std::uint32_t shape = 0; shape < kTaskShapeCount; ++shape)
      ready += memory_.ready(static_cast<TaskShape>(shape)).count();
    phases_.write({.kind = kind,
                   .begin_ticks = begin_ticks,
                   .end_ticks = end_ticks,
                   .loop = loop,
                   .processed = processed,
                   .pop_hit = pop_hit,
                   .pop_miss = pop_miss,
                   .ready = static_cast<std::uint32_t>(ready)});
    pop_hit = pop_miss = 0;
  }
  TM_DEVICE void close() {
    finishes_.close();
    phases_.close();
  }

 private:
  RuntimeMemory memory_;
  Recorder<TaskSpan, Env> finishes_;
  Recorder<SchedulerPhase, Env> phases_;
  bool has_finishes_, has_phases_;  // all lanes look at them while one of them records
};

}  // namespace tidemark
