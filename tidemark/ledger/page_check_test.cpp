// SPDX-License-Identifier: Apache-2.0
// A header is believed only if every number in it can be; each kind of nonsense has its name.
#include "tidemark/ledger/page_check.h"

#include <random>
#include <set>

#include <gtest/gtest.h>

#include "tidemark/schema/stream_id.h"

namespace tidemark {
namespace {

constexpr PageExpectation kExpected{.run_id = 99, .lane_count = 4, .payload_bytes = 896};

PageHeaderImage good_header(std::uint32_t record_bytes = 32) {
  PageHeaderImage header{};
  header.sequence = 1;
  header.run_id = 99;
  header.lane = 3;
  header.epoch = 1;
  header.generation = 1;
  header.record_bytes = record_bytes;
  header.first_number = 10;
  header.record_count = 2;
  header.used_bytes = 64;
  header.dropped_before = 10;
  header.first_frame_offset = kNoFrame;
  return header;
}

template <class Change>
PageFault fault_after(PageHeaderImage header, const Change& change) {
  change(header);
  return check_page(header, kExpected);
}

TEST(PageCheck, BelievesAGoodHeader) {
  EXPECT_EQ(check_page(good_header(), kExpected), PageFault::kNone);
  EXPECT_EQ(check_page(good_header(0), kExpected), PageFault::kNone);
}

TEST(PageCheck, NamesEveryFaultOfARecordPage) {
  const PageHeaderImage good = good_header();
  EXPECT_EQ(fault_after(good, [](auto& h) { h.sequence = 0; }), PageFault::kEmpty);
  EXPECT_EQ(fault_after(good, [](auto& h) { h.run_id = 98; }), PageFault::kForeignRun);
  EXPECT_EQ(fault_after(good, [](auto& h) { h.lane = 4; }), PageFault::kUnknownLane);
  EXPECT_EQ(fault_after(good, [](auto& h) { h.lane = ~0u; }), PageFault::kUnknownLane);
  EXPECT_EQ(fault_after(good, [](auto& h) { h.generation = 0; }), PageFault::kBadGeneration);
  EXPECT_EQ(fault_after(good, [](auto& h) { h.generation = 65536; }), PageFault::kBadGeneration);
  EXPECT_EQ(fault_after(good, [](auto& h) { h.used_bytes = 897; }), PageFault::kBadCount);
  EXPECT_EQ(fault_after(good, [](auto& h) { h.used_bytes = ~0u; }), PageFault::kBadCount);
  EXPECT_EQ(fault_after(good, [](auto& h) { h.used_bytes = 65; }), PageFault::kBadCount);
  EXPECT_EQ(fault_after(good, [](auto& h) { h.record_count = 3; }), PageFault::kBadCount);
  EXPECT_EQ(fault_after(good, [](auto& h) { h.record_count = kPageOpen - 1; }),
            PageFault::kBadCount);
  EXPECT_EQ(fault_after(good, [](auto& h) { h.dropped_before = 11; }), PageFault::kBadCount);
  EXPECT_EQ(fault_after(good, [](auto& h) { h.gap_reason = kDropReasonCount; }),
            PageFault::kBadCount);
  EXPECT_EQ(fault_after(good, [](auto& h) { h.first_frame_offset = 0; }),
            PageFault::kBadFrameOffset)
      << "no frame begins in a page of records";
}

TEST(PageCheck, NamesEveryFaultOfAFramedPage) {
  const PageHeaderImage good = good_header(0);
  EXPECT_EQ(fault_after(good, [](auto& h) { h.first_frame_offset = 880; }), PageFault::kNone);
  EXPECT_EQ(fault_after(good, [](auto& h) { h.first_frame_offset = 8; }),
            PageFault::kBadFrameOffset);
  EXPECT_EQ(fault_after(good, [](auto& h) { h.first_frame_offset = 896; }),
            PageFault::kBadFrameOffset);
  EXPECT_EQ(fault_after(good, [](auto& h) { h.record_count = 3; }), PageFault::kBadCount)
      << "more frames than fragment headers have room";
  EXPECT_EQ(fault_after(good, [](auto& h) { h.used_bytes = 72; }), PageFault::kBadCount)
      << "fragments begin on quanta";
}

TEST(PageCheck, AnOpenPageIsNotHeldToItsCounts) {
  EXPECT_EQ(fault_after(good_header(),
                        [](auto& h) {
                          h.record_count = kPageOpen;
                          h.used_bytes = 65;
                        }),
            PageFault::kNone);
  EXPECT_EQ(fault_after(good_header(),
                        [](auto& h) {
                          h.record_count = kPageOpen;
                          h.used_bytes = 897;
                        }),
            PageFault::kBadCount);
}

TEST(PageCheck, APageOfAnotherRecordSizeIsNotOfTheLane) {
  LanePlan lane{};
  lane.record_bytes = 32;
  EXPECT_EQ(check_page_of_lane(good_header(32), lane), PageFault::kNone);
  EXPECT_EQ(check_page_of_lane(good_header(64), lane), PageFault::kWrongRecordSize);
  EXPECT_EQ(check_page_of_lane(good_header(0), lane), PageFault::kWrongRecordSize);
}

TEST(PageCheck, RandomBytesAreNeverBelieved) {
  std::mt19937_64 random(61);
  for (int i = 0; i < 100'000; ++i) {
    PageHeaderImage header;
    for (std::size_t word = 0; word < sizeof(header) / 8; ++word)
      reinterpret_cast<std::uint64_t*>(&header)[word] = random();
    ASSERT_NE(check_page(header, kExpected), PageFault::kNone);
  }
}

TEST(PageCheck, EveryFaultHasItsOwnText) {
  std::set<std::string_view> texts;
  for (std::size_t i = 0; i < kPageFaultCount; ++i)
    EXPECT_TRUE(texts.insert(to_text(static_cast<PageFault>(i))).second);
  EXPECT_FALSE(texts.contains("unknown"));
}

TEST(FaultCounts, CountsByNameAndLeavesNoneOutOfTheTotal) {
  FaultCounts first, second;
  first.add(PageFault::kNone);
  first.add(PageFault::kBadCount);
  second.add(PageFault::kBadCount);
  second.add(PageFault::kChanging);
  first.add(second);
  EXPECT_EQ(first.of(PageFault::kBadCount), 2u);
  EXPECT_EQ(first.of(PageFault::kChanging), 1u);
  EXPECT_EQ(first.total(), 3u) << "a page without a fault is none";
}

}  // namespace
}  // namespace tidemark
