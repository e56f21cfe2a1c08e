// SPDX-License-Identifier: Apache-2.0
// Runs the units of a runtime on the simulated device: one thread for the orchestrator, each
// scheduler and each core.
#pragma once

#include <cstdint>
#include <thread>
#include <vector>

#include "tidemark/device/sim/crash_stack.h"
#include "tidemark/device/sim/sim_env.h"
#include "tidemark/record/event_recorder.h"
#include "tidemark/runtime/graph/orchestrator.h"
#include "tidemark/runtime/graph/recording_watch.h"
#include "tidemark/runtime/units/scheduler.h"
#include "tidemark/runtime/units/worker.h"

namespace tidemark {

// The threads that run one kernel: here, one. Kernels record their own marks and counters with
// block.recorder().
template <DeviceEnv Env>
class BasicSimBlock : public SoloBlock {
 public:
  BasicSimBlock() = default;
  BasicSimBlock(const RegionView* region, std::uint32_t lane, RecorderLine* line = nullptr)
      : events_(recorder_of<EventRecorder<Env>>(region, lane, line)) {}

  EventRecorder<Env>& recorder() { return events_; }
  static void wait_ns(std::uint64_t ns) {
    const timespec time{.tv_sec = static_cast<time_t>(ns / 1'000'000'000),
                        .tv_nsec = static_cast<long>(ns % 1'000'000'000)};
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
  }

 private:
  EventRecorder<Env> events_;
};
using SimBlock = BasicSimBlock<SimEnv>;

// Builds the graph of a workload; on the host or on the device.
template <class Workload, UnitEnv Env = SimEnv, GraphWatch Watch>
void orchestrate_here(const RuntimeMemory& memory, RuntimeStatus* status, Watch& watch) {
  Orchestrator<typename Workload::Kernels, Env, Watch> orchestrator(memory, status, watch);
  orchestrator.run([&](auto& orch) { Workload::orchestrate(orch, memory.control().entry); });
}

// A launch is over when every unit is there, as with a persistent kernel.
inline void await_units(RuntimeStatus* status, const UnitCounts& units) {
  for (std::uint32_t unit = 1; unit < units.total(); ++unit)
    // pairs with [unit state]
    for (std::uint32_t round = 0;
         unit_lines(status)[unit].state.load_acquire() == UnitState::kNotStarted; ++round)
      SimEnv::wait_for_space(round);
}

// Without a region nothing is recorded. Env: SimEnv, or one of a test that watches it.
template <class Workload, UnitEnv Env = SimEnv, GraphWatch Watch, class Stopped>
void run_sim_units(const RuntimeMemory& memory, RuntimeStatus* status, Watch& watch,
                   const Stopped& stopped, const RegionView* region = nullptr) {
  const RuntimeConfig& config = memory.config();
  std::vector<std::thread> units;
  units.reserve(config.scheduler_count + config.core_count());
  for (std::uint32_t i = 0; i < config.scheduler_count; ++i)
    units.emplace_back([&, i] {
      sim_place.let_move();
      sim_unit = config.units().scheduler(i) + 1;
      const CrashStack crash_stack;
      Scheduler<Env>(memory, status, i, region).run(stopped);
    });
  for (std::uint32_t core = 0; core < config.core_count(); ++core)
    units.emplace_back([&, core] {
      sim_unit = config.units().core(core) + 1;
      const CrashStack crash_stack;
      BasicSimBlock<Env> block(region, config.lanes().events(core),
                               &unit_lines(status)[config.units().core(core)].recorder);
      Worker<typename Workload::Kernels, Env, BasicSimBlock<Env>>(
          memory, status, core, scheduler_of(config, core / kCoresPerCluster), region)
          .run(block);
      block.recorder().close();
    });
  await_units(status, config.units());
  sim_unit = 1;
  // Otherwise the host has built the graph.
  if (config.reclaims()) orchestrate_here<Workload, Env>(memory, status, watch);
  sim_unit = 0;
  for (auto& unit : units) unit.join();
  // alone: one word
  if (!config.reclaims()) status->end_ticks.store_release(SimEnv::now_ticks());
}

}  // namespace tidemark
