// SPDX-License-Identifier: Apache-2.0
// Test support: what a random program must give. It is run task by task on plain vectors, and its
// conflicts are found element by element; nothing of the runtime is used but its views.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <utility>

#include "tests/random_program.h"

namespace tidemark::random_program {

struct Expected {
  std::vector<std::vector<std::uint64_t>> external;  // at the end, by base
  std::vector<std::uint64_t> digests;                // of what each task read
  std::vector<std::uint64_t> looks;                  // what the orchestration reads
};

constexpr std::uint64_t initial_value(DType dtype, std::uint64_t base, std::uint64_t index) {
  return kept(dtype, mix(base * 1000003 + index + 1));
}

class Reference {
 public:
  using Elements64 = std::vector<std::uint64_t>;

  explicit Reference(const Program& program) : program_(program) {
    for (std::uint32_t i = 0; i < program.bases.size(); ++i) {
      const Base& base = program.bases[i];
      auto& values = values_.emplace_back(base.shape.element_count());
      for (std::uint64_t at = 0; at < values.size(); ++at)
        values[at] = initial_value(base.dtype, i, at);
    }
  }

  // Called for every argument of a task with a kernel, before and after it: its elements, in
  // row-major order of its view.
  std::function<void(std::uint32_t task, bool after, std::uint32_t arg, const Elements64&)> look_at;

  Expected run() {
    Expected expected;
    expected.digests.resize(program_.tasks.size());
    for (const Step& step : program_.steps) {
      if (step.kind == Step::Kind::kSubmit && program_.tasks[step.index].has_kernel()) {
        show(step.index, false);
        expected.digests[step.index] = run_task(step.index);
        show(step.index, true);
      }
      if (step.kind == Step::Kind::kLook) {
        const Look& look = program_.looks[step.index];
        expected.looks.push_back(values_[look.arg.base][places_of(look.arg.view).at(look.index)]);
      }
    }
    expected.external.assign(values_.begin(), values_.begin() + program_.external_count);
    return expected;
  }

 private:
  void show(std::uint32_t index, bool after) const {
    if (!look_at) return;
    const Task& task = program_.tasks[index];
    for (std::uint32_t i = 0; i < task.args.size(); ++i) {
      Elements64 elements;
      for (const std::uint64_t place : places_of(task.args[i].view))
        elements.push_back(values_[task.args[i].base][place]);
      look_at(index, after, i, elements);
    }
  }
  std::uint64_t run_task(std::uint32_t index) {
    const Task& task = program_.tasks[index];
    std::uint64_t checksum = first_checksum(index);
    for (const Arg& arg : task.args) {
      if (!arg.reads() || arg.writes()) continue;
      for (const std::uint64_t place : places_of(arg.view))
        checksum = add_input(checksum, values_[arg.base][place]);
    }
    std::uint64_t digest = checksum * task.unit_count();  // every unit reads all inputs
    for (std::uint32_t i = 0; i < task.args.size(); ++i) {
      const Arg& arg = task.args[i];
      if (!arg.writes()) continue;
      std::uint64_t at = 0;
      for (const std::uint64_t place : places_of(arg.view)) {
        std::uint64_t& value = values_[arg.base][place];
        const std::uint64_t old = arg.access == Access::kInout ? value : 0;
        if (arg.access == Access::kInout) digest += old_value_digest(i, at, old);
        value = kept(arg.view.dtype, new_value(checksum, i, at++, old));
      }
    }
    return digest;
  }

