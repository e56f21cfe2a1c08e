// SPDX-License-Identifier: Apache-2.0
// Recorder: what was accepted is whole in the page under its stamps, what was refused is
// counted, and a lane goes on where it stopped.
#include "tidemark/record/recorder.h"

#include <gtest/gtest.h>

#include "tidemark/record/testing/manual_env.h"
#include "tidemark/record/testing/stamped_spans.h"
#include "tidemark/schema/user_event.h"

namespace tidemark {
namespace {

using SpanRecorder = Recorder<TaskSpan, ManualEnv>;
class RecorderTest : public testing::Test {
 protected:
  explicit RecorderTest(Overflow overflow = Overflow::kDrop)
      : region_({.lanes = {RegionInMemory::lane_of(StreamId::kSwimlane, overflow, 32)}}) {
    ManualEnv::reset();
  }
  // Writes numbers first .. first + count - 1; the accepted ones.
  std::uint64_t write(SpanRecorder& recorder, std::uint64_t first, std::uint64_t count) {
    std::uint64_t accepted = 0;
    for (std::uint64_t number = first; number < first + count; ++number)
      accepted += recorder.write(span_of(number));
    return accepted;
  }
  void expect_spans(const TakenPage& page, std::uint64_t first, std::uint64_t count) {
    const auto spans = spans_in(page);
    ASSERT_EQ(spans.size(), count);
    for (std::uint64_t i = 0; i < count; ++i)
      EXPECT_TRUE(same_span(spans[i], span_of(first + i))) << "record " << first + i;
  }

  RegionInMemory region_;
};

TEST_F(RecorderTest, ADisabledRecorderRefusesAndCountsNothing) {
  SpanRecorder recorder;
  EXPECT_FALSE(recorder.enabled());
  EXPECT_EQ(write(recorder, 0, 100), 0u);
  recorder.flush();
  recorder.close();
  SoloBlock block;
  EXPECT_EQ(recorder.write_many(block, 10, span_of), 0u);
  EXPECT_EQ(region_.words(0).state.load_own(), LaneState::kUnopened);
  EXPECT_EQ(region_.words(0).attempted.load_own(), 0u);
}

TEST_F(RecorderTest, RecordsLandWholeUnderTheStampOfThePagesGeneration) {
  region_.hand(0, 3);
  region_.view().page(3).generation.store_relaxed(0x1233);
  SpanRecorder recorder(&region_.view(), 0);
  EXPECT_EQ(write(recorder, 0, kPerPage), kPerPage);
  EXPECT_EQ(region_.look_at(3).header.record_count, kPageOpen);
  EXPECT_FALSE(recorder.write(span_of(kPerPage)));  // publishes the full page, finds no other
  const auto page = region_.take(0);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->page, 3u);
  const PageHeaderImage& header = page->header;
  EXPECT_EQ(header.sequence, 1u);
  EXPECT_EQ(header.run_id, RegionInMemory::kRunId);
  EXPECT_EQ(header.lane, 0u);
  EXPECT_EQ(header.epoch, 1u);
  EXPECT_EQ(header.generation, 0x1234u);
  EXPECT_EQ(header.record_bytes, TaskSpan::kBytes);
  EXPECT_EQ(header.first_number, 0u);
  EXPECT_EQ(header.record_count, kPerPage);
  EXPECT_EQ(header.used_bytes, kPerPage * TaskSpan::kBytes);
  EXPECT_EQ(header.dropped_before, 0u);
  EXPECT_GT(header.open_ticks, 1000u);
  EXPECT_GT(header.close_ticks, header.open_ticks);
  expect_spans(*page, 0, kPerPage);
}

TEST_F(RecorderTest, WriteReturnsFalseExactlyWhenTheAttemptIsCountedAsDropped) {
  SpanRecorder recorder(&region_.view(), 0);
  std::uint64_t accepted = 0, attempted = 0;
  for (PageIndex round = 0; round < 6; ++round) {
    const std::uint64_t count = kPerPage + round * 3;
    if (round % 2 == 0) region_.hand(0, round);
    accepted += write(recorder, attempted, count);
    attempted += count;
    EXPECT_EQ(recorder.attempted(), attempted);
    EXPECT_EQ(region_.words(0).dropped_total.load_own(), attempted - accepted);
  }
  recorder.close();
  EXPECT_EQ(region_.words(0).attempted.load_own(), attempted);
  EXPECT_EQ(region_.words(0).dropped_by[0].load_own(), attempted - accepted);
  std::uint64_t found = 0;
  while (const auto page = region_.take(0)) {
    expect_spans(*page, page->header.first_number, page->header.record_count);
    found += page->header.record_count;
  }
  EXPECT_EQ(found, accepted);
}

TEST_F(RecorderTest, FlushPublishesAPartFullPageAndTheNextWriteOpensAnother) {
  region_.hand(0, 0);
  region_.hand(0, 1);
  SpanRecorder recorder(&region_.view(), 0);
  recorder.flush();
  EXPECT_FALSE(region_.take(0)) << "nothing written: nothing to hand over";
  EXPECT_EQ(write(recorder, 0, 5), 5u);
  recorder.flush();
  EXPECT_EQ(region_.words(0).attempted.load_own(), 5u) << "a page that got lost would be missed";
  auto page = region_.take(0);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->header.record_count, 5u);
  EXPECT_EQ(page->header.used_bytes, 5 * TaskSpan::kBytes);
  expect_spans(*page, 0, 5);
  recorder.flush();
  EXPECT_FALSE(region_.take(0));
  EXPECT_EQ(write(recorder, 5, 1), 1u);
  recorder.close();
  page = region_.take(0);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->header.first_number, 5u);
  expect_spans(*page, 5, 1);
}

