// SPDX-License-Identifier: Apache-2.0
// A producer that stores nonsense: bad indices, pages twice, pages of others, absurd counters,
// wrong headers. The host neither crashes nor hangs, counts what it saw, and an honest lane beside
// it loses nothing.
#include <atomic>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "tidemark/collect/drain_thread.h"
#include "tidemark/collect/drainer.h"
#include "tidemark/collect/leftover_pages.h"
#include "tidemark/collect/testing/keeping_sink.h"
#include "tidemark/collect/testing/planned_region.h"
#include "tidemark/device/sim/sim_env.h"
#include "tidemark/record/recorder.h"
#include "tidemark/record/testing/manual_env.h"

namespace tidemark {
namespace {

constexpr LaneIndex kHostile = 0;
constexpr LaneIndex kHonest = 1;

RegionRequest request_of() {
  RegionRequest request;
  request.lanes = {{.overflow = Overflow::kDrop},
                   {.overflow = Overflow::kDrop},
                   {.overflow = Overflow::kKeepLast}};
  request.spare_lanes = 1;
  request.recorder.page_bytes = 1024;
  request.recorder.pool_bytes = 8 * 1024;
  request.keep_pages = 2;
  request.run_id = 0xBAD;
  return request;
}

// After a pass: the page is the lane's open one, or waits for it.
bool is_with(const PlannedRegion& region, LaneIndex lane, PageIndex page) {
  const LaneWords& words = region.view().lane(lane).words;
  bool with = words.open_page_index.load_acquire() == page;
  for (std::uint64_t i = 0; i < region.plan().layout.shape.ring_slots; ++i)
    with |= region.view().free_ring(lane).receive(words.acquired_count.load_acquire() + i) == page;
  return with;
}

class HostileProducer : public testing::Test {
 protected:
  HostileProducer() : region_(request_of()), drainer_(&region_.port(), &region_.plan(), &sink_) {
    ManualEnv::reset();
  }

  // A header that passes every check the host can make on its own.
  void forge(PageIndex page, std::uint64_t sequence) {
    PageHeader& header = region_.view().page(page);
    header.run_id.store_release(region_.plan().identity.run_id);
    header.lane.store_release(kHostile);
    header.epoch.store_release(1);
    header.generation.store_release(1);
    header.record_bytes.store_release(32);
    header.first_number.store_release(sequence - 1);
    header.record_count.store_release(1);
    header.used_bytes.store_release(32);
    header.dropped_before.store_release(0);
    header.gap_reason.store_release(0);
    header.first_frame_offset.store_release(kNoFrame);
    header.sequence.store_release(sequence);
  }
  void publish(PageIndex page) {
    region_.view().full_ring(kHostile).send(sent_++, page);
    region_.view().published_word(kHostile).store_release(sent_);
  }
  // Reads everything that is left, as the end of a run does.
  void collect() {
    auto& ledgers = drainer_.ledgers();
    left_ = collect_leftovers(
        region_.port(), region_.plan(),
        [&](const PageHeaderImage& page) {
          return page.sequence <= ledgers[page.lane].last_sequence();
        },
        sink_, ledgers);
    for (LaneIndex lane = 0; lane < ledgers.size(); ++lane) ledgers[lane].finish(left_.words[lane]);
  }
  void expect_honest_lane_whole(const std::vector<std::uint64_t>& accepted) {
    const auto found = sink_.spans_of(kHonest);
    EXPECT_EQ(found.wrong, 0u);
    for (const std::uint64_t number : accepted) ASSERT_TRUE(found.numbers.contains(number));
    EXPECT_EQ(found.numbers.size(), accepted.size());
    EXPECT_TRUE(drainer_.ledgers()[kHonest].counts().closes());
  }

