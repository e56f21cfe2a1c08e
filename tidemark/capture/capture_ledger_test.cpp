// SPDX-License-Identifier: Apache-2.0
// The ledger of a capture alone is the ledger the drainer kept while it was written.
#include "tidemark/capture/capture_ledger.h"

#include <gtest/gtest.h>

#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/capture/testing/sample_pages.h"

namespace tidemark {
namespace {

using samples::kRunId;
using samples::make_page;
using samples::SampleRecording;

void expect_same(const LaneCounts& found, const LaneCounts& live, LaneIndex lane) {
  SCOPED_TRACE(lane);
  EXPECT_EQ(found.produced, live.produced);
  EXPECT_EQ(found.delivered, live.delivered);
  EXPECT_EQ(found.recovered, live.recovered);
  EXPECT_EQ(found.dropped, live.dropped);
  EXPECT_EQ(found.dropped_by, live.dropped_by);
  EXPECT_EQ(found.overwritten, live.overwritten);
  EXPECT_EQ(found.incomplete, live.incomplete);
  EXPECT_EQ(found.unaccounted(), live.unaccounted());
  EXPECT_EQ(found.bytes, live.bytes);
  EXPECT_EQ(found.stall_ticks, live.stall_ticks);
  EXPECT_EQ(found.gaps, live.gaps);
  EXPECT_EQ(found.gap_lost, live.gap_lost);
  EXPECT_EQ(found.closes(), live.closes());
}

class CaptureLedgerTest : public ::testing::Test {
 protected:
  Expected<CaptureLedger> read(const std::vector<LanePlan>& lanes,
                               const std::function<void(const CapturedPage&)>& visit = {}) {
    reader_ = std::make_unique<CaptureReader>(CaptureReader::open(path_).value());
    return read_ledger(*reader_, lanes, 1024, visit);
  }

