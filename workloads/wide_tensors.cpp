// SPDX-License-Identifier: Apache-2.0
#include "workloads/wide_tensors.h"

#include "tidemark/session/register_workload.h"
#include "workloads/workload_table.h"

namespace tidemark {

void register_wide_tensors() { register_workload<WideTensors>(); }

}  // namespace tidemark
