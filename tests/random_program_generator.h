// SPDX-License-Identifier: Apache-2.0
// Test support: makes a random program from a seed. It can be run by any build strategy that its
// kind of edges allows: where nobody else orders a conflict, the later task names the earlier one.
#pragma once

#include <utility>

#include "tests/random_program.h"

namespace tidemark::random_program {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mix(seed + 0x9E3779B97F4A7C15ull)) {}
  std::uint64_t below(std::uint64_t limit) {
    state_ += 0x9E3779B97F4A7C15ull;
    return mix(state_) % limit;
  }
  bool once_in(std::uint64_t limit) { return below(limit) == 0; }

 private:
  std::uint64_t state_;
};

class Generator {
 public:
  Generator(std::uint64_t seed, Edges edges) : random_(seed * 3 + static_cast<int>(edges)) {
    program_.seed = seed;
    program_.edges = edges;
  }

  Program make() {
    for (std::uint64_t i = 1 + random_.below(4); i > 0; --i) add_external(random_shape());
    add_external({1, {kElementsMax}});
    program_.external_count = static_cast<std::uint32_t>(program_.bases.size());
    const std::uint64_t task_count = 10 + random_.below(60);
    const std::uint64_t depth_max = 1 + random_.below(8);
    opens_ = 4 + random_.below(24);
    if (random_.once_in(10)) bursts_ = 1;
    open();
    while (program_.tasks.size() < task_count) add_something(depth_max);
    while (!open_.empty()) close();
    return std::move(program_);
  }

 private:
  void add_something(std::uint64_t depth_max) {
    const std::uint64_t dice = random_.below(100);
    if (dice < opens_) {
      if (open_.size() <= depth_max) open();
    } else if (dice < opens_ + 10) {
      if (open_.size() > 1) close();
    } else if (dice < opens_ + 13) {
      allocate();
    } else if (dice < opens_ + 17) {
      add_dummy();
    } else if (dice < opens_ + 20) {
      add_look();
    } else if (bursts_ > 0 && random_.once_in(20)) {
      --bursts_;
      add_burst();
    } else {
      add_kernel_task();
    }
  }

  void open() {
    open_.push_back(program_.scope_count++);
    program_.steps.push_back({Step::Kind::kOpen, open_.back()});
  }
  void close() {
    program_.steps.push_back({Step::Kind::kClose, open_.back()});
    open_.pop_back();
  }
  [[nodiscard]] bool is_open(std::uint32_t scope) const {
    return std::find(open_.begin(), open_.end(), scope) != open_.end();
  }

  DType random_dtype() { return random_.once_in(3) ? DType::kFloat32 : DType::kInt64; }
  TensorShape random_shape() {
    TensorShape shape{static_cast<std::uint32_t>(1 + random_.below(4)), {}};
    for (std::uint32_t i = 0; i < shape.rank; ++i)
      shape.extent[i] = shape.rank == 1 ? 1 + random_.below(32) : 1 + random_.below(4);
    if (random_.once_in(60)) shape.extent[0] = 0;
    return shape;
  }
  std::uint32_t add_base(Base base) {
    program_.bases.push_back(base);
    usable_.push_back(true);
    return static_cast<std::uint32_t>(program_.bases.size() - 1);
  }
  void add_external(const TensorShape& shape) {
    add_base({.dtype = random_dtype(), .shape = shape});
  }

  // A base in the hands of the orchestration; kExternal if the dice find none.
  std::uint32_t random_base(bool for_writing) {
    for (int tries = 0; tries < 20; ++tries) {
      const auto index = static_cast<std::uint32_t>(random_.below(program_.bases.size()));
      const Base& base = program_.bases[index];
      if (!usable_[index] || (for_writing && base.frozen)) continue;
      if (base.owner == kExternal || is_open(base.scope)) return index;
    }
    return kExternal;
  }

  Arg whole(std::uint32_t base, Access access) const {
    const Base& of = program_.bases[base];
    Arg arg;
    arg.access = access;
    arg.base = base;
    arg.view = TensorView::row_major(base, of.dtype, of.shape);
    note_elements(arg);
    return arg;
  }
  static void note_elements(Arg& arg) {
    arg.elements.reset();
    for (const std::uint64_t place : places_of(arg.view)) arg.elements.set(place);
  }
  static void add_step(Arg& arg, const ViewStep& step) {
    arg.steps.push_back(step);
    arg.view = apply(step, arg.view);
    if (step.kind != ViewStep::Kind::kSlice) arg.sliced_only = false;
    note_elements(arg);
  }

