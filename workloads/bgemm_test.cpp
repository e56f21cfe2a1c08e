// SPDX-License-Identifier: Apache-2.0
// bgemm everywhere: results, counts, edges, and rings that hold a few tiles only.
#include "workloads/bgemm.h"

#include <gtest/gtest.h>

#include "workloads/testing/workload_trial.h"

namespace tidemark {
namespace {

TaskPairs expected_pairs(std::uint32_t groups, std::uint32_t depth) {
  TaskPairs pairs;
  for (std::uint32_t pair = 0; pair < groups * depth; ++pair) {
    const std::uint64_t gemm = TaskId::make(1, pair * 2).value;
    pairs.emplace(gemm, gemm + 1);
    if (pair % depth > 0) pairs.emplace(gemm - 1, gemm + 1);
  }
  return pairs;
}

TEST(Bgemm, GivesTheSameTasksAndEdgesOnEveryMachineAndWithEveryBuild) {
  EXPECT_EQ(try_everywhere<Bgemm>("Small", {.tasks = 64, .scopes = 9}), expected_pairs(8, 4));
}

TEST(Bgemm, RunsThroughRingsThatHoldFewTiles) {
  for (const TrialMachine machine : kTrialMachines)
    for (const BuildKind build : {BuildKind::kTensorMap, BuildKind::kExplicit}) {
      WorkloadSetup setup = trial_setup("Small", machine, build);
      for (RingSizes& ring : setup.config.rings)
        ring = {.task_window = 16, .dep_pool = 64, .heap_bytes = 5 * 64 * 64 * sizeof(float)};
      EXPECT_EQ(try_workload<Bgemm>(setup, {.tasks = 64, .scopes = 9}), expected_pairs(8, 4));
    }
}

TEST(Bgemm, RunsThroughRingsThatHoldNoMoreThanOneScope) {
  WorkloadSetup setup = trial_setup("Small", {1, 1}, BuildKind::kTensorMap);
  for (RingSizes& ring : setup.config.rings)
    ring = {.task_window = 16, .dep_pool = 16, .heap_bytes = 4 * 64 * 64 * sizeof(float)};
  EXPECT_EQ(try_workload<Bgemm>(setup, {.tasks = 64, .scopes = 9}), expected_pairs(8, 4));
}

TEST(Bgemm, FindsOneWrongElement) {
  WorkloadSetup setup = trial_setup("Small", {1, 1}, BuildKind::kTensorMap);
  SimMachine<Bgemm> sim(setup);
  ASSERT_TRUE(sim.run().passed);
  auto* c = reinterpret_cast<float*>(sim.data().buffers()[2].bytes.data());
  c[12345] += 1e-3f;
  const ResultCheck check = Bgemm::check(setup, sim.data());
  EXPECT_FALSE(check.passed);
  EXPECT_NE(check.text.find("1 of 32768 elements differ: c[12345]"), std::string::npos)
      << check.text;
}

TEST(Bgemm, RunsCase0) {
  EXPECT_EQ(try_workload<Bgemm>(trial_setup("Case0", {1, 1}, BuildKind::kTensorMap),
                                {.tasks = 1000, .scopes = 251}),
            expected_pairs(250, 2));
}

}  // namespace
}  // namespace tidemark
