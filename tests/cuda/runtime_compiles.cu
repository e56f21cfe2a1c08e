// SPDX-License-Identifier: Apache-2.0
// Compiles the task runtime, its side of the recorder and a workload for a GPU: orchestrator,
// scheduler and worker. Nothing here is run by CI.
#include "tidemark/device/cuda/cuda_env.cuh"
#include "tidemark/runtime/graph/recording_watch.h"
#include "tidemark/runtime/units/scheduler.h"
#include "tidemark/runtime/units/worker.h"
#include "workloads/vector_example.h"

namespace tidemark {

template <class Workload>
__device__ void orchestrate(const RuntimeMemory& memory, RuntimeStatus* status,
                            const RegionView* region) {
  RecordingWatch<CudaUnitEnv> watch(region, memory.config());
  Orchestrator<typename Workload::Kernels, CudaUnitEnv, RecordingWatch<CudaUnitEnv>> orchestrator(
      memory, status, watch);
  orchestrator.run([&](auto& orch) { Workload::orchestrate(orch, memory.control().entry); });
}

// One CTA per unit: orchestrator, schedulers, cores.
template <class Workload>
__global__ void run_units(void* base, const __grid_constant__ RuntimeLayout layout,
                          RuntimeStatus* status, const __grid_constant__ RegionView region) {
  const RuntimeMemory memory(base, layout);
  const UnitCounts units = layout.config.units();
  if (blockIdx.x == 0) {
    if (threadIdx.x != 0) return;
    orchestrate<Workload>(memory, status, &region);
  } else if (blockIdx.x <= units.schedulers) {
    if (threadIdx.x != 0) return;
    Scheduler<CudaUnitEnv>(memory, status, blockIdx.x - 1, &region).run([&] {
      return region.stop_requested();
    });
  } else {
    const std::uint32_t core = blockIdx.x - 1 - units.schedulers;
    CtaUnitBlock block(&region, layout.config.lanes().events(core));
    Worker<typename Workload::Kernels, CudaUnitEnv, CtaUnitBlock>(
        memory, status, core, scheduler_of(layout.config, core / kCoresPerCluster), &region)
        .run(block);
    block.recorder().close();
  }
}

const void* units_of_vector_example() {
  return reinterpret_cast<const void*>(&run_units<VectorExample>);
}

}  // namespace tidemark
