// SPDX-License-Identifier: Apache-2.0
// The calls of host_build_graph: tasks with raw words, edges added between tasks that stand in the
// graph already, and what the words stand for.
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
