// SPDX-License-Identifier: Apache-2.0
// The host asks once and waits for the answer, but not for ever.
#include "tidemark/collect/rescue.h"

#include <thread>

#include <gtest/gtest.h>

#include "tidemark/base/monotonic_clock.h"
#include "tidemark/collect/testing/planned_region.h"

namespace tidemark {
namespace {

RegionRequest request() {
  RegionRequest request;
  request.lanes = {{}};
  request.run_id = 3;
  return request;
}

TEST(Rescue, IsAskedForAndWaitedFor) {
  PlannedRegion region(request());
  std::jthread device([&] {
    while (region.view().header().host.rescue.load_acquire() == 0) std::this_thread::yield();
    region.view().header().device.rescued.store_release(1);
  });
  EXPECT_TRUE(wait_until_rescued(region.port(), 10'000));
}

TEST(Rescue, ADeviceThatDoesNotAnswerIsNotWaitedForLongerThanAsked) {
  PlannedRegion region(request());
  const std::uint64_t begin_ns = monotonic_ns();
  EXPECT_FALSE(wait_until_rescued(region.port(), 20));
  EXPECT_GE(monotonic_ns() - begin_ns, 20'000'000u);
  EXPECT_EQ(region.view().header().host.rescue.load_acquire(), 1u);
}

}  // namespace
}  // namespace tidemark
