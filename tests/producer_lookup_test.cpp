// SPDX-License-Identifier: Apache-2.0
// A task that finds its producers while space runs out: what is reclaimed meanwhile must not hide
// a producer, and no edge is told twice.
#include <gtest/gtest.h>

#include "tests/small_workload.h"
#include "tidemark/device/platform_table.h"

namespace tidemark::small {
namespace {

struct AddTwice {
  static constexpr KernelInfo kInfo{
      .name = "add_twice", .core = CoreType::kAiv, .args = {inout("one"), inout("other")}};
  template <class Block>
  static void run(Block&, const TaskArgs& args) {
    args.tensor<std::int64_t>(0)[0] += 1;
    args.tensor<std::int64_t>(1)[0] += 1;
  }
};

// The reader finds a slow writer of the upper half of X, waits for a dependency entry, and must
// then still find the slow writer of the lower half. Between the two stands an entry of the same
// bucket that goes while it waits.
struct ReclaimWhileLookingUp : SmallWorkload {
  using Kernels = KernelList<WaitForOrchestrator, FillBehindGate, Fill, AddOne, Sum, Nop>;
  static constexpr std::uint64_t kHalf = 8;

  static void prepare(const WorkloadSetup&, EntryData& data) {
    data.add<std::int64_t>({1, {2 * kHalf}}, [](std::uint64_t) { return 1000; });
    data.add<std::int64_t>({1, {1}}, [](std::uint64_t) { return 0; });
  }

  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    const TensorRef x = entry.tensor(0), result = entry.tensor(1);
    Scope root(orch);
    const auto gate = orch.template submit<WaitForOrchestrator>(
        Args().scalar(static_cast<std::uint32_t>(Resource::kDepPool)));
    orch.template submit<FillBehindGate>(
        Args().inout(x.slice(0, 0, kHalf)).scalar(std::uint64_t{1}).scalar(std::int64_t{1}));
    add_neighbours(orch, x.view.buffer);
    orch.template submit<FillBehindGate>(
        Args().inout(x.slice(0, kHalf, kHalf)).scalar(std::uint64_t{1}).scalar(std::int64_t{10}));
    {
      Scope full(orch);
      for (int i = 0; i < 4; ++i) orch.template submit<Nop>(Args().after(gate));
    }
    {  // the four finish while the reader waits for their entries
      Scope reading(orch);
      orch.template submit<Sum>(Args().in(x).out_existing(result));
    }
    gates[1].open();
  }

  // Entries of other buffers in the bucket of `buffer`: their memory is given back when there is
  // need of space.
  template <class Orch>
  static void add_neighbours(Orch& orch, std::uint64_t buffer) {
    const std::uint64_t mask = map_buckets(kMapEntries) - 1;
    Scope one(orch), two(orch);
    for (int i = 0; i < 64; ++i) {
      const auto made =
          orch.template submit<Fill>(Args().out({1, {4}}, DType::kInt64).scalar(std::int64_t{5}));
      const TensorRef other = made.output(0);
      if ((mix(other.view.buffer) & mask) != (mix(buffer) & mask)) continue;
      orch.template submit<AddOne>(Args().inout(other));
      EXPECT_EQ(orch.template value<std::int64_t>(other, 3), 6);
      ++neighbours;
    }
  }
  static constexpr std::uint32_t kMapEntries = 64;
  static inline int neighbours = 0;
};

TEST(ProducerLookup, FindsEveryWriterAlsoWhenEntriesGoWhileItWaitsForSpace) {
  shut_gates();
  ReclaimWhileLookingUp::neighbours = 0;
  WorkloadSetup setup = small_setup(2);
  setup.config.tensormap_entries = ReclaimWhileLookingUp::kMapEntries;
  setup.config.rings[1].dep_pool = 4;
  setup.config.mailbox_depth = 1;  // nothing stands behind a kernel that waits at a gate
  SimMachine<ReclaimWhileLookingUp> sim(setup);
  WaitForOrchestrator::status = &sim.status();
  sim.run();
  EXPECT_EQ(to_text(sim.error()), "NONE");
  EXPECT_GT(ReclaimWhileLookingUp::neighbours, 0);
  const std::uint64_t reader = TaskId::make(1, 4).value;
  std::set<std::uint64_t> producers;
  for (const auto& [first, second] : sim.watch().pairs())
    if (second == reader) producers.insert(first);
  EXPECT_EQ(producers,
            (std::set<std::uint64_t>{TaskId::make(0, 1).value, TaskId::make(0, 2).value}));
  EXPECT_EQ(sim.data().values<std::int64_t>(1)[0], 88);
}

// The reader finds a slow writer, then quick ones, then the slow writer of the beginning. While it
// waits for a dependency entry the quick ones are retired, and not all of them fit into the map.
struct EvictWhileLookingUp : SmallWorkload {
  using Kernels = KernelList<WaitForOrchestrator, FillBehindGate, AddOne, Sum, Nop>;
  static constexpr std::uint64_t kQuick = 12;

