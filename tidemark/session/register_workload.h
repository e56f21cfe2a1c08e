// SPDX-License-Identifier: Apache-2.0
// A workload: kernels, an orchestration, its inputs and the check of its results, as one type.
// register_workload<W>() makes it known by name to the device and to the command line.
#pragma once

#include <utility>

#include "tidemark/device/program.h"
#include "tidemark/device/sim/threaded_core.h"
#include "tidemark/session/plan_workload.h"
#include "tidemark/session/replay_task.h"
#include "tidemark/session/workload_concept.h"
#include "tidemark/session/workload_entry.h"

namespace tidemark {

namespace workload_detail {

template <class W, UnitEnv Env>
void run_on_sim(DeviceContext& context) {
  auto config = context.args<RuntimeConfig>();
  config.task_timeout_ticks =
      context.region().header().identity.ticks_per_second / 1000 * config.task_timeout_ms;
  const RuntimeLayout layout = lay_out(config);
  const RuntimeMemory memory(context.memory(), layout);
  const RegionView* region = config.streams.any() ? &context.region() : nullptr;
  RecordingWatch<Env> watch(config.build == BuildKind::kHostBuild ? nullptr : region, config);
  using Kernels = typename W::Kernels;
  run_sim_units<W, Env>(
      memory, context.status(), watch, [&] { return context.stop_requested(); }, region,
      config.block_threads > 1 ? &run_threaded_core<Kernels, Env> : &run_sim_core<Kernels, Env>);
}

template <class W, UnitEnv Env>
void build_graph(const RuntimeMemory& memory, RuntimeStatus* status, const RegionView* region) {
  RecordingWatch<Env> watch(region, memory.config());
  orchestrate_here<W, Env>(memory, status, watch);
}

// Block after block, kernel after kernel.
template <class W>
void replay(ReplayTask& task) {
  TaskArgs args(reinterpret_cast<unsigned char*>(task.memory.data()), task.tensors.data(),
                static_cast<std::uint32_t>(task.tensors.size()), task.scalars.data(),
                static_cast<std::uint32_t>(task.scalars.size()));
  args.task = task.task;
  args.block_count = task.block_count;
  SimBlock block;
  for (args.block = 0; args.block < task.block_count; ++args.block)
    for (const std::uint16_t kernel : task.kernels)
      if (kernel != kNoKernel) W::Kernels::run(kernel, block, args);
}

}  // namespace workload_detail

template <Workload W, UnitEnv Env = SimEnv>
void register_workload() {
  register_device_program(W::kName, &workload_detail::run_on_sim<W, Env>);
  WorkloadSteps steps{.prepare = &W::prepare,
                      .configure = nullptr,
                      .build = &workload_detail::build_graph<W, Env>,
                      .check = &W::check};
  if constexpr (requires(RuntimeConfig config) { W::configure(config); })
    steps.configure = &W::configure;
  WorkloadEntry entry{.name = W::kName,
                      .description = W::kDescription,
                      .cases = W::cases(),
                      .replay = &workload_detail::replay<W>};
  if constexpr (requires { W::kDeviceBuilds; }) entry.device_builds = true;
  for (std::uint16_t i = 0; i < W::Kernels::kCount; ++i)
    entry.kernel_infos.push_back(W::Kernels::info(i));
  add_task_workload(std::move(entry), steps);
}

}  // namespace tidemark
