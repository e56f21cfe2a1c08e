// SPDX-License-Identifier: Apache-2.0
// Of a page that is copied while a kernel fills it, only what is whole comes into the region.
#include "tidemark/device/cuda/rescued_page.h"

#include <vector>

#include <gtest/gtest.h>

#include "tidemark/collect/testing/planned_region.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kSequence = 5;
constexpr std::uint32_t kGeneration = 9;
constexpr PageIndex kPage = 1;

class RescuedPageTest : public testing::Test {
 protected:
  RescuedPageTest() : region_(request()), first_(page_bytes()), second_(page_bytes()) {
    auto* old = region_.view().page_base(kPage);
    std::memset(old, 0xA5, page_bytes());  // an earlier filling
  }

  static RegionRequest request() {
    RegionRequest request;
    request.lanes = {LaneRequest{}};
    request.recorder.page_bytes = 1024;
    return request;
  }
  [[nodiscard]] std::size_t page_bytes() const { return region_.view().layout().shape.page_bytes; }

  static PageHeaderImage header(std::uint64_t record_count) {
    PageHeaderImage header{};
    header.sequence = kSequence;
    header.generation = kGeneration;
    header.record_bytes = 32;
    header.record_count = record_count;
    header.first_frame_offset = kNoFrame;
    return header;
  }
  static void set_header(std::vector<unsigned char>& copy, const PageHeaderImage& header) {
    std::memcpy(copy.data(), &header, sizeof(header));
  }
  static void set_record(std::vector<unsigned char>& copy, std::uint64_t number, Stamp stamp) {
    for (std::uint64_t quantum = 2 * number; quantum < 2 * number + 2; ++quantum) {
      unsigned char* at = copy.data() + kPageHeaderBytes + quantum * kQuantumBytes;
      std::memset(at, static_cast<int>(0x10 + number), kQuantumBytes);
      std::memcpy(at + kStampOffset, &stamp, sizeof(stamp));
    }
  }
  void put(std::uint64_t before = kSequence, std::uint64_t after = kSequence) {
    put_rescued_page(region_.view(), kPage,
                     {.sequence_before = before,
                      .first = first_.data(),
                      .second = second_.data(),
                      .sequence_after = after});
  }
  [[nodiscard]] PageHeaderImage header_in_region() const {
    PageHeaderImage header;
    std::memcpy(&header, region_.view().page_base(kPage), sizeof(header));
    return header;
  }
  [[nodiscard]] Stamp stamp_in_region(std::uint64_t quantum) const {
    Stamp stamp;
    std::memcpy(
        &stamp,
        region_.view().page_base(kPage) + kPageHeaderBytes + quantum * kQuantumBytes + kStampOffset,
        sizeof(stamp));
    return stamp;
  }
  [[nodiscard]] bool payload_is(const std::vector<unsigned char>& copy) const {
    return std::memcmp(region_.view().page_base(kPage) + kPageHeaderBytes,
                       copy.data() + kPageHeaderBytes, page_bytes() - kPageHeaderBytes) == 0;
  }

  PlannedRegion region_;
  std::vector<unsigned char> first_, second_;
};

// The copy engine may bring a stamp before the words that were stored ahead of it.
TEST_F(RescuedPageTest, OfAnOpenOneHasTheRecordsOfTheFirstCopyOnly) {
  set_header(first_, header(kPageOpen));
  set_header(second_, header(kPageOpen));
  for (std::uint64_t record = 0; record < 3; ++record) set_record(first_, record, kGeneration);
  for (std::uint64_t record = 0; record < 6; ++record) set_record(second_, record, kGeneration);
  put();
  EXPECT_EQ(header_in_region().sequence, kSequence);
  EXPECT_EQ(header_in_region().landed, kSequence);
  EXPECT_EQ(header_in_region().record_count, kPageOpen);
  for (std::uint64_t quantum = 0; quantum < 6; ++quantum)
    EXPECT_EQ(stamp_in_region(quantum), kGeneration) << quantum;
  for (std::uint64_t quantum = 6; quantum < 12; ++quantum)
    EXPECT_EQ(stamp_in_region(quantum), 0) << quantum;
}

TEST_F(RescuedPageTest, SealedBetweenTheCopiesIsOpenAsOfTheFirst) {
  set_header(first_, header(kPageOpen));
  set_header(second_, header(6));
  for (std::uint64_t record = 0; record < 6; ++record) set_record(second_, record, kGeneration);
  set_record(first_, 0, kGeneration);
  put();
  EXPECT_EQ(header_in_region().record_count, kPageOpen);
  EXPECT_EQ(stamp_in_region(0), kGeneration);
  EXPECT_EQ(stamp_in_region(2), 0);
}

TEST_F(RescuedPageTest, SealedBeforeTheFirstCopyIsTheSecond) {
  set_header(first_, header(6));
  PageHeaderImage later = header(6);
  later.dropped_total = 77;
  set_header(second_, later);
  for (std::uint64_t record = 0; record < 6; ++record) set_record(second_, record, kGeneration);
  put();
  EXPECT_EQ(header_in_region().record_count, 6u);
  EXPECT_EQ(header_in_region().dropped_total, 77u);
  EXPECT_EQ(header_in_region().landed, kSequence);
  EXPECT_TRUE(payload_is(second_));
}

TEST_F(RescuedPageTest, OfTwoFillingsIsLeftEmpty) {
  set_header(first_, header(6));
  set_header(second_, header(6));
  put(kSequence, kSequence + 4);
  EXPECT_EQ(header_in_region().sequence, 0u) << "it was opened again under the copies";
  put(kSequence - 4, kSequence - 4);
  EXPECT_EQ(header_in_region().sequence, 0u) << "the first copy is of another filling";
  put(0, 0);
  EXPECT_EQ(header_in_region().sequence, 0u) << "nobody has filled it yet";
}

}  // namespace
}  // namespace tidemark