  static void prepare(const WorkloadSetup&, EntryData& data) {
    data.add<std::int64_t>({1, {kQuick + 2}}, [](std::uint64_t) { return 1; });
    data.add<std::int64_t>({1, {1}}, [](std::uint64_t) { return 0; });
  }
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    const TensorRef x = entry.tensor(0), result = entry.tensor(1);
    const auto fill_slowly = [&](std::uint64_t place) {
      orch.template submit<FillBehindGate>(
          Args().inout(x.slice(0, place, 1)).scalar(std::uint64_t{1}).scalar(std::int64_t{10}));
    };
    Scope root(orch);
    const auto gate = orch.template submit<WaitForOrchestrator>(
        Args().scalar(static_cast<std::uint32_t>(Resource::kDepPool)));
    fill_slowly(0);
    {
      Scope one(orch);
      {
        Scope two(orch);
        for (std::uint64_t i = 0; i < kQuick; ++i)
          orch.template submit<AddOne>(Args().inout(x.slice(0, 1 + i, 1)));
        for (std::uint64_t i = 0; i < kQuick; ++i)
          EXPECT_EQ(orch.template value<std::int64_t>(x.slice(0, 1 + i, 1), 0), 2);
      }
      for (int i = 0; i < 4; ++i) orch.template submit<Nop>(Args().after(gate));
    }
    fill_slowly(kQuick + 1);
    {  // the four finish while the reader waits for their entries
      Scope reading(orch);
      orch.template submit<Sum>(Args().in(x).out_existing(result));
    }
    gates[1].open();
  }
};

TEST(ProducerLookup, ReportsWhatItFoundAlsoWhenThatIsEvictedMeanwhile) {
  shut_gates();
  WorkloadSetup setup = small_setup(2);
  setup.config.tensormap_entries = EvictWhileLookingUp::kQuick + 4;
  setup.config.rings[1].dep_pool = 4;
  setup.config.mailbox_depth = 1;  // nothing is queued behind a kernel that waits at a gate
  SimMachine<EvictWhileLookingUp> sim(setup);
  WaitForOrchestrator::status = &sim.status();
  sim.run();
  EXPECT_EQ(to_text(sim.error()), "NONE");
  EXPECT_GT(sim.status().map_evictions.load_relaxed(), 0u);
  const std::uint64_t reader = TaskId::make(1, 4).value;
  std::vector<std::uint64_t> producers;
  for (const GraphEdge& edge : sim.watch().edges)
    if (edge.consumer.value == reader) producers.push_back(edge.producer.value);
  std::vector<std::uint64_t> expected{TaskId::make(0, 2).value};
  for (std::uint32_t i = EvictWhileLookingUp::kQuick; i-- > 0;)
    expected.push_back(TaskId::make(2, i).value);
  expected.push_back(TaskId::make(0, 1).value);
  EXPECT_EQ(producers, expected) << "newest first";
  EXPECT_EQ(sim.data().values<std::int64_t>(1)[0], 20 + 2 * 12);
}

// Writers in scopes of their own, gone or not when one reads all they wrote.
struct ManyWriters : SmallWorkload {
  using Kernels = KernelList<AddOne, Sum>;
  static constexpr std::uint64_t kWriters = 2000;
  static void prepare(const WorkloadSetup&, EntryData& data) {
    data.add<std::int64_t>({1, {kWriters}}, [](std::uint64_t) { return 0; });
    data.add<std::int64_t>({1, {1}}, [](std::uint64_t) { return 0; });
  }
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    const TensorRef x = entry.tensor(0);
    Scope root(orch);
    for (std::uint64_t i = 0; i < kWriters; ++i) {
      Scope inner(orch);
      orch.template submit<AddOne>(Args().inout(x.slice(0, i, 1)));
    }
    orch.template submit<Sum>(Args().in(x).out_existing(entry.tensor(1)));
  }
};

