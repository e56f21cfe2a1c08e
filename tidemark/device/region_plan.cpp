// SPDX-License-Identifier: Apache-2.0
#include "tidemark/device/region_plan.h"

#include <algorithm>
#include <cstring>

#include "tidemark/base/align.h"
#include "tidemark/base/check.h"
#include "tidemark/base/process_identity.h"
#include "tidemark/schema/stamp.h"

namespace tidemark {
namespace {

constexpr std::uint32_t kRingSlotsDefaultMax = 256;

bool owns_pages(const LaneRequest& lane) {
  return lane.overflow == Overflow::kKeepLast || lane.stream == StreamId::kEvents;
}

Expected<void> check_request(const RegionRequest& request) {
  if (request.recorder.page_bytes < kPageBytesMin || request.recorder.page_bytes > kPageBytesMax ||
      request.recorder.page_bytes % kPageHeaderBytes != 0)
    return failure(ErrorKind::kUsage, "--page-bytes {}: must be a multiple of {} from {} to {}",
                   request.recorder.page_bytes, kPageHeaderBytes, kPageBytesMin, kPageBytesMax);
  if (request.keep_pages < 2)
    return failure(ErrorKind::kUsage, "--keep-pages {}: keep-last needs at least 2 pages per lane",
                   request.keep_pages);
  if (request.recorder.drain_threads < 1 || request.recorder.drain_threads > kDrainThreadsMax)
    return failure(ErrorKind::kUsage, "--drain-threads {}: must be from 1 to {}",
                   request.recorder.drain_threads, kDrainThreadsMax);
  const std::uint64_t lane_count = request.lanes.size() + request.spare_lanes;
  if (lane_count < 1 || lane_count > kMaxLanesLimit)
    return failure(ErrorKind::kUsage, "{} lanes: a region has from 1 to {}", lane_count,
                   kMaxLanesLimit);
  TM_CHECK(request.status_bytes <= kStatusBytesLimit);
  for (const auto& lane : request.lanes) {
    TM_CHECK(lane.record_bytes % kQuantumBytes == 0);
    TM_CHECK(lane.record_bytes <= request.recorder.page_bytes - kPageHeaderBytes);
  }
  return {};
}

LanePlan describe(const LaneRequest& lane) {
  LanePlan plan{};
  plan.stream = lane.stream;
  plan.overflow = lane.overflow;
  plan.record_bytes = lane.record_bytes;
  plan.reserved_first_page = kNoPageIndex;
  plan.unit = lane.unit;
  std::strncpy(plan.producer, lane.producer.c_str(), kProducerTextBytes - 1);
  return plan;
}

// Every lane that owns no pages gets at least one.
Expected<std::uint64_t> count_pool_pages(const RegionRequest& request, std::uint32_t pool_lanes) {
  std::uint64_t pool_pages = request.recorder.pool_bytes / request.recorder.page_bytes;
  if (request.recorder.pool_bytes == 0)
    pool_pages = pool_lanes == 0
                     ? 0
                     : std::max<std::uint64_t>(request.pool_pages_min,
                                               std::uint64_t{pool_lanes} * request.pages_per_lane);
  if (pool_pages < pool_lanes)
    return failure(ErrorKind::kUsage,
                   "--pool-bytes {}: {} lanes need at least one page of {} bytes each ({} bytes)",
                   request.recorder.pool_bytes, pool_lanes, request.recorder.page_bytes,
                   std::uint64_t{pool_lanes} * request.recorder.page_bytes);
  if (pool_pages * request.recorder.page_bytes > kRegionBytesLimit)
    return failure(ErrorKind::kUsage, "--pool-bytes {}: larger than a region can be ({})",
                   request.recorder.pool_bytes, kRegionBytesLimit);
  return pool_pages;
}

// The pages that lanes own come after the pool. Returns the first page that nobody has.
std::uint64_t plan_lanes(const RegionRequest& request, std::uint32_t max_lanes,
                         std::uint64_t pool_pages, RegionPlan& plan) {
  std::uint64_t next_page = pool_pages;
  for (const auto& lane : request.lanes) {
    LanePlan described = describe(lane);
    if (owns_pages(lane)) {
      described.reserved_first_page = static_cast<PageIndex>(next_page);
      described.reserved_page_count =
          lane.overflow == Overflow::kKeepLast ? request.keep_pages : kEventPages;
      next_page += described.reserved_page_count;
    }
    plan.lanes.push_back(described);
  }
  LanePlan unopened{};
  unopened.reserved_first_page = kNoPageIndex;
  plan.lanes.resize(max_lanes, unopened);
  return next_page;
}

}  // namespace

void set_clock_rate(RegionPlan& plan, std::uint64_t ticks_per_second,
                    std::uint32_t drain_timeout_ms) {
  plan.identity.ticks_per_second = ticks_per_second;
  plan.identity.drain_timeout_ticks = ticks_per_second / 1000 * drain_timeout_ms;
}

Expected<RegionPlan> plan_region(const RegionRequest& request) {
  TM_TRY_DO(check_request(request));

  const auto owners = static_cast<std::uint32_t>(
      std::count_if(request.lanes.begin(), request.lanes.end(), owns_pages));
  const std::uint32_t lane_count = static_cast<std::uint32_t>(request.lanes.size());
  const std::uint32_t max_lanes = lane_count + request.spare_lanes;
  const std::uint32_t pool_lanes = max_lanes - owners;

  TM_TRY(const auto pool_pages, count_pool_pages(request, pool_lanes));
  RegionPlan plan;
  const std::uint64_t next_page = plan_lanes(request, max_lanes, pool_pages, plan);

  const RegionShape shape{
      .max_lanes = max_lanes,
      .ring_slots = static_cast<std::uint32_t>(round_up_to_power_of_two(
          std::clamp<std::uint64_t>(pool_pages, kEventPages, kRingSlotsDefaultMax))),
      .page_bytes = request.recorder.page_bytes,
      .page_count = static_cast<std::uint32_t>(std::max<std::uint64_t>(next_page, 1)),
      .status_bytes = static_cast<std::uint32_t>(request.status_bytes),
  };
  if (next_page > 0xFFFFFFFEull || !is_possible(shape))
    return failure(ErrorKind::kUsage, "{} pages of {} bytes: larger than a region can be",
                   next_page, request.recorder.page_bytes);
  plan.layout = lay_out(shape);
  const ProcessIdentity host = this_process();
  plan.identity = {.magic = kRegionMagic,
                   .abi_version = kRegionAbiVersion,
                   .header_bytes = kRegionHeaderBytes,
                   .total_bytes = plan.layout.total_bytes,
                   .run_id = request.run_id,
                   .rank = request.rank,
                   .device = request.device,
                   .lane_count = lane_count,
                   .drain_threads = request.recorder.drain_threads,
                   .shape = shape,
                   .pool_page_count = static_cast<std::uint32_t>(pool_pages),
                   .drain_timeout_ticks = 0,
                   .ticks_per_second = 0,
                   .host_pid = host.pid,
                   .keeps_pages = request.keeps_pages ? 1u : 0u,
                   .host_start_time = host.start_time};
  set_clock_rate(plan, request.ticks_per_second, request.recorder.drain_timeout_ms);
  return plan;
}

}  // namespace tidemark
