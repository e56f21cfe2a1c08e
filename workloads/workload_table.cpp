// SPDX-License-Identifier: Apache-2.0
#include "workloads/workload_table.h"

namespace tidemark {

void register_workloads() {
  register_vector_example();
  register_paged_attention();
  register_bgemm();
  register_mixed_example();
  register_spmd_blocks();
  register_wide_tensors();
  register_slow_programs();
  register_nan_producer();
  register_hang_programs();
  register_capacity_faults();
  register_refused_submits();
  register_synthetic_producer();
  register_task_kernels();
  register_fault_task_kernels();
}

}  // namespace tidemark
