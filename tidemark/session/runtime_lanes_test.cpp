// SPDX-License-Identifier: Apache-2.0
// The lanes that are planned on the host are those that the units open on the device.
#include "tidemark/session/runtime_lanes.h"

#include <gtest/gtest.h>

#include "tidemark/schema/stream_registry.h"

namespace tidemark {
namespace {

StreamSelection selection(std::uint32_t level, std::uint32_t edges, std::uint32_t scopes,
                          std::uint32_t dump) {
  StreamSelection streams;
  streams[StreamId::kSwimlane] = level;
  streams[StreamId::kEdges] = edges;
  streams[StreamId::kScopes] = scopes;
  streams[StreamId::kDump] = dump;
  return streams;
}

std::vector<RuntimeConfig> every_config() {
  std::vector<RuntimeConfig> configs;
  for (std::uint32_t level = 0; level <= kSwimlaneLevelMax; ++level)
    for (const std::uint32_t edges : {0u, 1u})
      for (const std::uint32_t scopes : {0u, 1u})
        for (const std::uint32_t dump : {0u, 1u})
          for (const std::uint32_t clusters : {1u, 2u, 5u})
            for (const std::uint32_t schedulers : {1u, 3u}) {
              RuntimeConfig config;
              config.cluster_count = clusters;
              config.scheduler_count = schedulers;
              config.streams = selection(level, edges, scopes, dump);
              configs.push_back(config);
            }
  return configs;
}

// Takes the lane off the list of those that nobody asked about yet.
class LaneList {
 public:
  explicit LaneList(const RuntimeConfig& config)
      : requests_(runtime_lanes(config)), seen_(requests_.size()) {}

  [[nodiscard]] std::size_t size() const { return requests_.size(); }
  [[nodiscard]] std::size_t unseen() const {
    std::size_t count = 0;
    for (const bool seen : seen_) count += seen ? 0 : 1;
    return count;
  }
  void expect(std::uint32_t lane, StreamId stream, std::uint32_t unit, const std::string& who) {
    if (lane == kNoLane) return;
    ASSERT_LT(lane, requests_.size());
    EXPECT_FALSE(seen_[lane]) << "lane " << lane;
    seen_[lane] = true;
    const LaneRequest& request = requests_[lane];
    EXPECT_EQ(request.stream, stream) << "lane " << lane;
    EXPECT_EQ(request.unit, unit) << "lane " << lane;
    EXPECT_EQ(request.producer, who) << "lane " << lane;
    EXPECT_EQ(request.overflow, Overflow::kWait) << "lane " << lane;
    const StreamInfo* info = find_stream(stream);
    ASSERT_NE(info, nullptr);
    EXPECT_EQ(request.record_bytes, info->record_bytes) << "lane " << lane;
    EXPECT_EQ(request.record_bytes == 0, stream == StreamId::kDump) << "lane " << lane;
  }

 private:
  std::vector<LaneRequest> requests_;
  std::vector<bool> seen_;
};

// What each unit has to write, counted by hand.
std::uint32_t lanes_wanted(const StreamSelection& on, const UnitCounts& units) {
  const std::uint32_t level = on[StreamId::kSwimlane], edges = on[StreamId::kEdges],
                      scopes = on[StreamId::kScopes], dump = on[StreamId::kDump];
  if (level + edges + scopes + dump == 0) return 0;
  const std::uint32_t orchestrator = 1 + scopes + edges + (level == 4);
  const std::uint32_t scheduler = (level >= 2) + (level >= 3);
  const std::uint32_t core = 1 + (level >= 1) + dump;
  return orchestrator + units.schedulers * scheduler + units.cores * core;
}

TEST(RuntimeLanes, AreTheLanesThatTheUnitsOpen) {
  for (const RuntimeConfig& config : every_config()) {
    const StreamLanes lanes = config.lanes();
    const UnitCounts units = config.units();
    LaneList list(config);
    ASSERT_EQ(list.size(), lanes.count());
    ASSERT_EQ(list.size(), lanes_wanted(config.streams, units));
    list.expect(lanes.scopes(), StreamId::kScopes, 0, "orchestrator");
    list.expect(lanes.edges(), StreamId::kEdges, 0, "orchestrator");
    list.expect(lanes.submits(), StreamId::kPhases, 0, "orchestrator");
    list.expect(lanes.orchestrator_events(), StreamId::kEvents, 0, "orchestrator");
    for (std::uint32_t i = 0; i < units.schedulers; ++i) {
      const std::string who = "scheduler " + std::to_string(i);
      list.expect(lanes.finishes(i), StreamId::kSwimlane, 1 + i, who);
      list.expect(lanes.phases(i), StreamId::kPhases, 1 + i, who);
    }
    for (std::uint32_t core = 0; core < units.cores; ++core) {
      const std::string who =
          "core " + std::to_string(core) + (core % 3 == 0 ? " (aic)" : " (aiv)");
      list.expect(lanes.spans(core), StreamId::kSwimlane, 1 + units.schedulers + core, who);
      list.expect(lanes.events(core), StreamId::kEvents, 1 + units.schedulers + core, who);
      list.expect(lanes.dump(core), StreamId::kDump, 1 + units.schedulers + core, who);
    }
    EXPECT_EQ(list.unseen(), 0u);
  }
}

TEST(RuntimeLanes, HaveTextsThatFitIntoTheLaneTable) {
  RuntimeConfig config;
  config.cluster_count = 4000;
  config.scheduler_count = 200;
  config.streams = selection(4, 1, 1, 1);
  for (const LaneRequest& request : runtime_lanes(config)) {
    EXPECT_FALSE(request.producer.empty());
    EXPECT_LT(request.producer.size(), kProducerTextBytes);
  }
}

TEST(RuntimeLanes, AreNoneWhereNothingIsRecorded) {
  EXPECT_TRUE(runtime_lanes(RuntimeConfig{}).empty());
}

}  // namespace
}  // namespace tidemark
