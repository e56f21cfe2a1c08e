// SPDX-License-Identifier: Apache-2.0
// The calls of host_build_graph: tasks with raw words, edges added between tasks that stand in the
// graph already, and what the words stand for.
#include <random>
#include <set>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "tidemark/session/testing/sim_machine.h"

namespace tidemark {
namespace {

// x = 3 x + v, on the number whose place in device memory is the first word.
struct TripleAndAdd {
  static constexpr KernelInfo kInfo{
      .name = "triple_and_add", .core = CoreType::kAiv, .args = {scalar("at"), scalar("v")}};
  template <class Block>
  static void run(Block&, const TaskArgs& args) {
    auto* number = reinterpret_cast<std::int64_t*>(args.memory() + args.word(0));
    *number = 3 * *number + static_cast<std::int64_t>(args.word(1));
  }
};

constexpr int kTasks = 20;

struct WordChain {
  static constexpr const char* kName = "word_chain";
  static constexpr const char* kDescription = "";
  using Kernels = KernelList<TripleAndAdd>;

  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    Scope root(orch);
    const TensorRef number = entry.tensor(0);
    const TensorInfo info{number, Access::kInout};
    TaskHandle tasks[kTasks];
    for (int i = 0; i < kTasks; ++i) {
      Args words;
      words.scalar(number.view.buffer).scalar(static_cast<std::uint64_t>(i));
      tasks[i] = i % 2 == 0
                     ? orch.template add_task<TripleAndAdd>(words)
                     : orch.template add_task_with_tensor_info<TripleAndAdd>(words, &info, 1);
    }
    for (int i = kTasks - 1; i > 0; --i) orch.add_successor(tasks[i - 1], tasks[i]);
    orch.add_successor(tasks[0], tasks[1]);  // known: told once
    orch.set_tensor_info_to_task(tasks[0], &info, 1);
  }

