// SPDX-License-Identifier: Apache-2.0
// The runtime bench on a GPU: the arguments of its device program, and the figures it leaves.
#pragma once

#include <cstdint>

#include "tidemark/bench/bench_options.h"
#include "tidemark/bench/device_graph.h"

namespace tidemark::bench {

inline constexpr const char* kCudaRuntimeBench = "bench_runtime";

struct CudaRuntimeArgs {
  WorkRequest work;
  std::uint32_t rounds;
  std::uint32_t seconds_most;  // no further round after so long
};

// Indices of the region's figures. Of a round's side its median, unless it says otherwise.
enum CudaRuntimeFigure : std::uint32_t {
  kFigureTaskNs,       // of the runtime
  kFigureTaskNsLeast,  // of all rounds
  kFigureTaskNsMost,
  kFigureMailboxNs,  // of a bare loop; 0: there is none of this shape
  kFigureLanesNs,    // of that loop with a thread for each worker
  kFigureGraphNs,    // of a CUDA graph; 0: as above
  kFigureGraphNodes,
  kFigureRounds,
  kFigureCores,
  kFigureSchedulers,
  kFigureDeviceBytes,  // without heaps and buffers
  kFigureFirstNs,      // of a graph that runs again: its first iteration
  kFigureNearLinesNs,  // with the progress lines in the GPU's memory, where no host sees them
};

void register_cuda_runtime_bench();
void register_device_graph();

Expected<int> bench_runtime_on_cuda(const RuntimeBenchOptions& options, const BenchOutput& out);

}  // namespace tidemark::bench