  PlannedRegion region_;
  KeepingSink sink_;
  Drainer drainer_;
  std::uint64_t sent_ = 0;
  Leftovers left_;
};

TEST_F(HostileProducer, APageItWasNeverGivenIsNeitherReadNorPassedOn) {
  const auto free_before = drainer_.free_pages();
  for (PageIndex page = 0; page < region_.plan().layout.shape.page_count; ++page) {
    if (is_with(region_, kHostile, page)) continue;
    forge(page, sent_ + 1);
    publish(page);
    drainer_.drain_now();
  }
  EXPECT_EQ(drainer_.ledgers()[kHostile].counts().delivered, 0u);
  EXPECT_TRUE(sink_.pages().empty());
  EXPECT_GE(drainer_.stats().faults.of(PageFault::kBadPageIndex), 4u);
  EXPECT_LE(drainer_.free_pages(), free_before) << "a page came into the pool twice";
}

TEST_F(HostileProducer, APagePublishedTwiceIsDeliveredOnce) {
  const PageIndex page = region_.view().free_ring(kHostile).receive(0);
  forge(page, 1);
  publish(page);
  publish(page);
  publish(page);
  drainer_.drain_now();
  EXPECT_EQ(sink_.pages().size(), 1u);
  EXPECT_GT(drainer_.stats().faults.total(), 0u);
}

TEST_F(HostileProducer, CountersFarAheadOrBehindAreOnlyAReasonToLook) {
  for (const std::uint64_t published :
       {~std::uint64_t{0}, std::uint64_t{1} << 63, std::uint64_t{1'000'000}, std::uint64_t{0}}) {
    for (LaneIndex lane = 0; lane < 4; ++lane)
      region_.view().published_word(lane).store_release(published);
    drainer_.drain_now();
  }
  EXPECT_EQ(drainer_.stats().pages, 0u);
}

TEST_F(HostileProducer, AnUndescribedLaneIsNotServed) {
  LanePlan& plan = region_.view().lane(3).plan;
  plan.stream = StreamId{999};
  plan.record_bytes = 7;
  region_.view().full_ring(3).send(0, region_.view().free_ring(3).receive(0));
  region_.view().published_word(3).store_release(1);
  drainer_.drain_now();
  EXPECT_GT(drainer_.stats().faults.of(PageFault::kUnknownLane), 0u);
  EXPECT_EQ(drainer_.stats().pages, 0u);
  collect();
}

TEST_F(HostileProducer, ALaneOpenedAtRunTimeIsServedOnceItIsDescribed) {
  LanePlan& plan = region_.view().lane(3).plan;
  plan.stream = StreamId::kSwimlane;
  plan.overflow = Overflow::kDrop;
  plan.record_bytes = 32;
  Recorder<TaskSpan, ManualEnv> recorder(&region_.view(), 3);
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(recorder.write(span_of(i)));
  recorder.close();
  drainer_.drain_now();
  EXPECT_EQ(sink_.spans_of(3).numbers.size(), 10u);
  EXPECT_EQ(drainer_.stats().faults.total(), 0u);
}

// Random nonsense in everything the hostile lane can name, for many seeds, with an honest lane
// writing in between.
TEST_F(HostileProducer, RandomNonsenseHarmsNobodyElse) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RegionRequest request = request_of();
    PlannedRegion region(request);
    KeepingSink sink;
    Drainer drainer(&region.port(), &region.plan(), &sink);
    std::mt19937_64 random(seed);
    const std::uint32_t page_count = region.plan().layout.shape.page_count;
    Recorder<TaskSpan, ManualEnv> honest(&region.view(), kHonest);
    std::vector<std::uint64_t> accepted;
    std::uint64_t number = 0, position = 0;
    for (int step = 0; step < 200; ++step) {
      if (honest.write(span_of(number))) accepted.push_back(number);
      ++number;
      if (random() % 8 == 0) honest.flush();
      drainer.thread(0).pass();
      const auto page = static_cast<PageIndex>(random() % (page_count + 2));
      switch (random() % 5) {
        case 0:
          region.view().full_ring(kHostile).send(position++, page);
          break;
        case 1:
          region.view().full_ring(kHostile).send(random() % 64, page);
          break;
        case 2: {  // its own page, with a header of noise
          const PageIndex own = region.view().free_ring(kHostile).receive(position);
          if (own >= page_count || is_with(region, kHonest, own)) break;
          auto* words = reinterpret_cast<SharedWord<std::uint64_t>*>(&region.view().page(own));
          words[random() % (kPageHeaderBytes / 8)].store_release(random());
          region.view().page(own).lane.store_release(kHostile);  // it lies about its own lane only
          region.view().full_ring(kHostile).send(position++, own);
          break;
        }
        case 3: {
          auto* words =
              reinterpret_cast<SharedWord<std::uint64_t>*>(&region.view().lane(kHostile).words);
          words[random() % (sizeof(LaneWords) / 8)].store_release(random());
          break;
        }
        default:
          break;
      }
      region.view().published_word(kHostile).store_release(random() % 2 == 0 ? position : random());
      drainer.thread(0).pass();
    }
    honest.close();
    drainer.drain_now();
    auto& ledgers = drainer.ledgers();
    collect_leftovers(
        region.port(), region.plan(),
        [&](const PageHeaderImage& header) {
          return header.sequence <= ledgers[header.lane].last_sequence();
        },
        sink, ledgers);
    ledgers[kHonest].finish(read_lane_words(region.port(), region.plan().layout, kHonest));
    ledgers[kHostile].finish(read_lane_words(region.port(), region.plan().layout, kHostile));
    const auto found = sink.spans_of(kHonest);
    ASSERT_EQ(found.wrong, 0u) << "seed " << seed;
    ASSERT_EQ(found.numbers, std::set<std::uint64_t>(accepted.begin(), accepted.end()))
        << "seed " << seed;
    ASSERT_TRUE(ledgers[kHonest].counts().closes()) << "seed " << seed;
    ASSERT_GT(drainer.stats().faults.total(), 0u) << "seed " << seed;
  }
}

TEST_F(HostileProducer, ANoisyThreadDoesNotStopTheDrainerOrTheHonestLane) {
  std::vector<std::uint64_t> accepted;
  drainer_.start();
  {
    std::jthread hostile([&](const std::stop_token& stop) {
      std::mt19937_64 random(9);
      while (!stop.stop_requested()) {
        region_.view().full_ring(kHostile).send(random() % 100,
                                                static_cast<PageIndex>(random() % 20));
        region_.view().published_word(kHostile).store_release(random());
        region_.view().published_word(2).store_release(random());
      }
    });
    Recorder<TaskSpan, SimEnv> honest(&region_.view(), kHonest);
    for (std::uint64_t i = 0; i < 20'000; ++i)
      if (honest.write(span_of(i))) accepted.push_back(i);
    honest.close();
    drainer_.finish();
  }
  collect();
  EXPECT_GT(accepted.size(), 0u);
  expect_honest_lane_whole(accepted);
}

}  // namespace
}  // namespace tidemark
