// SPDX-License-Identifier: Apache-2.0
// What is still in a region: open pages, pages nobody received and the pages of keep-last lanes
// come out once each; a page that changes under the reading, or that cannot be believed, does not.
#include "tidemark/collect/leftover_pages.h"

#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "tidemark/collect/testing/keeping_sink.h"
#include "tidemark/collect/testing/planned_region.h"
#include "tidemark/device/sim/sim_env.h"
#include "tidemark/record/recorder.h"
#include "tidemark/record/testing/stamped_spans.h"

namespace tidemark {
namespace {

using SpanRecorder = Recorder<TaskSpan, SimEnv>;

RegionRequest request_of(Overflow overflow) {
  RegionRequest request;
  request.lanes = {{.overflow = overflow}, {.overflow = overflow}};
  request.recorder.page_bytes = 1024;
  request.keep_pages = 4;
  request.run_id = 31;
  return request;
}

class LeftoverPages : public testing::Test {
 protected:
  void hand(PlannedRegion& region, PageIndex page) {
    region.view().free_ring(0).send(handed_++, page);
  }
  Leftovers collect(PlannedRegion& region) {
    for (LaneIndex lane = static_cast<LaneIndex>(ledgers_.size()); lane < 2; ++lane)
      ledgers_.emplace_back(region.plan().lanes[lane].overflow);
    auto left =
        collect_leftovers(region.port(), region.plan(), is_captured_, sink_, ledgers_, producers_);
    for (LaneIndex lane = 0; lane < 2; ++lane) ledgers_[lane].finish(left.words[lane]);
    return left;
  }