  Arg random_view(std::uint32_t base, Access access) {
    Arg arg = whole(base, access);
    for (std::uint64_t left = random_.below(4); left > 0; --left) {
      const std::uint32_t rank = arg.view.shape.rank;
      if (random_.below(3) < 2) {
        const auto dim = static_cast<std::uint32_t>(random_.below(rank));
        const std::uint64_t extent = arg.view.shape.extent[dim];
        const std::uint64_t first = random_.below(extent + 1);
        std::uint64_t count = random_.below(extent - first + 1);
        if (count == 0 && first < extent && !random_.once_in(20)) count = extent - first;
        if (count == 0 && extent > 0) continue;
        add_step(arg, {.kind = ViewStep::Kind::kSlice, .one = dim, .first = first, .count = count});
      } else if (random_.once_in(2)) {
        add_step(arg, {.kind = ViewStep::Kind::kTranspose,
                       .one = static_cast<std::uint32_t>(random_.below(rank)),
                       .other = static_cast<std::uint32_t>(random_.below(rank))});
      } else if (arg.view.is_contiguous()) {
        add_step(arg, {.kind = ViewStep::Kind::kReshape,
                       .shape = other_shape(arg.view.element_count())});
      }
    }
    return arg;
  }
  TensorShape other_shape(std::uint64_t count) {
    for (std::uint64_t divisor = 2 + random_.below(3); divisor > 1; --divisor)
      if (count % divisor == 0) return {2, {count / divisor, divisor}};
    return {1, {count}};
  }

  Arg random_arg(ArgRole role) {
    const bool writes = role != ArgRole::kIn;
    const std::uint32_t base = random_base(writes);
    if (role == ArgRole::kOut && (base == kExternal || random_.below(5) < 2)) return new_output();
    if (base == kExternal) return whole(0, Access::kInput);  // refused later if it is no match
    if (writes)
      return random_view(base, role == ArgRole::kInout ? Access::kInout : Access::kOutputExisting);
    if (!random_.once_in(6)) return random_view(base, Access::kInput);
    Arg arg = random_view(base, Access::kNoDep);
    arg.looked_at = !program_.bases[base].rewritten;
    return arg;
  }
  // Its base is made when the task is.
  Arg new_output() {
    Arg arg;
    arg.access = Access::kOutput;
    arg.base = kExternal;
    arg.view = TensorView::row_major(0, random_dtype(), random_shape());
    return arg;
  }

  void add_kernel_task() {
    for (int tries = 0; tries < 8; ++tries) {
      Task task;
      task.signature = static_cast<std::uint32_t>(random_.below(kSignatureCount));
      task.cores = static_cast<Cores>(random_.below(kCoresWithKernels));
      if (random_.once_in(2)) task.cores = Cores::kAiv;
      if (random_.once_in(5)) task.blocks = static_cast<std::uint32_t>(1 + random_.below(9));
      if (task.cores == Cores::kAiv && random_.once_in(12)) {
        task.blocks = 2;  // as many as the smallest machine has cores
        task.together = true;
      }
      for (const ArgRole role : kSignatures[task.signature]) task.args.push_back(random_arg(role));
      if (fits_signature(task) && add_task(task)) return;
    }
    Task fallback{.signature = 1, .args = {new_output()}};
    add_task(fallback);
  }
  static bool fits_signature(const Task& task) {
    const auto& roles = kSignatures[task.signature];
    for (std::size_t i = 0; i < roles.size(); ++i)
      if (!role_takes(roles[i], task.args[i].access)) return false;
    return true;
  }

  void add_dummy() {
    for (int tries = 0; tries < 8; ++tries) {
      Task task{.cores = Cores::kDummy};
      for (std::uint64_t left = random_.below(4); left > 0; --left) {
        Arg arg = random_arg(static_cast<ArgRole>(random_.below(3)));
        if (arg.access != Access::kOutput) task.args.push_back(arg);
      }
      if (add_task(task)) return;
    }
  }

  // Memory and the task that fills it: nobody reads what nobody wrote.
  void allocate() {
    Task task{.cores = Cores::kAllocate};
    for (std::uint64_t left = 1 + random_.below(3); left > 0; --left)
      task.args.push_back(new_output());
    const auto first = static_cast<std::uint32_t>(program_.bases.size());
    const auto count = static_cast<std::uint32_t>(task.args.size());
    if (!add_task(task)) return;
    for (std::uint32_t i = 0; i < count; ++i) {
      Task fill{.signature = 1, .args = {whole(first + i, Access::kOutputExisting)}};
      if (!add_task(fill)) usable_[first + i] = false;
    }
  }

  // Many tasks each write a piece of one buffer, and one reads all of it.
  void add_burst() {
    const std::uint64_t count = 40 + random_.below(161);
    std::uint32_t base = program_.external_count - 1;
    if (random_.once_in(2)) {
      Task maker{.signature = 1, .args = {new_output()}};
      maker.args[0].view = TensorView::row_major(0, DType::kInt64, {1, {count}});
      base = static_cast<std::uint32_t>(program_.bases.size());
      if (!add_task(maker)) return;
    }
    if (program_.bases[base].frozen) return;
    for (std::uint64_t i = 0; i < count; ++i) {
      const bool inout = random_.once_in(2);
      Task writer{.signature = inout ? 2u : 1u,
                  .cores = random_.once_in(3) ? Cores::kAic : Cores::kAiv,
                  .args = {whole(base, inout ? Access::kInout : Access::kOutputExisting)}};
      add_step(writer.args[0], {.kind = ViewStep::Kind::kSlice, .first = i, .count = 1});
      add_task(writer);
    }
    // Its second tensor comes behind more producers than a slot holds.
    const std::uint32_t second = random_base(false);
    Task reader{.signature = 4,
                .args = {whole(base, Access::kInput),
                         whole(second == kExternal ? base : second, Access::kInput), new_output()}};
    if (!add_task(reader)) add_plain_reader(base);
  }

