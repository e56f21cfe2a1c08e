// SPDX-License-Identifier: Apache-2.0
// How a unit opens its lanes: a recorder of the lane, or a disabled one where there is none.
#pragma once

#include "tidemark/record/recorder_costs.h"
#include "tidemark/schema/stream_lanes.h"
#include "tidemark/transport/region.h"

namespace tidemark {

template <class AnyRecorder>
TM_DEVICE AnyRecorder recorder_of(const RegionView* region, std::uint32_t lane,
                                  RecorderCosts* costs = nullptr) {
  if (region == nullptr || lane == kNoLane) return AnyRecorder();
  AnyRecorder recorder(region, lane);
  recorder.tell_waits_to(costs);
  return recorder;
}

}  // namespace tidemark
