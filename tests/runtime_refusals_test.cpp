// SPDX-License-Identifier: Apache-2.0
// What the runtime refuses, and what it does afterwards: the first error stays with its details,
// every later call is harmless, every unit leaves. And what must not be taken for an error.
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "tests/small_workload.h"

namespace tidemark::small {
namespace {

constexpr Site kRefusedScope{"program.cpp", 70};
constexpr Site kRefusedSubmit{"program.cpp", 90};

// Every unit left: the run ended.
template <class Workload>
void expect_ended_with(SimMachine<Workload>& sim, ErrorCode code, std::uint32_t clusters = 1) {
  EXPECT_EQ(to_text(sim.error()), to_text(code));
  const UnitCounts units{1, clusters * kCoresPerCluster};
  for (std::uint32_t unit = 0; unit < units.total(); ++unit)
    EXPECT_EQ(unit_lines(&sim.status())[unit].state.load_acquire(), UnitState::kLeft)
        << "unit " << unit;
}

struct HugeOutput : SmallWorkload {
  using Kernels = KernelList<Fill>;
  static inline TensorShape shape;
  static inline bool twice = false;  // two outputs, whose sum is too large
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch, kRefusedScope);
    Args args;
    args.out(shape, DType::kUint8);
    if (twice) args.out(shape, DType::kUint8);
    orch.allocate(args, kRefusedSubmit);
  }
};

TEST(RuntimeRefusals, AnOutputLargerThanTheHeapIsRefusedWithItsSize) {
  HugeOutput::twice = false;
  HugeOutput::shape = {2, {3, 1ull << 30}};
  SimMachine<HugeOutput> sim(small_setup());
  sim.run();
  expect_ended_with(sim, ErrorCode::kRequestTooLarge);
  const LatchedError& error = sim.status().error;
  EXPECT_EQ(error.requested.load_relaxed(), 3ull << 30);
  EXPECT_EQ(error.capacity.load_relaxed(), 1u << 20);
  EXPECT_EQ(error.submit_line.load_relaxed(), kRefusedSubmit.line);
  EXPECT_EQ(error.scope_line.load_relaxed(), kRefusedScope.line);
  EXPECT_STREQ(error.kernel, "allocate");

  HugeOutput::twice = true;
  HugeOutput::shape = {1, {600 * 1024 + 1}};
  SimMachine<HugeOutput> sum(small_setup());
  sum.run();
  expect_ended_with(sum, ErrorCode::kRequestTooLarge);
  EXPECT_EQ(sum.status().error.requested.load_relaxed(), 2u * 601 * 1024);
}

TEST(RuntimeRefusals, SizesThatOverflowNeverFit) {
  HugeOutput::twice = true;
  for (const TensorShape& shape :
       {TensorShape{1, {1ull << 59}}, TensorShape{3, {1ull << 20, 1ull << 20, 1ull << 19}}}) {
    HugeOutput::shape = shape;
    SimMachine<HugeOutput> sim(small_setup());
    sim.run();
    expect_ended_with(sim, ErrorCode::kRequestTooLarge);
    EXPECT_GE(sim.status().error.requested.load_relaxed(), 1ull << 59);
  }
  for (const TensorShape& shape :
       {TensorShape{1, {~0ull}}, TensorShape{2, {1ull << 32, 1ull << 32}},
        TensorShape{5, {1u << 16, 1u << 16, 1u << 16, 1u << 16, 1u << 16}}, TensorShape{6, {}}}) {
    HugeOutput::shape = shape;
    SimMachine<HugeOutput> sim(small_setup());
    sim.run();
    expect_ended_with(sim, ErrorCode::kInvalidArgs);
    EXPECT_EQ(sim.status().error.arg.load_relaxed(), 0u);
  }
}

