// SPDX-License-Identifier: Apache-2.0
#include "workloads/bgemm.h"

#include "tidemark/session/register_workload.h"
#include "workloads/workload_table.h"

void tidemark::register_bgemm() { register_workload<Bgemm>(); }
