// SPDX-License-Identifier: Apache-2.0
// The pools of the runtime when they are empty: dependency entries, places in lists of producers,
// the tensor map. What a completion will free is waited for; only what is proven is called so.
#include <gtest/gtest.h>

#include "tests/limits_fixture.h"

namespace tidemark::small {
namespace {

// A producer for each element of an external buffer, and one consumer of them all.
struct ManyProducers : SmallWorkload {
  using Kernels = KernelList<FillBehindGate, Sum>;
  static constexpr std::uint64_t kProducers = 200;
  static inline bool gate_first = false;  // producers are held until the consumer is submitted
  static void prepare(const WorkloadSetup&, EntryData& data) {
    data.add<std::int64_t>({1, {kProducers}}, [](std::uint64_t) { return 0; });
    data.add<std::int64_t>({1, {1}}, [](std::uint64_t) { return 0; });
  }
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    Scope root(orch, kScopeSite);
    const TensorRef all = entry.tensor(0);
    if (!gate_first) gates[0].open();
    for (std::uint64_t i = 0; i < kProducers; ++i)
      orch.template submit<FillBehindGate>(Args()
                                               .inout(all.slice(0, i, 1))
                                               .scalar(std::uint64_t{0})
                                               .scalar(static_cast<std::int64_t>(i)));
    if (!gate_first)
      for (std::uint64_t i = 0; i < kProducers; ++i) orch.template value<std::int64_t>(all, i);
    orch.template submit<Sum>(Args().in(all).out_existing(entry.tensor(1)), kSubmitSite);
    gates[0].open();
  }
};

TEST(RuntimePools, OneTaskWaitsForTwoHundredProducers) {
  for (const bool gate_first : {true, false}) {
    shut_gates();
    ManyProducers::gate_first = gate_first;
    WorkloadSetup setup = small_setup();
    // Exactly what it needs: an entry per unfinished producer, and one per producer beyond the
    // slot's.
    setup.config.rings[0].dep_pool = gate_first ? 200 : 200 - kFaninInline;
    SimMachine<ManyProducers> sim(setup);
    sim.run();
    EXPECT_EQ(to_text(sim.error()), "NONE");
    EXPECT_EQ(sim.data().values<std::int64_t>(1)[0], 200 * 199 / 2);
    EXPECT_EQ(sim.watch().pairs().size(), 200u);
    EXPECT_EQ(sim.status().rings[0].fanin_head.load_relaxed(), 200u - kFaninInline);
    EXPECT_TRUE(sim.all_returned());
  }
}

TEST(RuntimePools, ADependencyPoolThatIsTooSmallIsToldWhereThatIsProven) {
  shut_gates();
  ManyProducers::gate_first = true;
  WorkloadSetup setup = small_setup();
  setup.config.rings[0].dep_pool = 199;
  setup.config.build = BuildKind::kHostBuild;  // nothing runs yet, so nothing completes
  SimMachine<ManyProducers> deps(setup);
  deps.run();
  expect_error(deps.status(), ErrorCode::kDepPoolOverflow, Resource::kDepPool, 0, 199, 199);
  EXPECT_STREQ(deps.status().error.kernel, "sum");
  expect_all_left(deps.status(), setup.config);

  shut_gates();
  setup.config.build = BuildKind::kTensorMap;
  ManyProducers::gate_first = false;
  setup.config.rings[0].dep_pool = 200 - kFaninInline - 1;
  SimMachine<ManyProducers> fanin(setup);
  fanin.run();
  expect_error(fanin.status(), ErrorCode::kDepPoolOverflow, Resource::kFanin, 0,
               200 - kFaninInline - 1, 200 - kFaninInline - 1);
  expect_all_left(fanin.status(), setup.config);
}

// Many tasks of one open scope wait for one that is slow: the pool is empty until it completes.
struct ManyWaiters : SmallWorkload {
  using Kernels = KernelList<WaitForOrchestrator, Nop>;
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch, kScopeSite);
    const auto slow = orch.template submit<WaitForOrchestrator>(
        Args().scalar(static_cast<std::uint32_t>(Resource::kDepPool)));
    for (int i = 0; i < 12; ++i) orch.template submit<Nop>(Args().after(slow), kSubmitSite);
  }
};

