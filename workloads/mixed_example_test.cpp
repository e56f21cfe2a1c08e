// SPDX-License-Identifier: Apache-2.0
// mixed_example everywhere: results, counts and edges; each iteration follows the one before.
#include "workloads/mixed_example.h"

#include <gtest/gtest.h>

#include "workloads/testing/workload_trial.h"

namespace tidemark {
namespace {

TaskPairs expected_pairs() {
  TaskPairs pairs;
  for (std::uint32_t t = 0; t < MixedExample::kIterations; ++t) {
    const auto task = [&](std::uint32_t i) { return TaskId::make(1, t * 5 + i).value; };
    pairs.insert({{task(0), task(1)}, {task(0), task(2)}, {task(1), task(3)}});
    pairs.insert({{task(2), task(3)}, {task(3), task(4)}});
    if (t > 0) pairs.emplace(task(0) - 1, task(0));
  }
  return pairs;
}

TEST(MixedExample, GivesTheSameTasksAndEdgesOnEveryMachineAndWithEveryBuild) {
  EXPECT_EQ(try_everywhere<MixedExample>("default", {.tasks = 20, .scopes = 5}), expected_pairs());
}

TEST(MixedExample, RunsThroughRingsThatHoldOneIteration) {
  for (const BuildKind build : {BuildKind::kTensorMap, BuildKind::kExplicit}) {
    WorkloadSetup setup = trial_setup("default", {2, 1}, build);
    for (RingSizes& ring : setup.config.rings)
      ring = {.task_window = 8, .dep_pool = 8, .heap_bytes = 5 * 128 * 128 * sizeof(float)};
    EXPECT_EQ(try_workload<MixedExample>(setup, {.tasks = 20, .scopes = 5}), expected_pairs());
  }
}

// A half that its kernel leaves out, or writes into the other one, must not pass.
TEST(MixedExample, FindsAHalfThatWasNotWritten) {
  const WorkloadSetup setup = trial_setup("default", {1, 1}, BuildKind::kTensorMap);
  for (const std::uint64_t element : {std::uint64_t{0}, std::uint64_t{128 * 128 - 1}}) {
    SimMachine<MixedExample> sim(setup);
    ASSERT_TRUE(sim.run().passed);
    auto* x = reinterpret_cast<float*>(sim.data().buffers()[0].bytes.data());
    x[128 * 128 + element] = 0;
    EXPECT_FALSE(MixedExample::check(setup, sim.data()).passed);
  }
}

}  // namespace
}  // namespace tidemark
