// SPDX-License-Identifier: Apache-2.0
#include "workloads/paged_attention.h"

#include "tidemark/session/register_workload.h"
#include "workloads/workload_table.h"

void tidemark::register_paged_attention() { register_workload<PagedAttention>(); }