  static std::vector<WorkloadCase> cases() { return {{"default", ""}}; }
  static void prepare(const WorkloadSetup&, EntryData& data) {
    data.add<std::int64_t>({1, {1}}, [](std::uint64_t) { return 5; });
  }
  static ResultCheck check(const WorkloadSetup&, const EntryData& data) {
    std::int64_t expected = 5;
    for (int i = 0; i < kTasks; ++i) expected = 3 * expected + i;
    return {data.values<std::int64_t>(0)[0] == expected, "the last number"};
  }
};

TEST(HostGraph, RunsTasksOfRawWordsInTheOrderOfEdgesThatCameLate) {
  for (const std::uint32_t clusters : {1u, 8u}) {
    WorkloadSetup setup;
    setup.config.build = BuildKind::kHostBuild;
    setup.config.cluster_count = clusters;
    SimMachine<WordChain> sim(setup);
    const ResultCheck check = sim.run();
    EXPECT_TRUE(check.passed) << check.text;
    EXPECT_EQ(sim.error(), ErrorCode::kNone);
    EXPECT_EQ(sim.completed(), static_cast<std::uint64_t>(kTasks));
    EXPECT_EQ(sim.watch().edges.size(), static_cast<std::size_t>(kTasks - 1));
    const RuntimeMemory memory = sim.memory();
    for (std::uint32_t i = 0; i < kTasks; ++i) {
      const TaskSlot& slot = memory.slot(SlotRef::make(0, i));
      ASSERT_EQ(slot.info_count, i % 2 == 1 || i == 0 ? 1 : 0) << "task " << i;
      if (slot.info_count == 0) continue;
      const auto* info = memory.at<StoredTensor>(slot.info_offset);
      EXPECT_EQ(info->view.dtype, DType::kInt64);
      EXPECT_EQ(info->view.buffer, memory.layout().entry_offset);
      EXPECT_EQ(info->access, Access::kInout);
    }
  }
}

// A few tasks, and the edges that a test gives.
struct GivenEdges {
  static constexpr const char* kName = "given_edges";
  static constexpr const char* kDescription = "";
  using Kernels = KernelList<TripleAndAdd>;
  static inline int tasks = 0;
  static inline std::vector<std::pair<int, int>> edges;
  static inline bool last_is_memory = false;

  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    Scope root(orch);
    std::vector<TaskHandle> made;
    for (int i = 0; i < tasks; ++i)
      made.push_back(orch.template add_task<TripleAndAdd>(
          Args()
              .scalar(entry.tensor(0).view.buffer + 8 * static_cast<std::uint64_t>(i))
              .scalar(std::uint64_t{1}),
          Site{"program.cpp", 100 + static_cast<std::uint32_t>(i)}));
    if (last_is_memory) made.back() = orch.allocate(Args().out({1, {1}}, DType::kInt64));
    for (const auto& [producer, consumer] : edges)
      orch.add_successor(made[static_cast<std::size_t>(producer)],
                         made[static_cast<std::size_t>(consumer)], Site{"program.cpp", 7});
  }
  static std::vector<WorkloadCase> cases() { return {{"default", ""}}; }
  static void prepare(const WorkloadSetup&, EntryData& data) {
    data.add<std::int64_t>({1, {40'000}}, [](std::uint64_t) { return 0; });
  }
  static ResultCheck check(const WorkloadSetup&, const EntryData&) { return {}; }

  static std::string refusal(int task_count, std::vector<std::pair<int, int>> given) {
    tasks = task_count;
    edges = std::move(given);
    WorkloadSetup setup;
    setup.config.build = BuildKind::kHostBuild;
    SimMachine<GivenEdges> sim(setup);
    sim.run();
    if (sim.error() == ErrorCode::kNone) {
      EXPECT_EQ(sim.completed(), static_cast<std::uint64_t>(task_count + (last_is_memory ? 1 : 0)));
      return "";
    }
    EXPECT_EQ(to_text(sim.error()), "INVALID_ARGS");
    EXPECT_EQ(sim.completed(), last_is_memory ? 1u : 0u) << "nothing may run";
    return fmt::format("{}:{} {}: {}", sim.status().error.submit_file,
                       sim.status().error.submit_line.load_relaxed(), sim.status().error.kernel,
                       sim.status().error.text);
  }
};

TEST(HostGraph, ACircleIsRefusedWithItsTasks) {
  const std::string two = GivenEdges::refusal(2, {{0, 1}, {1, 0}});
  EXPECT_TRUE(two == "program.cpp:100 triple_and_add: a circle: task 0 waits for 1 waits for 0" ||
              two == "program.cpp:101 triple_and_add: a circle: task 1 waits for 0 waits for 1")
      << two;
  // Tasks before and behind the circle are not in it.
  const std::string three =
      GivenEdges::refusal(8, {{0, 2}, {1, 2}, {2, 5}, {5, 3}, {3, 2}, {3, 4}, {4, 6}, {6, 7}});
  for (const char* pair : {"2 waits for 3", "3 waits for 5", "5 waits for 2"}) {
    EXPECT_TRUE(three.find(pair) != std::string::npos) << pair << " in " << three;
  }
  for (const char* other : {"task 0", "for 0", "for 1", "for 4", "for 6", "for 7"})
    EXPECT_EQ(three.find(other), std::string::npos) << three;
  // A long one is named as far as there is room.
  std::vector<std::pair<int, int>> ring;
  for (int i = 0; i < 1000; ++i) ring.emplace_back(i, (i + 1) % 1000);
  EXPECT_NE(GivenEdges::refusal(1000, ring).find("..."), std::string::npos);
}

TEST(HostGraph, AnEdgeToItselfOrIntoMemoryIsRefused) {
  EXPECT_EQ(GivenEdges::refusal(3, {{0, 1}, {2, 2}}),
            "program.cpp:7 add_successor: task 2 would wait for itself");
  GivenEdges::last_is_memory = true;
  EXPECT_EQ(GivenEdges::refusal(3, {{0, 2}}),
            "program.cpp:7 add_successor: task 3 is complete at once, so it waits for nobody");
  EXPECT_EQ(GivenEdges::refusal(3, {{2, 0}}), "") << "memory is there at once";
  GivenEdges::last_is_memory = false;
}

// Against a plain count: random graphs without circles, with edges that come twice.
TEST(HostGraph, LateEdgesAreToldOnceHoweverOftenTheyCome) {
  for (std::uint32_t seed = 1; seed <= 30; ++seed) {
    std::mt19937 random(seed);
    const int tasks = 2 + static_cast<int>(random() % 60);
    std::vector<std::pair<int, int>> edges;
    std::set<std::pair<std::uint64_t, std::uint64_t>> expected;
    for (std::uint32_t i = random() % 200; i > 0; --i) {
      const int consumer = 1 + static_cast<int>(random() % static_cast<unsigned>(tasks - 1));
      const int producer = static_cast<int>(random() % static_cast<unsigned>(consumer));
      edges.emplace_back(producer, consumer);
      expected.emplace(producer, consumer);
    }
    GivenEdges::tasks = tasks;
    GivenEdges::edges = edges;
    WorkloadSetup setup;
    setup.config.build = BuildKind::kHostBuild;
    SimMachine<GivenEdges> sim(setup);
    sim.run();
    ASSERT_EQ(to_text(sim.error()), "NONE") << "seed " << seed;
    EXPECT_EQ(sim.completed(), static_cast<std::uint64_t>(tasks));
    EXPECT_EQ(sim.watch().edges.size(), expected.size()) << "seed " << seed;
    EXPECT_EQ(sim.watch().pairs(), expected) << "seed " << seed;
  }
}

TEST(HostGraph, ItsCallsAreRefusedWhereTheGraphIsBuiltOnTheDevice) {
  for (const BuildKind build : {BuildKind::kTensorMap, BuildKind::kExplicit}) {
    WorkloadSetup setup;
    setup.config.build = build;
    SimMachine<WordChain> sim(setup);
    sim.run();
    EXPECT_EQ(sim.error(), ErrorCode::kInvalidArgs);
    EXPECT_STREQ(sim.status().error.text, "only host_build_graph has this call");
    EXPECT_EQ(sim.status().submitted.load_relaxed(), 0u);
  }
}

}  // namespace
}  // namespace tidemark
