// SPDX-License-Identifier: Apache-2.0
// The reader finds the same chunks by index and by scan, passes over what a killed writer left, and
// refuses what it cannot understand.
#include "tidemark/capture/capture_reader.h"

#include <set>

#include <gtest/gtest.h>

#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/capture/testing/sample_pages.h"

namespace tidemark {
namespace {

using Open = CaptureReader::Open;
using samples::kRunId;
using samples::make_page;

std::vector<std::vector<unsigned char>> contents(CaptureReader& reader) {
  std::vector<std::vector<unsigned char>> all;
  for (const auto& chunk : reader.chunks()) {
    const auto bytes = reader.read(chunk);
    EXPECT_TRUE(bytes);
    if (bytes) all.emplace_back(bytes->begin(), bytes->end());
  }
  return all;
}

class CaptureReaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    samples::write_page_capture(path_, 4, 25);
    bytes_ = samples::read_bytes(path_);
    auto reader = CaptureReader::open(path_).value();
    ASSERT_TRUE(reader.used_index());
    chunks_ = reader.chunks();
    contents_ = contents(reader);
  }
  void rewrite() { samples::write_bytes(path_, bytes_); }
  unsigned char* at(std::size_t chunk) { return bytes_.data() + chunks_[chunk].file_offset; }
  void reseal(std::size_t chunk, ChunkHeader header) {
    header.header_checksum = checksum_of_header(header);
    std::memcpy(at(chunk), &header, sizeof(header));
  }
  ChunkHeader header(std::size_t chunk) {
    ChunkHeader header;
    std::memcpy(&header, at(chunk), sizeof(header));
    return header;
  }
  // The contents as written, less the chunks named.
  std::vector<std::vector<unsigned char>> without(std::set<std::size_t> lost) const {
    std::vector<std::vector<unsigned char>> rest;
    for (std::size_t i = 0; i < contents_.size(); ++i)
      if (!lost.contains(i)) rest.push_back(contents_[i]);
    return rest;
  }

  samples::TemporaryDirectory directory_;
  const std::string path_ = directory_.file("capture.tide");
  std::vector<unsigned char> bytes_;
  std::vector<IndexEntry> chunks_;
  std::vector<std::vector<unsigned char>> contents_;
};

TEST_F(CaptureReaderTest, IndexAndScanGiveTheSameChunks) {
  auto scanned = CaptureReader::open(path_, Open::kScan).value();
  EXPECT_FALSE(scanned.used_index());
  ASSERT_EQ(scanned.chunks().size(), chunks_.size());
  EXPECT_EQ(
      std::memcmp(scanned.chunks().data(), chunks_.data(), chunks_.size() * sizeof(IndexEntry)), 0);
  EXPECT_EQ(contents(scanned), contents_);
  EXPECT_TRUE(scanned.damage().empty());
  EXPECT_TRUE(scanned.unfinished().empty());
  EXPECT_EQ(scanned.run_id(), kRunId);
}

TEST_F(CaptureReaderTest, WithoutItsIndexACaptureIsScanned) {
  bytes_.resize(chunks_[chunks_.size() - 2].file_offset);
  rewrite();
  auto reader = CaptureReader::open(path_).value();
  EXPECT_FALSE(reader.used_index());
  EXPECT_EQ(contents(reader), without({chunks_.size() - 2, chunks_.size() - 1}));
  EXPECT_TRUE(reader.damage().empty()) << "the file is simply shorter";
}

TEST_F(CaptureReaderTest, AnIndexWithAFlippedBitIsNotUsed) {
  at(chunks_.size() - 2)[sizeof(ChunkHeader) + 50] ^= 4;
  rewrite();
  auto reader = CaptureReader::open(path_).value();
  EXPECT_FALSE(reader.used_index());
  EXPECT_EQ(contents(reader), without({chunks_.size() - 2}));
  EXPECT_EQ(reader.damage().size(), 1u);
}

TEST_F(CaptureReaderTest, AnIndexWhoseEntriesOverlapIsNotUsed) {
  const std::size_t index = chunks_.size() - 2;
  auto* entries = at(index) + sizeof(ChunkHeader);
  std::memcpy(entries + sizeof(IndexEntry), entries, sizeof(IndexEntry));
  ChunkHeader changed = header(index);
  changed.payload_checksum = checksum(entries, changed.payload_bytes);
  reseal(index, changed);
  rewrite();
  auto reader = CaptureReader::open(path_).value();
  EXPECT_FALSE(reader.used_index());
  EXPECT_EQ(reader.chunks().size(), chunks_.size());
}

TEST_F(CaptureReaderTest, AHoleIsPassedOver) {
  std::fill(at(3), at(5), 0);
  rewrite();
  auto reader = CaptureReader::open(path_, Open::kScan).value();
  EXPECT_EQ(contents(reader), without({3, 4}));
  EXPECT_TRUE(reader.damage().empty());
}

TEST_F(CaptureReaderTest, AChunkThatWasNeverSealedIsUnfinishedNotDamage) {
  std::fill(at(3), at(3) + sizeof(ChunkHeader), 0);
  rewrite();
  auto reader = CaptureReader::open(path_, Open::kScan).value();
  EXPECT_EQ(contents(reader), without({3}));
  EXPECT_TRUE(reader.damage().empty());
  ASSERT_EQ(reader.unfinished().size(), 1u);
  EXPECT_GE(reader.unfinished()[0].offset, chunks_[3].file_offset);
  EXPECT_LE(reader.unfinished()[0].offset + reader.unfinished()[0].bytes, chunks_[4].file_offset);
}

