// SPDX-License-Identifier: Apache-2.0
// The workloads of tasks as kernels for GPUs. Many in one source: what knows no workload
// (scheduler, submitter, dumper) is compiled once for all of them.
#include "tidemark/device/cuda/cuda_units.cuh"
#include "workloads/bgemm.h"
#include "workloads/mixed_example.h"
#include "workloads/nan_producer.h"
#include "workloads/paged_attention.h"
#include "workloads/spmd_blocks.h"
#include "workloads/vector_example.h"
#include "workloads/wide_tensors.h"
#include "workloads/workload_table.h"

namespace tidemark {

void register_task_kernels() {
  register_all_cuda_units<VectorExample, PagedAttention, Bgemm, MixedExample, SpmdBlocks,
                          WideTensors, NanProducer>();
}

}  // namespace tidemark
