// SPDX-License-Identifier: Apache-2.0
#include "workloads/capacity_faults.h"

#include "tidemark/session/register_workload.h"
#include "workloads/workload_table.h"

void tidemark::register_capacity_faults() {
  register_workload<ScopeDeadlock>();
  register_workload<HeapDeadlock>();
  register_workload<FlowControlDeadlock>();
  register_workload<DepPoolOverflow>();
  register_workload<TensormapOverflow>();
}