TEST(RuntimePools, DependencyEntriesAreWaitedForWhileATaskIsUnfinished) {
  for (const BuildKind build : {BuildKind::kTensorMap, BuildKind::kExplicit}) {
    shut_gates();
    WorkloadSetup setup = small_setup();
    setup.config.build = build;
    setup.config.rings[0].dep_pool = 8;
    SimMachine<ManyWaiters> sim(setup);
    WaitForOrchestrator::status = &sim.status();
    sim.run();
    EXPECT_EQ(to_text(sim.error()), "NONE");
    EXPECT_EQ(sim.completed(), 13u);
    EXPECT_TRUE(sim.all_returned());
  }
}

// A kernel that waits for what comes behind the full pool: not the pool is named, but the kernel.
TEST(RuntimePools, AKernelThatHoldsAFullPoolForEverIsNamedAsStuck) {
  shut_gates();
  ManyProducers::gate_first = true;
  WorkloadSetup setup = small_setup();
  setup.config.rings[0].dep_pool = 199;
  setup.config.task_timeout_ticks = 200'000'000;
  SimMachine<ManyProducers> sim(setup);
  sim.run([&] {
    if (sim.error() != ErrorCode::kNone) gates_given_up.store(true);
    return false;
  });
  EXPECT_EQ(to_text(sim.error()), to_text(ErrorCode::kSchedulerTimeout));
  EXPECT_EQ(to_text(sim.status().error.hang_class.load_relaxed()),
            to_text(HangClass::kRunningStalled));
  EXPECT_LT(TaskId{sim.status().error.task_id.load_relaxed()}.local(), 200u);
}

// Writes `tasks` single elements in place, each in a scope of its own or all in one.
struct ManyEntries : SmallWorkload {
  using Kernels = KernelList<AddOne>;
  static inline std::uint64_t tasks = 0;
  static inline bool own_scopes = false;
  static void prepare(const WorkloadSetup&, EntryData& data) {
    data.add<std::int64_t>({1, {256}}, [](std::uint64_t i) { return static_cast<int>(i); });
  }
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    Scope root(orch, kScopeSite);
    for (std::uint64_t i = 0; i < tasks; ++i) {
      Args args;
      args.inout(entry.tensor(0).slice(0, i, 1));
      if (own_scopes) {
        Scope inner(orch);
        orch.template submit<AddOne>(args, kSubmitSite);
      } else {
        orch.template submit<AddOne>(args, kSubmitSite);
      }
    }
  }
};

TEST(RuntimePools, AFullTensorMapIsToldWhenNothingCanLeaveIt) {
  WorkloadSetup setup = small_setup();
  setup.config.build = BuildKind::kHostBuild;  // nothing completes while the graph is built
  setup.config.tensormap_entries = 16;
  ManyEntries::own_scopes = false;
  ManyEntries::tasks = 16;
  SimMachine<ManyEntries> fits(setup);
  fits.run();
  EXPECT_EQ(to_text(fits.error()), "NONE");
  ManyEntries::tasks = 17;
  SimMachine<ManyEntries> full(setup);
  full.run();
  expect_error(full.status(), ErrorCode::kTensormapOverflow, Resource::kTensorMap, 0, 16, 16);
  expect_all_left(full.status(), setup.config);
}

