// SPDX-License-Identifier: Apache-2.0
// Which streams a runtime records, and which lane of the region belongs to which unit. Both sides
// count by this: the host when it plans the lanes, the device when its units open them.
#pragma once

#include <cstdint>

#include "tidemark/schema/stream_id.h"
#include "tidemark/schema/unit_counts.h"

namespace tidemark {

// Fixed before launch: a level for every stream that is on; 0: it is off.
struct StreamSelection {
  std::uint32_t levels[kStreamIdCount] = {};  // by StreamId

  TM_DEVICE constexpr std::uint32_t& operator[](StreamId stream) {
    return levels[static_cast<std::uint32_t>(stream)];
  }
  TM_DEVICE constexpr std::uint32_t operator[](StreamId stream) const {
    return levels[static_cast<std::uint32_t>(stream)];
  }
  TM_DEVICE constexpr bool any() const {
    for (const std::uint32_t level : levels)
      if (level != 0) return true;
    return false;
  }
};

inline constexpr std::uint32_t kSwimlaneLevelMax = 4;
inline constexpr std::uint32_t kNoLane = ~0u;

enum class UnitKind : std::uint8_t { kOrchestrator, kScheduler, kCore };

// A lane that every unit of a kind has, in the order of the units and of the lanes of one.
enum class UnitLane : std::uint8_t {
  kScopes,
  kEdges,
  kSubmits,
  kOrchestratorEvents,
  kFinishes,
  kPhases,
  kSpans,
  kEvents,
  kDump,
};
inline constexpr std::uint32_t kUnitLaneCount = 9;

struct UnitLaneInfo {
  UnitKind unit;
  StreamId stream;          // of its records
  StreamId asked_by;        // it exists where this stream is on; kNone: where any is
  std::uint32_t level = 1;  // or higher
};
TM_DEVICE constexpr UnitLaneInfo info_of(UnitLane lane) {
  constexpr UnitLaneInfo kLanes[kUnitLaneCount] = {
      {UnitKind::kOrchestrator, StreamId::kScopes, StreamId::kScopes},
      {UnitKind::kOrchestrator, StreamId::kEdges, StreamId::kEdges},
      {UnitKind::kOrchestrator, StreamId::kPhases, StreamId::kSwimlane, 4},
      {UnitKind::kOrchestrator, StreamId::kEvents, StreamId::kNone},
      {UnitKind::kScheduler, StreamId::kSwimlane, StreamId::kSwimlane, 2},
      {UnitKind::kScheduler, StreamId::kPhases, StreamId::kSwimlane, 3},
      {UnitKind::kCore, StreamId::kSwimlane, StreamId::kSwimlane},
      {UnitKind::kCore, StreamId::kEvents, StreamId::kNone},
      {UnitKind::kCore, StreamId::kDump, StreamId::kDump},
  };
  return kLanes[static_cast<std::uint32_t>(lane)];
}

// Lanes are ordered unit by unit, in the order of the units: orchestrator, schedulers, cores.
class StreamLanes {
 public:
  TM_DEVICE constexpr StreamLanes(const StreamSelection& streams, const UnitCounts& units)
      : streams_(streams), units_(units) {}

  TM_DEVICE constexpr std::uint32_t scopes() const { return lane(UnitLane::kScopes); }
  TM_DEVICE constexpr std::uint32_t edges() const { return lane(UnitLane::kEdges); }
  TM_DEVICE constexpr std::uint32_t submits() const { return lane(UnitLane::kSubmits); }
  TM_DEVICE constexpr std::uint32_t orchestrator_events() const {
    return lane(UnitLane::kOrchestratorEvents);
  }
  TM_DEVICE constexpr std::uint32_t finishes(std::uint32_t scheduler) const {
    return lane(UnitLane::kFinishes, scheduler);
  }
  TM_DEVICE constexpr std::uint32_t phases(std::uint32_t scheduler) const {
    return lane(UnitLane::kPhases, scheduler);
  }
  TM_DEVICE constexpr std::uint32_t spans(std::uint32_t core) const {
    return lane(UnitLane::kSpans, core);
  }
  TM_DEVICE constexpr std::uint32_t events(std::uint32_t core) const {
    return lane(UnitLane::kEvents, core);
  }
  TM_DEVICE constexpr std::uint32_t dump(std::uint32_t core) const {
    return lane(UnitLane::kDump, core);
  }

  // Of the unit with this number among those of its kind; kNoLane: its stream is off.
  TM_DEVICE constexpr std::uint32_t lane(UnitLane wanted, std::uint32_t unit = 0) const {
    if (!is_on(wanted)) return kNoLane;
    const UnitKind kind = info_of(wanted).unit;
    std::uint32_t at = 0;
    for (std::uint32_t i = 0; i < kUnitLaneCount; ++i) {
      const auto other = static_cast<UnitLane>(i);
      if (!is_on(other)) continue;
      if (info_of(other).unit < kind) at += unit_count(info_of(other).unit);
      if (info_of(other).unit == kind) at += unit + (other < wanted ? 1 : 0);
    }
    return at;
  }
  TM_DEVICE constexpr std::uint32_t count() const {
    std::uint32_t lanes = 0;
    for (std::uint32_t i = 0; i < kUnitLaneCount; ++i)
      if (is_on(static_cast<UnitLane>(i)))
        lanes += unit_count(info_of(static_cast<UnitLane>(i)).unit);
    return lanes;
  }
  TM_DEVICE constexpr std::uint32_t unit_count(UnitKind kind) const {
    return kind == UnitKind::kOrchestrator ? 1
           : kind == UnitKind::kScheduler  ? units_.schedulers
                                           : units_.cores;
  }

 private:
  TM_DEVICE constexpr bool is_on(UnitLane lane) const {
    const UnitLaneInfo info = info_of(lane);
    return info.asked_by == StreamId::kNone ? streams_.any()
                                            : streams_[info.asked_by] >= info.level;
  }

  StreamSelection streams_;
  UnitCounts units_;
};

}  // namespace tidemark
