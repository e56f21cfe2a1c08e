// SPDX-License-Identifier: Apache-2.0
// The units of the task runtime as one persistent kernel per workload (unit_placement.h says which
// CTA is which unit). What lives as long as the kernel is in shared memory: thread-local memory is
// slower and is reserved for every thread that the GPU could hold.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>

#include "tidemark/device/cuda/cuda_block.cuh"
#include "tidemark/device/cuda/task_kernel.h"
#include "tidemark/device/cuda/unit_placement.h"
#include "tidemark/runtime/graph/orchestrator.h"
#include "tidemark/runtime/graph/recording_watch.h"
#include "tidemark/runtime/units/scheduler.h"
#include "tidemark/runtime/units/worker.h"
#include "tidemark/schema/cluster_range.h"

namespace tidemark {

namespace cuda_units_detail {

using Watch = RecordingWatch<CudaUnitEnv>;
using UnitBlock = CtaUnitBlock<kUnitThreads>;

// The host's wish for the end is in its memory: a look is a trip over the link.
class StopLook {
 public:
  __device__ explicit StopLook(const RegionView& region) : region_(region) {}
  __device__ bool operator()() const {
    const std::uint64_t now_ticks = CudaEnv::now_ticks();
    if (stopped_ || now_ticks < next_ticks_) return stopped_;
    next_ticks_ = now_ticks + kLookEveryNs;
    stopped_ = region_.stop_requested();
    return stopped_;
  }