  std::uint64_t handed_ = 0;
  KeepingSink sink_;
  std::vector<LaneLedger> ledgers_;
  Producers producers_ = Producers::kGone;
  std::function<bool(const PageHeaderImage&)> is_captured_ = [](const auto&) { return false; };
};

TEST_F(LeftoverPages, AnEmptyRegionHasNone) {
  PlannedRegion region(request_of(Overflow::kWait));
  const Leftovers left = collect(region);
  EXPECT_EQ(left.pages, 0u);
  EXPECT_EQ(left.faults.total(), 0u);
  EXPECT_EQ(left.words[0].state, LaneState::kUnopened);
  EXPECT_TRUE(ledgers_[0].counts().closes());
}

TEST_F(LeftoverPages, SealedAndOpenPagesAreRecoveredInSequence) {
  PlannedRegion region(request_of(Overflow::kDrop));
  for (const PageIndex page : {5u, 2u, 9u}) hand(region, page);
  SpanRecorder recorder(&region.view(), 0);
  for (std::uint64_t i = 0; i < 2 * kPerPage + 3; ++i) ASSERT_TRUE(recorder.write(span_of(i)));
  const Leftovers left = collect(region);
  EXPECT_EQ(left.pages, 3u);
  EXPECT_EQ(left.faults.total(), 0u);
  const LaneCounts& counts = ledgers_[0].counts();
  EXPECT_TRUE(counts.closes());
  EXPECT_EQ(counts.recovered, 2 * kPerPage + 3);
  EXPECT_EQ(counts.produced, 2 * kPerPage + 3);
  const auto found = sink_.spans_of(0);
  EXPECT_EQ(found.wrong, 0u);
  EXPECT_EQ(found.numbers.size(), 2 * kPerPage + 3);
  for (const auto& [key, page] : sink_.pages()) EXPECT_TRUE(page.recovered);
}

TEST_F(LeftoverPages, CapturedPagesArePassedOver) {
  PlannedRegion region(request_of(Overflow::kDrop));
  hand(region, 0);
  hand(region, 1);
  SpanRecorder recorder(&region.view(), 0);
  for (std::uint64_t i = 0; i < 2 * kPerPage; ++i) ASSERT_TRUE(recorder.write(span_of(i)));
  recorder.close();
  is_captured_ = [](const PageHeaderImage& header) { return header.sequence == 1; };
  ledgers_.emplace_back(Overflow::kDrop);
  ledgers_.emplace_back(Overflow::kDrop);
  ledgers_[0].add_page(read_page_header(region.port(), region.plan().layout, 0),
                       PageFate::kDelivered, kPerPage * 32);
  const Leftovers left = collect(region);
  EXPECT_EQ(left.pages, 1u);
  EXPECT_EQ(ledgers_[0].counts().delivered, kPerPage);
  EXPECT_EQ(ledgers_[0].counts().recovered, kPerPage);
  EXPECT_TRUE(ledgers_[0].counts().closes());
}

TEST_F(LeftoverPages, KeepLastIsDeliveredWhenItsLaneClosedAndRecoveredWhenNot) {
  for (const bool closes : {true, false}) {
    PlannedRegion region(request_of(Overflow::kKeepLast));
    sink_.clear();
    ledgers_.clear();
    SpanRecorder recorder(&region.view(), 0);
    for (std::uint64_t i = 0; i < 10 * kPerPage + 1; ++i) ASSERT_TRUE(recorder.write(span_of(i)));
    if (closes) recorder.close();
    collect(region);
    const LaneCounts& counts = ledgers_[0].counts();
    EXPECT_TRUE(counts.closes());
    EXPECT_EQ(closes ? counts.delivered : counts.recovered, 3 * kPerPage + 1);
    EXPECT_EQ(counts.overwritten, 7 * kPerPage);
    EXPECT_EQ(*sink_.spans_of(0).numbers.begin(), 7 * kPerPage);
    EXPECT_EQ(sink_.spans_of(0).wrong, 0u);
  }
}

TEST_F(LeftoverPages, WhatCannotBeStoredIsAFileError) {
  PlannedRegion region(request_of(Overflow::kDrop));
  hand(region, 0);
  SpanRecorder recorder(&region.view(), 0);
  for (std::uint64_t i = 0; i < 5; ++i) ASSERT_TRUE(recorder.write(span_of(i)));
  sink_.fail_after = 0;
  collect(region);
  EXPECT_EQ(ledgers_[0].counts().dropped_by[static_cast<std::size_t>(DropReason::kFileError)], 5u);
  EXPECT_TRUE(ledgers_[0].counts().closes());
}

// A disk that has room again for a moment: what comes after a page that was refused stays for the
// next collection, so that the lane is found in order. Other lanes are not held back.
TEST_F(LeftoverPages, AfterARefusalNoLaterPageOfTheLaneIsStored) {
  struct : KeepingSink {
    std::uint64_t asked = 0;
    bool append(const PageDelivery& page) override {
      return ++asked != 2 && KeepingSink::append(page);
    }
  } sink;
  PlannedRegion region(request_of(Overflow::kDrop));
  for (const PageIndex page : {0u, 1u, 2u, 3u}) hand(region, page);
  region.view().free_ring(1).send(0, 4);
  SpanRecorder recorder(&region.view(), 0), other(&region.view(), 1);
  for (std::uint64_t i = 0; i < 4 * kPerPage; ++i) ASSERT_TRUE(recorder.write(span_of(i)));
  ASSERT_TRUE(other.write(span_of(0)));
  std::vector<LaneLedger> ledgers(2, LaneLedger(Overflow::kDrop));
  const Leftovers left =
      collect_leftovers(region.port(), region.plan(), is_captured_, sink, ledgers);
  EXPECT_EQ(sink.spans_of(0).numbers.size(), kPerPage);
  EXPECT_EQ(*sink.spans_of(0).numbers.rbegin(), kPerPage - 1);
  EXPECT_EQ(sink.spans_of(1).numbers.size(), 1u);
  EXPECT_EQ(left.refused_bytes, 3 * (kPageHeaderBytes + kPerPage * TaskSpan::kBytes));
  ledgers[0].finish(left.words[0]);
  EXPECT_TRUE(ledgers[0].counts().closes());
  EXPECT_EQ(ledgers[0].counts().dropped_by[static_cast<std::size_t>(DropReason::kFileError)],
            3 * kPerPage);
}

// The producer reopens a page between the look at its header and the copy of its bytes.
TEST_F(LeftoverPages, APageThatIsRewrittenWhileItIsReadIsNotTaken) {
  PlannedRegion region(request_of(Overflow::kKeepLast));
  SpanRecorder recorder(&region.view(), 0);
  for (std::uint64_t i = 0; i < 4 * kPerPage; ++i) ASSERT_TRUE(recorder.write(span_of(i)));
  std::uint64_t looked = 0, next = 4 * kPerPage;
  is_captured_ = [&](const PageHeaderImage&) {
    // All headers have been seen: now the oldest page begins again.
    for (int i = ++looked == 4 ? 3 : 0; i > 0; --i) EXPECT_TRUE(recorder.write(span_of(next++)));
    return false;
  };
  const Leftovers left = collect(region);
  EXPECT_EQ(left.reopened_pages, 1u);
  EXPECT_EQ(left.faults.total(), 0u) << "a keep-last lane does what it is for";
  EXPECT_EQ(left.pages, 3u);
  EXPECT_EQ(sink_.spans_of(0).wrong, 0u);
  EXPECT_TRUE(ledgers_[0].counts().closes());
  EXPECT_EQ(ledgers_[0].counts().overwritten, kPerPage);
}

// The producer laps the reader: a page in the middle and the newest one are gone when they are
// copied.
TEST_F(LeftoverPages, WhatAKeepLastLaneReopensUnderTheReadingIsOverwritten) {
  PlannedRegion region(request_of(Overflow::kKeepLast));
  SpanRecorder recorder(&region.view(), 0);
  for (std::uint64_t i = 0; i < 4 * kPerPage; ++i) ASSERT_TRUE(recorder.write(span_of(i)));
  std::uint64_t looked = 0;
  is_captured_ = [&](const PageHeaderImage&) {
    if (++looked == 4)
      for (const PageIndex page : {1u, 3u})
        region.view()
            .page(region.plan().lanes[0].reserved_first_page + page)
            .sequence.store_release(0);
    return false;
  };
  const Leftovers left = collect(region);
  EXPECT_EQ(left.reopened_pages, 2u);
  EXPECT_EQ(left.faults.total(), 0u);
  const LaneCounts& counts = ledgers_[0].counts();
  EXPECT_TRUE(counts.closes());
  EXPECT_EQ(counts.recovered, 2 * kPerPage);
  EXPECT_EQ(counts.overwritten, kPerPage) << "the newest page was not counted by its lane yet";
}

TEST_F(LeftoverPages, APageOfAWaitLaneThatChangesWhenNobodyWritesIsAFault) {
  for (const Producers producers : {Producers::kGone, Producers::kMayRun}) {
    PlannedRegion region(request_of(Overflow::kWait));
    handed_ = 0;
    hand(region, 0);
    SpanRecorder recorder(&region.view(), 0);
    ASSERT_TRUE(recorder.write(span_of(0)));
    is_captured_ = [&](const PageHeaderImage&) {
      region.view().page(0).sequence.store_release(0);
      return false;
    };
    ledgers_.clear();
    producers_ = producers;
    const Leftovers left = collect(region);
    EXPECT_EQ(left.pages, 0u);
    EXPECT_EQ(left.faults.of(PageFault::kChanging), producers == Producers::kGone ? 1u : 0u);
    EXPECT_EQ(left.reopened_pages, producers == Producers::kGone ? 0u : 1u);
  }
}

TEST_F(LeftoverPages, WhatIsOpenedOrRefusedAfterTheWordsWereReadDoesNotExist) {
  PlannedRegion region(request_of(Overflow::kDrop));
  hand(region, 0);
  SpanRecorder recorder(&region.view(), 0);
  for (std::uint64_t i = 0; i < kPerPage + 5; ++i) recorder.write(span_of(i));  // 5 refused
  const LaneWords& words = region.view().lane(0).words;
  const std::uint64_t attempted = words.attempted.load_acquire();
  // Now the words are read, and here the producer goes on.
  hand(region, 1);
  for (std::uint64_t i = 0; i < kPerPage + 2; ++i) recorder.write(span_of(i));
  LaneWords& moved = region.view().lane(0).words;
  moved.attempted.store_release(attempted);
  moved.dropped_total.store_release(5);
  moved.opened_pages.store_release(1);
  producers_ = Producers::kMayRun;
  const Leftovers left = collect(region);
  EXPECT_EQ(left.later_pages, 1u);
  EXPECT_EQ(left.later_drops, 2u);
  const LaneCounts& counts = ledgers_[0].counts();
  EXPECT_TRUE(counts.closes());
  EXPECT_EQ(counts.produced, kPerPage + 5);
  EXPECT_EQ(counts.dropped, 5u);
  EXPECT_EQ(left.words[0].dropped_by[static_cast<std::size_t>(DropReason::kNoPage)], 5u);
}

// The same words of a lane whose producer is gone are a contradiction, and stay one.
TEST_F(LeftoverPages, ReasonsAheadOfTheTotalAreBelievedOfARunningProducerOnly) {
  for (const bool closed : {false, true}) {
    PlannedRegion region(request_of(Overflow::kDrop));
    SpanRecorder recorder(&region.view(), 0);
    for (std::uint64_t i = 0; i < 5; ++i) recorder.write(span_of(i));
    if (closed) recorder.close();
    region.view().lane(0).words.dropped_by[0].store_release(7);
    for (const Producers producers : {Producers::kGone, Producers::kMayRun}) {
      ledgers_.clear();
      producers_ = producers;
      collect(region);
      const bool believed = producers == Producers::kMayRun && !closed;
      EXPECT_EQ(ledgers_[0].counts().closes(), believed) << closed;
      EXPECT_EQ(ledgers_[0].counts().contradictory, believed ? 0u : 2u);
    }
  }
}

TEST_F(LeftoverPages, AHeaderThatChangesUnderTheSameSequenceIsNotTaken) {
  for (const bool lane_changes : {true, false}) {
    PlannedRegion region(request_of(Overflow::kDrop));
    handed_ = 0;
    hand(region, 0);
    SpanRecorder recorder(&region.view(), 0);
    ASSERT_TRUE(recorder.write(span_of(0)));
    is_captured_ = [&](const PageHeaderImage&) {
      if (lane_changes)
        region.view().page(0).lane.store_release(1);
      else
        region.view().page(0).record_bytes.store_release(3);
      return false;
    };
    ledgers_.clear();
    const Leftovers left = collect(region);
    EXPECT_EQ(left.pages, 0u);
    EXPECT_EQ(left.faults.total(), 1u);
    EXPECT_TRUE(sink_.pages().empty());
  }
}

// A keep-last producer at full speed under the reading: nothing that is taken is a mixture. In
// every second round the reader waits between headers and pages until all pages were opened again.
TEST_F(LeftoverPages, APageTakenFromARunningProducerIsOfOneFilling) {
  constexpr std::uint64_t kKept = 4;
  PlannedRegion region(request_of(Overflow::kKeepLast));
  const auto& opened = region.view().lane(0).words.opened_pages;
  std::jthread producer([&](const std::stop_token& stop) {
    SpanRecorder recorder(&region.view(), 0);
    for (std::uint64_t i = 0; !stop.stop_requested(); ++i) {
      recorder.write(span_of(i));
      if (i % 50 == 0)
        SimEnv::pause(SimEnv::kSleepRound);  // now and then a reader gets a page in time
    }
  });
  while (opened.load_acquire() < kKept) SimEnv::pause(SimEnv::kSleepRound);
  std::uint64_t taken = 0, changing = 0;
  for (int round = 0; taken < 500 || round < 100; ++round) {
    bool waits = round % 2 == 1;
    is_captured_ = [&](const PageHeaderImage&) {
      if (std::exchange(waits, false))
        for (const std::uint64_t until = opened.load_acquire() + kKept + 1;
             opened.load_acquire() < until;)
          SimEnv::pause(SimEnv::kSleepRound);
      return false;
    };
    KeepingSink sink;
    std::vector<LaneLedger> ledgers(2, LaneLedger(Overflow::kKeepLast));
    const Leftovers left =
        collect_leftovers(region.port(), region.plan(), is_captured_, sink, ledgers);
    taken += left.pages;
    if (round % 2 == 1) {
      ASSERT_GE(left.reopened_pages, 1u) << "round " << round;
    }
    changing += left.reopened_pages;
    ASSERT_EQ(sink.spans_of(0).wrong, 0u) << "round " << round;
  }
  EXPECT_GE(taken, 500u);
  EXPECT_GE(changing, 50u);
}

TEST_F(LeftoverPages, PagesThatCannotBeBelievedAreCountedByName) {
  PlannedRegion region(request_of(Overflow::kDrop));
  for (const PageIndex page : {0u, 1u, 2u, 3u}) hand(region, page);
  SpanRecorder recorder(&region.view(), 0);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(recorder.write(span_of(i)));
    recorder.flush();
  }
  region.view().page(0).run_id.store_release(1);
  region.view().page(1).lane.store_release(77);
  region.view().page(2).record_bytes.store_release(0);
  region.view().page(2).record_count.store_release(1);
  const Leftovers left = collect(region);
  EXPECT_EQ(left.faults.of(PageFault::kForeignRun), 1u);
  EXPECT_EQ(left.faults.of(PageFault::kUnknownLane), 1u);
  EXPECT_EQ(left.faults.of(PageFault::kWrongRecordSize), 1u);
  EXPECT_EQ(left.pages, 1u);
  EXPECT_EQ(ledgers_[0].counts().unaccounted(), 3u) << "lost, and the ledger says so";
}

// Where pages are pulled out of a device, a copy that was cut off has a header that looks sealed.
TEST_F(LeftoverPages, APageThatDidNotLandIsMissing) {
  RegionRequest request = request_of(Overflow::kDrop);
  request.keeps_pages = true;
  PlannedRegion region(request);
  for (const PageIndex page : {0u, 1u}) hand(region, page);
  SpanRecorder recorder(&region.view(), 0);
  for (std::uint64_t i = 0; i < 2 * kPerPage; ++i) ASSERT_TRUE(recorder.write(span_of(i)));
  recorder.close();
  region.view().page(0).landed.store_release(1);
  region.view().page(1).landed.store_release(1);  // of an earlier filling; the page is number 2
  const Leftovers left = collect(region);
  EXPECT_EQ(left.pages, 1u);
  EXPECT_EQ(left.cut_pages, 1u);
  EXPECT_EQ(left.faults.total(), 0u);
  EXPECT_EQ(ledgers_[0].counts().recovered, kPerPage);
  EXPECT_EQ(ledgers_[0].counts().missing, kPerPage);
  EXPECT_EQ(ledgers_[0].counts().contradictory, 0u);
}

TEST_F(LeftoverPages, ThePlanIsReadBackFromTheRegionAndDamageIsRefused) {
  PlannedRegion region(request_of(Overflow::kKeepLast));
  const auto plan = read_plan(region.port(), "here");
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->layout.total_bytes, region.plan().layout.total_bytes);
  ASSERT_EQ(plan->lanes.size(), 2u);
  EXPECT_EQ(plan->lanes[1].reserved_first_page, region.plan().lanes[1].reserved_first_page);
  region.port().store(0, 0);
  const auto refused = read_plan(region.port(), "the path");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kDamage);
  EXPECT_NE(refused.error().message.find("the path"), std::string::npos);
  const RegionPort small = RegionPort::over_memory(region.bytes().first(512));
  EXPECT_FALSE(read_plan(small, "x"));
}

}  // namespace
}  // namespace tidemark
