// SPDX-License-Identifier: Apache-2.0
#include "workloads/mixed_example.h"

#include "tidemark/session/register_workload.h"
#include "workloads/workload_table.h"

void tidemark::register_mixed_example() { register_workload<MixedExample>(); }