 private:
  static constexpr std::uint64_t kLookEveryNs = 200'000;
  const RegionView& region_;
  mutable std::uint64_t next_ticks_ = 0;
  mutable bool stopped_ = false;
};

template <class Program>
__device__ __noinline__ void run_orchestrator(unsigned char* place, const RuntimeMemory& memory,
                                              RuntimeStatus* status, const RegionView* region) {
  using Orch = Orchestrator<typename Program::Kernels, CudaUnitEnv, Watch>;
  static_assert(sizeof(Watch) % alignof(Orch) == 0);
  auto* watch = new (place) Watch(region, memory.config());
  auto* orchestrator = new (place + sizeof(Watch)) Orch(memory, status, *watch);
  orchestrator->run([&](auto& orch) { Program::orchestrate(orch, memory.control().entry); });
}

// The same for all workloads.
__device__ __noinline__ inline void run_scheduler(unsigned char* place, const RuntimeMemory& memory,
                                                  RuntimeStatus* status, std::uint32_t index,
                                                  const RegionView* region,
                                                  const RegionView& stop_words) {
  auto* scheduler = reinterpret_cast<Scheduler<CudaUnitEnv>*>(place);
  by_first<WarpLanes>([&] { new (place) Scheduler<CudaUnitEnv>(memory, status, index, region); });
  scheduler->run(StopLook(stop_words));
}

inline constexpr std::uint32_t kSchedulerBytes = kSchedulersPerCta * sizeof(Scheduler<CudaUnitEnv>);
template <class Program>
inline constexpr std::uint32_t kOrchestratorBytes =
    sizeof(Watch) + sizeof(Orchestrator<typename Program::Kernels, CudaUnitEnv, Watch>);
template <class Program>
inline constexpr std::uint32_t kPlaceBytes =
    kOrchestratorBytes<Program> > kSchedulerBytes ? kOrchestratorBytes<Program> : kSchedulerBytes;

// The multiprocessor that this CTA is on, + 1.
__device__ inline std::uint32_t place_here() {
  std::uint32_t number = 0;
  asm("mov.u32 %0, %%smid;" : "=r"(number));
  return number + 1;
}

// All threads of a core come to each kernel by this one way: a barrier is for whole warps, and
// thread 0, which is the worker, is one of a warp.
template <class Program>
__device__ void run_core(unsigned char* place, const RuntimeMemory& memory, RuntimeStatus* status,
                         std::uint32_t core, const RegionView* region) {
  using Kernels = typename Program::Kernels;
  using UnitWorker = Worker<Kernels, CudaUnitEnv, UnitBlock>;
  static_assert(sizeof(UnitWorker) <= kPlaceBytes<Program>);
  const RuntimeConfig& config = memory.config();
  UnitBlock block(region, config.lanes().events(core));
  auto* worker = reinterpret_cast<UnitWorker*>(place);
  const bool leads = block.thread() == 0;
  if (leads) {
    new (place)
        UnitWorker(memory, status, core, scheduler_of(config, core / kCoresPerCluster), region);
    worker->start(block);
  }
  typename UnitWorker::Call call;
  for (bool more = true; more;) {
    if (leads && !worker->next(call)) call.kernel = kNoKernel;
    __syncwarp();
    more = run_together<Kernels>(block, call);
    if (leads && more) worker->finish(block);
    __syncwarp();
  }
  if (leads) worker->leave(block);
}

}  // namespace cuda_units_detail

template <class Program>
__global__ void __launch_bounds__(kUnitThreads, 1)
    run_cuda_units(void* base, const __grid_constant__ RuntimeLayout layout, RuntimeStatus* status,
                   const __grid_constant__ RegionView region) {
  using namespace cuda_units_detail;
#if TM_ON_GPU
  static_assert(kPlaceBytes<Program> <= kUnitPlaceBytes);
  unsigned char* const place = unit_place();
  // Parameters are in constant memory, which is reached like global memory through a pointer.
  auto& own_layout = of_block<RuntimeLayout>();
  for (std::uint32_t i = threadIdx.x; i < sizeof(RuntimeLayout) / 8; i += kUnitThreads)
    reinterpret_cast<std::uint64_t*>(&own_layout)[i] =
        reinterpret_cast<const std::uint64_t*>(&layout)[i];
  __syncthreads();
  const RuntimeMemory memory(base, own_layout);
  const RuntimeConfig& config = memory.config();
  const UnitCounts units = config.units();
  const RegionView* recorded = config.streams.any() ? &region : nullptr;
  const std::uint32_t first_core = 1 + scheduler_ctas(units.schedulers);
  if (blockIdx.x >= first_core) {
    const std::uint32_t core = blockIdx.x - first_core;
    if (threadIdx.x == 0) unit_lines(status)[units.core(core)].place.store_relaxed(place_here());
    run_core<Program>(place, memory, status, core, recorded);
  } else if (blockIdx.x > 0) {
    const std::uint32_t warp = threadIdx.x / 32;
    const std::uint32_t index = (blockIdx.x - 1) * kSchedulersPerCta + warp;
    if (index >= units.schedulers) return;
    if (threadIdx.x % 32 == 0)
      unit_lines(status)[units.scheduler(index)].place.store_relaxed(place_here());
    run_scheduler(place + warp * sizeof(Scheduler<CudaUnitEnv>), memory, status, index, recorded,
                  region);
  } else if (threadIdx.x == 0) {
    unit_lines(status)[0].place.store_relaxed(place_here());
    open_args_places();
    // Otherwise the host has built the graph, and its lanes are the host's.
    if (config.reclaims()) run_orchestrator<Program>(place, memory, status, recorded);
  }
#endif
}

// Makes the kernels of a workload known to the devices of this program. W: Kernels, orchestrate and
// kName of a workload.
template <class W>
void register_cuda_units() {
  std::uint32_t shared_bytes = kArgsPlacesBytes;
  for (std::uint16_t i = 0; i < W::Kernels::kCount; ++i)
    shared_bytes = std::max(shared_bytes, W::Kernels::info(i).shared_bytes);
  static TaskKernel kernel;
  kernel = {reinterpret_cast<const void*>(&run_cuda_units<W>), shared_bytes};
  register_task_kernel(W::kName, &kernel);
}

template <class... Workloads>
void register_all_cuda_units() {
  (register_cuda_units<Workloads>(), ...);
}

}  // namespace tidemark