TEST(ProducerLookup, GivesTheSameEdgesHoweverFastTheWritersAre) {
  for (const char* platform : {"sim", "a2a3sim", "a5sim"})
    for (int round = 0; round < 5; ++round) {
      WorkloadSetup setup = small_setup(cluster_count_of(*find_platform(platform)));
      setup.config.scheduler_count = find_platform(platform)->scheduler_count;
      setup.config.rings[0].dep_pool = 4096;
      SimMachine<ManyWriters> sim(setup);
      sim.run();
      EXPECT_EQ(to_text(sim.error()), "NONE");
      EXPECT_EQ(sim.status().map_evictions.load_relaxed(), 0u);
      ASSERT_EQ(sim.watch().edges.size(), ManyWriters::kWriters) << platform;
      for (std::uint32_t i = 0; i < ManyWriters::kWriters; ++i) {
        const GraphEdge& edge = sim.watch().edges[i];
        ASSERT_EQ(edge.producer.value, TaskId::make(1, ManyWriters::kWriters - 1 - i).value)
            << "newest first";
        ASSERT_EQ(edge.consumer.value, TaskId::make(0, 0).value);
        ASSERT_EQ(edge.overlap, ViewOverlap::kPartial);
      }
      EXPECT_EQ(sim.data().values<std::int64_t>(1)[0],
                static_cast<std::int64_t>(ManyWriters::kWriters));
    }
}

// Many tasks each write two elements of X and are retired; one reads all of it.
struct RetiredWriters : SmallWorkload {
  using Kernels = KernelList<AddOne, AddTwice, Sum>;
  static constexpr std::uint64_t kWriters = 100;
  static void prepare(const WorkloadSetup&, EntryData& data) {
    data.add<std::int64_t>({1, {2 * kWriters}}, [](std::uint64_t) { return 0; });
    data.add<std::int64_t>({1, {1}}, [](std::uint64_t) { return 0; });
  }
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    const TensorRef x = entry.tensor(0);
    Scope root(orch);
    for (std::uint64_t i = 0; i < kWriters; ++i) {
      Scope inner(orch);
      orch.template submit<AddTwice>(
          Args().inout(x.slice(0, i, 1)).inout(x.slice(0, 2 * kWriters - 1 - i, 1)));
    }
    orch.template submit<Sum>(Args().in(x).out_existing(entry.tensor(1)));
  }
};

TEST(ProducerLookup, TellsAnEdgeOnceHoweverManyOfItsProducersAreGone) {
  for (const BuildKind build : {BuildKind::kTensorMap, BuildKind::kHostBuild}) {
    WorkloadSetup setup = small_setup();
    setup.config.build = build;
    // Almost all of them are retired when the reader comes.
    if (build == BuildKind::kTensorMap) setup.config.rings[1].task_window = 4;
    SimMachine<RetiredWriters> sim(setup);
    sim.run();
    EXPECT_EQ(to_text(sim.error()), "NONE");
    EXPECT_EQ(sim.data().values<std::int64_t>(1)[0], static_cast<std::int64_t>(200));
    EXPECT_EQ(sim.watch().edges.size(), 100u);
    EXPECT_EQ(sim.watch().pairs().size(), 100u);
  }
}

// Two writers of all of X, seen in two ways; a reader waits for the second only.
struct Reshaped : SmallWorkload {
  using Kernels = KernelList<AddOne, Sum>;
  static void prepare(const WorkloadSetup&, EntryData& data) {
    data.add<std::int64_t>({2, {4, 6}}, [](std::uint64_t) { return 0; });
    data.add<std::int64_t>({1, {1}}, [](std::uint64_t) { return 0; });
  }
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    const TensorRef x = entry.tensor(0);
    Scope root(orch);
    orch.template submit<AddOne>(Args().inout(x));
    orch.template submit<AddOne>(Args().inout(x.reshape({3, {2, 2, 6}})));
    orch.template submit<Sum>(Args().in(x.reshape({1, {24}})).out_existing(entry.tensor(1)));
  }
};

TEST(ProducerLookup, AWriterSupersedesAnotherWhateverItsShape) {
  SimMachine<Reshaped> sim(small_setup());
  sim.run();
  EXPECT_EQ(to_text(sim.error()), "NONE");
  ASSERT_EQ(sim.watch().edges.size(), 2u);
  for (std::uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(sim.watch().edges[i].producer.value, TaskId::make(0, i).value);
    EXPECT_EQ(sim.watch().edges[i].consumer.value, TaskId::make(0, i + 1).value);
    EXPECT_EQ(sim.watch().edges[i].overlap, ViewOverlap::kCovered);
  }
  EXPECT_EQ(sim.data().values<std::int64_t>(1)[0], 48);
}

}  // namespace
}  // namespace tidemark::small
