// SPDX-License-Identifier: Apache-2.0
// The CUDA sides of the workloads, in a build without CUDA.
#include "workloads/synthetic_args.h"
#include "workloads/workload_table.h"

namespace tidemark {

void register_synthetic_producer_cuda() {}
void register_task_kernels() {}
void register_fault_task_kernels() {}

}  // namespace tidemark
