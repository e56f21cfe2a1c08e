// SPDX-License-Identifier: Apache-2.0
// Which streams a runtime records, and which lane of the region belongs to which unit. Both sides
// count by this: the host when it plans the lanes, the device when its units open them.
#pragma once

#include <cstdint>

#include "tidemark/schema/unit_counts.h"

namespace tidemark {

// Fixed before launch.
struct StreamSelection {
  std::uint32_t swimlane_level = 0;  // 1: spans, 2: dispatch and finish, 3: phases, 4: submits
  std::uint32_t edges = 0;
  std::uint32_t scopes = 0;
  std::uint32_t dump = 0;  // what of it: DumpSelection

  TM_DEVICE constexpr bool any() const {
    return swimlane_level > 0 || edges != 0 || scopes != 0 || dump != 0;
  }
};

inline constexpr std::uint32_t kSwimlaneLevelMax = 4;
inline constexpr std::uint32_t kNoLane = ~0u;

// Lanes stand unit by unit, in the order of the units: orchestrator, schedulers, cores.
class StreamLanes {
 public:
  TM_DEVICE constexpr StreamLanes(const StreamSelection& streams, const UnitCounts& units)
      : streams_(streams), units_(units) {}

  TM_DEVICE constexpr std::uint32_t scopes() const { return streams_.scopes != 0 ? 0 : kNoLane; }
  TM_DEVICE constexpr std::uint32_t edges() const {
    return streams_.edges != 0 ? (streams_.scopes != 0 ? 1 : 0) : kNoLane;
  }
  TM_DEVICE constexpr std::uint32_t submits() const {
    return has_submits() ? (streams_.scopes != 0) + (streams_.edges != 0) : kNoLane;
  }
  TM_DEVICE constexpr std::uint32_t orchestrator_events() const {
    return streams_.any() ? per_orchestrator() - 1 : kNoLane;
  }
  TM_DEVICE constexpr std::uint32_t finishes(std::uint32_t scheduler) const {
    return has_finishes() ? first_of_scheduler(scheduler) : kNoLane;
  }
  TM_DEVICE constexpr std::uint32_t phases(std::uint32_t scheduler) const {
    return has_phases() ? first_of_scheduler(scheduler) + 1 : kNoLane;
  }
  TM_DEVICE constexpr std::uint32_t spans(std::uint32_t core) const {
    return has_spans() ? first_of_core(core) : kNoLane;
  }
  TM_DEVICE constexpr std::uint32_t events(std::uint32_t core) const {
    return streams_.any() ? first_of_core(core) + has_spans() : kNoLane;
  }
  TM_DEVICE constexpr std::uint32_t dump(std::uint32_t core) const {
    return streams_.dump != 0 ? first_of_core(core) + has_spans() + 1 : kNoLane;
  }
  TM_DEVICE constexpr std::uint32_t count() const {
    return streams_.any() ? first_of_core(units_.cores) : 0;
  }

 private:
  TM_DEVICE constexpr bool has_spans() const { return streams_.swimlane_level >= 1; }
  TM_DEVICE constexpr bool has_finishes() const { return streams_.swimlane_level >= 2; }
  TM_DEVICE constexpr bool has_phases() const { return streams_.swimlane_level >= 3; }
  TM_DEVICE constexpr bool has_submits() const { return streams_.swimlane_level >= 4; }
  TM_DEVICE constexpr std::uint32_t per_orchestrator() const {
    return (streams_.scopes != 0) + (streams_.edges != 0) + has_submits() + 1u;
  }
  TM_DEVICE constexpr std::uint32_t first_of_scheduler(std::uint32_t scheduler) const {
    return per_orchestrator() + scheduler * (has_finishes() + has_phases());
  }
  TM_DEVICE constexpr std::uint32_t first_of_core(std::uint32_t core) const {
    return first_of_scheduler(units_.schedulers) +
           core * (has_spans() + 1u + (streams_.dump != 0 ? 1u : 0u));
  }

  StreamSelection streams_;
  UnitCounts units_;
};

}  // namespace tidemark
