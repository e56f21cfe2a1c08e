// SPDX-License-Identifier: Apache-2.0
// The threads of a simulated device, for one kind of device. sim_units.cpp has them for SimEnv.
#pragma once

#include <cstdint>
#include <thread>
#include <vector>

#include "tidemark/device/sim/crash_stack.h"
#include "tidemark/device/sim/sim_units.h"
#include "tidemark/runtime/units/scheduler.h"

namespace tidemark {

// A launch is over when every unit is there, as with a persistent kernel.
inline void await_units(RuntimeStatus* status, const UnitCounts& units) {
  for (std::uint32_t unit = 1; unit < units.total(); ++unit)
    // pairs with [unit state]
    for (std::uint32_t round = 0;
         unit_lines(status)[unit].state.load_acquire() == UnitState::kNotStarted; ++round)
      SimEnv::wait_for_space(round);
}

template <UnitEnv Env>
void run_sim_threads(const RuntimeMemory& memory, RuntimeStatus* status,
                     const SimCall<bool>& stopped, const RegionView* region, SimCore run_core,
                     const SimCall<void>& build) {
  const RuntimeConfig& config = memory.config();
  std::vector<std::thread> units;
  units.reserve(config.scheduler_count + config.core_count());
  for (std::uint32_t i = 0; i < config.scheduler_count; ++i)
    units.emplace_back([&, i] {
      sim_place.let_move();
      sim_unit = config.units().scheduler(i) + 1;
      const CrashStack crash_stack;
      Scheduler<Env> scheduler(memory, status, i, region);
      LanesOf<Env>::run([&] { scheduler.run(stopped); });
    });
  for (std::uint32_t core = 0; core < config.core_count(); ++core)
    units.emplace_back([&, core] {
      sim_unit = config.units().core(core) + 1;
      const CrashStack crash_stack;
      run_core(memory, status, region, core);
    });
  await_units(status, config.units());
  sim_unit = 1;
  build();
  sim_unit = 0;
  for (auto& unit : units) unit.join();
  // alone: one word
  if (!config.reclaims()) status->end_ticks.store_release(SimEnv::now_ticks());
}
}  // namespace tidemark
