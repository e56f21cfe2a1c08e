// SPDX-License-Identifier: Apache-2.0
// A graph that was built on the host and runs again and again: every iteration is the whole graph,
// begins when the one before is over, and has ids of its own. The programs depend on the order in
// which their tasks run, so that one that ran twice, too early or not at all changes the result.
#include <atomic>
#include <mutex>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "tidemark/session/testing/sim_machine.h"
#include "workloads/bgemm.h"
#include "workloads/mixed_example.h"
#include "workloads/paged_attention.h"
#include "workloads/spmd_blocks.h"
#include "workloads/vector_example.h"

namespace tidemark {
namespace {

// What ran, in the order of time, of the test that is running.
struct RanBlock {
  std::uint64_t task_id;
  std::uint32_t block;
  bool operator<(const RanBlock& other) const {
    return std::pair(task_id, block) < std::pair(other.task_id, other.block);
  }
};
std::mutex ran_mutex;
std::vector<RanBlock> ran;

struct NoteRun {
  static constexpr KernelInfo kInfo{.name = "note", .core = CoreType::kAiv, .args = {}};
  template <class Block>
  static void run(Block&, const TaskArgs& args) {
    const std::scoped_lock lock(ran_mutex);
    ran.push_back({args.task.value, args.block});
  }
};
struct NoteRunOnAic : NoteRun {
  static constexpr KernelInfo kInfo{.name = "note_aic", .core = CoreType::kAic, .args = {}};
};

// All shapes of tasks: single ones, blocks, a common start, a mix, joints, and one that is complete
// at once; some roots, some behind others.
struct AllShapes {
  using Kernels = KernelList<NoteRun, NoteRunOnAic>;
  static constexpr std::uint64_t kRuns =
      3 + 5 + 2 + 2 + 3 + 1 + 40;  // of kernels, of one iteration

  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch);
    const auto made = orch.allocate(Args().out(TensorShape{1, {64}}, DType::kUint8));
    TaskHandle singles[3];
    for (auto& single : singles) single = orch.template submit<NoteRun>(Args());
    const auto blocks = orch.template submit<NoteRunOnAic>(Args().blocks(5).after(singles, 3));
    const auto together =
        orch.template submit<NoteRun>(Args().blocks(2).start_together().after(blocks));
    const auto mix =
        orch.template submit_mix<NoteRunOnAic, NoteRun>(Args().after(blocks).after(made));
    const auto joint = orch.submit_dummy(Args().after(together).after(mix));
    orch.template submit_mix<NoteRunOnAic, NoteRun, NoteRun>(Args().after(joint));
    orch.submit_dummy(Args());
    orch.template submit<NoteRun>(Args().after(joint));
    Scope inner(orch);
    for (int i = 0; i < 40; ++i) orch.template submit<NoteRun>(Args());
  }
  static std::vector<WorkloadCase> cases() { return {{"default", ""}}; }
  static void prepare(const WorkloadSetup&, EntryData&) {}
  static ResultCheck check(const WorkloadSetup&, const EntryData&) { return {true, ""}; }
};

WorkloadSetup repeated(std::uint32_t times, std::uint32_t clusters = 2,
                       std::uint32_t schedulers = 2) {
  WorkloadSetup setup;
  setup.config.build = BuildKind::kHostBuild;
  setup.config.repeat = times;
  setup.config.cluster_count = clusters;
  setup.config.scheduler_count = schedulers;
  return setup;
}

TEST(Iterations, EachRunsEveryBlockOfEveryShapeOnce) {
  constexpr std::uint32_t kTimes = 30;
  // The last one has more cores than a scheduler keeps in its own memory.
  for (const auto& [clusters, schedulers] : {std::pair(3u, 1u), {3u, 3u}, {24u, 1u}}) {
    ran.clear();
    SimMachine<AllShapes> sim(repeated(kTimes, clusters, schedulers));
    sim.run();
    ASSERT_EQ(sim.error(), ErrorCode::kNone);
    const std::uint64_t tasks = sim.watch().tasks.size();
    EXPECT_EQ(sim.completed(), tasks * kTimes);
    EXPECT_EQ(sim.status().submitted.load_relaxed(), tasks * kTimes);
    EXPECT_EQ(sim.status().iterations.load_relaxed(), kTimes);
    ASSERT_EQ(ran.size(), AllShapes::kRuns * kTimes);
    // In time: an iteration begins when the one before is over.
    std::map<std::uint64_t, std::multiset<RanBlock>> by_iteration;
    std::uint64_t now = 0;
    for (const RanBlock& one : ran) {
      const std::uint64_t iteration = TaskId{one.task_id}.lap();
      ASSERT_GE(iteration, now) << "a task of the iteration before came late";
      now = iteration;
      by_iteration[iteration].insert({TaskId{one.task_id}.without_lap().value, one.block});
    }
    ASSERT_EQ(by_iteration.size(), kTimes);
    // Every block of a task ran, by as many kernels as the others.
    std::map<std::uint64_t, std::map<std::uint32_t, int>> blocks;
    for (const RanBlock& one : by_iteration[0]) ++blocks[one.task_id][one.block];
    for (const auto& [task, kernels] : blocks)
      for (const auto& [block, count] : kernels) {
        EXPECT_LT(block, kernels.size()) << "of " << task;
        EXPECT_EQ(count, kernels.begin()->second) << "block " << block << " of " << task;
      }
    for (const auto& [iteration, all] : by_iteration) {
      EXPECT_EQ(all.size(), AllShapes::kRuns);
      EXPECT_TRUE(
          std::equal(all.begin(), all.end(), by_iteration[0].begin(),
                     [](const RanBlock& a, const RanBlock& b) { return !(a < b) && !(b < a); }))
          << iteration;
    }
  }
}

