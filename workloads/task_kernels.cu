// SPDX-License-Identifier: Apache-2.0
// The workloads of tasks as kernels for GPUs. In one source: what knows no workload (scheduler,
// submitter, dumper) is compiled once for all of them.
#include "tidemark/device/cuda/cuda_units.cuh"
#include "workloads/bgemm.h"
#include "workloads/capacity_faults.h"
#include "workloads/hang_programs.h"
#include "workloads/mixed_example.h"
#include "workloads/nan_producer.h"
#include "workloads/paged_attention.h"
#include "workloads/refused_submits.h"
#include "workloads/slow_programs.h"
#include "workloads/spmd_blocks.h"
#include "workloads/vector_example.h"
#include "workloads/wide_tensors.h"
#include "workloads/workload_table.h"

namespace tidemark {
namespace {

template <class... Workloads>
void register_all() {
  (register_cuda_units<Workloads>(), ...);
}

}  // namespace

void register_task_kernels() {
  register_all<VectorExample, PagedAttention, Bgemm, MixedExample, SpmdBlocks, WideTensors,
               NanProducer, HangKernel, HangOrchestration, HangScheduler, CrashKernel>();
}

}  // namespace tidemark
