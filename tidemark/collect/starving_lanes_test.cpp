// SPDX-License-Identifier: Apache-2.0
// The drainer's promises to a lane that has nothing: it gets a page before anybody gets a second
// one, it can see that the drainer goes on, and the page it gets holds nothing that could be taken
// for its own. One thread; the test says who goes next.
#include <algorithm>

#include <gtest/gtest.h>

#include "tidemark/collect/drain_thread.h"
#include "tidemark/collect/drainer.h"
#include "tidemark/collect/testing/keeping_sink.h"
#include "tidemark/collect/testing/planned_region.h"
#include "tidemark/device/sim/sim_env.h"
#include "tidemark/record/frame_writer.h"
#include "tidemark/record/recorder.h"

namespace tidemark {
namespace {

using SpanRecorder = Recorder<TaskSpan, SimEnv>;
constexpr std::uint32_t kPageBytes = 1024;
constexpr std::uint64_t kSpansPerPage = (kPageBytes - kPageHeaderBytes) / TaskSpan::kBytes;

RegionRequest request_of(std::uint32_t lanes, std::uint32_t pages, std::uint32_t threads = 1) {
  RegionRequest request;
  for (std::uint32_t lane = 0; lane < lanes; ++lane)
    request.lanes.push_back({.overflow = Overflow::kDrop, .unit = lane});
  request.recorder.page_bytes = kPageBytes;
  request.recorder.pool_bytes = std::uint64_t{pages} * kPageBytes;
  request.recorder.drain_threads = threads;
  request.run_id = 66;
  return request;
}

class Starving : public testing::Test {
 protected:
  // A device that publishes a page that does not exist: the lane has one page less.
  void publish_nonsense(LaneIndex lane) {
    const std::uint64_t position = region_.view().published_word(lane).load_own();
    region_.view().full_ring(lane).send(position, 1'000'000);
    region_.view().published_word(lane).store_release(position + 1);
  }
  void write_page(SpanRecorder& recorder, std::uint64_t& number) {
    for (std::uint64_t i = 0; i < kSpansPerPage; ++i)
      ASSERT_TRUE(recorder.write(span_of(number++)));
    recorder.flush();
  }
  DrainThread& drains() { return drainer_.thread(0); }

