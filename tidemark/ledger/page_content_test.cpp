// SPDX-License-Identifier: Apache-2.0
// The reading of a page: records are whole, torn or absent by their stamps; fragments count as far
// as they are committed; bytes of an earlier filling are neither.
#include "tidemark/ledger/page_content.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tidemark/record/recorder.h"
#include "tidemark/record/testing/stamped_spans.h"

namespace tidemark {
namespace {

constexpr std::uint32_t kGeneration = 300;

struct Page {
  PageHeaderImage header{};
  std::vector<unsigned char> payload = std::vector<unsigned char>(896, 0);

  explicit Page(std::uint32_t record_bytes) {
    header.sequence = 1;
    header.generation = kGeneration;
    header.record_bytes = record_bytes;
    header.first_number = 1000;
    header.record_count = kPageOpen;
    header.first_frame_offset = kNoFrame;
  }
  void put_span(std::uint64_t slot, std::uint64_t number, std::uint32_t generation = kGeneration) {
    store_record(payload.data() + slot * 32, span_of(number), std::uint64_t{generation} << 48);
  }
  void put_fragment(std::uint64_t at, const FragmentImage& image, unsigned char fill) {
    std::memcpy(payload.data() + at, &image, sizeof(image));
    const std::uint64_t room = payload.size() - at - sizeof(image);
    std::memset(payload.data() + at + sizeof(image), fill,
                std::min<std::uint64_t>(decode_commit(image.commit).length, room));
  }
  PageCounts read(std::vector<std::uint64_t>& numbers) const {
    return for_each_record(header, payload, [&](std::uint64_t number, const unsigned char*) {
      numbers.push_back(number);
    });
  }
};

TEST(PageContent, ARecordIsWholeOnlyIfEveryQuantumCarriesTheGeneration) {
  unsigned char record[48] = {};
  const auto stamp = [&](int quantum, Stamp value) {
    std::memcpy(record + quantum * 16 + kStampOffset, &value, sizeof(value));
  };
  EXPECT_EQ(judge_record(record, 48, kGeneration), RecordState::kAbsent);
  for (int stamped = 1; stamped < 8; ++stamped) {
    for (int quantum = 0; quantum < 3; ++quantum)
      stamp(quantum, (stamped >> quantum & 1) != 0 ? kGeneration : kGeneration - 1);
    EXPECT_EQ(judge_record(record, 48, kGeneration),
              stamped == 7 ? RecordState::kWhole : RecordState::kTorn);
  }
}

TEST(PageContent, AnOpenPageIsJudgedRecordByRecordNotAsAPrefix) {
  Page page(32);
  page.put_span(0, 1000);
  page.put_span(1, 1001);
  page.put_span(3, 1003);
  page.put_span(4, 1004);
  page.payload[4 * 32 + kStampOffset] ^= 1;  // its first quantum is not there yet
  page.put_span(5, 1005, kGeneration - 1);   // of the filling before
  std::vector<std::uint64_t> numbers;
  const PageCounts counts = page.read(numbers);
  EXPECT_EQ(numbers, (std::vector<std::uint64_t>{1000, 1001, 1003}));
  EXPECT_EQ(counts.whole, 3u);
  EXPECT_EQ(counts.torn, 1u);
  EXPECT_EQ(counts.used_bytes, 5 * 32u) << "up to the last trace";
}

TEST(PageContent, ASealedPageIsBelievedAsFarAsItsStampsConfirmIt) {
  Page page(32);
  for (std::uint64_t slot = 0; slot < 6; ++slot) page.put_span(slot, 1000 + slot);
  page.header.record_count = 5;
  page.header.used_bytes = 5 * 32;
  std::vector<std::uint64_t> numbers;
  EXPECT_EQ(page.read(numbers).whole, 5u) << "what is after the seal does not exist";
  page.put_span(2, 1002, kGeneration - 1);
  numbers.clear();
  const PageCounts counts = page.read(numbers);
  EXPECT_EQ(counts.whole, 4u);
  EXPECT_EQ(counts.torn, 1u) << "absent in a sealed page is a loss with a name";
}

TEST(PageContent, AShortPayloadEndsTheReading) {
  Page page(32);
  for (std::uint64_t slot = 0; slot < 6; ++slot) page.put_span(slot, 1000 + slot);
  page.header.record_count = 6;
  page.header.used_bytes = 6 * 32;
  page.payload.resize(3 * 32 + 10);
  std::vector<std::uint64_t> numbers;
  EXPECT_EQ(page.read(numbers).whole, 3u);
}

FragmentImage fragment(std::uint64_t number, std::uint64_t total, std::uint64_t offset,
                       std::uint32_t length, std::uint32_t generation = kGeneration) {
  return {.frame_number = number,
          .total_bytes = total,
          .offset = offset,
          .commit = encode_commit({.length = length,
                                   .first = offset == 0,
                                   .last = offset + length == total,
                                   .generation = generation})};
}

TEST(PageContent, FragmentsCountAsFarAsTheyAreCommitted) {
  Page page(0);
  page.put_fragment(0, fragment(1000, 500, 484, 16), 1);  // the rest of a frame
  page.put_fragment(48, fragment(1001, 20, 0, 20), 2);
  page.put_fragment(48 + 64, fragment(1002, 9000, 0, 100), 3);  // goes on elsewhere
  std::vector<Fragment> read;
  const PageCounts open = for_each_fragment(page.header, page.payload,
                                            [&](const Fragment& part) { read.push_back(part); });
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(open.whole, 2u);
  EXPECT_EQ(open.torn, 1u) << "a frame was under way";
  EXPECT_EQ(open.used_bytes, 48 + 64 + fragment_span(100));
  EXPECT_TRUE(!read[0].first && read[0].last && read[0].offset == 484);
  EXPECT_TRUE(read[1].first && read[1].last && read[1].bytes.size() == 20);
  EXPECT_EQ(read[1].bytes[19], 2);
  EXPECT_TRUE(read[2].first && !read[2].last && read[2].frame_number == 1002);
  page.header.record_count = 2;
  page.header.used_bytes = static_cast<std::uint32_t>(open.used_bytes);
  EXPECT_EQ(count_page(page.header, page.payload).torn, 0u) << "sealed: it goes on in the next";
  page.header.record_count = 3;
  EXPECT_EQ(count_page(page.header, page.payload).torn, 1u) << "the seal promises one more";
}

TEST(PageContent, AFragmentThatContradictsItselfEndsTheReading) {
  const FragmentImage good = fragment(1000, 100, 0, 100);
  const auto whole_after = [&](auto change) {
    Page page(0);
    FragmentImage image = good;
    change(image);
    page.put_fragment(0, good, 1);
    std::memcpy(page.payload.data(), &image, sizeof(image));
    return count_page(page.header, page.payload).whole;
  };
  EXPECT_EQ(whole_after([](auto&) {}), 1u);
  EXPECT_EQ(whole_after([](auto& f) { f = fragment(1000, 100, 0, 100, kGeneration - 1); }), 0u);
  EXPECT_EQ(whole_after([](auto& f) { f = fragment(1001, 100, 0, 100); }), 0u) << "number";
  EXPECT_EQ(whole_after([](auto& f) { f = fragment(1000, 4000, 0, 4000); }), 0u) << "too long";
  EXPECT_EQ(whole_after([](auto& f) { f.total_bytes = 99; }), 0u) << "longer than its frame";
  EXPECT_EQ(whole_after([](auto& f) { f.total_bytes = 101; }), 0u) << "last, but not the end";
  EXPECT_EQ(whole_after([](auto& f) { f.offset = ~std::uint64_t{0}; }), 0u);
  EXPECT_EQ(whole_after([](auto& f) { f.commit |= std::uint64_t{0xFFFFFFFF}; }), 0u);
}

TEST(PageContent, RandomBytesNeitherCrashNorRunForever) {
  std::mt19937_64 random(71);
  for (int i = 0; i < 20'000; ++i) {
    Page page(i % 2 == 0 ? 0 : 32 * (1 + random() % 3));
    for (auto& byte : page.payload) byte = static_cast<unsigned char>(random());
    if (i % 3 == 0) page.put_fragment(0, fragment(1000, random(), 0, random() % 2000), 9);
    page.header.record_count = i % 5 == 0 ? kPageOpen : random() % 30;
    page.header.used_bytes = random() % 1000;
    std::uint64_t seen = 0;
    if (page.header.record_bytes == 0)
      for_each_fragment(page.header, page.payload, [&](const Fragment& part) {
        ASSERT_LE(part.bytes.data() + part.bytes.size(), page.payload.data() + page.payload.size());
        ++seen;
      });
    const PageCounts counts = count_page(page.header, page.payload);
    ASSERT_LE(counts.used_bytes, page.payload.size());
    ASSERT_LE(seen, page.payload.size() / kFragmentHeaderBytes);
  }
}

}  // namespace
}  // namespace tidemark
