// SPDX-License-Identifier: Apache-2.0
// The lanes of a task runtime's units, in the order of StreamLanes.
#pragma once

#include <vector>

#include "tidemark/device/region_plan.h"
#include "tidemark/schema/runtime_config.h"

namespace tidemark {

std::vector<LaneRequest> runtime_lanes(const RuntimeConfig& config);

}  // namespace tidemark
