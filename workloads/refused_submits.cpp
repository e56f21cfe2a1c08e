// SPDX-License-Identifier: Apache-2.0
#include "workloads/refused_submits.h"

#include "tidemark/session/register_workload.h"
#include "workloads/slow_programs.h"
#include "workloads/workload_table.h"

void tidemark::register_refused_submits() {
  register_workload<InvalidArgs>();
  register_workload<RequestTooLarge>();
  register_workload<SyncStartInvalid>();
  register_workload<TensorWaitTimeout>();
  register_workload<ExplicitFatal>();
  register_workload<ScopeDepthExceeded>();
}