  void add_plain_reader(std::uint32_t base) {
    Task reader{.signature = 0, .args = {whole(base, Access::kInput)}};
    add_task(reader);
  }

  void add_look() {
    if (program_.edges == Edges::kAllExplicit) return;
    const std::uint32_t base = random_base(false);
    if (base == kExternal) return;
    Look look{.arg = random_view(base, Access::kInput)};
    if (look.arg.view.element_count() == 0) return;
    look.index = random_.below(look.arg.view.element_count());
    program_.steps.push_back(
        {Step::Kind::kLook, static_cast<std::uint32_t>(program_.looks.size())});
    program_.looks.push_back(look);
  }

  // False: it would meet itself, or it may not wait.
  bool add_task(Task& task) {
    if (program_.tasks.size() + 1 >= kTasksMax) return false;
    if (task.unit_count() > 1 && meets_itself(task)) return false;
    task.scope = open_.back();
    if (task.cores != Cores::kAllocate) add_random_afters(task);
    TaskSet before;
    if (!order(task, before)) return false;
    const auto index = static_cast<std::uint32_t>(program_.tasks.size());
    const std::uint32_t ring =
        std::min<std::uint32_t>(static_cast<std::uint32_t>(open_.size()) - 1, kRingCount - 1);
    task.id = TaskId::make(ring, next_local_[ring]++);
    std::uint32_t outputs = 0;
    for (Arg& arg : task.args) {
      if (arg.access == Access::kOutput) {
        arg.base = add_base({.dtype = arg.view.dtype,
                             .shape = arg.view.shape,
                             .owner = index,
                             .output = outputs++,
                             .scope = task.scope});
        arg.view.buffer = arg.base;
        note_elements(arg);
      } else if (arg.writes()) {
        program_.bases[arg.base].rewritten = true;
      } else if (arg.access == Access::kNoDep && arg.looked_at) {
        program_.bases[arg.base].frozen = true;
      }
    }
    before_.push_back(before);
    program_.tasks.push_back(task);
    program_.steps.push_back({Step::Kind::kSubmit, index});
    return true;
  }

  // Two units of one task must not depend on which one is first. Also a no_dep argument must not
  // be written by the task that looks at it.
  static bool meets_itself(const Task& task) {
    for (std::size_t i = 0; i < task.args.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (task.args[i].access != Access::kOutput && task.args[j].access != Access::kOutput &&
            conflict_of(task.args[j], task.args[i]) != Conflict::kNone)
          return true;
    return false;
  }

  void add_random_afters(Task& task) {
    if (!random_.once_in(4) || program_.tasks.empty()) return;
    for (std::uint64_t left = 1 + random_.below(4); left > 0; --left) {
      const auto other = static_cast<std::uint32_t>(random_.below(program_.tasks.size()));
      task.afters.push_back(other);  // its scope may be closed
    }
  }

  // Sets `before` to all tasks that are sure to be finished when this one runs.
  bool order(Task& task, TaskSet& before) {
    const auto note = [&](std::uint32_t other) { before |= TaskSet(before_[other]).set(other); };
    for (const std::uint32_t other : task.afters) note(other);
    std::vector<std::uint32_t> missing;
    for (auto other = static_cast<std::uint32_t>(program_.tasks.size()); other-- > 0;) {
      const Conflict conflict = conflict_of(program_.tasks[other], task);
      if (conflict == Conflict::kNone) continue;
      const bool by_runtime =
          program_.edges == Edges::kTracked ||
          (program_.edges == Edges::kWarExplicit && conflict != Conflict::kWriteAfterRead);
      if (by_runtime)
        note(other);
      else
        missing.push_back(other);
    }
    for (const std::uint32_t other : missing) {  // latest first
      if (before.test(other) && !random_.once_in(4)) continue;
      task.afters.push_back(other);
      note(other);
    }
    return task.cores != Cores::kAllocate || task.afters.empty();
  }

  Program program_;
  Random random_;
  std::vector<std::uint32_t> open_;  // scopes
  std::vector<bool> usable_;         // by base
  std::vector<TaskSet> before_;      // by task
  std::uint32_t next_local_[kRingCount] = {};
  std::uint64_t opens_ = 0;
  std::uint32_t bursts_ = 0;
};

}  // namespace tidemark::random_program
