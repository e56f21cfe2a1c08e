// SPDX-License-Identifier: Apache-2.0
// Frames: the bytes that come out of the fragments are the bytes that went in, whatever the sizes;
// a frame that gets no page is abandoned whole and counted once.
#include "tidemark/record/frame_writer.h"

#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "tidemark/record/testing/manual_env.h"
#include "tidemark/record/testing/region_in_memory.h"

namespace tidemark {
namespace {

using Frames = FrameWriter<ManualEnv>;
constexpr std::uint64_t kPayload = 1024 - kPageHeaderBytes;
constexpr std::uint64_t kFillsAPage = kPayload - kFragmentHeaderBytes;

std::string bytes_of(std::uint64_t number, std::uint64_t size) {
  std::mt19937_64 random(number + 1);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

class FrameWriterTest : public testing::Test {
 protected:
  FrameWriterTest()
      : region_({.lanes = {RegionInMemory::lane_of(StreamId::kDump, Overflow::kDrop, 0)},
                 .page_count = 64,
                 .ring_slots = 64}) {
    ManualEnv::reset();
  }
  void hand_pages(PageIndex first, PageIndex count) {
    for (PageIndex page = first; page < first + count; ++page) region_.hand(0, page);
  }

  // Whole frames by number, from the published pages. Fragments must follow each other.
  std::map<std::uint64_t, std::string> take_frames() {
    std::map<std::uint64_t, std::string> whole, under_way;
    while (const auto page = region_.take(0)) {
      std::uint64_t ended = 0, first_begin = kNoFrame;
      for (std::uint64_t at = 0; at < page->header.used_bytes;) {
        FragmentImage image;
        std::memcpy(&image, page->payload.data() + at, sizeof(image));
        const FragmentCommit commit = decode_commit(image.commit);
        EXPECT_EQ(commit.generation, page->header.generation);
        EXPECT_EQ(image.frame_number, page->header.first_number + ended);
        EXPECT_EQ(commit.first, image.offset == 0);
        if (commit.first && first_begin == kNoFrame) first_begin = at;
        std::string& bytes = under_way[image.frame_number];
        EXPECT_EQ(bytes.size(), image.offset);
        bytes.append(
            reinterpret_cast<const char*>(page->payload.data()) + at + kFragmentHeaderBytes,
            commit.length);
        EXPECT_EQ(commit.last, bytes.size() == image.total_bytes);
        if (commit.last) {
          whole[image.frame_number] = bytes;
          ++ended;
        }
        at += fragment_span(commit.length);
      }
      EXPECT_EQ(page->header.record_count, ended);
      EXPECT_EQ(page->header.first_frame_offset, first_begin);
    }
    return whole;
  }

  RegionInMemory region_;
};

TEST_F(FrameWriterTest, FramesOfEverySizeComeBackByteForByte) {
  std::map<std::uint64_t, std::string> written;
  hand_pages(0, 64);
  Frames frames(&region_.view(), 0);
  std::uint64_t number = 0;
  for (const std::uint64_t size :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{8}, std::uint64_t{15},
        std::uint64_t{16}, std::uint64_t{17}, kFillsAPage - 1, kFillsAPage, kFillsAPage + 1,
        kFillsAPage * 2, kFillsAPage * 5 + 3, std::uint64_t{0}, std::uint64_t{100}}) {
    written[number] = bytes_of(number, size);
    EXPECT_TRUE(frames.write_frame(written[number].data(), size)) << size;
    ++number;
    EXPECT_EQ(frames.attempted(), number);
  }
  frames.close();
  EXPECT_EQ(take_frames(), written);
  EXPECT_EQ(region_.words(0).attempted.load_own(), number);
}

TEST_F(FrameWriterTest, AFrameThatFillsAPageExactlyUsesThatPageAlone) {
  hand_pages(0, 2);
  Frames frames(&region_.view(), 0);
  const std::string bytes = bytes_of(0, kFillsAPage);
  EXPECT_TRUE(frames.write_frame(bytes.data(), bytes.size()));
  frames.close();
  const auto page = region_.take(0);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->header.used_bytes, kPayload);
  EXPECT_EQ(page->header.record_count, 1u);
  EXPECT_FALSE(region_.take(0));
}

TEST_F(FrameWriterTest, AnEmptyFrameIsARecordToo) {
  hand_pages(0, 1);
  Frames frames(&region_.view(), 0);
  EXPECT_TRUE(frames.write_frame(static_cast<const void*>(nullptr), 0));
  EXPECT_TRUE(frames.write_frame(static_cast<const FramePiece*>(nullptr), 0));
  frames.close();
  EXPECT_EQ(take_frames(), (std::map<std::uint64_t, std::string>{{0, ""}, {1, ""}}));
}

TEST_F(FrameWriterTest, PiecesOfOddSizesAreOneFrame) {
  hand_pages(0, 64);
  Frames frames(&region_.view(), 0);
  std::mt19937_64 random(31);
  std::map<std::uint64_t, std::string> written;
  for (std::uint64_t number = 0; number < 40; ++number) {
    std::vector<std::string> parts(1 + random() % 9);
    std::vector<FramePiece> pieces;
    std::string whole;
    for (std::string& part : parts) {
      part = bytes_of(random(), random() % 3 == 0 ? random() % 4 : random() % 250);
      whole += part;
      pieces.push_back({part.data(), part.size()});
    }
    ASSERT_TRUE(frames.write_frame(pieces.data(), static_cast<std::uint32_t>(pieces.size())));
    written[number] = whole;
  }
  frames.close();
  EXPECT_EQ(take_frames(), written);
}

TEST_F(FrameWriterTest, AFrameThatGetsNoPageIsAbandonedWholeAndCountedOnce) {
  hand_pages(0, 2);
  Frames frames(&region_.view(), 0);
  const std::string small = bytes_of(0, 50), large = bytes_of(1, kFillsAPage * 6);
  EXPECT_TRUE(frames.write_frame(small.data(), small.size()));
  EXPECT_FALSE(frames.write_frame(large.data(), large.size())) << "two of its six pages came";
  EXPECT_EQ(region_.words(0).dropped_total.load_own(), 1u);
  EXPECT_EQ(region_.words(0).attempted.load_own(), 2u);
  hand_pages(2, 1);
  EXPECT_TRUE(frames.write_frame(small.data(), small.size()));
  frames.close();
  EXPECT_EQ(take_frames(), (std::map<std::uint64_t, std::string>{{0, small}, {2, small}}));
  const PageHeaderImage last = region_.look_at(2).header;
  EXPECT_EQ(last.first_number, 2u);
  EXPECT_EQ(last.dropped_before, 1u);
  EXPECT_EQ(last.first_frame_offset, 0u);
}

TEST_F(FrameWriterTest, APageInTheMiddleOfAFrameSaysThatNoFrameBeginsThere) {
  hand_pages(0, 3);
  Frames frames(&region_.view(), 0);
  const std::string bytes = bytes_of(0, kFillsAPage * 2 + 40);
  EXPECT_TRUE(frames.write_frame(bytes.data(), bytes.size()));
  EXPECT_TRUE(frames.write_frame(bytes.data(), 10));
  frames.close();
  EXPECT_EQ(region_.look_at(0).header.first_frame_offset, 0u);
  EXPECT_EQ(region_.look_at(1).header.first_frame_offset, kNoFrame);
  EXPECT_EQ(region_.look_at(1).header.record_count, 0u);
  EXPECT_EQ(region_.look_at(2).header.first_frame_offset, fragment_span(40));
  EXPECT_EQ(region_.look_at(2).header.record_count, 2u);
}

TEST_F(FrameWriterTest, ADisabledWriterRefusesFrames) {
  Frames frames;
  EXPECT_FALSE(frames.write_frame("bytes", 5));
}

}  // namespace
}  // namespace tidemark
