// SPDX-License-Identifier: Apache-2.0
// A host that wants the end gets it, also from a program that always has something to do.
#include <gtest/gtest.h>

#include "tidemark/session/testing/sim_machine.h"
#include "workloads/fault_kernels.h"

namespace tidemark {
namespace {

// Submits for as long as it may.
struct Endless : WithoutData {
  static constexpr const char* kName = "endless";
  static constexpr const char* kDescription = "";
  using Kernels = KernelList<Nothing>;
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch);
    while (!orch.failed()) {
      Scope scope(orch);
      for (int i = 0; i < 8; ++i) orch.template submit<Nothing>(Args());
    }
  }
};

TEST(StoppedRun, EndsAProgramThatHasNoEndAndAlwaysHasWork) {
  for (const std::uint32_t schedulers : {1u, 3u})
    for (const std::uint32_t window : {16u, 16384u}) {
      WorkloadSetup setup;
      setup.config.cluster_count = schedulers;
      setup.config.scheduler_count = schedulers;
      for (auto& ring : setup.config.rings) ring.task_window = window;
      SimMachine<Endless> sim(setup);
      sim.run([&] { return sim.completed() > 10'000; });
      EXPECT_EQ(sim.error(), ErrorCode::kAborted);
      EXPECT_GT(sim.completed(), 10'000u);
    }
}

}  // namespace
}  // namespace tidemark
