// SPDX-License-Identifier: Apache-2.0
// Test support: a random program as a workload of the runtime. Its kernels note what they read and
// when they ran.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <thread>

#include "tests/random_program.h"
#include "tidemark/device/sim/sim_units.h"

namespace tidemark::random_program {

using Clock = std::chrono::steady_clock;

// Orders are relaxed: what is noted must not order what it watches.
struct TaskRun {
  std::atomic<std::uint64_t> digest{0};
  std::atomic<std::uint64_t> first_begin{~std::uint64_t{0}};
  std::atomic<std::uint64_t> last_end{0};
  std::atomic<std::uint32_t> units_done{0};
  std::atomic<std::uint32_t> arrived{0};
  std::unique_ptr<std::atomic<std::uint32_t>[]> runs;  // by unit
};

struct ProgramRun {
  ProgramRun(const Program& of, std::uint64_t jitter_seed)
      : program(of), jitter(jitter_seed), tasks(of.tasks.size()), open(of.scope_count) {
    for (std::size_t i = 0; i < tasks.size(); ++i)
      tasks[i].runs = std::make_unique<std::atomic<std::uint32_t>[]>(of.tasks[i].unit_count() + 1);
  }
  [[nodiscard]] bool is_done(std::uint32_t task) const {
    return tasks[task].units_done.load(std::memory_order_relaxed) ==
           program.tasks[task].unit_count();
  }
  [[nodiscard]] bool too_late() const { return Clock::now() > deadline; }

