// SPDX-License-Identifier: Apache-2.0
// Test support: a case of a workload on several machines and with every way to build the graph. All
// of them must give the right result and the same tasks, scopes and (producer, consumer) pairs.
#pragma once

#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "tidemark/session/testing/sim_machine.h"

namespace tidemark {

using TaskPairs = std::set<std::pair<std::uint64_t, std::uint64_t>>;

struct TrialMachine {
  std::uint32_t clusters;
  std::uint32_t schedulers;
};
inline constexpr TrialMachine kTrialMachines[] = {{1, 1}, {24, 3}, {36, 4}};
inline constexpr BuildKind kTrialBuilds[] = {BuildKind::kTensorMap, BuildKind::kExplicit,
                                             BuildKind::kHostBuild};

struct TrialCounts {
  std::uint64_t tasks;
  std::uint64_t scopes;
};

inline WorkloadSetup trial_setup(const std::string& case_name, TrialMachine machine,
                                 BuildKind build) {
  WorkloadSetup setup;
  setup.case_name = case_name;
  setup.seed = machine.clusters;  // inputs change, the graph does not
  setup.config.build = build;
  setup.config.cluster_count = machine.clusters;
  setup.config.scheduler_count = machine.schedulers;
  return setup;
}

// Runs once and returns the pairs.
template <class Workload>
TaskPairs try_workload(const WorkloadSetup& setup, TrialCounts expected) {
  SCOPED_TRACE(fmt::format("{} {} on {} clusters, build {}", Workload::kName, setup.case_name,
                           setup.config.cluster_count, static_cast<int>(setup.config.build)));
  SimMachine<Workload> sim(setup);
  const ResultCheck check = sim.run();
  EXPECT_TRUE(check.passed) << check.text;
  EXPECT_EQ(sim.error(), ErrorCode::kNone) << sim.status().error.text;
  EXPECT_EQ(sim.status().submitted.load_relaxed(), expected.tasks);
  EXPECT_EQ(sim.completed(), expected.tasks);
  EXPECT_EQ(sim.status().scopes.load_relaxed(), expected.scopes);
  EXPECT_TRUE(setup.config.build == BuildKind::kHostBuild || sim.all_returned());
  return sim.watch().pairs();
}

// Runs on every machine with every build. Returns the pairs, which were the same each time.
template <class Workload>
TaskPairs try_everywhere(const std::string& case_name, TrialCounts expected) {
  TaskPairs first;
  for (const TrialMachine machine : kTrialMachines)
    for (const BuildKind build : kTrialBuilds) {
      const TaskPairs pairs =
          try_workload<Workload>(trial_setup(case_name, machine, build), expected);
      if (first.empty()) first = pairs;
      EXPECT_EQ(pairs, first) << case_name << ": build " << static_cast<int>(build) << " on "
                              << machine.clusters << " clusters";
    }
  return first;
}

}  // namespace tidemark
