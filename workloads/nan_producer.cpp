// SPDX-License-Identifier: Apache-2.0
#include "workloads/nan_producer.h"

#include "tidemark/session/register_workload.h"
#include "workloads/workload_table.h"

void tidemark::register_nan_producer() { register_workload<NanProducer>(); }