  const Program& program;
  std::uint64_t jitter;
  std::deque<TaskRun> tasks;
  std::atomic<std::uint64_t> clock{1};
  std::vector<bool> open;            // scopes; orchestrator only
  std::vector<std::uint64_t> looks;  // orchestrator only
  bool looks_allowed = false;        // the graph is built while it runs, with automatic edges
  // A run that hangs ends as a failure that names its seed.
  Clock::time_point deadline = Clock::now() + std::chrono::seconds(60);
};

inline ProgramRun* current_run = nullptr;

template <class T>
void note_extreme(std::atomic<T>& word, T value, bool largest) {
  T seen = word.load(std::memory_order_relaxed);
  while ((largest ? seen < value : seen > value) &&
         !word.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

inline std::uint64_t load_element(const TaskArgs& args, std::uint32_t arg, std::uint64_t index) {
  if (args.view(arg).dtype == DType::kFloat32)
    return static_cast<std::uint64_t>(args.tensor<float>(arg)[index]);
  return static_cast<std::uint64_t>(args.tensor<std::int64_t>(arg)[index]);
}
inline void store_element(const TaskArgs& args, std::uint32_t arg, std::uint64_t index,
                          std::uint64_t value) {
  if (args.view(arg).dtype == DType::kFloat32)
    args.tensor<float>(arg)[index] = static_cast<float>(kept(DType::kFloat32, value));
  else
    args.tensor<std::int64_t>(arg)[index] = static_cast<std::int64_t>(value);
}

// Kernels take a different time in every run.
inline void dawdle(std::uint64_t dice) {
  if (dice % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(20));
  if (dice % 4 == 0)
    for (std::uint64_t i = dice >> 8 & 3; i > 0; --i) std::this_thread::yield();
}

inline void run_unit(std::uint32_t part, const TaskArgs& args) {
  ProgramRun& run = *current_run;
  const auto index = static_cast<std::uint32_t>(args.scalar<std::uint64_t>(0));
  const Task& plan = run.program.tasks.at(index);
  TaskRun& task = run.tasks.at(index);
  const std::uint32_t below = parts_of(plan.cores) & ((1u << part) - 1);
  const auto rank = static_cast<std::uint32_t>(std::bitset<3>(below).count());
  const std::uint32_t unit = args.block * plan.part_count() + rank;
  const std::uint32_t unit_count = plan.unit_count();
  note_extreme(task.first_begin, run.clock.fetch_add(1, std::memory_order_relaxed), false);
  TM_CHECK(args.task == plan.id);
  TM_CHECK(args.block_count == plan.blocks);
  TM_CHECK(unit < unit_count);
  task.runs[unit].fetch_add(1, std::memory_order_relaxed);
  task.arrived.fetch_add(1, std::memory_order_relaxed);
  while (plan.together && task.arrived.load(std::memory_order_relaxed) < unit_count &&
         !run.too_late())
    std::this_thread::yield();
  dawdle(mix(run.jitter + index * 64 + unit));

  std::uint64_t checksum = first_checksum(index);
  for (std::uint32_t i = 0; i < args.tensor_count(); ++i) {
    if (!plan.args[i].reads() || plan.args[i].writes()) continue;
    for (std::uint64_t at = 0; at < args.view(i).element_count(); ++at)
      checksum = add_input(checksum, load_element(args, i, at));
  }
  std::uint64_t digest = checksum;
  for (std::uint32_t i = 0; i < args.tensor_count(); ++i) {
    if (!plan.args[i].writes()) continue;
    const bool reads = plan.args[i].reads();
    for (std::uint64_t at = unit; at < args.view(i).element_count(); at += unit_count) {
      const std::uint64_t old = reads ? load_element(args, i, at) : 0;
      if (reads) digest += old_value_digest(i, at, old);
      store_element(args, i, at, new_value(checksum, i, at, old));
    }
  }
  task.digest.fetch_add(digest, std::memory_order_relaxed);
  note_extreme(task.last_end, run.clock.fetch_add(1, std::memory_order_relaxed), true);
  task.units_done.fetch_add(1, std::memory_order_relaxed);
}

template <std::uint32_t kPart, ArgRole... kRoles>
struct UnitKernel {
  static constexpr KernelInfo kInfo{
      .name = kPart == 0   ? "aic"
              : kPart == 1 ? "aiv0"
                           : "aiv1",
      .core = kPart == 0 ? CoreType::kAic : CoreType::kAiv,
      .args = {ArgInfo{"tensor", kRoles, true, {}}..., scalar("task", DType::kUint64)}};
  template <class Block>
  static void run(Block& block, const TaskArgs& args) {
    if (block.thread() == 0) run_unit(kPart, args);
  }
};

template <ArgRole... kRoles>
struct Signature {
  template <std::uint32_t kPart>
  using Kernel = UnitKernel<kPart, kRoles...>;
  using A = Kernel<0>;
  using V0 = Kernel<1>;
  using V1 = Kernel<2>;

  template <class Orch>
  static Submitted submit(Orch& orch, Args& args, Cores cores) {
    switch (cores) {
      case Cores::kAic:
        return orch.template submit<A>(args);
      case Cores::kAiv:
        return orch.template submit<V0>(args);
      case Cores::kAicAiv:
        return orch.template submit_mix<A, V0>(args);
      case Cores::kAicAivAiv:
        return orch.template submit_mix<A, V0, V1>(args);
      case Cores::kAivAiv:
        return orch.template submit_mix<void, V0, V1>(args);
      case Cores::kAicAiv1:
        return orch.template submit_mix<A, void, V1>(args);
      default:
        TM_CHECK(false);
    }
  }
};

inline constexpr ArgRole kI = ArgRole::kIn, kO = ArgRole::kOut, kX = ArgRole::kInout;
using S0 = Signature<kI>;
using S1 = Signature<kO>;
using S2 = Signature<kX>;
using S3 = Signature<kI, kO>;
using S4 = Signature<kI, kI, kO>;
using S5 = Signature<kI, kX, kO>;
using S6 = Signature<kI, kI, kI, kX>;
using S7 = Signature<kI, kI, kX, kX, kO, kO>;

template <class... Signatures>
struct KernelsOf;
template <class... Listed>
struct KernelsOf<KernelList<Listed...>> {
  using Type = KernelList<Listed...>;
};
template <class... Listed, class First, class... Rest>
struct KernelsOf<KernelList<Listed...>, First, Rest...>
    : KernelsOf<KernelList<Listed..., typename First::A, typename First::V0, typename First::V1>,
                Rest...> {};

// Submits the steps of the program one by one.
template <class Orch>
class Interpreter {
 public:
  Interpreter(Orch& orch, const EntryArgs& entry, ProgramRun& run)
      : orch_(orch), run_(run), program_(run.program), handles_(program_.tasks.size()) {
    for (std::uint32_t i = 0; i < program_.external_count; ++i) refs_.push_back(entry.tensor(i));
    refs_.resize(program_.bases.size());
  }

  void run_scope() {
    const std::uint32_t number = program_.steps.at(at_++).index;
    Scope<Orch> scope(orch_);
    run_.open[number] = true;
    for (;;) {
      const Step& step = program_.steps.at(at_);
      if (step.kind == Step::Kind::kOpen) {
        run_scope();
        continue;
      }
      ++at_;
      if (step.kind == Step::Kind::kSubmit) submit(step.index);
      if (step.kind == Step::Kind::kLook) look(program_.looks[step.index]);
      if (step.kind == Step::Kind::kClose) break;
    }
    run_.open[number] = false;
  }

 private:
  TensorRef ref_of(const Arg& arg) const {
    TensorRef ref = refs_[arg.base];
    for (const ViewStep& step : arg.steps) {
      if (step.kind == ViewStep::Kind::kSlice)
        ref = ref.slice(step.one, step.first, step.count);
      else if (step.kind == ViewStep::Kind::kTranspose)
        ref = ref.transpose(step.one, step.other);
      else
        ref = ref.reshape(step.shape);
    }
    return ref;
  }

  void look(const Look& look) {
    if (!run_.looks_allowed) return;
    const TensorRef ref = ref_of(look.arg);
    run_.looks.push_back(
        ref.view.dtype == DType::kFloat32
            ? static_cast<std::uint64_t>(orch_.template value<float>(ref, look.index))
            : static_cast<std::uint64_t>(orch_.template value<std::int64_t>(ref, look.index)));
  }

  void submit(std::uint32_t index) {
    const Task& task = program_.tasks[index];
    Args args;
    for (const Arg& arg : task.args) add(args, arg);
    if (task.has_kernel()) args.scalar<std::uint64_t>(index);
    if (task.blocks > 1) args.blocks(task.blocks);
    if (task.together) args.start_together();
    // Both ways to name a task.
    const std::size_t single = std::min<std::size_t>(task.afters.size(), index % 33);
    std::vector<TaskHandle> rest;
    for (std::size_t i = 0; i < task.afters.size(); ++i) {
      if (i < single)
        args.after(handles_[task.afters[i]]);
      else
        rest.push_back(handles_[task.afters[i]]);
    }
    if (!rest.empty()) args.after(rest.data(), static_cast<std::uint32_t>(rest.size()));
    const Submitted submitted = give(args, task);
    handles_[index] = submitted;
    std::uint32_t output = 0;
    for (const Arg& arg : task.args)
      if (arg.access == Access::kOutput) refs_[arg.base] = submitted.output(output++);
  }
  void add(Args& args, const Arg& arg) const {
    switch (arg.access) {
      case Access::kInput:
        args.in(ref_of(arg));
        break;
      case Access::kOutput:
        args.out(arg.view.shape, arg.view.dtype);
        break;
      case Access::kOutputExisting:
        args.out_existing(ref_of(arg));
        break;
      case Access::kInout:
        args.inout(ref_of(arg));
        break;
      case Access::kNoDep:
        args.no_dep(ref_of(arg));
    }
  }
  Submitted give(Args& args, const Task& task) {
    if (task.cores == Cores::kDummy) return orch_.submit_dummy(args);
    if (task.cores == Cores::kAllocate) return orch_.allocate(args);
    using Give = Submitted (*)(Orch&, Args&, Cores);
    constexpr Give kGive[kSignatureCount] = {
        &S0::template submit<Orch>, &S1::template submit<Orch>, &S2::template submit<Orch>,
        &S3::template submit<Orch>, &S4::template submit<Orch>, &S5::template submit<Orch>,
        &S6::template submit<Orch>, &S7::template submit<Orch>};
    return kGive[task.signature](orch_, args, task.cores);
  }

  Orch& orch_;
  ProgramRun& run_;
  const Program& program_;
  std::vector<TaskHandle> handles_;  // by task
  std::vector<TensorRef> refs_;      // by base
  std::size_t at_ = 0;
};

struct Workload {
  using Kernels = KernelsOf<KernelList<>, S0, S1, S2, S3, S4, S5, S6, S7>::Type;
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    Interpreter<Orch>(orch, entry, *current_run).run_scope();
  }
};

}  // namespace tidemark::random_program
