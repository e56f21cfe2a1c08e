// SPDX-License-Identifier: Apache-2.0
#include "workloads/hang_programs.h"

#include "tidemark/session/register_workload.h"
#include "workloads/workload_table.h"

void tidemark::register_hang_programs() {
  register_workload<HangKernel>();
  register_workload<HangOrchestration>();
  register_workload<HangScheduler>();
  register_workload<CrashKernel>();
}
