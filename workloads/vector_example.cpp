// SPDX-License-Identifier: Apache-2.0
#include "workloads/vector_example.h"

#include "tidemark/session/register_workload.h"
#include "workloads/workload_table.h"

void tidemark::register_vector_example() { register_workload<VectorExample>(); }
