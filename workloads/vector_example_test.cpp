// SPDX-License-Identifier: Apache-2.0
// vector_example everywhere: result, task ids, scopes and edges.
#include "workloads/vector_example.h"

#include <gtest/gtest.h>

#include "tidemark/session/testing/sim_machine.h"

namespace tidemark {
namespace {

constexpr std::uint64_t id(std::uint32_t ring, std::uint32_t local) {
  return TaskId::make(ring, local).value;
}

struct Machine {
  std::uint32_t clusters;
  std::uint32_t schedulers;
  std::uint32_t depth;
};

TEST(VectorExample, GivesTheSameTasksAndEdgesOnEveryMachineAndWithEveryStrategy) {
  const std::set<std::pair<std::uint64_t, std::uint64_t>> edges = {
      {id(0, 0), id(1, 0)}, {id(0, 0), id(1, 1)}, {id(0, 0), id(1, 3)},
      {id(1, 0), id(1, 2)}, {id(1, 1), id(1, 2)}, {id(1, 2), id(1, 3)}};
  for (const Machine machine : {Machine{1, 1, 1}, {1, 1, 16}, {4, 2, 1}, {24, 3, 16}, {36, 4, 4}})
    for (const BuildKind build :
         {BuildKind::kTensorMap, BuildKind::kExplicit, BuildKind::kHostBuild}) {
      WorkloadSetup setup;
      setup.config.build = build;
      setup.config.cluster_count = machine.clusters;
      setup.config.scheduler_count = machine.schedulers;
      setup.config.mailbox_depth = machine.depth;
      SimMachine<VectorExample> sim(setup);
      const ResultCheck check = sim.run();
      EXPECT_TRUE(check.passed) << check.text;
      for (const float value : sim.data().values<float>(2)) ASSERT_EQ(value, 47.0f);
      EXPECT_EQ(sim.error(), ErrorCode::kNone);
      EXPECT_EQ(sim.status().submitted.load_relaxed(), 5u);
      EXPECT_EQ(sim.completed(), 5u);
      EXPECT_EQ(sim.status().scopes.load_relaxed(), 2u);
      EXPECT_EQ(sim.watch().pairs(), edges);
      EXPECT_EQ(sim.watch().edges.size(), 6u);
      EXPECT_TRUE(build == BuildKind::kHostBuild || sim.all_returned());
    }
}

}  // namespace
}  // namespace tidemark
