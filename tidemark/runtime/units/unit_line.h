// SPDX-License-Identifier: Apache-2.0
// A unit's own progress line. It is written and never read back: recorder_costs.h says why.
#pragma once

#include <cstdint>

#include "tidemark/record/recorder_costs.h"
#include "tidemark/runtime/runtime_status.h"
#include "tidemark/runtime/task_slot.h"

namespace tidemark {

TM_DEVICE inline UnitProgress* unit_lines(RuntimeStatus* status) {
  return reinterpret_cast<UnitProgress*>(reinterpret_cast<unsigned char*>(status) +
                                         kUnitLinesOffset);
}

class UnitLine {
 public:
  TM_DEVICE UnitLine(RuntimeStatus* status, std::uint32_t unit)
      : line_(unit_lines(status) + unit), costs_(&line_->recorder) {}
  UnitLine(const UnitLine&) = delete;
  UnitLine& operator=(const UnitLine&) = delete;

  TM_DEVICE void enter(UnitState state, std::uint64_t now_ticks) {
    since_ticks_ = now_ticks;
    state_ = state;
    line_->waited_before_ticks.store_relaxed(costs_.waited_ticks());
    // A fence on a GPU would cost every task half a microsecond.
    quantum_store_release(line_->since_ticks, now_ticks, line_->state, state, line_->kernel,
                          kernel_);  // [unit state]
  }
  TM_DEVICE void leave(std::uint64_t now_ticks) {
    line_->left_since_ticks.store_relaxed(since_ticks_);
    line_->left_state.store_relaxed(state_);
    enter(UnitState::kLeft, now_ticks);
  }
  TM_DEVICE void take(const TaskSlot& slot, std::uint32_t kernel, std::uint32_t block,
                      UnitState state, std::uint64_t now_ticks) {
    line_->task_id.store_relaxed(slot.id.value);
    line_->site.store_relaxed(std::uint64_t{slot.submit_file} << 32 | slot.submit_line);
    kernel_ = kernel;
    line_->block.store_relaxed(block);
    enter(state, now_ticks);
  }
  TM_DEVICE void wait_for(Resource resource, std::uint32_t ring, std::uint64_t now_ticks) {
    line_->block.store_relaxed(ring);
    line_->waits_for.store_relaxed(resource);
    enter(UnitState::kWaiting, now_ticks);
  }
  TM_DEVICE void task(std::uint64_t task_id) { line_->task_id.store_relaxed(task_id); }
  TM_DEVICE void loops(std::uint64_t count) { line_->loops.store_relaxed(count); }
  TM_DEVICE RecorderCosts* recorder() { return &costs_; }
  // alone: a figure; nothing is read through it
  TM_DEVICE void count(std::uint64_t count) { line_->count.store_after_fence(count); }

 private:
  UnitProgress* line_;
  RecorderCosts costs_;  // of all its recorders
  std::uint64_t since_ticks_ = 0;
  UnitState state_{};
  std::uint32_t kernel_ = 0;
};

}  // namespace tidemark
