// SPDX-License-Identifier: Apache-2.0
// The graphs of 'bench runtime' as a kernel for GPUs.
#include "tidemark/bench/cuda_runtime_bench.h"
#include "tidemark/bench/device_graph.h"
#include "tidemark/device/cuda/cuda_units.cuh"

namespace tidemark::bench {

void register_device_graph() { register_cuda_units<DeviceGraph>(); }

}  // namespace tidemark::bench