TEST(Iterations, OfTheWorkloadsHaveTheSameResults) {
  const auto passes = [](auto machine_of, const char* name) {
    for (const std::uint32_t times : {2u, 7u}) {
      const ResultCheck check = machine_of(repeated(times));
      EXPECT_TRUE(check.passed) << name << ", " << times << " iterations: " << check.text;
    }
  };
  passes([](const WorkloadSetup& setup) { return SimMachine<VectorExample>(setup).run(); },
         "vector_example");
  passes([](const WorkloadSetup& setup) { return SimMachine<Bgemm>(setup).run(); }, "bgemm");
  passes([](const WorkloadSetup& setup) { return SimMachine<MixedExample>(setup).run(); },
         "mixed_example");
  passes([](const WorkloadSetup& setup) { return SimMachine<SpmdBlocks>(setup).run(); },
         "spmd_blocks");
  passes(
      [](WorkloadSetup setup) {
        setup.case_name = "Small2";
        return SimMachine<PagedAttention>(setup).run();
      },
      "paged_attention");
}

// x = 3 x + v, in a chain: what comes out depends on the order of all tasks of all iterations.
struct TripleThenAdd {
  static constexpr KernelInfo kInfo{
      .name = "triple_then_add",
      .core = CoreType::kAiv,
      .args = {inout("x", DType::kUint64), scalar("v", DType::kUint64)}};
  template <class Block>
  static void run(Block&, const TaskArgs& args) {
    auto& number = args.tensor<std::uint64_t>(0).data()[0];
    number = 3 * number + args.scalar<std::uint64_t>(0);
  }
};
struct RepeatedChain {
  static constexpr std::uint64_t kTasks = 20;
  using Kernels = KernelList<TripleThenAdd>;
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    Scope root(orch);
    for (std::uint64_t i = 0; i < kTasks; ++i)
      orch.template submit<TripleThenAdd>(Args().inout(entry.tensor(0)).scalar(i));
  }
  static std::vector<WorkloadCase> cases() { return {{"default", ""}}; }
  static void prepare(const WorkloadSetup&, EntryData& data) {
    data.add<std::uint64_t>({1, {1}}, [](std::uint64_t) { return 5; });
  }
  static ResultCheck check(const WorkloadSetup& setup, const EntryData& data) {
    std::uint64_t expected = 5;
    for (std::uint32_t k = 0; k < setup.config.repeat; ++k)
      for (std::uint64_t i = 0; i < kTasks; ++i) expected = 3 * expected + i;
    return {data.values<std::uint64_t>(0)[0] == expected, "the number at the end"};
  }
};

// The buffers of a workload are as the iteration before left them.
TEST(Iterations, BeginWithWhatTheOneBeforeLeft) {
  for (const std::uint32_t times : {1u, 2u, 100u}) {
    SimMachine<RepeatedChain> sim(repeated(times));
    const ResultCheck check = sim.run();
    EXPECT_TRUE(check.passed) << times;
    EXPECT_EQ(sim.completed(), RepeatedChain::kTasks * times);
  }
}

struct NothingToDo {
  using Kernels = KernelList<NoteRun>;
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    Scope root(orch);
    if (entry.number(0) != 0) orch.allocate(Args().out(TensorShape{1, {64}}, DType::kUint8));
  }
  static std::vector<WorkloadCase> cases() { return {{"default", ""}}; }
  static void prepare(const WorkloadSetup& setup, EntryData& data) {
    data.add_number(setup.case_name == "allocates" ? 1 : 0);
  }
  static ResultCheck check(const WorkloadSetup&, const EntryData&) { return {true, ""}; }
};

TEST(Iterations, OfNothingEndAtOnce) {
  for (const char* name : {"empty", "allocates"}) {
    WorkloadSetup setup = repeated(1000);
    setup.case_name = name;
    SimMachine<NothingToDo> sim(setup);
    sim.run();
    EXPECT_EQ(sim.error(), ErrorCode::kNone);
    EXPECT_EQ(sim.completed(), sim.status().submitted.load_relaxed()) << name;
  }
}

// The words for it are there only where they are needed.
TEST(Iterations, CostNoMemoryWhereThereIsOne) {
  const RuntimeLayout once = lay_out(repeated(1).config), twice = lay_out(repeated(2).config);
  EXPECT_EQ(once.roots_offset, 0u);
  EXPECT_GE(twice.total_bytes, once.total_bytes + 4 * 16384 * sizeof(std::uint32_t));
}

}  // namespace
}  // namespace tidemark
