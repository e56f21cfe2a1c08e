// SPDX-License-Identifier: Apache-2.0
// The plan of a region: enough pages for every lane, reserved ones apart, and a refusal that names
// the flag to change.
#include "tidemark/device/region_plan.h"

#include <unistd.h>

#include <random>
#include <set>

#include <gtest/gtest.h>

#include "tidemark/device/region_file.h"

namespace tidemark {
namespace {

RegionRequest request_of(std::uint32_t lanes, Overflow overflow = Overflow::kWait) {
  RegionRequest request;
  for (std::uint32_t i = 0; i < lanes; ++i)
    request.lanes.push_back({.overflow = overflow, .unit = i, .producer = "unit"});
  return request;
}

void expect_refused(const RegionRequest& request, const std::string& flag) {
  const auto plan = plan_region(request);
  ASSERT_FALSE(plan) << flag;
  EXPECT_EQ(plan.error().kind, ErrorKind::kUsage);
  EXPECT_NE(plan.error().message.find(flag), std::string::npos) << plan.error().message;
}

TEST(RegionPlan, RefusesAPoolSmallerThanOnePagePerLaneNamingTheFlag) {
  RegionRequest request = request_of(5);
  request.recorder.pool_bytes = 5ull * request.recorder.page_bytes - 1;
  expect_refused(request, "--pool-bytes");
  request.recorder.pool_bytes += 1;
  const auto plan = plan_region(request);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->pool_page_count(), 5u);
}

TEST(RegionPlan, SpareLanesNeedTheirPageToo) {
  RegionRequest request = request_of(2);
  request.spare_lanes = 3;
  request.recorder.pool_bytes = 4ull * request.recorder.page_bytes;
  expect_refused(request, "--pool-bytes");
  request.recorder.pool_bytes = 5ull * request.recorder.page_bytes;
  const auto plan = plan_region(request);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->lanes.size(), 5u);
  EXPECT_EQ(plan->identity.lane_count, 2u);
  EXPECT_EQ(plan->lanes[4].stream, StreamId::kNone) << "not described yet";
}

TEST(RegionPlan, RefusesImpossibleFlagsByName) {
  for (const std::uint32_t bytes : {0u, 512u, 1000u, 1024u + 64, 32u * 1024 * 1024}) {
    RegionRequest request = request_of(1);
    request.recorder.page_bytes = bytes;
    expect_refused(request, "--page-bytes");
  }
  for (const std::uint32_t pages : {0u, 1u}) {
    RegionRequest request = request_of(1, Overflow::kKeepLast);
    request.keep_pages = pages;
    expect_refused(request, "--keep-pages");
  }
  for (const std::uint32_t threads : {0u, kDrainThreadsMax + 1}) {
    RegionRequest request = request_of(1);
    request.recorder.drain_threads = threads;
    expect_refused(request, "--drain-threads");
  }
  RegionRequest huge = request_of(1);
  huge.recorder.pool_bytes = ~std::uint64_t{0};
  expect_refused(huge, "--pool-bytes");
  expect_refused(request_of(0), "0 lanes");
  RegionRequest kept = request_of(4, Overflow::kKeepLast);
  kept.keep_pages = ~0u;
  expect_refused(kept, "larger than a region can be");
}

TEST(RegionPlan, KeepLastAndEventLanesOwnTheirPagesOutsideThePool) {
  RegionRequest request = request_of(3);
  request.lanes[1].overflow = Overflow::kKeepLast;
  request.lanes.push_back({.stream = StreamId::kEvents, .overflow = Overflow::kDrop});
  request.lanes.push_back({.stream = StreamId::kEvents, .overflow = Overflow::kKeepLast});
  request.keep_pages = 5;
  request.recorder.pool_bytes = 2ull * request.recorder.page_bytes;
  const auto plan = plan_region(request);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->pool_page_count(), 2u);
  const std::uint32_t reserved[] = {0, 5, 0, kEventPages, 5};
  std::set<PageIndex> owned;
  for (std::size_t lane = 0; lane < plan->lanes.size(); ++lane) {
    EXPECT_EQ(plan->lanes[lane].reserved_page_count, reserved[lane]) << lane;
    for (std::uint32_t i = 0; i < reserved[lane]; ++i) {
      const PageIndex page = plan->lanes[lane].reserved_first_page + i;
      EXPECT_GE(page, plan->pool_page_count());
      EXPECT_LT(page, plan->layout.shape.page_count);
      EXPECT_TRUE(owned.insert(page).second) << "page " << page << " has two owners";
    }
    if (reserved[lane] == 0) {
      EXPECT_EQ(plan->lanes[lane].reserved_first_page, kNoPageIndex);
    }
  }
  EXPECT_EQ(owned.size() + plan->pool_page_count(), plan->layout.shape.page_count);
}

TEST(RegionPlan, TheDefaultPoolIsEightPagesPerLaneAndAtLeastSixtyFour) {
  EXPECT_EQ(plan_region(request_of(1))->pool_page_count(), 64u);
  EXPECT_EQ(plan_region(request_of(8))->pool_page_count(), 64u);
  EXPECT_EQ(plan_region(request_of(100))->pool_page_count(), 800u);
  EXPECT_EQ(plan_region(request_of(4, Overflow::kKeepLast))->pool_page_count(), 0u);
}

TEST(RegionPlan, EveryPossibleRequestGivesARegionThatSaysSoItself) {
  std::mt19937_64 random(41);
  for (int i = 0; i < 500; ++i) {
    RegionRequest request = request_of(1 + random() % 80);
    for (auto& lane : request.lanes) lane.overflow = static_cast<Overflow>(1 + random() % 3);
    request.spare_lanes = random() % 5;
    request.recorder.page_bytes = 1024u << random() % 8;
    request.run_id = random();
    request.recorder.drain_threads = 1 + random() % kDrainThreadsMax;
    request.keep_pages = 2 + random() % 9;
    const auto plan = plan_region(request);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_TRUE(is_region(plan->identity, plan->layout.total_bytes));
    EXPECT_EQ(plan->identity.run_id, request.run_id);
    EXPECT_EQ(plan->identity.host_pid, static_cast<std::uint32_t>(::getpid()));
    EXPECT_TRUE(is_power_of_two(plan->layout.shape.ring_slots));
    EXPECT_GE(plan->layout.shape.ring_slots, kEventPages);
  }
}

TEST(RegionPlan, TheDrainTimeoutIsInTicksOfTheDevice) {
  RegionRequest request = request_of(1);
  request.ticks_per_second = 2'000'000'000;
  request.recorder.drain_timeout_ms = 1500;
  EXPECT_EQ(plan_region(request)->identity.drain_timeout_ticks, 3'000'000'000u);
}

TEST(RegionPlan, ALongProducerNameIsCutAndTerminated) {
  RegionRequest request = request_of(1);
  request.lanes[0].producer = std::string(100, 'p');
  const auto plan = plan_region(request);
  EXPECT_EQ(std::string(plan->lanes[0].producer), std::string(kProducerTextBytes - 1, 'p'));
}

}  // namespace
}  // namespace tidemark
