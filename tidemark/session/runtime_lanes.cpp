// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/runtime_lanes.h"

#include <fmt/core.h>

#include "tidemark/schema/stream_registry.h"

namespace tidemark {

std::vector<LaneRequest> runtime_lanes(const RuntimeConfig& config) {
  const UnitCounts units = config.units();
  const StreamLanes lanes = config.lanes();
  std::vector<LaneRequest> requests(lanes.count());
  const auto set = [&](std::uint32_t lane, StreamId stream, std::uint32_t unit,
                       std::string producer) {
    if (lane == kNoLane) return;
    requests.at(lane) = {.stream = stream,
                         .overflow = Overflow::kWait,
                         .record_bytes = find_stream(stream)->record_bytes,
                         .unit = unit,
                         .producer = std::move(producer)};
  };
  set(lanes.scopes(), StreamId::kScopes, 0, "orchestrator");
  set(lanes.edges(), StreamId::kEdges, 0, "orchestrator");
  set(lanes.submits(), StreamId::kPhases, 0, "orchestrator");
  set(lanes.orchestrator_events(), StreamId::kEvents, 0, "orchestrator");
  for (std::uint32_t i = 0; i < units.schedulers; ++i) {
    const std::string name = fmt::format("scheduler {}", i);
    set(lanes.finishes(i), StreamId::kSwimlane, units.scheduler(i), name);
    set(lanes.phases(i), StreamId::kPhases, units.scheduler(i), name);
  }
  for (std::uint32_t core = 0; core < units.cores; ++core) {
    const std::string name =
        fmt::format("core {} ({})", core, core_type(core) == CoreType::kAic ? "aic" : "aiv");
    set(lanes.spans(core), StreamId::kSwimlane, units.core(core), name);
    set(lanes.events(core), StreamId::kEvents, units.core(core), name);
    set(lanes.dump(core), StreamId::kDump, units.core(core), name);
  }
  return requests;
}

}  // namespace tidemark
