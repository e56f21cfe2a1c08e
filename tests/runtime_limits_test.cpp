// SPDX-License-Identifier: Apache-2.0
// The runtime at the edge of its memory: what just fits passes, what waits is given its place, and
// what can never be freed is told at once, with the numbers.
#include <gtest/gtest.h>

#include "tests/limits_fixture.h"

namespace tidemark::small {
namespace {

// One scope, many tasks, each with an output of `bytes`; 0: none. What they do, the test says.
struct OneScope : SmallWorkload {
  using Kernels = KernelList<Fill, Nop>;
  static inline std::uint64_t tasks = 0, bytes = 0;
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch, kScopeSite);
    for (std::uint64_t i = 0; i < tasks; ++i) {
      if (bytes == 0)
        orch.template submit<Nop>(Args(), kSubmitSite);
      else
        orch.template submit<Fill>(
            Args().out({1, {bytes / 8}}, DType::kInt64).scalar(std::int64_t{1}), kSubmitSite);
    }
  }
};

// The same, but every task stands in a scope of its own.
struct ManyScopes : SmallWorkload {
  using Kernels = KernelList<Fill, AddOne>;
  static inline std::uint64_t scopes = 0, tasks_in_scope = 0, bytes = 0;
  static void prepare(const WorkloadSetup&, EntryData& data) {
    data.add<std::int64_t>({1, {1}}, [](std::uint64_t) { return 0; });
  }
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    Scope root(orch);
    for (std::uint64_t i = 0; i < scopes; ++i) {
      Scope inner(orch);
      for (std::uint64_t j = 0; j < tasks_in_scope; ++j) {
        // Sizes differ, so that the end of the heap is met at every place.
        const std::uint64_t count = (1 + (i + j) % 3) * bytes / 8;
        const auto made = orch.template submit<Fill>(
            Args().out({1, {count}}, DType::kInt64).scalar(static_cast<std::int64_t>(i)));
        if (j == 0) orch.template submit<AddOne>(Args().inout(made.output(0)));
      }
      orch.template submit<AddOne>(Args().inout(entry.tensor(0)));
    }
  }
};

TEST(RuntimeLimits, OutputsMayFillTheHeapExactly) {
  OneScope::tasks = 4;
  OneScope::bytes = 1024;
  WorkloadSetup setup = small_setup();
  setup.config.rings[0].heap_bytes = 4096;
  SimMachine<OneScope> sim(setup);
  sim.run();
  EXPECT_EQ(to_text(sim.error()), "NONE");
  EXPECT_EQ(sim.status().rings[0].heap_head.load_relaxed(), 4096u);
  EXPECT_TRUE(sim.all_returned());
}

TEST(RuntimeLimits, OneOutputMoreThanTheHeapHoldsIsAProvenDeadlock) {
  OneScope::tasks = 5;
  OneScope::bytes = 1024;
  WorkloadSetup setup = small_setup();
  setup.config.rings[0].heap_bytes = 4096;
  SimMachine<OneScope> sim(setup);
  sim.run();
  expect_error(sim.status(), ErrorCode::kHeapRingDeadlock, Resource::kHeap, 0, 4096, 4096);
  EXPECT_EQ(sim.status().error.requested.load_relaxed(), 1024u);
  EXPECT_EQ(sim.status().error.scope_line.load_relaxed(), kScopeSite.line);
  EXPECT_EQ(sim.status().error.task_id.load_relaxed(), TaskId::make(0, 4).value);
  EXPECT_STREQ(sim.status().error.kernel, "fill");
  EXPECT_EQ(sim.status().submitted.load_relaxed(), 4u);
  expect_all_left(sim.status(), setup.config);
}

TEST(RuntimeLimits, AFullHeapIsWaitedForWhenItsScopeIsClosed) {
  ManyScopes::scopes = 200;
  ManyScopes::tasks_in_scope = 1;
  ManyScopes::bytes = 1024;
  WorkloadSetup setup = small_setup();
  setup.config.rings[1].heap_bytes = 3072;  // the largest output fills it exactly
  SimMachine<ManyScopes> sim(setup);
  sim.run();
  EXPECT_EQ(to_text(sim.error()), "NONE");
  EXPECT_EQ(sim.data().values<std::int64_t>(0)[0], 200);
  EXPECT_GE(sim.status().rings[1].heap_head.load_relaxed(), 200u * 1024);
  EXPECT_TRUE(sim.all_returned());
}

TEST(RuntimeLimits, ATinyHeapWrapsManyTimes) {
  for (const std::uint64_t units : {7u, 8u, 9u, 11u, 16u}) {
    ManyScopes::scopes = 500;
    ManyScopes::tasks_in_scope = 2;
    ManyScopes::bytes = 1024;
    WorkloadSetup setup = small_setup(2);
    setup.config.rings[1].heap_bytes = units * 1024;
    SimMachine<ManyScopes> sim(setup);
    sim.run();
    ASSERT_EQ(to_text(sim.error()), "NONE") << units;
    EXPECT_EQ(sim.data().values<std::int64_t>(0)[0], 500);
    EXPECT_TRUE(sim.all_returned());
  }
}

