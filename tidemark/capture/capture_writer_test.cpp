// SPDX-License-Identifier: Apache-2.0
// What is appended is read back byte by byte, by whoever appended it, and nothing is written over.
#include "tidemark/capture/capture_writer.h"

#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/capture/capture_reader.h"
#include "tidemark/capture/testing/sample_pages.h"

namespace tidemark {
namespace {

using samples::kRunId;
using samples::make_page;

std::vector<unsigned char> content(CaptureReader& reader, const IndexEntry& chunk) {
  const auto bytes = reader.read(chunk);
  EXPECT_TRUE(bytes) << (bytes ? "" : bytes.error().message);
  return bytes ? std::vector<unsigned char>(bytes->begin(), bytes->end())
               : std::vector<unsigned char>{};
}

std::string text(CaptureReader& reader, const IndexEntry& chunk) {
  const auto bytes = content(reader, chunk);
  return {bytes.begin(), bytes.end()};
}

class CaptureWriterTest : public ::testing::Test {
 protected:
  samples::TemporaryDirectory directory_;
  const std::string path_ = directory_.file("capture.tide");
};

TEST_F(CaptureWriterTest, EveryKindOfChunkIsReadBackAsItWasAppended) {
  std::vector<unsigned char> lanes(3 * sizeof(LaneRecord));
  for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] = static_cast<unsigned char>(i * 7);
  {
    auto writer = CaptureWriter::create(path_, kRunId).value();
    ASSERT_TRUE(writer->append_text(ChunkType::kDescription, "what ran"));
    ASSERT_TRUE(writer->append(make_page(0, 1, 5).delivery()));
    const auto page = make_page(1, 1, 31);
    auto recovered = page.delivery();
    recovered.recovered = true;
    ASSERT_TRUE(writer->append(recovered));
    ASSERT_TRUE(writer->append_text(ChunkType::kNames, ""));
    EXPECT_EQ(writer->page_bytes(), 2 * kPageHeaderBytes + 36 * TaskSpan::kBytes);
    ASSERT_TRUE(writer->append_closing_text(ChunkType::kClock, "when"));
    ASSERT_TRUE(writer->append_lanes(lanes, true));
    ASSERT_TRUE(writer->finish());
    EXPECT_EQ(writer->error(), "");
  }
  auto reader = CaptureReader::open(path_).value();
  ASSERT_TRUE(reader.used_index());
  EXPECT_EQ(reader.run_id(), kRunId);
  const auto& chunks = reader.chunks();
  ASSERT_EQ(chunks.size(), 8u);  // six, the index, the end mark
  EXPECT_EQ(text(reader, chunks[0]), "what ran");
  EXPECT_EQ(content(reader, chunks[1]), make_page(0, 1, 5).bytes());
  EXPECT_EQ(chunks[1].flags, 0);
  EXPECT_EQ(content(reader, chunks[2]), make_page(1, 1, 31).bytes());
  EXPECT_EQ(chunks[2].flags, kFlagRecovered);
  EXPECT_EQ(chunks[2].lane, 1u);
  EXPECT_EQ(chunks[2].sequence, 1u);
  EXPECT_EQ(text(reader, chunks[3]), "");
  EXPECT_EQ(text(reader, chunks[4]), "when");
  EXPECT_EQ(content(reader, chunks[5]), lanes);
  EXPECT_EQ(chunks[5].flags, kFlagRecovered);
  EXPECT_EQ(chunks[6].type, ChunkType::kIndex);
  EXPECT_EQ(chunks[7].type, ChunkType::kEnd);
  EXPECT_EQ(chunks[7].sequence, chunks[6].file_offset);
  EXPECT_EQ(std::filesystem::file_size(path_), chunks[7].file_offset + sizeof(ChunkHeader));
}

TEST_F(CaptureWriterTest, RefusesAFileThatExists) {
  samples::write_bytes(path_, {1, 2, 3});
  const auto writer = CaptureWriter::create(path_, kRunId);
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().kind, ErrorKind::kFile);
  EXPECT_NE(writer.error().message.find(path_), std::string::npos) << writer.error().message;
  EXPECT_EQ(samples::read_bytes(path_).size(), 3u);
}

TEST_F(CaptureWriterTest, AFileBelongsToOneWriterForItsLife) {
  {
    auto writer = CaptureWriter::create(path_, kRunId).value();
    ASSERT_TRUE(writer->append(make_page(0, 1, 3).delivery()));
    EXPECT_TRUE(is_being_written(path_));
    const auto second = lock_capture(path_);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, ErrorKind::kUsage);
    EXPECT_TRUE(CaptureReader::open(path_, CaptureReader::Open::kLive)) << "reading needs no lock";
  }
  EXPECT_FALSE(is_being_written(path_));
  EXPECT_TRUE(lock_capture(path_));
}

