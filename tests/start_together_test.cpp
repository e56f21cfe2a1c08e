// SPDX-License-Identifier: Apache-2.0
// Blocks that must run at the same time do, also when several such tasks compete with each other
// and with ordinary ones; more of them than cores are refused.
#include <gtest/gtest.h>

#include "tests/small_workload.h"

namespace tidemark::small {
namespace {

constexpr std::uint64_t kMeetings = 64;
std::atomic<std::uint32_t> arrived[kMeetings];

// Every unit of a task waits for all the others of it: a task whose blocks do not run at the same
// time never ends.
void meet(const TaskArgs& args, std::uint32_t units_of_block) {
  auto& count = arrived[args.scalar<std::uint64_t>(0)];
  count.fetch_add(1);
  while (count.load() < args.block_count * units_of_block && !gates_given_up.load())
    ::sched_yield();
}

template <CoreType kCore, std::uint32_t kUnits, int kPlace = 0>
struct Meet {
  static constexpr KernelInfo kInfo{
      .name = "meet", .core = kCore, .args = {scalar("number", DType::kUint64)}};
  template <class Block>
  static void run(Block&, const TaskArgs& args) {
    meet(args, kUnits);
  }
};
using MeetAic = Meet<CoreType::kAic, 1>;
using MeetAiv = Meet<CoreType::kAiv, 1>;
using MixAic = Meet<CoreType::kAic, 3>;
using MixAiv0 = Meet<CoreType::kAiv, 3, 0>;
using MixAiv1 = Meet<CoreType::kAiv, 3, 1>;

struct Meetings : SmallWorkload {
  using Kernels = KernelList<MeetAic, MeetAiv, MixAic, MixAiv0, MixAiv1, Nop>;
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch);
    for (std::uint64_t i = 0; i < kMeetings; ++i) {
      Scope inner(orch);
      for (std::uint64_t j = 0; j < i % 5; ++j)
        orch.template submit<Nop>(Args().blocks(static_cast<std::uint32_t>(1 + (i + j) % 7)));
      if (i % 3 == 0)
        orch.template submit<MeetAic>(
            Args().scalar(i).blocks(orch.core_count(CoreType::kAic)).start_together());
      if (i % 3 == 1)
        orch.template submit<MeetAiv>(
            Args().scalar(i).blocks(orch.core_count(CoreType::kAiv)).start_together());
      if (i % 3 == 2)
        orch.template submit_mix<MixAic, MixAiv0, MixAiv1>(
            Args().scalar(i).blocks(orch.cluster_count()).start_together());
    }
  }
};

TEST(StartTogether, CompetingTasksEachGetAllTheirCores) {
  struct Shape {
    std::uint32_t clusters, schedulers, depth;
  };
  for (const Shape shape : {Shape{1, 1, 1}, {2, 1, 16}, {3, 2, 4}, {4, 4, 16}, {6, 3, 1}}) {
    gates_given_up.store(false);
    for (auto& count : arrived) count.store(0);
    WorkloadSetup setup = small_setup(shape.clusters);
    setup.config.scheduler_count = shape.schedulers;
    setup.config.mailbox_depth = shape.depth;
    SimMachine<Meetings> sim(setup);
    sim.run();
    EXPECT_EQ(to_text(sim.error()), "NONE");
    for (std::uint64_t i = 0; i < kMeetings; ++i)
      EXPECT_EQ(arrived[i].load(), shape.clusters * (i % 3 + 1)) << i;
    EXPECT_TRUE(sim.all_returned());
  }
}

// A task of each kind with one block more than there are cores for it.
struct TooMany : SmallWorkload {
  using Kernels = Meetings::Kernels;
  static inline int kind = 0;
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch);
    const Args args = Args().scalar(std::uint64_t{0}).start_together();
    if (kind == 0) orch.template submit<MeetAic>(Args(args).blocks(3));
    if (kind == 1) orch.template submit<MeetAiv>(Args(args).blocks(5));
    if (kind == 2) orch.template submit_mix<MixAic, MixAiv0, MixAiv1>(Args(args).blocks(3));
  }
};

TEST(StartTogether, MoreBlocksThanCoresAreRefused) {
  for (TooMany::kind = 0; TooMany::kind < 3; ++TooMany::kind) {
    SimMachine<TooMany> sim(small_setup(2));
    sim.run();
    EXPECT_EQ(to_text(sim.error()), "SYNC_START_INVALID");
    const LatchedError& error = sim.status().error;
    EXPECT_EQ(error.requested.load_relaxed(), TooMany::kind == 1 ? 5u : 3u);
    EXPECT_EQ(error.capacity.load_relaxed(), TooMany::kind == 1 ? 4u : 2u);
    EXPECT_STREQ(error.kernel, "meet");
    EXPECT_EQ(sim.status().submitted.load_relaxed(), 0u);
  }
}

}  // namespace
}  // namespace tidemark::small
