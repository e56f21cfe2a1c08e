// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/runtime_lanes.h"

#include <fmt/core.h>

#include "tidemark/schema/stream_registry.h"

namespace tidemark {
namespace {

struct Unit {
  std::uint32_t number;
  std::string text;
};

Unit unit_of(const UnitCounts& units, UnitKind kind, std::uint32_t index) {
  switch (kind) {
    case UnitKind::kOrchestrator:
      break;
    case UnitKind::kScheduler:
      return {units.scheduler(index), fmt::format("scheduler {}", index)};
    case UnitKind::kCore:
      return {units.core(index), fmt::format("core {} ({})", index, to_text(core_type(index)))};
  }
  return {0, "orchestrator"};
}

}  // namespace

std::vector<LaneRequest> runtime_lanes(const RuntimeConfig& config) {
  const StreamLanes lanes = config.lanes();
  std::vector<LaneRequest> requests(lanes.count());
  for (std::uint32_t i = 0; i < kUnitLaneCount; ++i) {
    const auto use = static_cast<UnitLane>(i);
    const UnitLaneInfo info = info_of(use);
    for (std::uint32_t index = 0; index < lanes.unit_count(info.unit); ++index) {
      const std::uint32_t lane = lanes.lane(use, index);
      if (lane == kNoLane) continue;
      Unit unit = unit_of(config.units(), info.unit, index);
      requests.at(lane) = {.stream = info.stream,
                           .overflow = Overflow::kWait,
                           .record_bytes = find_stream(info.stream)->record_bytes,
                           .unit = unit.number,
                           .producer = std::move(unit.text)};
    }
  }
  return requests;
}

}  // namespace tidemark