// Tasks of one scope, or of scopes of their own, with as many arguments as the test says.
struct ManyArguments : SmallWorkload {
  struct Look {
    static constexpr KernelInfo kInfo{
        .name = "look",
        .core = CoreType::kAiv,
        .args = {inout("sum", DType::kInt64), in("a", DType::kInt64), in("b", DType::kInt64),
                 in("c", DType::kInt64), scalar("n", DType::kInt64)}};
    template <class Block>
    static void run(Block&, const TaskArgs& args) {
      for (std::uint32_t i = 1; i < 4; ++i)
        args.tensor<std::int64_t>(0)[0] += args.tensor<std::int64_t>(i)[0];
      args.tensor<std::int64_t>(0)[0] += args.scalar<std::int64_t>(0);
    }
  };
  // Four tensors and a scalar.
  static constexpr std::uint64_t kBytes = round_up(4 * sizeof(StoredTensor) + 16, 64);
  using Kernels = KernelList<Look>;
  static inline std::uint64_t tasks = 0;
  static inline bool own_scopes = false;
  static void prepare(const WorkloadSetup&, EntryData& data) {
    data.add<std::int64_t>({1, {4}}, [](std::uint64_t i) { return i == 0 ? 0 : 1; });
  }
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    Scope root(orch, kScopeSite);
    const TensorRef all = entry.tensor(0);
    for (std::uint64_t i = 0; i < tasks; ++i) {
      Args args;
      for (std::uint64_t j = 0; j < 4; ++j)
        j == 0 ? args.inout(all.slice(0, j, 1)) : args.in(all.slice(0, j, 1));
      args.scalar(static_cast<std::int64_t>(i));
      if (own_scopes) {
        Scope inner(orch);
        orch.template submit<Look>(args, kSubmitSite);
      } else {
        orch.template submit<Look>(args, kSubmitSite);
      }
    }
  }
};

TEST(RuntimePools, ArgumentsAreAResourceLikeTheOthers) {
  constexpr std::uint64_t kRoom = kArgsBytesMin / ManyArguments::kBytes;
  WorkloadSetup setup = small_setup();
  for (RingSizes& ring : setup.config.rings) ring.args_bytes = kArgsBytesMin;
  ManyArguments::own_scopes = false;
  ManyArguments::tasks = kRoom;
  SimMachine<ManyArguments> fits(setup);
  fits.run();
  EXPECT_EQ(to_text(fits.error()), "NONE");
  EXPECT_TRUE(fits.all_returned());
  ManyArguments::tasks = kRoom + 1;
  SimMachine<ManyArguments> full(setup);
  full.run();
  expect_error(full.status(), ErrorCode::kHeapRingDeadlock, Resource::kArguments, 0,
               kRoom * ManyArguments::kBytes, kArgsBytesMin);
  EXPECT_EQ(full.status().error.requested.load_relaxed(), 4 * sizeof(StoredTensor) + 16);
  expect_all_left(full.status(), setup.config);
  // What a closed scope gives back is used again, also around the end of the memory.
  ManyArguments::own_scopes = true;
  ManyArguments::tasks = 40 * kRoom;
  SimMachine<ManyArguments> laps(setup);
  laps.run();
  EXPECT_EQ(to_text(laps.error()), "NONE");
  EXPECT_TRUE(laps.all_returned());
  const auto n = static_cast<std::int64_t>(ManyArguments::tasks);
  EXPECT_EQ(laps.data().values<std::int64_t>(0)[0], 3 * n + n * (n - 1) / 2);
}

// The numbers of a ring's tasks pass 2^32, where the low bits of their ids begin anew.
struct ManyDays : SmallWorkload {
  using Kernels = KernelList<Fill, AddOne>;
  static constexpr std::uint64_t kFirst = (std::uint64_t{5} << 32) - 30;
  static void prepare(const WorkloadSetup&, EntryData& data) {
    data.add<std::int64_t>({1, {1}}, [](std::uint64_t) { return 0; });
  }
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    for (std::uint32_t ring = 0; ring < 2; ++ring) orch.rings().ring(ring).window.start_at(kFirst);
    Scope root(orch);
    for (std::int64_t i = 0; i < 50; ++i) {
      Scope inner(orch);
      const auto made = orch.template submit<Fill>(Args().out({1, {4}}, DType::kInt64).scalar(i));
      orch.template submit<AddOne>(Args().inout(made.output(0)));
      EXPECT_EQ(orch.template value<std::int64_t>(made.output(0), 3), i + 1);
      orch.template submit<AddOne>(Args().inout(entry.tensor(0)).after(made));
    }
  }
};

