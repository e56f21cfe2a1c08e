// SPDX-License-Identifier: Apache-2.0
// A core of several threads: the worker is one of them, the others follow it into every kernel.
#pragma once

#include <cstdint>
#include <thread>
#include <vector>

#include "tidemark/device/sim/crash_stack.h"
#include "tidemark/device/sim/sim_units.h"
#include "tidemark/device/sim/threaded_block.h"

namespace tidemark {

template <class Kernels, UnitEnv Env>
void run_threaded_core(const RuntimeMemory& memory, RuntimeStatus* status, const RegionView* region,
                       std::uint32_t core) {
  const RuntimeConfig& config = memory.config();
  BlockTeam team(config.block_threads);
  std::vector<std::thread> followers;
  for (std::uint32_t thread = 1; thread < team.threads(); ++thread)
    followers.emplace_back([&, thread] {
      sim_unit = config.units().core(core) + 1;  // a crash is the core's
      const CrashStack crash_stack;
      ThreadedSimBlock<Env> block(team, thread);
      follow<Kernels, TensorDumper<Env>>(block);
    });
  ThreadedSimBlock<Env> block(team, region, config.lanes().events(core));
  run_worker<Kernels, Env>(memory, status, region, core, block);
  for (auto& follower : followers) follower.join();
}

}  // namespace tidemark