TEST_F(CaptureWriterTest, FilesArePrivateUnlessSaidOtherwise) {
  const mode_t old_mask = ::umask(0);
  ASSERT_TRUE(CaptureWriter::create(path_, kRunId));
  ::umask(old_mask);
  struct stat info {};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(CaptureWriterTest, ThreadsAppendAtOnceAndEveryPageIsWhole) {
  constexpr std::uint32_t kThreads = 4;
  constexpr std::uint64_t kPages = 300;
  {
    auto writer = CaptureWriter::create(path_, kRunId).value();
    std::vector<std::thread> threads;
    std::atomic<std::uint32_t> refused{0};
    for (std::uint32_t lane = 0; lane < kThreads; ++lane)
      threads.emplace_back([&, lane] {
        for (std::uint64_t sequence = 1; sequence <= kPages; ++sequence)
          refused +=
              !writer->append(make_page(lane, sequence, 1 + (sequence + lane) % 40).delivery());
      });
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(writer->append_text(ChunkType::kNames, "{}"));
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(refused.load(), 0u);
    ASSERT_TRUE(writer->finish());
  }
  for (const auto how : {CaptureReader::Open::kIndexed, CaptureReader::Open::kScan}) {
    auto reader = CaptureReader::open(path_, how).value();
    EXPECT_EQ(reader.used_index(), how == CaptureReader::Open::kIndexed);
    EXPECT_TRUE(reader.damage().empty());
    EXPECT_TRUE(reader.unfinished().empty());
    std::map<std::uint32_t, std::uint64_t> last;
    for (const auto& chunk : reader.chunks()) {
      if (chunk.type != ChunkType::kPage) continue;
      ASSERT_EQ(chunk.sequence, ++last[chunk.lane]) << "a lane's pages are in order";
      const auto page =
          make_page(chunk.lane, chunk.sequence, 1 + (chunk.sequence + chunk.lane) % 40);
      ASSERT_EQ(content(reader, chunk), page.bytes());
    }
    for (std::uint32_t lane = 0; lane < kThreads; ++lane) EXPECT_EQ(last[lane], kPages);
  }
}

TEST_F(CaptureWriterTest, AppendsBehindEverythingThatStands) {
  samples::write_page_capture(path_, 3, 20);
  const auto before = samples::read_bytes(path_);
  auto known = CaptureReader::open(path_, CaptureReader::Open::kScan)->chunks();
  const std::size_t known_count = known.size();
  auto writer =
      CaptureWriter::append_to(lock_capture(path_).value(), path_, kRunId, std::move(known))
          .value();
  ASSERT_TRUE(writer->append(make_page(0, 4, 20).delivery()));
  ASSERT_TRUE(writer->finish());
  auto after = samples::read_bytes(path_);
  ASSERT_GT(after.size(), before.size());
  after.resize(before.size());
  EXPECT_EQ(after, before);
  auto indexed = CaptureReader::open(path_).value();
  ASSERT_TRUE(indexed.used_index());
  EXPECT_EQ(indexed.chunks().size(), known_count + 3);
  EXPECT_EQ(content(indexed, indexed.chunks()[known_count]), make_page(0, 4, 20).bytes());
}

// A page may end in zeros, and the zeros of an allocated tail follow: the end of the last chunk is
// known only from its header.
TEST_F(CaptureWriterTest, DoesNotWriteOverTheZerosAtTheEndOfAChunk) {
  auto page = make_page(0, 1, 30);
  std::fill(page.payload.begin() + 100, page.payload.end(), 0);
  {
    auto writer = CaptureWriter::create(path_, kRunId).value();
    ASSERT_TRUE(writer->append(page.delivery()));
    // No finish: the host was killed, the allocated tail stays.
  }
  ASSERT_GT(std::filesystem::file_size(path_), 100'000u);
  auto known = CaptureReader::open(path_, CaptureReader::Open::kScan)->chunks();
  ASSERT_EQ(known.size(), 1u);
  auto writer =
      CaptureWriter::append_to(lock_capture(path_).value(), path_, kRunId, std::move(known))
          .value();
  ASSERT_TRUE(writer->append(make_page(0, 2, 3).delivery()));
  ASSERT_TRUE(writer->finish());
  auto reader = CaptureReader::open(path_, CaptureReader::Open::kScan).value();
  ASSERT_EQ(reader.chunks().size(), 4u);
  EXPECT_EQ(content(reader, reader.chunks()[0]), page.bytes());
  EXPECT_EQ(content(reader, reader.chunks()[1]), make_page(0, 2, 3).bytes());
  EXPECT_TRUE(reader.damage().empty());
}

TEST_F(CaptureWriterTest, WhatIsAppendedBehindACutOffChunkIsFoundByAScan) {
  samples::write_page_capture(path_, 2, 30);
  auto bytes = samples::read_bytes(path_);
  const auto whole = CaptureReader::open(path_)->chunks();
  for (const std::uint64_t kept : {64ull, 72ull, 200ull, 500ull}) {
    bytes.resize(whole[3].file_offset + kept);
    samples::write_bytes(path_, bytes);
    auto known = CaptureReader::open(path_, CaptureReader::Open::kScan)->chunks();
    ASSERT_EQ(known.size(), 3u) << kept;
    auto writer =
        CaptureWriter::append_to(lock_capture(path_).value(), path_, kRunId, std::move(known))
            .value();
    for (std::uint64_t sequence = 2; sequence < 8; ++sequence)
      ASSERT_TRUE(writer->append(make_page(0, sequence, 1).delivery()));
    ASSERT_TRUE(writer->finish());
    auto scanned = CaptureReader::open(path_, CaptureReader::Open::kScan).value();
    ASSERT_EQ(scanned.chunks().size(), 3u + 6 + 2) << kept;
    for (std::size_t i = 0; i < 6; ++i)
      EXPECT_EQ(content(scanned, scanned.chunks()[3 + i]), make_page(0, i + 2, 1).bytes());
    EXPECT_FALSE(scanned.damage().empty());
  }
}

}  // namespace
}  // namespace tidemark