// Keeps a tensor beyond its scope, then uses it in another scope of the same depth, where the slot
// and the memory have new owners.
struct StaleHandle : SmallWorkload {
  enum class Use { kTensor, kView, kValue };
  static inline Use use = Use::kTensor;
  static inline bool reopen = false;
  using Kernels = KernelList<Fill, Sum, AddOne>;
  static void prepare(const WorkloadSetup&, EntryData& data) {
    data.add<std::int64_t>({1, {4}}, [](std::uint64_t) { return 0; });
  }
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    Scope root(orch);
    Submitted old;
    {
      Scope inner(orch);
      old = make(orch);
    }
    if (!reopen) return use_it(orch, entry, old.output(0));
    for (int i = 0; i < 20; ++i) {
      Scope other(orch, kRefusedScope);
      make(orch);
      if (i == 19) use_it(orch, entry, old.output(0));
    }
  }
  template <class Orch>
  static Submitted make(Orch& orch) {
    return orch.template submit<Fill>(Args().out({1, {4}}, DType::kInt64).scalar(std::int64_t{7}));
  }
  template <class Orch>
  static void use_it(Orch& orch, const EntryArgs& entry, const TensorRef& tensor) {
    const TensorRef result = entry.tensor(0);
    if (use == Use::kTensor)
      orch.template submit<Sum>(Args().in(tensor).out_existing(result), kRefusedSubmit);
    if (use == Use::kView)
      orch.template submit<Sum>(
          Args().in(tensor.slice(0, 1, 2).reshape({2, {1, 2}})).out_existing(result),
          kRefusedSubmit);
    if (use == Use::kValue) {
      EXPECT_EQ(orch.template value<std::int64_t>(tensor, 0, kRefusedSubmit), 0);
    }
  }
};

TEST(RuntimeRefusals, ATensorIsWorthNothingAfterItsScope) {
  using Use = StaleHandle::Use;
  for (const BuildKind build : {BuildKind::kTensorMap, BuildKind::kExplicit, BuildKind::kHostBuild})
    for (const bool reopen : {false, true})
      for (const Use use : {Use::kTensor, Use::kView, Use::kValue}) {
        StaleHandle::use = use;
        StaleHandle::reopen = reopen;
        WorkloadSetup setup = small_setup();
        setup.config.build = build;
        if (build != BuildKind::kHostBuild) setup.config.rings[1].task_window = 4;
        SimMachine<StaleHandle> sim(setup);
        sim.run();
        expect_ended_with(sim, ErrorCode::kInvalidArgs);
        EXPECT_EQ(sim.status().error.submit_line.load_relaxed(), kRefusedSubmit.line);
        EXPECT_EQ(sim.status().error.arg.load_relaxed(), use == Use::kValue ? kNoArg : 0u);
        EXPECT_EQ(sim.data().values<std::int64_t>(0)[0], 0) << "the task ran";
      }
}

// Names a task that no submit made.
struct NobodysHandle : SmallWorkload {
  using Kernels = KernelList<Nop>;
  static inline bool listed = false;
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch);
    const TaskHandle nobody;
    if (listed)
      orch.template submit<Nop>(Args().after(&nobody, 1), kRefusedSubmit);
    else
      orch.template submit<Nop>(Args().after(Submitted()), kRefusedSubmit);
  }
};

TEST(RuntimeRefusals, ATaskThatNobodyMadeIsNotWaitedFor) {
  for (const bool listed : {false, true}) {
    NobodysHandle::listed = listed;
    SimMachine<NobodysHandle> sim(small_setup());
    sim.run();
    expect_ended_with(sim, ErrorCode::kInvalidArgs);
    EXPECT_EQ(sim.status().error.submit_line.load_relaxed(), kRefusedSubmit.line);
    EXPECT_EQ(sim.completed(), 0u);
  }
}

struct Nested : SmallWorkload {
  using Kernels = KernelList<Nop>;
  static inline int levels = 0;
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs&) {
    nest(orch, 1);
  }
  template <class Orch>
  static void nest(Orch& orch, std::uint32_t level) {
    Scope scope(orch, Site{"program.cpp", level});
    orch.template submit<Nop>(Args());
    if (static_cast<int>(level) < levels) nest(orch, level + 1);
  }
};

