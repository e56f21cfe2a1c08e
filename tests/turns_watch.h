// SPDX-License-Identifier: Apache-2.0
// Test support: sees from outside when a task becomes ready and when its parts are given to cores,
// by looking at the queues and mailboxes of stepped units in every turn. When a kernel begins, the
// kernel itself says so.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "tests/stepped_units.h"

namespace tidemark {

struct SeenTask {
  TaskShape shape = TaskShape::kDummy;
  std::uint32_t parts = 0;  // bit per core of a cluster
  std::uint32_t units = 0;  // (block, kernel) pairs
  bool mix = false, together = false;
  std::uint64_t position = 0, ready_turn = 0;
  std::uint32_t given = 0;
  std::uint64_t first_give = 0, last_give = 0;  // numbers of gives
  std::uint64_t first_start = 0;                // number of a kernel's begin; 0: none has begun
  std::set<std::pair<std::uint32_t, std::uint32_t>> given_units;  // block, part

  // With blocks that start together a task begins with the last of them.
  [[nodiscard]] std::uint64_t begin() const { return together ? last_give : first_give; }
  [[nodiscard]] bool wants_what(const SeenTask& other) const {
    return (uses_aic() && other.uses_aic()) || (uses_aiv() && other.uses_aiv());
  }
  // Turns tell tasks of different queues apart, where they do.
  [[nodiscard]] bool later_than(const SeenTask& other) const {
    return shape == other.shape ? position > other.position : ready_turn > other.ready_turn;
  }

 private:
  [[nodiscard]] bool uses_aic() const { return (parts & 1) != 0; }
  [[nodiscard]] bool uses_aiv() const { return (parts & 6) != 0; }
};

class TurnsWatch {
 public:
  explicit TurnsWatch(const RuntimeMemory& memory)
      : memory_(memory), seen_(memory.config().core_count()) {}

  // In every turn.
  void look() {
    for (std::uint32_t shape = 0; shape < kTaskShapeCount; ++shape)
      see_ready(static_cast<TaskShape>(shape));
    for (std::uint32_t core = 0; core < seen_.size(); ++core)
      for (; seen_[core] < memory_.mailbox(core).given; ++seen_[core])
        see_give(core, memory_.dispatch(core, seen_[core]).dispatch);
    for (const CoreType type : {CoreType::kAic, CoreType::kAiv}) note_before(type);
    ++turn_;
  }

  [[nodiscard]] const std::map<std::uint64_t, SeenTask>& tasks() const { return tasks_; }
  // Tasks that became ready after it, want a core of its types, and began before it.
  [[nodiscard]] std::uint32_t overtakers_of(const SeenTask& task) const {
    std::uint32_t count = 0;
    for (const auto& [id, other] : tasks_)
      if (other.given > 0 && other.wants_what(task) && other.later_than(task) &&
          other.first_give < task.begin())
        ++count;
    return count;
  }
  // The same by the kernels' begins.
  [[nodiscard]] std::uint32_t started_before(const SeenTask& task) const {
    std::uint32_t count = 0;
    for (const auto& [id, other] : tasks_)
      if (other.first_start > 0 && other.wants_what(task) && other.later_than(task) &&
          other.first_start < task.first_start)
        ++count;
    return count;
  }
  // By the kernel, when it begins.
  void see_start(std::uint64_t task_id) {
    SeenTask& task = tasks_.at(task_id);
    ++starts_;
    if (task.first_start == 0) task.first_start = starts_;
  }
  std::vector<std::string> problems;
  std::uint64_t moves = 0;  // dispatches that were taken from one core for another

 private:
  struct Before {
    bool any_idle = false;
    std::uint64_t waiting = 0;
  };

  void see_ready(TaskShape shape) {
    const RuntimeLayout& layout = memory_.layout();
    const auto* cells = memory_.at<ReadyCell>(
        layout.ready_offset + static_cast<std::uint64_t>(shape) * layout.ready_bytes +
        sizeof(ReadyQueueWords));
    std::uint64_t& position = ready_[static_cast<std::size_t>(shape)];
    for (; position < memory_.ready(shape).pushed(); ++position) {
      const TaskSlot& slot =
          memory_.slot({cells[position & (layout.ready_cells - 1)].task.load_relaxed()});
      SeenTask& task = tasks_[slot.id.value];
      task.shape = shape;
      for (std::uint32_t part = 0; part < kKernelsMax; ++part)
        if (slot.kernels[part] != kNoKernel) {
          task.parts |= 1u << part;
          task.units += slot.block_count;
        }
      task.mix = shape == TaskShape::kMix;
      task.together = slot.sync_start != 0 && slot.block_count > 1;
      task.position = position;
      task.ready_turn = turn_;
    }
  }
  void see_give(std::uint32_t core, const Dispatch& dispatch) {
    SeenTask& task = tasks_.at(memory_.slot({dispatch.task}).id.value);
    if (!task.given_units.insert({dispatch.block, dispatch.part}).second) {
      ++moves;
      ++load_[core];
      return;
    }
    ++gives_;
    if (task.given++ == 0) task.first_give = gives_;
    task.last_give = gives_;
    // What was there in the turn before, in which it was given.
    const Before& before = before_[core_type(core) == CoreType::kAic ? 0 : 1];
    if (load_[core]++ == 0) return;
    if (before.any_idle)
      problems.push_back(fmt::format("core {} gets a second task beside an idle one", core));
    if (before.waiting + 1 <= memory_.config().core_count(core_type(core)))
      problems.push_back(
          fmt::format("core {} gets a second task and {} wait", core, before.waiting));
  }
  // What a scheduler knows when it gives a task, which it has taken already.
  void note_before(CoreType type) {
    Before& before = before_[static_cast<std::size_t>(type)];
    const ReadyQueue queue =
        memory_.ready(type == CoreType::kAic ? TaskShape::kAic : TaskShape::kAiv);
    ReadyHead head;
    before = {.any_idle = false, .waiting = queue.count()};
    if (queue.peek(head)) before.waiting += head.ready.blocks - 1;
    for (std::uint32_t core = 0; core < seen_.size(); ++core) {
      if (core_type(core) != type) continue;
      load_[core] = seen_[core] - memory_.mailbox(core).handled;
      before.any_idle = before.any_idle || load_[core] == 0;
    }
  }

  RuntimeMemory memory_;
  std::vector<std::uint64_t> seen_;  // dispatches, by core
  std::vector<std::uint64_t> load_ =
      std::vector<std::uint64_t>(seen_.size());  // in the turn before
  std::uint64_t ready_[kTaskShapeCount] = {};
  Before before_[2];
  std::map<std::uint64_t, SeenTask> tasks_;
  std::uint64_t turn_ = 1, gives_ = 0, starts_ = 0;
};

}  // namespace tidemark
