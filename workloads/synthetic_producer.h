// SPDX-License-Identifier: Apache-2.0
// synthetic_producer: no compute; a chosen number of lanes writes task spans at a chosen rate
// through the normal path. The tool to separate transport from workload.
#pragma once

#include "tidemark/base/expected.h"
#include "workloads/synthetic_args.h"

namespace tidemark {

struct WorkloadLaunch;

inline constexpr const char* kSyntheticProducer = "synthetic_producer";

Expected<WorkloadLaunch> plan_synthetic_producer(SyntheticArgs args);

}  // namespace tidemark
