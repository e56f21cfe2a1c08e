// SPDX-License-Identifier: Apache-2.0
#include "workloads/bgemm.h"

#include "tidemark/session/register_workload.h"
#include "workloads/workload_table.h"

namespace tidemark {

void register_bgemm() { register_workload<Bgemm>(); }

}  // namespace tidemark