  PlannedRegion region_{request_of(2, 8)};
  KeepingSink sink_;
  Drainer drainer_{&region_.port(), &region_.plan(), &sink_};
};

TEST_F(Starving, ALaneThatHoldsNothingGetsAPageBeforeAnybodyGetsASecond) {
  // Lane 1 takes its share; lane 0 loses every page it is given, until the pool has none.
  SpanRecorder busy(&region_.view(), 1);
  std::uint64_t number = 0, lost = 0;
  write_page(busy, number);
  drains().pass();
  while (drainer_.held_pages(0) > 0) {
    ASSERT_LT(++lost, 8u);
    publish_nonsense(0);
    drains().pass();
  }
  ASSERT_EQ(lost, 4u);
  ASSERT_EQ(drainer_.free_pages(), 0u);
  ASSERT_EQ(drainer_.held_pages(1), 4u);

  // The next page that comes back is not for lane 1, which still has three.
  write_page(busy, number);
  drains().pass();
  EXPECT_EQ(drainer_.held_pages(1), 3u);
  drains().pass();
  EXPECT_EQ(drainer_.held_pages(0), 1u) << "it is remembered until there is a page";
  EXPECT_EQ(drainer_.held_pages(1), 3u);
  EXPECT_EQ(drainer_.free_pages(), 0u);

  // Once it has a page, nobody starves: what lane 1 publishes comes back to it.
  write_page(busy, number);
  drains().pass();
  EXPECT_EQ(drainer_.held_pages(1), 3u);
  EXPECT_EQ(drainer_.held_pages(0), 1u);

  // And it is a page that can be written.
  LaneWords& words = region_.view().lane(0).words;
  words.acquired_count.store_release(lost);
  words.opened_pages.store_release(lost);
  SpanRecorder again(&region_.view(), 0);
  std::uint64_t again_number = 0;
  write_page(again, again_number);
  drains().pass();
  EXPECT_EQ(sink_.spans_of(0).numbers.size(), kSpansPerPage);
  EXPECT_EQ(sink_.spans_of(0).wrong, 0u);
  EXPECT_EQ(sink_.spans_of(1).numbers.size(), number);
  EXPECT_EQ(sink_.spans_of(1).wrong, 0u);
  EXPECT_EQ(drainer_.stats().faults.of(PageFault::kBadPageIndex), lost);
}

// A producer that waits gives up where the drainer moves nothing for anybody; these words say that
// it does.
TEST_F(Starving, EveryPageThatWasTakenIsToldToWhoWaits) {
  SpanRecorder recorder(&region_.view(), 1);
  std::uint64_t number = 0;
  const auto told = [&] { return region_.view().header().host.drained_pages[0].load_acquire(); };
  EXPECT_EQ(told(), 0u);
  for (std::uint64_t page = 1; page <= 20; ++page) {
    write_page(recorder, number);
    drains().pass();
    ASSERT_EQ(told(), page);
  }
  drains().pass();
  EXPECT_EQ(told(), 20u) << "a look that found nothing is no progress";
}

TEST_F(Starving, EachDrainThreadHasAWordOfItsOwn) {
  PlannedRegion region(request_of(2, 8, 2));
  Drainer drainer(&region.port(), &region.plan(), &sink_);
  for (LaneIndex lane = 0; lane < 2; ++lane) {
    SpanRecorder recorder(&region.view(), lane);
    for (std::uint64_t page = 0; page <= lane; ++page) {
      ASSERT_TRUE(recorder.write(span_of(page)));
      recorder.flush();
    }
    drainer.thread(lane).pass();
  }
  const auto& words = region.view().header().host.drained_pages;
  EXPECT_EQ(words[0].load_acquire(), 1u);
  EXPECT_EQ(words[1].load_acquire(), 2u);
}

class WornPage : public testing::Test {
 protected:
  static bool is_zero(const PlannedRegion& region, PageIndex page) {
    const auto bytes = region.bytes().subspan(region.plan().layout.page_offset(page), kPageBytes);
    return std::all_of(bytes.begin(), bytes.end(), [](unsigned char byte) { return byte == 0; });
  }
  // One page, one lane: it comes back to the lane at once.
  void expect_cleared(std::uint32_t generation, bool damaged, bool cleared) {
    PlannedRegion region(request_of(1, 1));
    KeepingSink sink;
    Drainer drainer(&region.port(), &region.plan(), &sink);
    region.view().page(0).generation.store_release(generation - 1);
    SpanRecorder recorder(&region.view(), 0);
    ASSERT_TRUE(recorder.write(span_of(0)));
    if (damaged) region.view().page(0).run_id.store_release(99);
    recorder.flush();
    ASSERT_EQ(drainer.thread(0).pass(), 1u);
    EXPECT_EQ(sink.spans_of(0).numbers.size(), damaged ? 0u : 1u);
    EXPECT_EQ(drainer.held_pages(0), 1u);
    EXPECT_EQ(is_zero(region, 0), cleared) << "generation " << generation;
    // Where it was cleared, its generations begin again.
    ASSERT_TRUE(recorder.write(span_of(1)));
    EXPECT_EQ(region.view().page(0).generation.load_acquire(), cleared ? 1u : generation + 1);
  }
};

TEST_F(WornPage, IsClearedBeforeItIsHandedAgain) {
  expect_cleared(kGenerationMax, false, true);
  expect_cleared(kGenerationMax - 1, false, false);
}

TEST_F(WornPage, SoIsOneThatCannotBeBelieved) { expect_cleared(5, true, true); }

// Bytes of a frame may be anything, also stamps of the generation that comes next.
TEST_F(WornPage, SoIsOneThatCarriedFramesForALaneOfRecords) {
  RegionRequest request = request_of(1, 8);
  request.lanes.push_back(
      {.stream = StreamId::kDump, .overflow = Overflow::kDrop, .record_bytes = 0});
  PlannedRegion region(request);
  KeepingSink sink;
  Drainer drainer(&region.port(), &region.plan(), &sink);
  FrameWriter<SimEnv> frames(&region.view(), 1);
  const std::vector<unsigned char> bytes(200, 0x5A);
  const auto write_frame_page = [&] {
    ASSERT_TRUE(frames.write_frame(bytes.data(), bytes.size()));
    frames.flush();
    ASSERT_EQ(drainer.thread(0).pass(), 1u);
  };
  write_frame_page();
  // The lane of records loses its pages, until the only one to get is one of frames.
  std::uint64_t lost = 0;
  while (drainer.held_pages(0) > 0) {
    ASSERT_LT(lost, 8u);
    region.view().full_ring(0).send(lost, 1'000'000);
    region.view().published_word(0).store_release(++lost);
    drainer.thread(0).pass();
  }
  write_frame_page();
  drainer.thread(0).pass();
  ASSERT_EQ(drainer.held_pages(0), 1u);
  const std::uint64_t slot = region.port().load(region.plan().layout.free_ring_offset(0) +
                                                lost % region.plan().layout.shape.ring_slots * 8);
  const PageIndex page = decode_slot(slot, lost);
  ASSERT_LT(page, 8u);
  EXPECT_TRUE(is_zero(region, page));
}

}  // namespace
}  // namespace tidemark