TEST(RuntimeRefusals, ScopesNestSixtyFourDeepAndNoDeeper) {
  Nested::levels = 64;
  SimMachine<Nested> fits(small_setup());
  fits.run();
  EXPECT_EQ(to_text(fits.error()), "NONE");
  EXPECT_EQ(fits.completed(), 64u);
  EXPECT_EQ(fits.status().rings[3].head.load_relaxed(), 61u);
  EXPECT_TRUE(fits.all_returned());

  Nested::levels = 70;
  SimMachine<Nested> deep(small_setup());
  deep.run();
  expect_ended_with(deep, ErrorCode::kScopeDepthExceeded);
  EXPECT_EQ(deep.status().error.capacity.load_relaxed(), 64u);
  EXPECT_EQ(deep.status().error.scope_line.load_relaxed(), 64u) << "the innermost open one";
  EXPECT_EQ(deep.status().error.submit_line.load_relaxed(), 65u) << "the one that is too deep";
  EXPECT_EQ(deep.status().submitted.load_relaxed(), 64u);
}

// Gives up, and goes on calling everything there is.
struct DeafToErrors : SmallWorkload {
  using Kernels = KernelList<Fill, AddOne, Nop>;
  static inline bool harmless = false;
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch, kRefusedScope);
    const auto made = fill(orch);
    orch.fatal("the input is unusable", kRefusedSubmit);
    orch.fatal("a later reason", Site{"other.cpp", 1});
    harmless = orch.failed() && made.valid();
    for (int i = 0; i < 100; ++i) {
      Scope inner(orch);
      const auto refused = fill(orch);
      const TensorRef empty = refused.output(0);
      const TensorRef view = empty.slice(0, 1, 2).transpose(0, 0).reshape({1, {2}});
      const auto next = orch.template submit<AddOne>(Args().inout(view).after(refused));
      const auto mixed = orch.template submit_mix<void, Nop, Nop>(Args());
      const auto dummy = orch.submit_dummy(Args().in(view).after(refused));
      const auto memory = orch.allocate(Args().out({1, {~0ull}}, DType::kInt64));
      harmless = harmless && !refused.valid() && !next.valid() && !mixed.valid() &&
                 !dummy.valid() && !memory.valid() && !empty.exists && !view.exists &&
                 !memory.output(7).exists &&
                 orch.template value<std::int64_t>(made.output(0), 0) == 0;
    }
  }
  template <class Orch>
  static Submitted fill(Orch& orch) {
    return orch.template submit<Fill>(Args().out({1, {4}}, DType::kInt64).scalar(std::int64_t{7}));
  }
};

TEST(RuntimeRefusals, AfterAnErrorEveryCallIsHarmless) {
  for (const BuildKind build :
       {BuildKind::kTensorMap, BuildKind::kExplicit, BuildKind::kHostBuild}) {
    DeafToErrors::harmless = false;
    WorkloadSetup setup = small_setup();
    setup.config.build = build;
    SimMachine<DeafToErrors> sim(setup);
    sim.run();
    EXPECT_TRUE(DeafToErrors::harmless);
    expect_ended_with(sim, ErrorCode::kExplicitOrchFatal);
    const LatchedError& error = sim.status().error;
    EXPECT_STREQ(error.text, "the input is unusable");
    EXPECT_STREQ(error.submit_file, "program.cpp");
    EXPECT_EQ(error.submit_line.load_relaxed(), kRefusedSubmit.line);
    EXPECT_EQ(error.scope_line.load_relaxed(), kRefusedScope.line);
    EXPECT_EQ(sim.status().submitted.load_relaxed(), 1u);
    EXPECT_EQ(sim.status().scopes.load_relaxed(), 1u);
  }
}

struct Empty : SmallWorkload {
  using Kernels = KernelList<Nop>;
  static inline bool scope = false;
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs&) {
    if (!scope) return;
    Scope root(orch);
    Scope inner(orch);
  }
};

TEST(RuntimeRefusals, ARunWithoutTasksEnds) {
  for (const bool scope : {false, true})
    for (const BuildKind build :
         {BuildKind::kTensorMap, BuildKind::kExplicit, BuildKind::kHostBuild}) {
      Empty::scope = scope;
      WorkloadSetup setup = small_setup();
      setup.config.build = build;
      SimMachine<Empty> sim(setup);
      sim.run();
      expect_ended_with(sim, ErrorCode::kNone);
      EXPECT_EQ(sim.completed(), 0u);
    }
}

