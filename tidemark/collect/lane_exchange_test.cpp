// SPDX-License-Identifier: Apache-2.0
// The host's side of a lane: pages come in the order they were published, by the host's own counts,
// and a page that cannot be believed comes back as a fault.
#include "tidemark/collect/lane_exchange.h"

#include <gtest/gtest.h>

#include "tidemark/collect/testing/planned_region.h"
#include "tidemark/record/recorder.h"
#include "tidemark/record/testing/manual_env.h"
#include "tidemark/record/testing/stamped_spans.h"

namespace tidemark {
namespace {

RegionRequest two_lanes() {
  RegionRequest request;
  request.lanes = {{.overflow = Overflow::kDrop}, {.overflow = Overflow::kDrop}};
  request.recorder.page_bytes = 1024;
  request.recorder.pool_bytes = 8 * 1024;
  request.run_id = 5;
  return request;
}

class LaneExchangeTest : public testing::Test {
 protected:
  LaneExchangeTest()
      : region_(two_lanes()),
        exchange_(&region_.port(), &region_.plan().layout, 0,
                  {.run_id = 5, .lane_count = 2, .payload_bytes = 896}) {
    ManualEnv::reset();
  }
  std::optional<ReceivedPage> receive() { return exchange_.receive(region_.plan().lanes[0]); }
  void publish_one(Recorder<TaskSpan, ManualEnv>& recorder) {
    ASSERT_TRUE(recorder.write(span_of(0)));
    recorder.flush();
  }

  PlannedRegion region_;
  LaneExchange exchange_;
};

TEST_F(LaneExchangeTest, PagesCirculateForManyLaps) {
  Recorder<TaskSpan, ManualEnv> recorder(&region_.view(), 0);
  for (std::uint64_t lap = 0; lap < 100; ++lap) {
    exchange_.hand(static_cast<PageIndex>(lap % 3));
    exchange_.hand(static_cast<PageIndex>(3 + lap % 5));
    EXPECT_EQ(exchange_.held(), 2u);
    EXPECT_FALSE(receive()) << "handed, not published";
    publish_one(recorder);
    publish_one(recorder);
    for (const std::uint64_t page : {lap % 3, 3 + lap % 5}) {
      const auto received = receive();
      ASSERT_TRUE(received);
      EXPECT_EQ(received->page, page);
      EXPECT_EQ(received->fault, PageFault::kNone);
      EXPECT_EQ(received->header.record_count, 1u);
      EXPECT_EQ(received->header.sequence, exchange_.received());
    }
    EXPECT_EQ(exchange_.held(), 0u);
  }
}

TEST_F(LaneExchangeTest, ALaneThatHoldsNothingPublishesNothing) {
  region_.view().full_ring(0).send(0, 1);
  EXPECT_FALSE(receive());
  EXPECT_EQ(exchange_.received(), 0u);
}

TEST_F(LaneExchangeTest, APageThatDoesNotExistIsAFaultAndStillCounted) {
  exchange_.hand(0);
  region_.view().full_ring(0).send(0, region_.plan().layout.shape.page_count);
  const auto received = receive();
  ASSERT_TRUE(received);
  EXPECT_EQ(received->page, kNoPageIndex);
  EXPECT_EQ(received->fault, PageFault::kBadPageIndex);
  EXPECT_EQ(exchange_.held(), 0u);
}

TEST_F(LaneExchangeTest, NamesWhatIsWrongWithAPublishedPage) {
  using Words = PageHeader;
  struct Case {
    void (*change)(Words&);
    PageFault fault;
  };
  const Case cases[] = {
      {[](Words& h) { h.run_id.store_release(6); }, PageFault::kForeignRun},
      {[](Words& h) { h.lane.store_release(1); }, PageFault::kWrongLane},
      {[](Words& h) { h.lane.store_release(2); }, PageFault::kUnknownLane},
      {[](Words& h) { h.record_count.store_release(kPageOpen); }, PageFault::kNotSealed},
      {[](Words& h) { h.sequence.store_release(99); }, PageFault::kWrongSequence},
      {[](Words& h) { h.sequence.store_release(0); }, PageFault::kEmpty},
      {[](Words& h) { h.generation.store_release(0); }, PageFault::kBadGeneration},
      {[](Words& h) { h.used_bytes.store_release(2000); }, PageFault::kBadCount},
      {[](Words& h) {
         h.record_bytes.store_release(16);
         h.record_count.store_release(2);
       },
       PageFault::kWrongRecordSize},
  };
  Recorder<TaskSpan, ManualEnv> recorder(&region_.view(), 0);
  for (const Case& wrong : cases) {
    exchange_.hand(2);
    publish_one(recorder);
    wrong.change(region_.view().page(2));
    const auto received = receive();
    ASSERT_TRUE(received);
    EXPECT_EQ(to_text(received->fault), to_text(wrong.fault));
    EXPECT_EQ(received->page, 2u) << "the page itself comes back";
    region_.port().zero(region_.plan().layout.page_offset(2), 1024);
  }
  exchange_.hand(2);
  publish_one(recorder);
  EXPECT_EQ(receive()->fault, PageFault::kNone) << "one bad page does not spoil the next";
}

using LaneExchangeDeathTest = LaneExchangeTest;

TEST_F(LaneExchangeDeathTest, HandingMoreThanTheRingHoldsIsABug) {
  for (PageIndex page = 0; page < 8; ++page) exchange_.hand(page);
  EXPECT_EXIT(exchange_.hand(0), testing::KilledBySignal(SIGABRT), "ring_slots");
}

}  // namespace
}  // namespace tidemark
