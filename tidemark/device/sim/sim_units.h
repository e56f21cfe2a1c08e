// SPDX-License-Identifier: Apache-2.0
// Runs the units of a runtime on the simulated device: one thread for the orchestrator, each
// scheduler and each core, or several for a core (threaded_core.h).
#pragma once

#include <cstdint>

#include "tidemark/device/sim/sim_block.h"
#include "tidemark/device/sim/sim_env.h"
#include "tidemark/runtime/graph/orchestrator.h"
#include "tidemark/runtime/graph/recording_watch.h"
#include "tidemark/runtime/units/worker.h"
#include "tidemark/schema/cluster_range.h"

namespace tidemark {

using SimBlock = BasicSimBlock<SimEnv>;

// Builds the graph of a workload; on the host or on the device.
template <class Workload, UnitEnv Env = SimEnv, GraphWatch Watch>
void orchestrate_here(const RuntimeMemory& memory, RuntimeStatus* status, Watch& watch) {
  Orchestrator<typename Workload::Kernels, Env, Watch> orchestrator(memory, status, watch);
  orchestrator.run([&](auto& orch) { Workload::orchestrate(orch, memory.control().entry); });
}

// What a core does, from the launch until it leaves.
using SimCore = void (*)(const RuntimeMemory&, RuntimeStatus*, const RegionView*,
                         std::uint32_t core);

template <class Kernels, UnitEnv Env, KernelBlock B>
void run_worker(const RuntimeMemory& memory, RuntimeStatus* status, const RegionView* region,
                std::uint32_t core, B& block) {
  Worker<Kernels, Env, B>(memory, status, core,
                          scheduler_of(memory.config(), core / kCoresPerCluster), region)
      .run(block);
}

// … on one thread.
template <class Kernels, UnitEnv Env>
void run_sim_core(const RuntimeMemory& memory, RuntimeStatus* status, const RegionView* region,
                  std::uint32_t core) {
  BasicSimBlock<Env> block(region, memory.config().lanes().events(core));
  run_worker<Kernels, Env>(memory, status, region, core, block);
}

// Calls something that outlives it, whatever its type.
template <class Answer>
class SimCall {
 public:
  template <class Call>
  // NOLINTNEXTLINE(google-explicit-constructor): a call is given where one is asked for
  SimCall(const Call& call)
      : call_(&call),
        ask_([](const void* it) -> Answer { return (*static_cast<const Call*>(it))(); }) {}
  Answer operator()() const { return ask_(call_); }

 private:
  const void* call_;
  Answer (*ask_)(const void*);
};

// The threads of all units; `build` is what the orchestrator does. The same code for all programs
// (sim_threads.h, for a test with a device of its own).
template <UnitEnv Env>
void run_sim_threads(const RuntimeMemory& memory, RuntimeStatus* status,
                     const SimCall<bool>& stopped, const RegionView* region, SimCore run_core,
                     const SimCall<void>& build);
extern template void run_sim_threads<SimEnv>(const RuntimeMemory&, RuntimeStatus*,
                                             const SimCall<bool>&, const RegionView*, SimCore,
                                             const SimCall<void>&);

// Without a region nothing is recorded. Env: SimEnv, or one of a test that watches it.
template <class Workload, UnitEnv Env = SimEnv, GraphWatch Watch, class Stopped>
void run_sim_units(const RuntimeMemory& memory, RuntimeStatus* status, Watch& watch,
                   const Stopped& stopped, const RegionView* region = nullptr,
                   SimCore run_core = &run_sim_core<typename Workload::Kernels, Env>) {
  const auto build = [&] {
    // Otherwise the host has built the graph.
    if (memory.config().reclaims()) orchestrate_here<Workload, Env>(memory, status, watch);
  };
  run_sim_threads<Env>(memory, status, stopped, region, run_core, build);
}

}  // namespace tidemark