TEST_F(RecorderTest, CloseIsFinal) {
  region_.hand(0, 0);
  region_.hand(0, 1);
  SpanRecorder recorder(&region_.view(), 0);
  EXPECT_EQ(write(recorder, 0, 2), 2u);
  recorder.close();
  EXPECT_EQ(region_.words(0).state.load_own(), LaneState::kClosed);
  EXPECT_FALSE(recorder.enabled());
  EXPECT_EQ(write(recorder, 2, 10), 0u);
  recorder.flush();
  recorder.close();
  EXPECT_EQ(region_.words(0).attempted.load_own(), 2u);
  EXPECT_EQ(region_.words(0).dropped_total.load_own(), 0u);
  EXPECT_TRUE(region_.take(0));
  EXPECT_FALSE(region_.take(0));
}

TEST_F(RecorderTest, AReopenedLaneContinuesItsNumbersInANewEpoch) {
  for (PageIndex page = 0; page < 4; ++page) region_.hand(0, page);
  for (std::uint32_t epoch = 1; epoch <= 3; ++epoch) {
    SpanRecorder recorder(&region_.view(), 0);
    EXPECT_EQ(region_.words(0).state.load_own(), LaneState::kOpen);
    EXPECT_EQ(write(recorder, (epoch - 1) * 4, 4), 4u);
    recorder.close();
    const auto page = region_.take(0);
    ASSERT_TRUE(page);
    EXPECT_EQ(page->header.epoch, epoch);
    EXPECT_EQ(page->header.sequence, epoch);
    EXPECT_EQ(page->header.first_number, (epoch - 1) * 4);
    expect_spans(*page, (epoch - 1) * 4, 4);
  }
}

TEST_F(RecorderTest, AReopenedLaneStillPlacesTheLossBeforeItsClose) {
  SpanRecorder first(&region_.view(), 0);
  EXPECT_EQ(write(first, 0, 7), 0u);
  first.close();
  const std::uint64_t gap_begin = region_.words(0).tail_gap_begin_ticks.load_own();
  region_.hand(0, 0);
  SpanRecorder second(&region_.view(), 0);
  EXPECT_EQ(write(second, 7, 1), 1u);
  second.close();
  const auto page = region_.take(0);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->header.first_number, 7u);
  EXPECT_EQ(page->header.dropped_before, 7u);
  EXPECT_EQ(page->header.gap_begin_ticks, gap_begin);
  EXPECT_EQ(page->header.dropped_total, 7u);
  SpanRecorder third(&region_.view(), 0);
  third.close();
  region_.hand(0, 1);
  SpanRecorder fourth(&region_.view(), 0);
  EXPECT_EQ(write(fourth, 8, 1), 1u);
  fourth.close();
  const auto next = region_.take(0);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->header.dropped_before, 0u) << "placed once";
}