  samples::TemporaryDirectory directory_;
  const std::string path_ = directory_.file("capture.tide");
  std::unique_ptr<CaptureReader> reader_;
};

TEST_F(CaptureLedgerTest, EqualsTheLiveLedgerOfEveryPolicy) {
  for (const bool closed : {true, false})
    for (const std::uint32_t spans : {0u, 1u, 29u, 100u, 1000u}) {
      SCOPED_TRACE(testing::Message() << spans << (closed ? " closed" : " left open"));
      auto writer = CaptureWriter::create(path_, kRunId).value();
      SampleRecording recording(*writer, {.spans = spans, .frames = spans / 10, .closed = closed});
      EXPECT_EQ(recording.faults().total(), 0u);
      ASSERT_TRUE(writer->append_lanes(recording.lane_records(), false));
      ASSERT_TRUE(writer->finish());
      auto ledger = read(recording.plan().lanes).value();
      finish_lanes(ledger);
      EXPECT_EQ(ledger.faults.total(), 0u);
      EXPECT_EQ(ledger.unreadable_pages + ledger.duplicate_pages, 0u);
      ASSERT_EQ(ledger.lanes.size(), recording.ledgers().size());
      for (LaneIndex lane = 0; lane < ledger.lanes.size(); ++lane) {
        expect_same(ledger.lanes[lane].ledger.counts(), recording.ledgers()[lane].counts(), lane);
        EXPECT_TRUE(ledger.lanes[lane].ledger.counts().closes());
      }
      std::filesystem::remove(path_);
    }
}

TEST_F(CaptureLedgerTest, VisitsEveryRecordAndFrameThatWasAccepted) {
  auto writer = CaptureWriter::create(path_, kRunId).value();
  SampleRecording recording(*writer, {.spans = 300, .frames = 12});
  ASSERT_TRUE(writer->append_lanes(recording.lane_records(), false));
  ASSERT_TRUE(writer->finish());
  std::vector<bool> dropping(300, false);
  std::uint64_t waits = 0, keeps = 0;
  std::map<std::uint64_t, std::vector<unsigned char>> frames;
  const auto visit = [&](const CapturedPage& page) {
    if (page.header.lane == samples::kFrames)
      for_each_fragment(page.header, page.payload, [&](const Fragment& fragment) {
        auto& frame = frames[fragment.frame_number];
        EXPECT_EQ(frame.size(), fragment.offset);
        frame.insert(frame.end(), fragment.bytes.begin(), fragment.bytes.end());
      });
    if (page.header.lane == samples::kFrames || page.header.lane == samples::kEvents) return;
    for_each_record(page.header, page.payload, [&](std::uint64_t number, const unsigned char* at) {
      std::uint64_t words[4];
      std::memcpy(words, at, sizeof(words));
      const TaskSpan span = TaskSpan::unpack(words, page.header.open_ticks);
      const TaskSpan wrote = samples::sample_span(page.header.lane, number);
      EXPECT_EQ(span.task_id, wrote.task_id);
      EXPECT_EQ(span.begin_ticks, wrote.begin_ticks);
      EXPECT_EQ(span.end_ticks, wrote.end_ticks);
      EXPECT_EQ(span.block, wrote.block);
      EXPECT_EQ(span.kernel, wrote.kernel);
      EXPECT_EQ(span.core, wrote.core);
      if (page.header.lane == samples::kDrops) dropping[number] = true;
      waits += page.header.lane == samples::kWaits;
      keeps += page.header.lane == samples::kKeeps;
    });
  };
  ASSERT_TRUE(read(recording.plan().lanes, visit));
  EXPECT_EQ(dropping, recording.accepted());
  EXPECT_EQ(waits, 300u);
  EXPECT_EQ(keeps, recording.ledgers()[samples::kKeeps].counts().delivered);
  ASSERT_EQ(frames.size(), 12u);
  for (const auto& [number, bytes] : frames) EXPECT_EQ(bytes, samples::sample_frame(number));
}

TEST_F(CaptureLedgerTest, APageThatStandsTwiceCountsOnce) {
  auto writer = CaptureWriter::create(path_, kRunId).value();
  for (const std::uint64_t sequence : {1, 2, 2, 3, 1})
    ASSERT_TRUE(writer->append(make_page(0, sequence, 10).delivery()));
  ASSERT_TRUE(writer->finish());
  auto ledger = read({samples::record_lane()}).value();
  finish_lanes(ledger);
  EXPECT_EQ(ledger.duplicate_pages, 2u);
  EXPECT_EQ(ledger.keys.size(), 3u);
  EXPECT_EQ(ledger.lanes[0].ledger.counts().delivered, 30u);
  EXPECT_EQ(ledger.lanes[0].ledger.counts().unaccounted(), 0u);
}

TEST_F(CaptureLedgerTest, AMissingPageLeavesItsNumbersUnaccounted) {
  auto writer = CaptureWriter::create(path_, kRunId).value();
  for (const std::uint64_t sequence : {1, 3})
    ASSERT_TRUE(writer->append(make_page(0, sequence, 10).delivery()));
  ASSERT_TRUE(writer->finish());
  auto ledger = read({samples::record_lane()}).value();
  finish_lanes(ledger);
  EXPECT_EQ(ledger.lanes[0].ledger.counts().delivered, 20u);
  EXPECT_EQ(ledger.lanes[0].ledger.counts().unaccounted(), 10u);
  EXPECT_FALSE(ledger.lanes[0].ledger.counts().closes());
}

TEST_F(CaptureLedgerTest, PagesThatContradictTheCaptureAreFaultsByName) {
  auto writer = CaptureWriter::create(path_, kRunId).value();
  auto foreign = make_page(0, 1, 10);
  foreign.header.run_id = 1;
  ASSERT_TRUE(writer->append(foreign.delivery()));
  ASSERT_TRUE(writer->append(make_page(9, 1, 10).delivery()));
  auto wide = make_page(0, 2, 10);
  wide.header.record_bytes = 64;
  wide.header.record_count = 5;
  ASSERT_TRUE(writer->append(wide.delivery()));
  auto torn = make_page(0, 3, 10);
  torn.payload[4 * 32 + 30] = 9;  // one stamp of one record
  ASSERT_TRUE(writer->append(torn.delivery()));
  ASSERT_TRUE(writer->finish());
  auto ledger = read({samples::record_lane()}).value();
  EXPECT_EQ(ledger.faults.of(PageFault::kForeignRun), 1u);
  EXPECT_EQ(ledger.faults.of(PageFault::kUnknownLane), 1u);
  EXPECT_EQ(ledger.faults.of(PageFault::kWrongRecordSize), 1u);
  EXPECT_EQ(ledger.lanes[0].ledger.counts().delivered, 9u);
}

// The lanes chunk describes lanes that were opened at run time; it is no more to be believed than
// the rest of the file.
TEST_F(CaptureLedgerTest, AnImpossibleLaneOfTheLanesChunkIsNotBelieved) {
  for (const std::uint32_t record_bytes : {0u, 8u, 16u, 24u, 4096u}) {
    auto writer = CaptureWriter::create(path_, kRunId).value();
    auto page = make_page(0, 1, 10);
    page.header.record_bytes = record_bytes;
    page.header.record_count = record_bytes == 0 ? 1 : page.header.used_bytes / record_bytes;
    ASSERT_TRUE(writer->append(page.delivery()));
    LaneRecord record{};
    record.plan = samples::record_lane();
    record.plan.record_bytes = record_bytes;
    std::memset(record.plan.producer, 'x', sizeof(record.plan.producer));
    std::vector<unsigned char> lanes(sizeof(record));
    std::memcpy(lanes.data(), &record, sizeof(record));
    ASSERT_TRUE(writer->append_lanes(lanes, false));
    ASSERT_TRUE(writer->finish());
    auto ledger = read({LanePlan{}}, [&](const CapturedPage& visited) {
      EXPECT_NE(visited.lane.stream, StreamId::kSwimlane);
    });
    ASSERT_TRUE(ledger);
    EXPECT_EQ(ledger->lanes[0].plan.stream, StreamId::kNone) << record_bytes;
    EXPECT_EQ(read_lane_records(*reader_)[0].plan.producer[kProducerTextBytes - 1], 0);
    std::filesystem::remove(path_);
  }
}

TEST_F(CaptureLedgerTest, ALanesChunkOfNoLanesOrPartsOfLanesIsNone) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, sizeof(LaneRecord) + 1}) {
    auto writer = CaptureWriter::create(path_, kRunId).value();
    ASSERT_TRUE(writer->append(make_page(0, 1, 10).delivery()));
    ASSERT_TRUE(writer->append_lanes(std::vector<unsigned char>(bytes), false));
    ASSERT_TRUE(writer->finish());
    auto ledger = read({samples::record_lane()}).value();
    EXPECT_TRUE(read_lane_records(*reader_).empty());
    EXPECT_FALSE(ledger.lanes[0].has_words);
    std::filesystem::remove(path_);
  }
}

TEST_F(CaptureLedgerTest, RefusesImpossiblePageSizes) {
  samples::write_page_capture(path_, 1, 1);
  auto reader = CaptureReader::open(path_).value();
  for (const std::uint32_t page_bytes : {0u, 127u, 1023u, kPageBytesMax + 1, ~0u})
    EXPECT_FALSE(read_ledger(reader, {samples::record_lane()}, page_bytes)) << page_bytes;
}

}  // namespace
}  // namespace tidemark