  const Program& program_;
  std::vector<std::vector<std::uint64_t>> values_;
};

struct Pair {
  std::uint32_t first = 0, second = 0;  // tasks
  Conflict conflict = Conflict::kNone;
};

inline std::vector<Pair> conflicts_of(const Program& program) {
  std::vector<Pair> pairs;
  for (std::uint32_t second = 0; second < program.tasks.size(); ++second)
    for (std::uint32_t first = 0; first < second; ++first) {
      const Conflict conflict = conflict_of(program.tasks[first], program.tasks[second]);
      if (conflict != Conflict::kNone) pairs.push_back({first, second, conflict});
    }
  return pairs;
}

using PairSet = std::set<std::pair<std::uint32_t, std::uint32_t>>;

// By task: everything from which a path of edges leads to it.
inline std::vector<TaskSet> closure_of(const PairSet& edges, std::size_t task_count) {
  std::vector<std::vector<std::uint32_t>> producers(task_count);
  for (const auto& [first, second] : edges) producers[second].push_back(first);
  std::vector<TaskSet> before(task_count);
  for (std::size_t task = 0; task < task_count; ++task)
    for (const std::uint32_t producer : producers[task])
      before[task] |= TaskSet(before[producer]).set(producer);
  return before;
}

inline std::uint64_t output_bytes(const Task& task) {
  std::uint64_t bytes = 0;
  for (const Arg& arg : task.args) {
    if (arg.access != Access::kOutput) continue;
    const std::uint64_t wanted = arg.view.element_count() * dtype_bytes(arg.view.dtype);
    bytes += std::max<std::uint64_t>(1, (wanted + 1023) / 1024) * 1024;
  }
  return bytes;
}

struct RingNeed {
  std::uint64_t tasks = 0, heap_bytes = 0, deps = 0, spilled = 0;
};
struct Need {
  RingNeed rings[kRingCount];
  std::uint64_t map_entries = 0;
};

// What a program needs at most while its orchestrator has nothing to wait for: of each ring,
// everything from the oldest task of an open scope on. `resident`: nothing is ever given back.
class NeedCount {
 public:
  NeedCount(const Program& program, const PairSet& edges, bool tracks_readers, bool resident)
      : program_(program), tracks_readers_(tracks_readers), resident_(resident) {
    producers_.resize(program.tasks.size());
    for (const auto& [first, second] : edges) producers_[second].insert(first);
    for (std::uint32_t i = 0; i < program.tasks.size(); ++i)
      for (const Arg& arg : program.tasks[i].args)
        if (arg.access != Access::kOutput && program.bases[arg.base].owner != kExternal)
          producers_[i].insert(program.bases[arg.base].owner);
  }

  Need count() {
    Need need;
    for (const Step& step : program_.steps) {
      if (step.kind == Step::Kind::kOpen) open_.insert(step.index);
      if (step.kind == Step::Kind::kClose) open_.erase(step.index);
      if (step.kind != Step::Kind::kSubmit) continue;
      by_ring_[program_.tasks[step.index].id.ring()].push_back(step.index);
      note_now(need);
    }
    return need;
  }

 private:
  void note_now(Need& need) const {
    std::uint64_t map_entries = 0;
    for (std::uint32_t ring = 0; ring < kRingCount; ++ring) {
      const RingNeed now = of_ring(by_ring_[ring], map_entries);
      RingNeed& most = need.rings[ring];
      most.tasks = std::max(most.tasks, now.tasks);
      most.heap_bytes = std::max(most.heap_bytes, now.heap_bytes);
      most.deps = std::max(most.deps, now.deps);
      most.spilled = std::max(most.spilled, now.spilled);
    }
    need.map_entries = std::max(need.map_entries, map_entries);
  }
  RingNeed of_ring(const std::vector<std::uint32_t>& tasks, std::uint64_t& map_entries) const {
    RingNeed now;
    std::uint64_t largest = 0;
    bool held = resident_;
    for (const std::uint32_t index : tasks) {
      const Task& task = program_.tasks[index];
      held = held || open_.contains(task.scope);
      if (!held) continue;
      ++now.tasks;
      const std::uint64_t bytes = output_bytes(task);
      largest = std::max(largest, bytes);
      now.heap_bytes += bytes;
      now.deps += producers_[index].size();
      now.spilled += producers_[index].size() > 64 ? producers_[index].size() - 64 : 0;
      for (const Arg& arg : task.args)
        if (arg.access == Access::kOutputExisting || arg.access == Access::kInout ||
            (arg.access == Access::kInput && tracks_readers_))
          ++map_entries;
    }
    // A task's outputs are contiguous: what is left over at the end is skipped.
    now.heap_bytes += largest > 0 && !resident_ ? largest - 1024 : 0;
    return now;
  }

  const Program& program_;
  bool tracks_readers_, resident_;
  std::vector<std::set<std::uint32_t>> producers_;
  std::set<std::uint32_t> open_;
  std::vector<std::uint32_t> by_ring_[kRingCount];
};

}  // namespace tidemark::random_program
