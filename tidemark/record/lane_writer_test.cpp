// SPDX-License-Identifier: Apache-2.0
// What a lane does when no page is there: it waits, drops or overwrites, ends every wait for a
// named reason, and says where the loss is.
#include "tidemark/record/lane_writer.h"

#include <gtest/gtest.h>

#include "tidemark/record/recorder.h"
#include "tidemark/record/testing/manual_env.h"
#include "tidemark/record/testing/stamped_spans.h"

namespace tidemark {
namespace {

using SpanRecorder = Recorder<TaskSpan, ManualEnv>;
std::uint64_t dropped_by(const RegionInMemory& region, DropReason why) {
  return region.words(0).dropped_by[static_cast<std::size_t>(why)].load_own();
}

class LaneWriterTest : public testing::Test {
 protected:
  LaneWriterTest() { ManualEnv::reset(); }
  static RegionInMemory::Options options(Overflow overflow, std::uint64_t drain_timeout_ticks) {
    return {.lanes = {RegionInMemory::lane_of(StreamId::kSwimlane, overflow, 32)},
            .drain_timeout_ticks = drain_timeout_ticks};
  }
};

TEST_F(LaneWriterTest, WaitTakesThePageWhenItComesAndTellsHowLongItStood) {
  RegionInMemory region(options(Overflow::kWait, 1'000'000));
  std::uint32_t waiting_seen = 0;
  ManualEnv::on_pause = [&] {
    waiting_seen += region.words(0).waiting.load_own();
    if (ManualEnv::pauses == 20) region.hand(0, 2);
  };
  SpanRecorder recorder(&region.view(), 0);
  EXPECT_TRUE(recorder.write(span_of(0)));
  EXPECT_EQ(ManualEnv::pauses, 20u);
  EXPECT_EQ(waiting_seen, 20u);
  EXPECT_EQ(region.words(0).waiting.load_own(), 0u);
  const PageHeaderImage header = region.look_at(2).header;
  EXPECT_GE(header.stall_ticks, 20 * ManualEnv::pause_ticks);
  EXPECT_EQ(region.words(0).stall_ticks.load_own(), header.stall_ticks);
  EXPECT_EQ(header.dropped_before, 0u);
  EXPECT_EQ(recorder.attempted(), 1u);
}

// The machine is paused for much longer than the drain timeout: producer and drainer did not run.
TEST_F(LaneWriterTest, TimeInWhichTheMachineStoodStillIsNoReasonToGiveUp) {
  RegionInMemory region(options(Overflow::kWait, 16'000));
  ManualEnv::on_pause = [&] {
    if (ManualEnv::pauses % 10 == 0 && ManualEnv::pauses <= 100) ManualEnv::ticks += 1'000'000;
    if (ManualEnv::pauses == 120) region.hand(0, 2);
  };
  SpanRecorder recorder(&region.view(), 0);
  EXPECT_TRUE(recorder.write(span_of(0)));
  EXPECT_EQ(ManualEnv::pauses, 120u);
  EXPECT_EQ(dropped_by(region, DropReason::kNoPage), 0u);
}

TEST_F(LaneWriterTest, ADrainerThatStoppedIsFoundOutByManyLooks) {
  RegionInMemory region(options(Overflow::kWait, 16'000));
  ManualEnv::pause_ticks = 1'000'000;  // each look comes after a freeze
  SpanRecorder recorder(&region.view(), 0);
  EXPECT_FALSE(recorder.write(span_of(0)));
  EXPECT_GE(ManualEnv::pauses, 15u);
  EXPECT_LE(ManualEnv::pauses, 18u);
  EXPECT_EQ(dropped_by(region, DropReason::kNoPage), 1u);
}

TEST_F(LaneWriterTest, AClockThatRunsBackwardsIsNoReasonToGiveUp) {
  RegionInMemory region(options(Overflow::kWait, 16'000));
  ManualEnv::ticks = 1'000'000'000;
  ManualEnv::on_pause = [&] {
    if (ManualEnv::pauses < 20) ManualEnv::ticks -= 1'000'000;
    if (ManualEnv::pauses == 40) region.hand(0, 2);
  };
  SpanRecorder recorder(&region.view(), 0);
  EXPECT_TRUE(recorder.write(span_of(0)));
  EXPECT_EQ(dropped_by(region, DropReason::kNoPage), 0u);
  EXPECT_EQ(region.words(0).stall_ticks.load_own(), 0u) << "nothing was measured";
}

TEST_F(LaneWriterTest, DropNeverPauses) {
  RegionInMemory region(options(Overflow::kDrop, 1'000'000));
  SpanRecorder recorder(&region.view(), 0);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(recorder.write(span_of(0)));
  EXPECT_EQ(ManualEnv::pauses, 0u);
  EXPECT_EQ(dropped_by(region, DropReason::kNoPage), 10u);
  EXPECT_EQ(region.words(0).attempted.load_own(), 10u);
  EXPECT_EQ(region.words(0).stall_ticks.load_own(), 0u);
}

TEST_F(LaneWriterTest, AnAbortEndsTheWaitAsAborted) {
  RegionInMemory region(options(Overflow::kWait, 1'000'000));
  ManualEnv::on_pause = [&] {
    if (ManualEnv::pauses == 5) region.header().host.abort.store_release(1);
  };
  SpanRecorder recorder(&region.view(), 0);
  EXPECT_FALSE(recorder.write(span_of(0)));
  EXPECT_FALSE(recorder.write(span_of(1)));
  EXPECT_EQ(ManualEnv::pauses, 5u) << "an aborted run is not waited for again";
  EXPECT_EQ(dropped_by(region, DropReason::kAborted), 2u);
  EXPECT_EQ(region.words(0).dropped_total.load_own(), 2u);
  EXPECT_EQ(region.words(0).tail_gap_reason.load_own(),
            static_cast<std::uint32_t>(DropReason::kAborted));
}

TEST_F(LaneWriterTest, APageStillThereIsUsedAfterTheAbort) {
  RegionInMemory region(options(Overflow::kWait, 1'000'000));
  region.header().host.abort.store_release(1);
  region.hand(0, 0);
  SpanRecorder recorder(&region.view(), 0);
  EXPECT_TRUE(recorder.write(span_of(0)));
}

TEST_F(LaneWriterTest, ADeadHostEndsTheWaitAsHostGone) {
  RegionInMemory region(options(Overflow::kWait, 1'000'000));
  ManualEnv::on_pause = [&] { region.header().device.host_gone.store_release(1); };
  SpanRecorder recorder(&region.view(), 0);
  EXPECT_FALSE(recorder.write(span_of(0)));
  EXPECT_EQ(ManualEnv::pauses, 1u);
  EXPECT_EQ(dropped_by(region, DropReason::kHostGone), 1u);
}

TEST_F(LaneWriterTest, ADrainerThatReturnsNothingForTheTimeoutIsGivenUpOnce) {
  RegionInMemory region(options(Overflow::kWait, 1000));
  SpanRecorder recorder(&region.view(), 0);
  EXPECT_FALSE(recorder.write(span_of(0)));
  const std::uint64_t pauses = ManualEnv::pauses;
  EXPECT_GE(pauses * (ManualEnv::pause_ticks + 1), 1000u - 20);
  EXPECT_LE(pauses * ManualEnv::pause_ticks, 1000u);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(recorder.write(span_of(0)));
  EXPECT_EQ(ManualEnv::pauses, pauses) << "no second wait while nothing is drained";
  EXPECT_EQ(dropped_by(region, DropReason::kNoPage), 101u);
}

TEST_F(LaneWriterTest, ALaneThatGaveUpWaitsAgainOnceTheDrainerMoves) {
  RegionInMemory region(options(Overflow::kWait, 1000));
  SpanRecorder recorder(&region.view(), 0);
  EXPECT_FALSE(recorder.write(span_of(0)));
  region.header().host.drained_pages[1].store_release(1);  // a page of somebody else
  const std::uint64_t pauses = ManualEnv::pauses;
  ManualEnv::on_pause = [&] {
    if (ManualEnv::pauses == pauses + 3) region.hand(0, 0);
  };
  EXPECT_TRUE(recorder.write(span_of(1)));
  EXPECT_EQ(ManualEnv::pauses, pauses + 3);
}

TEST_F(LaneWriterTest, SlowIsNotStopped) {
  RegionInMemory region(options(Overflow::kWait, 1000));
  // One page of any lane and any drain thread in nine tenths of the timeout, for 50 timeouts.
  ManualEnv::on_pause = [&] {
    auto& drained = region.header().host.drained_pages[ManualEnv::pauses / 900 % 2];
    if (ManualEnv::pauses % 80 == 0) drained.store_release(drained.load_own() + 1);
    if (ManualEnv::pauses == 5000) region.hand(0, 1);
  };
  SpanRecorder recorder(&region.view(), 0);
  EXPECT_TRUE(recorder.write(span_of(0)));
  EXPECT_EQ(ManualEnv::pauses, 5000u);
  EXPECT_EQ(region.words(0).dropped_total.load_own(), 0u);
}

TEST_F(LaneWriterTest, GapFieldsOfPagesAndTailSumToDropped) {
  RegionInMemory region(options(Overflow::kDrop, 1000));
  SpanRecorder recorder(&region.view(), 0);
  std::uint64_t number = 0, refused = 0;
  const std::uint64_t losses[] = {3, 0, 11, 1, 6};
  for (PageIndex page = 0; page < 4; ++page) {
    for (std::uint64_t i = 0; i < losses[page]; ++i, ++number)
      refused += !recorder.write(span_of(number));
    region.hand(0, page);
    for (std::uint64_t i = 0; i < kPerPage; ++i, ++number)
      EXPECT_TRUE(recorder.write(span_of(number)));
  }
  for (std::uint64_t i = 0; i < losses[4]; ++i, ++number)
    refused += !recorder.write(span_of(number));
  recorder.close();
  EXPECT_EQ(refused, 3u + 11 + 1 + 6);
  std::uint64_t placed = 0, next = 0, last_total = 0, last_close = 0;
  for (PageIndex index = 0; index < 4; ++index) {
    const auto page = region.take(0);
    ASSERT_TRUE(page);
    const PageHeaderImage& header = page->header;
    EXPECT_EQ(header.dropped_before, losses[index]);
    EXPECT_EQ(header.first_number, next + losses[index]);
    next = header.first_number + header.record_count;
    placed += header.dropped_before;
    EXPECT_EQ(header.dropped_total, placed);
    if (losses[index] > 0) {
      EXPECT_GT(header.gap_begin_ticks, last_close);
      EXPECT_GE(header.gap_end_ticks, header.gap_begin_ticks + losses[index] - 1);
      EXPECT_LT(header.gap_end_ticks, header.open_ticks);
    } else {
      EXPECT_EQ(header.gap_begin_ticks, 0u);
    }
    last_total = header.dropped_total;
    last_close = header.close_ticks;
  }
  const std::uint64_t tail = region.words(0).dropped_total.load_own() - last_total;
  EXPECT_EQ(tail, losses[4]);
  EXPECT_EQ(placed + tail, refused);
  EXPECT_GT(region.words(0).tail_gap_begin_ticks.load_own(), last_close);
  EXPECT_EQ(region.words(0).attempted.load_own(), next + tail);
}

TEST_F(LaneWriterTest, StallBeforeAGivenUpPageIsCarriedToTheNextOne) {
  RegionInMemory region(options(Overflow::kWait, 1000));
  SpanRecorder recorder(&region.view(), 0);
  EXPECT_FALSE(recorder.write(span_of(0)));
  const std::uint64_t stalled = region.words(0).stall_ticks.load_own();
  EXPECT_GE(stalled, 1000u);
  region.hand(0, 0);
  EXPECT_TRUE(recorder.write(span_of(1)));
  EXPECT_EQ(region.look_at(0).header.stall_ticks, stalled);
}

// An Env for which a look at the host's words is dear, as on a GPU.
struct SeldomLooking : ManualEnv {
  static constexpr std::uint32_t kLookEvery = 8;
};

TEST_F(LaneWriterTest, WhereLooksAreDearAnAbortIsWaitedForOnce) {
  RegionInMemory region(options(Overflow::kWait, 1'000'000));
  region.view().header().host.abort.store_relaxed(1);
  Recorder<TaskSpan, SeldomLooking> recorder(&region.view(), 0);
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_FALSE(recorder.write(span_of(i)));
  EXPECT_EQ(ManualEnv::pauses, 7u);
  EXPECT_EQ(dropped_by(region, DropReason::kAborted), 1000u);
}

}  // namespace
}  // namespace tidemark
