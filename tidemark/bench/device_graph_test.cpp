// SPDX-License-Identifier: Apache-2.0
// The graphs that are measured on a GPU, on a simulated device: what was planned for them is
// enough, and every task of them runs.
#include "tidemark/bench/device_graph.h"

#include <gtest/gtest.h>

#include "tidemark/bench/bench_memory.h"

namespace tidemark::bench {
namespace {

struct Ran {
  std::uint64_t completed = 0, parts = 0;
};

// Built on the host or on the device, run there to its end.
Ran run_work(const WorkRequest& work) {
  const RuntimeConfig config = config_of(work, 2, 2);
  BenchMemory held(config);
  const RuntimeMemory memory = held.memory();
  RuntimeStatus* status = held.status();
  memory.control().entry = entry_of(work, memory.layout());
  if (!config.reclaims()) build_here(memory, status);
  NoWatch watch;
  run_sim_units<DeviceGraph>(memory, status, watch, [] { return false; });
  EXPECT_EQ(status->error.code.load_acquire(), ErrorCode::kNone) << work.name();
  EXPECT_EQ(status->submitted.load_acquire(), work.all_tasks() * work.repeat);
  Ran ran{.completed = memory.control().completed.load_acquire()};
  for (std::uint32_t core = 0; core < config.core_count(); ++core)
    ran.parts += unit_lines(status)[config.units().core(core)].count.load_acquire();
  return ran;
}

TEST(DeviceGraph, RunsEveryTaskOfEveryShape) {
  for (const BuildKind build : {BuildKind::kHostBuild, BuildKind::kTensorMap})
    for (const WorkRequest& work :
         {WorkRequest{WorkShape::kIndependent, build, 1000, 0},
          WorkRequest{WorkShape::kChain, build, 1000, 0},
          WorkRequest{WorkShape::kBlocks, build, 20, 128},
          WorkRequest{WorkShape::kTiles, BuildKind::kTensorMap, 500, 64}}) {
      SCOPED_TRACE(work.name());
      const Ran ran = run_work(work);
      EXPECT_EQ(ran.completed, work.all_tasks());
      EXPECT_EQ(ran.parts, work.shape == WorkShape::kBlocks ? work.tasks * 128 : work.all_tasks());
    }
}

TEST(DeviceGraph, RunsEveryTaskOfEveryIteration) {
  for (const WorkShape shape : {WorkShape::kIndependent, WorkShape::kChain}) {
    const Ran ran = run_work({shape, BuildKind::kHostBuild, 1000, 0, 7});
    EXPECT_EQ(ran.completed, 7000u);
    EXPECT_EQ(ran.parts, 7000u);
  }
}

TEST(DeviceGraph, AMillionLiveTasksTakeAtMostTwoGigabytes) {
  for (const WorkShape shape : {WorkShape::kIndependent, WorkShape::kChain}) {
    const WorkRequest work{shape, BuildKind::kHostBuild, 1'000'000, 0};
    const RuntimeLayout layout = lay_out(config_of(work, 43, 8));
    EXPECT_LE(own_bytes(layout), 2ull << 30) << work.name();
    EXPECT_GE(layout.config.rings[1].task_window, 1'000'001u);
  }
}

}  // namespace
}  // namespace tidemark::bench
