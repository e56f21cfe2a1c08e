// SPDX-License-Identifier: Apache-2.0
// A workload's graph as a CUDA graph: the same kernels on the same arguments with the same edges,
// without the runtime. The arguments of its device program, and the figures it leaves.
#pragma once

#include <cstdint>

#include "tidemark/base/expected.h"
#include "tidemark/bench/bench_options.h"

namespace tidemark::bench {

inline constexpr const char* kKernelGraphProgram = "bench_kernel_graph";
inline constexpr const char* kSameKernels = "same_kernels";  // of --graph

enum class KernelGraphOf : std::uint32_t { kPagedAttention, kBgemm };

struct KernelGraphArgs {
  KernelGraphOf workload;
  std::uint32_t repeat;  // launches of the graph
};

enum KernelGraphFigure : std::uint32_t {
  kGraphFirstNs,  // the first launch
  kGraphNextNs,   // the mean of the others
  kGraphNodes,
  kGraphEdges,
  kGraphRight,  // 1: what the last one left is as expected
};

void register_kernel_graph_bench();

Expected<int> bench_same_kernels(const RuntimeBenchOptions& options, const BenchOutput& out);

}  // namespace tidemark::bench
