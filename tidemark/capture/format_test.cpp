// SPDX-License-Identifier: Apache-2.0
// FORMAT.md is true to the code: every offset it names, and the bytes of its example.
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>

#include "tidemark/capture/chunk.h"
#include "tidemark/capture/lane_record.h"
#include "tidemark/ledger/page_content.h"
#include "tidemark/schema/task_span.h"

namespace tidemark {
namespace {

struct NamedOffset {
  const char* field;
  std::size_t offset;
};

std::string format_text() {
  std::ifstream file(TIDEMARK_SOURCE_DIR "/tidemark/capture/FORMAT.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The part between two headings.
std::string section(const std::string& from, const std::string& to) {
  const std::string text = format_text();
  const auto begin = text.find(from);
  const auto end = text.find(to, begin);
  EXPECT_NE(begin, std::string::npos) << from;
  EXPECT_NE(end, std::string::npos) << to;
  return text.substr(begin, end - begin);
}

void expect_offsets(const std::string& part, const std::vector<NamedOffset>& fields) {
  for (const auto& [field, offset] : fields) {
    const std::string line = "\n| " + std::to_string(offset) + " | ";
    const std::string name = " | `" + std::string(field) + "` |";
    bool found = false;
    for (auto at = part.find(line); at != std::string::npos; at = part.find(line, at + 1))
      found |= part.substr(at, part.find('\n', at + 1) - at).find(name) != std::string::npos;
    EXPECT_TRUE(found) << "FORMAT.md does not have " << field << " at " << offset;
  }
}

#define AT(type, field) \
  { #field, offsetof(type, field) }

TEST(Format, ChunkHeaderStandsAsDescribed) {
  expect_offsets(section("### Chunk header", "### Chunk types"),
                 {AT(ChunkHeader, magic), AT(ChunkHeader, type), AT(ChunkHeader, version_major),
                  AT(ChunkHeader, flags), AT(ChunkHeader, run_id), AT(ChunkHeader, lane),
                  AT(ChunkHeader, epoch), AT(ChunkHeader, sequence), AT(ChunkHeader, payload_bytes),
                  AT(ChunkHeader, file_offset), AT(ChunkHeader, payload_checksum),
                  AT(ChunkHeader, header_checksum)});
}

TEST(Format, PageHeaderStandsAsDescribed) {
  using Page = PageHeaderImage;
  expect_offsets(
      section("### Page header", "### Records"),
      {AT(Page, sequence), AT(Page, run_id), AT(Page, lane), AT(Page, epoch), AT(Page, generation),
       AT(Page, record_bytes), AT(Page, first_number), AT(Page, record_count), AT(Page, used_bytes),
       AT(Page, gap_reason), AT(Page, open_ticks), AT(Page, close_ticks), AT(Page, dropped_before),
       AT(Page, gap_begin_ticks), AT(Page, gap_end_ticks), AT(Page, stall_ticks),
       AT(Page, first_frame_offset), AT(Page, dropped_total)});
}

TEST(Format, LaneRecordStandsAsDescribed) {
  std::vector<NamedOffset> fields = {AT(LanePlan, stream),
                                     AT(LanePlan, overflow),
                                     AT(LanePlan, record_bytes),
                                     AT(LanePlan, reserved_first_page),
                                     AT(LanePlan, reserved_page_count),
                                     AT(LanePlan, unit),
                                     AT(LanePlan, producer)};
  using Words = LaneWordsImage;
  for (const auto& [field, offset] : std::vector<NamedOffset>{
           AT(Words, state), AT(Words, epoch), AT(Words, attempted), AT(Words, opened_pages),
           AT(Words, acquired_count), AT(Words, tail_dropped), AT(Words, dropped_by),
           AT(Words, dropped_total), AT(Words, tail_gap_begin_ticks), AT(Words, tail_gap_end_ticks),
           AT(Words, stall_ticks), AT(Words, open_page_index), AT(Words, tail_gap_reason),
           AT(Words, waiting)})
    fields.push_back({field, offsetof(LaneRecord, words) + offset});
  fields.push_back(AT(LaneRecord, file_error_dropped));
  expect_offsets(section("## Lanes chunk", "## JSON chunks"), fields);
}

TEST(Format, IndexAndFragmentsStandAsDescribed) {
  expect_offsets(section("## Index", "## Scanning"),
                 {AT(IndexEntry, file_offset), AT(IndexEntry, payload_bytes),
                  AT(IndexEntry, payload_checksum), AT(IndexEntry, sequence), AT(IndexEntry, lane),
                  AT(IndexEntry, epoch), AT(IndexEntry, type), AT(IndexEntry, flags)});
  expect_offsets(section("### Fragments", "## Lanes chunk"),
                 {AT(FragmentImage, frame_number), AT(FragmentImage, total_bytes),
                  AT(FragmentImage, offset), AT(FragmentImage, commit)});
}

// The bytes of the example's lines "00000f40: 54494445 02000100 a98992a9 8de37041   …".
std::vector<unsigned char> example_bytes() {
  std::vector<unsigned char> bytes;
  std::stringstream lines(section("## An example", "The framed lane"));
  for (std::string line; std::getline(lines, line);) {
    if (line.size() < 45 || line[8] != ':') continue;
    for (std::size_t at = 10; at < 45; at += 9)
      for (std::size_t i = 0; i < 8; i += 2)
        bytes.push_back(
            static_cast<unsigned char>(std::stoul(line.substr(at + i, 2), nullptr, 16)));
  }
  return bytes;
}

TEST(Format, TheExampleIsAChunkWhoseChecksumsHold) {
  const auto bytes = example_bytes();
  ASSERT_EQ(bytes.size(), sizeof(ChunkHeader) + kPageHeaderBytes + 3 * TaskSpan::kBytes);
  ChunkHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  EXPECT_EQ(header.magic, kChunkMagic);
  EXPECT_EQ(header.type, ChunkType::kPage);
  EXPECT_EQ(header.version_major, kFormatMajor);
  EXPECT_EQ(header.file_offset, 0xF40u);
  EXPECT_EQ(header.file_offset + chunk_span(header.payload_bytes), 0x1080u);
  EXPECT_EQ(header.header_checksum, checksum_of_header(header));
  const std::span payload = std::span(bytes).subspan(sizeof(header));
  ASSERT_EQ(header.payload_bytes, payload.size());
  EXPECT_EQ(header.payload_checksum, checksum(payload.data(), payload.size()));
  PageHeaderImage page;
  std::memcpy(&page, payload.data(), sizeof(page));
  std::vector<TaskSpan> spans;
  for_each_record(page, payload.subspan(kPageHeaderBytes),
                  [&](std::uint64_t number, const unsigned char* record) {
                    EXPECT_EQ(number, spans.size());
                    std::uint64_t words[4];
                    std::memcpy(words, record, sizeof(words));
                    spans.push_back(TaskSpan::unpack(words, page.open_ticks));
                  });
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans[0].begin_ticks, page.open_ticks - 0x2F2);
  EXPECT_EQ(spans[0].end_ticks, spans[1].begin_ticks);
  EXPECT_EQ(spans[2].task_id, 2u);
  EXPECT_EQ(spans[2].kernel, 2u);
}

TEST(Format, TheChecksumOfNothingIsTheOneNamed) {
  EXPECT_EQ(checksum("", 0), 0x2D06800538D394C2ull);
}

}  // namespace
}  // namespace tidemark
