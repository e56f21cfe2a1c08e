// SPDX-License-Identifier: Apache-2.0
// spmd_blocks everywhere: every block once, whatever the number of cores; the edges stay the same.
#include "workloads/spmd_blocks.h"

#include <gtest/gtest.h>

#include "workloads/testing/workload_trial.h"

namespace tidemark {
namespace {

TEST(SpmdBlocks, RunsEveryBlockOnceOnEveryMachineAndWithEveryBuild) {
  TaskPairs expected;
  for (std::uint32_t task = 0; task < SpmdBlocks::kMarkingTasks; ++task)
    expected.emplace(TaskId::make(0, task).value, TaskId::make(0, SpmdBlocks::kMarkingTasks).value);
  EXPECT_EQ(try_everywhere<SpmdBlocks>("default", {.tasks = 11, .scopes = 1}), expected);
}

TEST(SpmdBlocks, GivesEachTaskAsManyBlocksAsPromised) {
  const SpmdBlocks::Cores cores{.aic = 24, .aiv = 48};
  const std::uint32_t blocks[] = {48, 96, 144, 192, 24, 48, 72, 96, 48, 48};
  for (std::uint32_t task = 0; task < SpmdBlocks::kMarkingTasks; ++task)
    EXPECT_EQ(SpmdBlocks::blocks_of(task, cores), blocks[task]);
  EXPECT_EQ(SpmdBlocks::elements_of(8, cores), 3u * 48);
}

// A scheduler keeps the counts of 64 cores beside itself, and reads those of the others.
TEST(SpmdBlocks, RunOnMoreCoresThanOneSchedulerKeeps) {
  SimMachine<SpmdBlocks> sim(trial_setup("default", {23, 1}, BuildKind::kTensorMap));
  const ResultCheck check = sim.run();
  EXPECT_TRUE(check.passed) << check.text;
}

TEST(SpmdBlocks, FindsABlockThatRanTwiceOrElsewhere) {
  const WorkloadSetup setup = trial_setup("default", {1, 1}, BuildKind::kTensorMap);
  for (const std::uint32_t tensor : {0u, 1u}) {
    SimMachine<SpmdBlocks> sim(setup);
    ASSERT_TRUE(sim.run().passed);
    ++reinterpret_cast<std::int32_t*>(sim.data().buffers()[tensor].bytes.data())[3];
    const ResultCheck check = SpmdBlocks::check(setup, sim.data());
    EXPECT_FALSE(check.passed);
    EXPECT_EQ(check.text, tensor == 0 ? "element 1 of task 1 was visited 1 times and holds 100002, "
                                        "expected 1 and 100001"
                                      : "element 1 of task 1 was visited 2 times and holds 100001, "
                                        "expected 1 and 100001");
  }
}

}  // namespace
}  // namespace tidemark
