// SPDX-License-Identifier: Apache-2.0
#include "workloads/spmd_blocks.h"

#include "tidemark/session/register_workload.h"
#include "workloads/workload_table.h"

void tidemark::register_spmd_blocks() { register_workload<SpmdBlocks>(); }
