// SPDX-License-Identifier: Apache-2.0
// The workloads of this folder. Each source makes its own known by name; the library would leave
// out a source that nothing calls, so all of them are named here.
#pragma once

namespace tidemark {

// All of them, once, before the supervisor starts. In the order of 'tidemark list'.
void register_workloads();

void register_vector_example();
void register_paged_attention();
void register_bgemm();
void register_mixed_example();
void register_spmd_blocks();
void register_wide_tensors();
void register_slow_programs();
void register_nan_producer();
void register_hang_programs();
void register_capacity_faults();
void register_refused_submits();
void register_synthetic_producer();

// Their kernels for GPUs; nothing in a build without CUDA.
void register_task_kernels();
void register_fault_task_kernels();

}  // namespace tidemark
