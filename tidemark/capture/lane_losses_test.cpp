// SPDX-License-Identifier: Apache-2.0
// What the end of a capture says about its lanes: the newest lanes chunk counts, what the file or
// the device lost is a named loss, and a page is of the lane that its chunk names.
#include <cstring>

#include <gtest/gtest.h>

#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/capture/capture_ledger.h"
#include "tidemark/capture/testing/sample_pages.h"

namespace tidemark {
namespace {

using samples::kRunId;
using samples::make_page;

class LaneLosses : public testing::Test {
 protected:
  static std::vector<unsigned char> lanes_chunk(const LaneRecord& record) {
    std::vector<unsigned char> bytes(sizeof(record));
    std::memcpy(bytes.data(), &record, sizeof(record));
    return bytes;
  }
  // A closed lane that gave 40 numbers; pages of ten.
  static LaneRecord closed_lane() {
    LaneRecord record{};
    record.plan = samples::record_lane();
    record.words.state = LaneState::kClosed;
    record.words.attempted = 40;
    record.words.opened_pages = 4;
    return record;
  }
  LaneCounts counts(std::uint32_t lanes = 1) {
    auto reader = CaptureReader::open(path_, CaptureReader::Open::kScan).value();
    auto ledger =
        read_ledger(reader, std::vector<LanePlan>(lanes, samples::record_lane()), 1024).value();
    finish_lanes(ledger);
    faults_ = ledger.faults;
    return ledger.lanes[0].ledger.counts();
  }

  samples::TemporaryDirectory directory_;
  const std::string path_ = directory_.file("capture.tide");
  FaultCounts faults_;
};

TEST_F(LaneLosses, OfTheFileAndOfTheDeviceAreDropsWithTheirReason) {
  for (const bool of_file : {true, false}) {
    auto writer = CaptureWriter::create(path_, kRunId).value();
    for (const std::uint64_t sequence : {1, 4})
      ASSERT_TRUE(writer->append(make_page(0, sequence, 10).delivery()));
    LaneRecord record = closed_lane();
    (of_file ? record.file_error_dropped : record.device_lost_dropped) = 20;
    ASSERT_TRUE(writer->append_lanes(lanes_chunk(record), false));
    ASSERT_TRUE(writer->finish());
    const LaneCounts found = counts();
    const auto why = of_file ? DropReason::kFileError : DropReason::kDeviceLost;
    EXPECT_TRUE(found.closes());
    EXPECT_EQ(found.delivered, 20u);
    EXPECT_EQ(found.dropped, 20u);
    EXPECT_EQ(found.dropped_by[static_cast<std::size_t>(why)], 20u);
    EXPECT_EQ(found.unaccounted(), 0u);
    std::filesystem::remove(path_);
  }
}

TEST_F(LaneLosses, AreThoseOfTheNewestLanesChunk) {
  auto writer = CaptureWriter::create(path_, kRunId).value();
  for (const std::uint64_t sequence : {1, 4})
    ASSERT_TRUE(writer->append(make_page(0, sequence, 10).delivery()));
  LaneRecord record = closed_lane();
  for (const std::uint64_t lost : {5, 20}) {
    record.file_error_dropped = lost;
    ASSERT_TRUE(writer->append_lanes(lanes_chunk(record), lost == 20));
  }
  ASSERT_TRUE(writer->finish());
  EXPECT_EQ(counts().dropped, 20u);
  EXPECT_TRUE(counts().closes());
}

// The bytes of another lane's page under right checksums.
TEST_F(LaneLosses, IncludeAPageThatNamesAnotherLaneThanItsChunk) {
  auto writer = CaptureWriter::create(path_, kRunId).value();
  ASSERT_TRUE(writer->append(make_page(0, 1, 10).delivery()));
  ASSERT_TRUE(writer->finish());
  auto bytes = samples::read_bytes(path_);
  ChunkHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  ASSERT_EQ(header.type, ChunkType::kPage);
  header.lane = 1;
  header.header_checksum = checksum_of_header(header);
  std::memcpy(bytes.data(), &header, sizeof(header));
  samples::write_bytes(path_, bytes);
  EXPECT_EQ(counts(2).delivered, 0u);
  EXPECT_EQ(faults_.of(PageFault::kWrongLane), 1u);
}

}  // namespace
}  // namespace tidemark
