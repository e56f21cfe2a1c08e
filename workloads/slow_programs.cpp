// SPDX-License-Identifier: Apache-2.0
#include "workloads/slow_programs.h"

#include "tidemark/session/register_workload.h"
#include "workloads/workload_table.h"

void tidemark::register_slow_programs() {
  register_workload<EmptyProgram>();
  register_workload<SlowKernel>();
  register_workload<Backpressure>();
}