TEST(RuntimePools, TaskIdsDoNotRepeatWhenTheirLowBitsDo) {
  WorkloadSetup setup = small_setup(2);
  setup.config.rings[1].task_window = 16;
  SimMachine<ManyDays> sim(setup);
  sim.run();
  EXPECT_EQ(to_text(sim.error()), "NONE");
  EXPECT_EQ(sim.data().values<std::int64_t>(0)[0], 50);
  const auto& tasks = sim.watch().tasks;
  ASSERT_EQ(tasks.size(), 150u);
  for (std::uint64_t i = 0; i < tasks.size(); ++i) {
    EXPECT_EQ(tasks[i].ring(), 1u);
    EXPECT_EQ(tasks[i].lap() << 32 | tasks[i].local(), ManyDays::kFirst + i);
  }
  EXPECT_EQ(tasks[29].lap(), 4u);
  EXPECT_EQ(tasks[30].lap(), 5u);
  EXPECT_EQ(sim.watch().reclaimed_tasks.size(), 150u);
}

// One task that writes more tensors in place than the map has entries.
struct LargeSubmit : SmallWorkload {
  struct AddToAll {
    static constexpr KernelInfo kInfo{
        .name = "add_to_all",
        .core = CoreType::kAiv,
        .args = {inout("a", DType::kInt64), inout("b", DType::kInt64), inout("c", DType::kInt64),
                 inout("d", DType::kInt64)}};
    template <class Block>
    static void run(Block&, const TaskArgs& args) {
      for (std::uint32_t i = 0; i < 4; ++i) args.tensor<std::int64_t>(i)[0] += 1;
    }
  };
  using Kernels = KernelList<AddOne, AddToAll>;
  static void prepare(const WorkloadSetup&, EntryData& data) {
    data.add<std::int64_t>({1, {8}}, [](std::uint64_t) { return 0; });
  }
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    Scope root(orch, kScopeSite);
    const TensorRef all = entry.tensor(0);
    orch.template submit<AddOne>(Args().inout(all.slice(0, 4, 1)), kSubmitSite);
    Args args;
    for (std::uint64_t i = 0; i < 4; ++i) args.inout(all.slice(0, i, 1));
    orch.template submit<AddToAll>(args, kSubmitSite);
  }
};

TEST(RuntimePools, ASubmitThatIsLargerThanTheTensorMapIsTold) {
  WorkloadSetup setup = small_setup();
  setup.config.tensormap_entries = 4;
  SimMachine<LargeSubmit> fits(setup);
  fits.run();
  EXPECT_EQ(to_text(fits.error()), "NONE");
  EXPECT_TRUE(fits.all_returned());
  setup.config.tensormap_entries = 3;
  SimMachine<LargeSubmit> large(setup);
  large.run();
  expect_error(large.status(), ErrorCode::kTensormapOverflow, Resource::kTensorMap, 0, 3, 3);
  EXPECT_STREQ(large.status().error.kernel, "add_to_all");
  expect_all_left(large.status(), setup.config);
}

TEST(RuntimePools, AMapOfOneEntryServesAnyNumberOfTasks) {
  WorkloadSetup setup = small_setup();
  setup.config.tensormap_entries = 1;
  setup.config.rings[0].task_window = 512;
  for (const bool own_scopes : {true, false}) {
    ManyEntries::own_scopes = own_scopes;
    ManyEntries::tasks = 256;
    SimMachine<ManyEntries> sim(setup);
    sim.run();
    EXPECT_EQ(to_text(sim.error()), "NONE");
    for (std::uint64_t i = 0; i < 256; ++i)
      ASSERT_EQ(sim.data().values<std::int64_t>(0)[i], static_cast<std::int64_t>(i + 1));
    EXPECT_TRUE(sim.all_returned());
  }
}

}  // namespace
}  // namespace tidemark::small
