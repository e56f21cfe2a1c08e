// SPDX-License-Identifier: Apache-2.0
// Compiles the task runtime, its side of the recorder and a workload for a GPU: orchestrator,
// scheduler and worker. Nothing here is run by CI.
#include "tidemark/device/cuda/cuda_block.cuh"
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
    using Block = CtaUnitBlock<256>;
    Block block(&region, layout.config.lanes().events(core));
    if (block.thread() != 0) return follow<typename Workload::Kernels>(block);
    Worker<typename Workload::Kernels, CudaUnitEnv, Block>(
        memory, status, core, scheduler_of(layout.config, core / kCoresPerCluster), &region)
        .run(block);
  }
}

// What no kernel of vector_example asks of its block.
__global__ void use_the_block(float* out, const __grid_constant__ RegionView region) {
  CtaUnitBlock<64> block(&region, ~0u);
  struct Pair {
    std::uint32_t thread, warp;
    std::uint16_t lane;
  };
  const Pair first =
      block.broadcast(Pair{block.thread(), block.warp(), static_cast<std::uint16_t>(block.lane())});
  block.open_shared(4096);
  auto* tile = block.shared<float>(1024);
  block.copy(tile, out, 4096);
  block.sync();
  block.multiply_tile({.rows = 16, .inner = 16, .columns = 16}, tile, tile + 256, out);
  block.close_shared();
  out[first.thread] = block.reduce(out[block.thread()], [](float a, float b) { return a + b; });
}

const void* units_of_vector_example() {
  return reinterpret_cast<const void*>(&run_units<VectorExample>);
}

}  // namespace tidemark
