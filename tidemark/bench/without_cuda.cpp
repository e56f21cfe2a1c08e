// SPDX-License-Identifier: Apache-2.0
// The CUDA side of the benches, in a build without CUDA.
#include "tidemark/bench/cuda_bench.h"
#include "tidemark/bench/cuda_runtime_bench.h"
#include "tidemark/bench/kernel_graph.h"

namespace tidemark::bench {

void register_cuda_bench() {}
void register_cuda_runtime_bench() {}
void register_device_graph() {}
void register_kernel_graph_bench() {}

}  // namespace tidemark::bench
