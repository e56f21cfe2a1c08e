// SPDX-License-Identifier: Apache-2.0
// A page that was open when it was taken gives way to a longer copy of itself, and to nothing else.
#include "tidemark/capture/page_chunks.h"

#include <gtest/gtest.h>

#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/capture/capture_ledger.h"
#include "tidemark/capture/testing/sample_pages.h"

namespace tidemark {
namespace {

using samples::kRunId;
using samples::make_page;

class PageChunksTest : public ::testing::Test {
 protected:
  // The page number `sequence` of lane 0 with `count` records, open or sealed.
  void append(std::uint64_t sequence, std::uint32_t count, bool open) {
    samples::SamplePage page = make_page(0, sequence, count);
    page.header.first_number = (sequence - 1) * 10;
    if (open) page.header.record_count = kPageOpen;
    PageDelivery delivery = page.delivery();
    delivery.recovered = true;
    delivery.open = open;
    ASSERT_TRUE(writer_->append(delivery));
  }
  CaptureReader reader() {
    EXPECT_TRUE(writer_->finish());
    return CaptureReader::open(path_).value();
  }

  samples::TemporaryDirectory directory_;
  const std::string path_ = directory_.file("capture.tide");
  std::unique_ptr<CaptureWriter> writer_ = CaptureWriter::create(path_, kRunId).value();
};

TEST_F(PageChunksTest, ALongerCopyReplacesAnOpenPage) {
  append(1, 10, false);
  append(2, 4, true);
  append(2, 10, false);
  append(3, 5, true);
  auto capture = reader();
  const auto pages = page_chunks(capture);
  ASSERT_EQ(pages.size(), 3u);
  EXPECT_EQ(pages[1].payload_bytes, kPageHeaderBytes + 10 * TaskSpan::kBytes);
  EXPECT_EQ(pages[1].flags, kFlagRecovered);
  EXPECT_EQ(pages[2].flags, kFlagRecovered | kFlagOpen);
  auto ledger = read_ledger(capture, {samples::record_lane()}, 1024).value();
  EXPECT_EQ(ledger.duplicate_pages, 0u);
  ASSERT_TRUE(ledger.lanes[0].before_open);
  EXPECT_EQ(ledger.lanes[0].before_open->counts().recovered, 20u) << "without the last page";
  finish_lanes(ledger);
  EXPECT_EQ(ledger.lanes[0].ledger.counts().recovered, 25u);
  EXPECT_TRUE(ledger.lanes[0].ledger.counts().closes());
}

TEST_F(PageChunksTest, TheLongestOfSeveralOpenCopiesStays) {
  append(1, 4, true);
  append(1, 7, true);
  append(1, 5, true);
  auto capture = reader();
  const auto pages = page_chunks(capture);
  ASSERT_EQ(pages.size(), 1u);
  EXPECT_EQ(pages[0].payload_bytes, kPageHeaderBytes + 7 * TaskSpan::kBytes);
}

TEST_F(PageChunksTest, ASealedPageThatIsThereTwiceIsReported) {
  append(1, 10, false);
  append(1, 10, false);
  append(1, 4, false);
  auto capture = reader();
  EXPECT_EQ(page_chunks(capture).size(), 3u);
  EXPECT_EQ(read_ledger(capture, {samples::record_lane()}, 1024).value().duplicate_pages, 2u);
}

}  // namespace
}  // namespace tidemark