struct WaitsForAnElement : SmallWorkload {
  using Kernels = KernelList<FillBehindGate, Fill>;
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch, kRefusedScope);
    const auto made =
        orch.template submit<Fill>(Args().out({1, {4}}, DType::kInt64).scalar(std::int64_t{7}));
    orch.template submit<FillBehindGate>(
        Args().inout(made.output(0)).scalar(std::uint64_t{0}).scalar(std::int64_t{8}));
    EXPECT_EQ(orch.template value<std::int64_t>(made.output(0), 2, kRefusedSubmit), 0);
    EXPECT_TRUE(orch.failed());
    gates_given_up.store(true);
  }
};

TEST(RuntimeRefusals, AnElementIsNotWaitedForLongerThanAllowed) {
  constexpr std::uint64_t kLimitTicks = 1'000'000'000;
  shut_gates();
  WorkloadSetup setup = small_setup();
  // Kernels have the same limit, and half of it more while the orchestration waits for them.
  setup.config.task_timeout_ticks = kLimitTicks;
  SimMachine<WaitsForAnElement> sim(setup);
  sim.run();
  expect_ended_with(sim, ErrorCode::kTensorWaitTimeout);
  const LatchedError& error = sim.status().error;
  EXPECT_GT(error.used.load_relaxed(), kLimitTicks);
  EXPECT_EQ(error.capacity.load_relaxed(), kLimitTicks);
  EXPECT_EQ(error.submit_line.load_relaxed(), kRefusedSubmit.line);
  EXPECT_EQ(error.scope_line.load_relaxed(), kRefusedScope.line);
  EXPECT_EQ(error.task_id.load_relaxed(), TaskId::make(0, 0).value);
}

// Memory that is there at once cannot wait for anybody.
struct AllocationThatWaits : SmallWorkload {
  using Kernels = KernelList<Nop, Fill>;
  static inline bool after = false;
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch);
    const auto made =
        orch.template submit<Fill>(Args().out({1, {4}}, DType::kInt64).scalar(std::int64_t{7}));
    Args args;
    args.out({1, {4}}, DType::kInt64);
    if (after)
      args.after(made);
    else
      args.in(made.output(0));
    orch.allocate(args, kRefusedSubmit);
  }
};

TEST(RuntimeRefusals, AnAllocationTakesOutputsOnly) {
  for (const bool after : {false, true}) {
    AllocationThatWaits::after = after;
    SimMachine<AllocationThatWaits> sim(small_setup());
    sim.run();
    expect_ended_with(sim, ErrorCode::kInvalidArgs);
    EXPECT_STREQ(sim.status().error.kernel, "allocate");
    EXPECT_EQ(sim.status().error.arg.load_relaxed(), after ? kNoArg : 1u);
  }
}

struct SlowOnAFullRing : SmallWorkload {
  // Begins to be slow when somebody waits for it.
  struct Slow : WaitForOrchestrator {
    template <class Block>
    static void run(Block& block, const TaskArgs& args) {
      WaitForOrchestrator::run(block, args);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  };
  using Kernels = KernelList<Slow, Nop>;
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch);
    for (int i = 0; i < 10; ++i) {
      Scope inner(orch);
      if (i == 0)
        orch.template submit<Slow>(
            Args().scalar(static_cast<std::uint32_t>(Resource::kTaskWindow)));
      for (int j = 0; j < 2; ++j) orch.template submit<Nop>(Args());
    }
  }
};

TEST(RuntimeRefusals, SlowIsNoDeadlock) {
  shut_gates();
  WorkloadSetup setup = small_setup();
  setup.config.rings[1].task_window = 4;
  SimMachine<SlowOnAFullRing> sim(setup);
  WaitForOrchestrator::status = &sim.status();
  sim.run();
  expect_ended_with(sim, ErrorCode::kNone);
  EXPECT_EQ(sim.completed(), 21u);
  const BackpressureStatus& told = sim.status().backpressure;
  EXPECT_GT(told.waits.load_relaxed(), 0u);
  EXPECT_EQ(told.ring.load_relaxed(), 1u);
  EXPECT_EQ(told.resource.load_relaxed(), Resource::kTaskWindow);
}

}  // namespace
}  // namespace tidemark::small
