// SPDX-License-Identifier: Apache-2.0
// The schedulers' own watchdog, without a host: tasks that wait for each other, and kernels that
// take long but not too long.
#include <functional>

#include <gtest/gtest.h>

#include "tidemark/device/sim/sim_clock.h"
#include "tidemark/session/testing/sim_machine.h"
#include "workloads/fault_kernels.h"

namespace tidemark {
namespace {

std::uint64_t ticks_of_ms(std::uint64_t ms) { return sim_ticks_per_second() / 1000 * ms; }

void expect_all_left(RuntimeStatus& status, const RuntimeConfig& config) {
  for (std::uint32_t unit = 1; unit < config.units().total(); ++unit)
    EXPECT_EQ(unit_lines(&status)[unit].state.load_relaxed(), UnitState::kLeft) << unit;
}

struct WithoutEntry {
  static constexpr const char* kName = "hang_program";
  static constexpr const char* kDescription = "";
  static std::vector<WorkloadCase> cases() { return {{"default", ""}}; }
  static void prepare(const WorkloadSetup&, EntryData&) {}
  static ResultCheck check(const WorkloadSetup&, const EntryData&) { return {}; }
};

// Makes the fourth task wait for one answer more than will ever come, as damaged memory would. A
// circle, which does the same, is refused before anything runs.
struct LoseAnAnswer {
  static constexpr KernelInfo kInfo{.name = "lose_an_answer", .core = CoreType::kAiv, .args = {}};
  static inline std::function<void()> lose;
  template <class Block>
  static void run(Block&, const TaskArgs&) {
    lose();
  }
};

// Three tasks that run, and behind them a chain of `length` whose first never will.
struct LostAnswer : WithoutEntry {
  using Kernels = KernelList<Nothing, LoseAnAnswer>;
  static inline int length = 2;
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch);
    TaskHandle last = orch.template add_task<LoseAnAnswer>(Args());
    for (int i = 0; i < 2 + length + 1; ++i) {
      const TaskHandle next = orch.template add_task<Nothing>(Args());
      orch.add_successor(last, next);
      last = next;
    }
  }
};

TEST(HangProgram, TasksThatWaitForNobodyAreADependencyDeadlock) {
  for (const std::uint32_t clusters : {1u, 8u})
    for (const int length : {1, 2, 7}) {
      SCOPED_TRACE(length);
      LostAnswer::length = length;
      WorkloadSetup setup;
      setup.config.build = BuildKind::kHostBuild;
      setup.config.cluster_count = clusters;
      setup.config.scheduler_count = clusters == 1 ? 1 : 3;
      setup.config.task_timeout_ms = 100;
      setup.config.task_timeout_ticks = ticks_of_ms(100);
      SimMachine<LostAnswer> sim(setup);
      LoseAnAnswer::lose = [&] { sim.memory().slot(SlotRef::make(0, 3)).pending.add_acq_rel(1); };
      sim.run();
      EXPECT_EQ(to_text(sim.error()), to_text(ErrorCode::kSchedulerTimeout));
      const LatchedError& error = sim.status().error;
      EXPECT_EQ(to_text(error.hang_class.load_relaxed()), to_text(HangClass::kDependencyDeadlock));
      EXPECT_EQ(error.task_id.load_relaxed(), 3u) << "the oldest that is not complete";
      EXPECT_EQ(error.capacity.load_relaxed(), 100u);
      EXPECT_GE(error.unit.load_relaxed(), 1u);
      EXPECT_LE(error.unit.load_relaxed(), setup.config.scheduler_count);
      EXPECT_EQ(sim.completed(), 3u);
      EXPECT_EQ(sim.status().submitted.load_relaxed(), 4u + static_cast<unsigned>(length));
      expect_all_left(sim.status(), setup.config);
    }
}

// Each kernel takes a third of the limit, the whole run several times the limit.
struct LongChain : WithoutEntry {
  using Kernels = KernelList<Linger>;
  static constexpr int kTasks = 6;
  static inline std::uint64_t kernel_ns = 0;
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch);
    Submitted task;
    for (int i = 0; i < kTasks; ++i) {
      Args args;
      args.scalar(kernel_ns);
      if (i > 0) args.after(task);
      task = orch.template submit<Linger>(args);
    }
  }
};

TEST(HangProgram, KernelsWithinTheirTimeAreNeverStoppedHoweverLongTheRun) {
  constexpr std::uint64_t kLimitMs = 900;
  for (const BuildKind build : {BuildKind::kTensorMap, BuildKind::kHostBuild}) {
    LongChain::kernel_ns = kLimitMs * 1'000'000 / 3;
    WorkloadSetup setup;
    setup.config.build = build;
    setup.config.task_timeout_ms = kLimitMs;
    setup.config.task_timeout_ticks = ticks_of_ms(kLimitMs);
    SimMachine<LongChain> sim(setup);
    sim.run();
    EXPECT_EQ(to_text(sim.error()), "NONE");
    EXPECT_EQ(sim.completed(), static_cast<std::uint64_t>(LongChain::kTasks));
  }
}

}  // namespace
}  // namespace tidemark