// A task without memory is live while the empty heap of its ring starts anew.
struct NewStart : SmallWorkload {
  using Kernels = KernelList<Fill, AddOne>;
  static void prepare(const WorkloadSetup&, EntryData& data) {
    data.add<std::int64_t>({1, {1}}, [](std::uint64_t) { return 0; });
  }
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    Scope root(orch);
    for (int i = 0; i < 3; ++i) {
      Scope inner(orch);
      orch.template submit<AddOne>(Args().inout(entry.tensor(0)));  // finds the heap empty
      const auto made =
          orch.template submit<Fill>(Args().out({1, {4}}, DType::kInt64).scalar(std::int64_t{1}));
      EXPECT_EQ(orch.template value<std::int64_t>(made.output(0), 0), 1);
      EXPECT_EQ(orch.template value<std::int64_t>(entry.tensor(0), 0), i + 1);
    }
  }
};

TEST(RuntimeLimits, AnEmptyHeapStartsAnewBehindATaskWithoutOutputs) {
  SimMachine<NewStart> sim(small_setup());
  sim.run();
  EXPECT_EQ(to_text(sim.error()), "NONE");
  EXPECT_TRUE(sim.all_returned());
}

TEST(RuntimeLimits, AWindowOfFourSlotsGoesManyLaps) {
  ManyScopes::scopes = 3000;
  ManyScopes::tasks_in_scope = 1;
  ManyScopes::bytes = 1024;
  WorkloadSetup setup = small_setup(2);
  setup.config.rings[1].task_window = 4;
  SimMachine<ManyScopes> sim(setup);
  sim.run();
  EXPECT_EQ(to_text(sim.error()), "NONE");
  EXPECT_EQ(sim.status().rings[1].head.load_relaxed(), 9000u);
  EXPECT_EQ(sim.data().values<std::int64_t>(0)[0], 3000);
  EXPECT_TRUE(sim.all_returned());
  const auto& reclaimed = sim.watch().reclaimed_tasks;
  ASSERT_EQ(reclaimed.size(), 9000u);
  for (std::uint32_t i = 0; i < 9000; ++i) ASSERT_EQ(reclaimed[i].value, TaskId::make(1, i).value);
}

TEST(RuntimeLimits, AScopeHoldsOneTaskLessThanItsWindowHasSlots) {
  OneScope::bytes = 0;
  for (const BuildKind build :
       {BuildKind::kTensorMap, BuildKind::kExplicit, BuildKind::kHostBuild}) {
    WorkloadSetup setup = small_setup();
    setup.config.build = build;
    setup.config.rings[0].task_window = 16;
    OneScope::tasks = 15;
    SimMachine<OneScope> fits(setup);
    fits.run();
    EXPECT_EQ(to_text(fits.error()), "NONE");
    EXPECT_EQ(fits.completed(), 15u);
    OneScope::tasks = 16;
    SimMachine<OneScope> too_many(setup);
    too_many.run();
    expect_error(too_many.status(), ErrorCode::kScopeDeadlock, Resource::kTaskWindow, 0, 15, 16);
    EXPECT_STREQ(too_many.status().error.scope_file, kScopeSite.file);
    EXPECT_EQ(too_many.status().error.scope_line.load_relaxed(), kScopeSite.line);
    expect_all_left(too_many.status(), setup.config);
  }
}

// Two nested scopes share ring 3.
struct SharedRing : SmallWorkload {
  using Kernels = KernelList<Nop>;
  static inline int outer = 0, inner = 0;
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope depth0(orch), depth1(orch), depth2(orch), depth3(orch, kScopeSite);
    for (int i = 0; i < outer; ++i) orch.template submit<Nop>(Args(), kSubmitSite);
    Scope depth4(orch, kInnerSite);
    for (int i = 0; i < inner; ++i) orch.template submit<Nop>(Args(), kSubmitSite);
  }
};

TEST(RuntimeLimits, NestedScopesThatFillARingTogetherAreAFlowControlDeadlock) {
  WorkloadSetup setup = small_setup();
  setup.config.rings[3].task_window = 8;
  for (const int outer : {1, 3, 6}) {
    SharedRing::outer = outer;
    SharedRing::inner = 7 - outer;
    SimMachine<SharedRing> fits(setup);
    fits.run();
    EXPECT_EQ(to_text(fits.error()), "NONE");
    EXPECT_TRUE(fits.all_returned());
    SharedRing::inner = 8 - outer;
    SimMachine<SharedRing> full(setup);
    full.run();
    expect_error(full.status(), ErrorCode::kFlowControlDeadlock, Resource::kTaskWindow, 3, 7, 8);
    EXPECT_EQ(full.status().error.scope_line.load_relaxed(), kInnerSite.line);
    expect_all_left(full.status(), setup.config);
  }
}

TEST(RuntimeLimits, AnInnerScopeThatFillsASharedRingAloneIsAScopeDeadlock) {
  WorkloadSetup setup = small_setup();
  setup.config.rings[3].task_window = 8;
  SharedRing::outer = 0;
  SharedRing::inner = 8;
  SimMachine<SharedRing> sim(setup);
  sim.run();
  expect_error(sim.status(), ErrorCode::kScopeDeadlock, Resource::kTaskWindow, 3, 7, 8);
  EXPECT_EQ(sim.status().error.scope_line.load_relaxed(), kInnerSite.line);
}

}  // namespace
}  // namespace tidemark::small
