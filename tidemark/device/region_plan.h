// SPDX-License-Identifier: Apache-2.0
// Decides the shape of a region from what a run wants to record, before anything exists. Refuses
// what could not work, naming the flag to change.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidemark/base/expected.h"
#include "tidemark/schema/stream_id.h"
#include "tidemark/transport/region.h"

namespace tidemark {

struct LaneRequest {
  StreamId stream = StreamId::kSwimlane;
  Overflow overflow = Overflow::kWait;
  std::uint32_t record_bytes = 32;  // 0: framed
  std::uint32_t unit = 0;
  std::string producer;
};

// Of the pool, where its size is not asked for. A page that must first be pulled is away longer.
inline constexpr std::uint32_t kPagesPerLaneDefault = 8;
inline constexpr std::uint32_t kPagesPerLanePulled = 16;
// The units of a task runtime write seldom, and there are many of them.
inline constexpr std::uint32_t kPagesPerLaneOfTasks = 2;
inline constexpr std::uint32_t kPoolPagesMin = 64;
inline constexpr std::uint32_t kPoolPagesMinOfTasks = 16;

// What a person may set of a recorder.
struct RecorderSettings {
  std::uint32_t page_bytes = kPageBytesDefault;
  std::uint64_t pool_bytes = 0;  // 0: sized to the lanes
  std::uint32_t drain_threads = 1;
  std::uint32_t drain_timeout_ms = 30'000;
};

struct RegionRequest {
  std::vector<LaneRequest> lanes;
  std::uint32_t spare_lanes = 0;  // may be opened at run time
  RecorderSettings recorder;
  std::uint32_t pages_per_lane = kPagesPerLaneDefault;
  std::uint32_t pool_pages_min = kPoolPagesMin;  // where its size is not asked for
  std::uint32_t keep_pages = 8;
  std::uint64_t ticks_per_second = 1'000'000'000;
  std::uint64_t run_id = 0;
  std::uint64_t status_bytes = 0;  // of a task runtime
  std::uint32_t rank = 0;
  std::uint32_t device = 0;
  bool keeps_pages = false;  // the device, in memory of its own
};

struct RegionPlan {
  RegionIdentity identity{};
  RegionLayout layout;
  std::vector<LanePlan> lanes;  // max_lanes of them
  std::string run_directory;    // where a recovery finds the run's files

  [[nodiscard]] std::uint32_t pool_page_count() const { return identity.pool_page_count; }
};

Expected<RegionPlan> plan_region(const RegionRequest& request);
// The rate of the device's clock, where it was not known when the region was planned.
void set_clock_rate(RegionPlan& plan, std::uint64_t ticks_per_second,
                    std::uint32_t drain_timeout_ms);

// Lanes of user events bring a page or two of their own, so that the pool asked for is the pool
// the other lanes get.
inline constexpr std::uint32_t kEventPages = 2;

}  // namespace tidemark