TEST_F(RecorderTest, PublishesWithoutWaitingHoweverLateTheHostIs) {
  constexpr std::uint32_t kSlots = 8;
  for (PageIndex page = 0; page < kSlots; ++page) region_.hand(0, page);
  SpanRecorder recorder(&region_.view(), 0);
  EXPECT_EQ(write(recorder, 0, kSlots * kPerPage), kSlots * kPerPage);
  recorder.close();
  EXPECT_EQ(ManualEnv::pauses, 0u);
  for (PageIndex page = 0; page < kSlots; ++page) {
    const auto taken = region_.take(0);
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->page, page);
    expect_spans(*taken, page * kPerPage, kPerPage);
  }
  EXPECT_EQ(region_.view().published_word(0).load_own(), kSlots);
}

TEST_F(RecorderTest, IgnoresAPageTheRegionDoesNotHave) {
  region_.hand(0, 8);  // one past the last
  SpanRecorder recorder(&region_.view(), 0);
  EXPECT_FALSE(recorder.write(span_of(0)));
  EXPECT_EQ(region_.words(0).dropped_total.load_own(), 1u);
}

using RecorderDeathTest = RecorderTest;

TEST_F(RecorderDeathTest, ALaneOfAnotherRecordSizeIsABug) {
  RegionInMemory other({.lanes = {RegionInMemory::lane_of(StreamId::kDump, Overflow::kWait, 0)}});
  EXPECT_EXIT(SpanRecorder(&other.view(), 0), testing::KilledBySignal(SIGABRT),
              "a lane of other records");
  EXPECT_EXIT(SpanRecorder(&other.view(), 1), testing::KilledBySignal(SIGABRT), "no such lane");
}

// Where the host cannot zero a page (a device keeps it in its own memory), the producer does.
TEST_F(RecorderTest, BytesOfFramesAreNotTakenForStamps) {
  region_.hand(0, 3);
  PageHeader& header = region_.view().page(3);
  header.generation.store_relaxed(6);
  header.record_bytes.store_relaxed(0);  // it carried frames
  const std::uint32_t payload_bytes = region_.view().layout().payload_bytes();
  for (std::uint32_t at = 0; at < payload_bytes; at += kQuantumBytes) {
    const std::uint64_t looks_stamped[2] = {1, std::uint64_t{7} << 48};
    std::memcpy(region_.view().payload(3) + at, looks_stamped, sizeof(looks_stamped));
  }
  SpanRecorder recorder(&region_.view(), 0);
  EXPECT_EQ(write(recorder, 0, 2), 2u);
  expect_spans(region_.look_at(3), 0, 2);
}

TEST_F(RecorderTest, APageKeptOutsideTheRegionIsPublishedInTheOutbox) {
  const RegionView& region = region_.view();
  const RegionShape& shape = region.layout().shape;
  std::vector<unsigned char> pages(std::size_t{shape.page_count} * shape.page_bytes + 64, 0);
  auto* aligned = pages.data() + (64 - reinterpret_cast<std::uintptr_t>(pages.data()) % 64) % 64;
  std::vector<std::uint64_t> outbox(region.outbox_bytes() / 8, 0);
  const RegionView kept = region.with_outbox(aligned, outbox.data(), nullptr);
  region_.hand(0, 2);
  SpanRecorder recorder(&kept, 0);
  EXPECT_EQ(write(recorder, 0, 5), 5u);
  recorder.close();
  EXPECT_FALSE(region_.take(0)) << "nobody has pulled it yet";
  EXPECT_EQ(kept.full_ring(0).receive(0), 2u);
  EXPECT_EQ(kept.published_word(0).load_own(), 1u);
  EXPECT_EQ(kept.page(2).record_count.load_own(), 5u);
  EXPECT_EQ(region.page(2).sequence.load_own(), 0u);
  EXPECT_EQ(region_.words(0).attempted.load_own(), 5u);  // the words stay in the region
}

}  // namespace
}  // namespace tidemark
