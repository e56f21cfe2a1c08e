// SPDX-License-Identifier: Apache-2.0
#include "workloads/wide_tensors.h"

#include "tidemark/session/register_workload.h"
#include "workloads/workload_table.h"

void tidemark::register_wide_tensors() { register_workload<WideTensors>(); }