TEST_F(CaptureReaderTest, AHeaderWithoutItsFirstWordIsUnfinished) {
  std::fill(at(3), at(3) + 8, 0);  // killed between the two stores of a seal
  rewrite();
  auto reader = CaptureReader::open(path_, Open::kScan).value();
  EXPECT_EQ(contents(reader), without({3}));
  EXPECT_TRUE(reader.damage().empty());
  EXPECT_EQ(reader.unfinished().size(), 1u);
}

TEST_F(CaptureReaderTest, AZeroTailIsNothing) {
  bytes_.resize(bytes_.size() + 3'000'001, 0);
  rewrite();
  for (const auto how : {Open::kIndexed, Open::kScan}) {
    auto reader = CaptureReader::open(path_, how).value();
    EXPECT_EQ(contents(reader), contents_);
    EXPECT_TRUE(reader.damage().empty());
    EXPECT_TRUE(reader.unfinished().empty());
  }
}

TEST_F(CaptureReaderTest, AChunkOfAnotherRunIsDamage) {
  ChunkHeader foreign = header(4);
  foreign.run_id = kRunId + 1;
  reseal(4, foreign);
  rewrite();
  auto reader = CaptureReader::open(path_, Open::kScan).value();
  EXPECT_EQ(contents(reader), without({4}));
  ASSERT_FALSE(reader.damage().empty());
  EXPECT_EQ(reader.damage()[0].offset, chunks_[4].file_offset);
  EXPECT_EQ(reader.damage()[0].what, "chunk of another run");
}

TEST_F(CaptureReaderTest, AChunkCopiedToAnotherPlaceIsNotOne) {
  const auto size = chunks_[4].file_offset - chunks_[3].file_offset;
  std::memcpy(at(4), at(3), size);
  rewrite();
  auto reader = CaptureReader::open(path_, Open::kScan).value();
  EXPECT_EQ(contents(reader), without({4}));
  EXPECT_FALSE(reader.damage().empty());
}

TEST_F(CaptureReaderTest, DamagedPayloadCostsOneChunkAndIsNamed) {
  at(3)[sizeof(ChunkHeader) + 300] ^= 1;
  rewrite();
  auto scanned = CaptureReader::open(path_, Open::kScan).value();
  EXPECT_EQ(contents(scanned), without({3}));
  ASSERT_EQ(scanned.damage().size(), 1u);
  EXPECT_EQ(scanned.damage()[0].offset, chunks_[3].file_offset);
  EXPECT_EQ(scanned.damage()[0].what, "payload of lane 0 page 2 damaged");
  // By index it is found when it is read.
  auto indexed = CaptureReader::open(path_).value();
  ASSERT_TRUE(indexed.used_index());
  const auto read = indexed.read(indexed.chunks()[3]);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::kDamage);
  EXPECT_TRUE(indexed.read(indexed.chunks()[4]));
}

TEST_F(CaptureReaderTest, RefusesANewerFormatAndNamesBoth) {
  for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
    ChunkHeader newer = header(chunk);
    newer.version_major = kFormatMajor + 6;
    reseal(chunk, newer);
  }
  rewrite();
  for (const auto how : {Open::kIndexed, Open::kScan}) {
    const auto reader = CaptureReader::open(path_, how);
    ASSERT_FALSE(reader);
    EXPECT_EQ(reader.error().kind, ErrorKind::kUsage);
    EXPECT_EQ(reader.error().message,
              path_ + " is a capture of format 7; this tidemark reads up to format 1");
  }
}

TEST_F(CaptureReaderTest, ANewerFormatWithAnotherChecksumIsRefusedToo) {
  for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) at(chunk)[6] = kFormatMajor + 1;
  rewrite();
  const auto reader = CaptureReader::open(path_);
  ASSERT_FALSE(reader);
  EXPECT_NE(reader.error().message.find("format 2"), std::string::npos) << reader.error().message;
}

TEST_F(CaptureReaderTest, AFlippedVersionBitCostsOneChunkOnly) {
  at(0)[6] ^= 0x10;
  rewrite();
  for (const auto how : {Open::kIndexed, Open::kScan}) {
    auto reader = CaptureReader::open(path_, how);
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_GE(reader->chunks().size(), chunks_.size() - 1);
  }
}

TEST_F(CaptureReaderTest, WhatIsNoCaptureIsRefusedWithItsName) {
  for (const auto& content : {std::vector<unsigned char>{}, std::vector<unsigned char>(100, 7),
                              std::vector<unsigned char>(100'000, 0)}) {
    samples::write_bytes(path_, content);
    const auto reader = CaptureReader::open(path_);
    ASSERT_FALSE(reader);
    EXPECT_EQ(reader.error().kind, ErrorKind::kDamage);
    EXPECT_NE(reader.error().message.find(path_), std::string::npos);
  }
  EXPECT_EQ(CaptureReader::open(directory_.path()).error().kind, ErrorKind::kUsage);
  EXPECT_EQ(CaptureReader::open(directory_.file("none")).error().kind, ErrorKind::kFile);
}

}  // namespace
}  // namespace tidemark
