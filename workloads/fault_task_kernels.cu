// SPDX-License-Identifier: Apache-2.0
// The programs that go wrong, or wait, as kernels for GPUs. Beside task_kernels.cu, so that two
// compilers share the work.
#include "tidemark/device/cuda/cuda_units.cuh"
#include "workloads/capacity_faults.h"
#include "workloads/hang_programs.h"
#include "workloads/refused_submits.h"
#include "workloads/slow_programs.h"
#include "workloads/workload_table.h"

namespace tidemark {

void register_fault_task_kernels() {
  register_all_cuda_units<HangKernel, HangOrchestration, HangScheduler, CrashKernel, ScopeDeadlock,
                          HeapDeadlock, FlowControlDeadlock, DepPoolOverflow, TensormapOverflow,
                          InvalidArgs, RequestTooLarge, SyncStartInvalid, TensorWaitTimeout,
                          ExplicitFatal, ScopeDepthExceeded, EmptyProgram, SlowKernel,
                          Backpressure>();
}

}  // namespace tidemark
