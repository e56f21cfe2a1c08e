// SPDX-License-Identifier: Apache-2.0
// The lanes of a runtime's units: one per unit and stream that is on, no number twice, no gap.
#include "tidemark/schema/stream_lanes.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

struct Selected {
  StreamSelection streams;
  UnitCounts units;
};

std::vector<Selected> every_selection() {
  std::vector<Selected> all;
  for (std::uint32_t level = 0; level <= kSwimlaneLevelMax; ++level)
    for (const std::uint32_t edges : {0u, 1u})
      for (const std::uint32_t scopes : {0u, 1u})
        for (const UnitCounts units : {UnitCounts{1, 3}, UnitCounts{1, 6}, UnitCounts{2, 6},
                                       UnitCounts{3, 9}, UnitCounts{4, 72}}) {
          Selected& selected = all.emplace_back(Selected{{}, units});
          selected.streams[StreamId::kSwimlane] = level;
          selected.streams[StreamId::kEdges] = edges;
          selected.streams[StreamId::kScopes] = scopes;
        }
  return all;
}

std::string text_of(const Selected& selected) {
  return "level " + std::to_string(selected.streams[StreamId::kSwimlane]) + ", edges " +
         std::to_string(selected.streams[StreamId::kEdges]) + ", scopes " +
         std::to_string(selected.streams[StreamId::kScopes]) + ", schedulers " +
         std::to_string(selected.units.schedulers) + ", cores " +
         std::to_string(selected.units.cores);
}

// Of the units in their order, kNoLane where a stream is off.
std::vector<std::uint32_t> all_lanes(const Selected& selected) {
  const StreamLanes lanes(selected.streams, selected.units);
  std::vector<std::uint32_t> all = {lanes.scopes(), lanes.edges(), lanes.submits(),
                                    lanes.orchestrator_events()};
  for (std::uint32_t i = 0; i < selected.units.schedulers; ++i) {
    all.push_back(lanes.finishes(i));
    all.push_back(lanes.phases(i));
  }
  for (std::uint32_t core = 0; core < selected.units.cores; ++core) {
    all.push_back(lanes.spans(core));
    all.push_back(lanes.events(core));
  }
  return all;
}

TEST(StreamLanes, AreAllDifferentAndLeaveNoNumberOut) {
  for (const Selected& selected : every_selection()) {
    SCOPED_TRACE(text_of(selected));
    std::vector<std::uint32_t> lanes = all_lanes(selected);
    std::erase(lanes, kNoLane);
    std::sort(lanes.begin(), lanes.end());
    std::vector<std::uint32_t> expected(StreamLanes(selected.streams, selected.units).count());
    std::iota(expected.begin(), expected.end(), 0u);
    EXPECT_EQ(lanes, expected);
  }
}

TEST(StreamLanes, StandUnitByUnit) {
  for (const Selected& selected : every_selection()) {
    SCOPED_TRACE(text_of(selected));
    std::vector<std::uint32_t> lanes = all_lanes(selected);
    std::erase(lanes, kNoLane);
    EXPECT_TRUE(std::is_sorted(lanes.begin(), lanes.end()));
  }
}

TEST(StreamLanes, AreMissingExactlyWhereTheStreamIsOff) {
  for (const Selected& selected : every_selection()) {
    SCOPED_TRACE(text_of(selected));
    const StreamLanes lanes(selected.streams, selected.units);
    const std::uint32_t level = selected.streams[StreamId::kSwimlane];
    const bool any = level > 0 || selected.streams[StreamId::kEdges] != 0 ||
                     selected.streams[StreamId::kScopes] != 0;
    EXPECT_EQ(selected.streams.any(), any);
    EXPECT_EQ(lanes.count() > 0, any);
    EXPECT_EQ(lanes.scopes() != kNoLane, selected.streams[StreamId::kScopes] != 0);
    EXPECT_EQ(lanes.edges() != kNoLane, selected.streams[StreamId::kEdges] != 0);
    EXPECT_EQ(lanes.submits() != kNoLane, level >= 4);
    EXPECT_EQ(lanes.orchestrator_events() != kNoLane, any);
    for (std::uint32_t i = 0; i < selected.units.schedulers; ++i) {
      EXPECT_EQ(lanes.finishes(i) != kNoLane, level >= 2);
      EXPECT_EQ(lanes.phases(i) != kNoLane, level >= 3);
    }
    for (std::uint32_t core = 0; core < selected.units.cores; ++core) {
      EXPECT_EQ(lanes.spans(core) != kNoLane, level >= 1);
      EXPECT_EQ(lanes.events(core) != kNoLane, any);
    }
  }
}

}  // namespace
}  // namespace tidemark
