// SPDX-License-Identifier: Apache-2.0
// A CUDA graph of empty kernels with the edges of a work of 'bench runtime -p cuda'.
#pragma once

#include <cstdint>

#include "tidemark/bench/device_graph.h"
#include "tidemark/device/cuda/cuda_launch.cuh"
#include "tidemark/device/cuda/unit_placement.h"

namespace tidemark::bench {

__global__ void __launch_bounds__(kUnitThreads) do_nothing() {}

class EmptyGraph {
 public:
  EmptyGraph(CudaLaunch& launch, const WorkRequest& work, std::uint64_t nodes)
      : launch_(launch),
        nodes_(nodes),
        is_chain_(work.shape != WorkShape::kIndependent),
        blocks_(work.shape == WorkShape::kBlocks ? static_cast<std::uint32_t>(work.width) : 1) {}
  ~EmptyGraph() {
    if (runnable_ != nullptr) cudaGraphExecDestroy(runnable_);
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
    if (begin_ != nullptr) cudaEventDestroy(begin_);
    if (end_ != nullptr) cudaEventDestroy(end_);
  }
  EmptyGraph(const EmptyGraph&) = delete;
  EmptyGraph& operator=(const EmptyGraph&) = delete;

  bool open() {
    if (!launch_.check(cudaEventCreate(&begin_), "cudaEventCreate") ||
        !launch_.check(cudaEventCreate(&end_), "cudaEventCreate") ||
        !launch_.check(cudaGraphCreate(&graph_, 0), "cudaGraphCreate"))
      return false;
    cudaKernelNodeParams kernel{};
    kernel.func = reinterpret_cast<void*>(&do_nothing);
    kernel.gridDim = dim3(blocks_);
    kernel.blockDim = dim3(kUnitThreads);
    cudaGraphNode_t before = nullptr;
    for (std::uint64_t i = 0; i < nodes_; ++i) {
      cudaGraphNode_t node = nullptr;
      const bool waits = is_chain_ && i > 0;
      if (!launch_.check(
              cudaGraphAddKernelNode(&node, graph_, waits ? &before : nullptr, waits, &kernel),
              "cudaGraphAddKernelNode"))
        return false;
      before = node;
    }
    return launch_.check(cudaGraphInstantiate(&runnable_, graph_, 0), "cudaGraphInstantiate") &&
           launch_.check(cudaGraphUpload(runnable_, launch_.stream()), "cudaGraphUpload");
  }
  bool run(double& ns_per_node) {
    float ms = 0;
    if (!launch_.check(cudaEventRecord(begin_, launch_.stream()), "cudaEventRecord") ||
        !launch_.check(cudaGraphLaunch(runnable_, launch_.stream()), "cudaGraphLaunch") ||
        !launch_.check(cudaEventRecord(end_, launch_.stream()), "cudaEventRecord") ||
        !launch_.check(cudaStreamSynchronize(launch_.stream()), "a graph of empty kernels") ||
        !launch_.check(cudaEventElapsedTime(&ms, begin_, end_), "cudaEventElapsedTime"))
      return false;
    ns_per_node = static_cast<double>(ms) * 1e6 / static_cast<double>(nodes_);
    return true;
  }
  [[nodiscard]] std::uint64_t nodes() const { return nodes_; }

 private:
  CudaLaunch& launch_;
  std::uint64_t nodes_;
  bool is_chain_;
  std::uint32_t blocks_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t runnable_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace tidemark::bench
