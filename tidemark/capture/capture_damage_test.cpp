// SPDX-License-Identifier: Apache-2.0
// A capture cut anywhere, or with bits flipped anywhere: the reader never crashes, never returns
// content that was not written, and says what it could not read. TIDEMARK_FULL_SWEEP=1 cuts at
// every byte of the last 200 KB of a larger capture (tools/truncation_sweep).
#include <unistd.h>

#include <cstdlib>
#include <map>

#include <gtest/gtest.h>

#include "tidemark/base/testing/seed_range.h"
#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/capture/capture_ledger.h"
#include "tidemark/capture/testing/sample_pages.h"

namespace tidemark {
namespace {

using Open = CaptureReader::Open;

class CaptureDamageTest : public ::testing::Test {
 protected:
  void write(std::uint64_t pages, std::uint32_t spans_per_page) {
    samples::write_page_capture(path_, pages, spans_per_page);
    bytes_ = samples::read_bytes(path_);
    auto reader = CaptureReader::open(path_).value();
    for (const auto& chunk : reader.chunks()) written_[chunk.file_offset] = chunk;
  }

  // Every chunk the reader returns is one that was written, byte by byte. Returns how many can be
  // read. By an index a damaged chunk is listed; reading it is refused.
  std::uint64_t check_chunks(CaptureReader& reader) {
    std::uint64_t readable = 0;
    for (const auto& chunk : reader.chunks()) {
      const auto found = written_.find(chunk.file_offset);
      if (found == written_.end()) {
        ADD_FAILURE() << "a chunk at " << chunk.file_offset << " that was never written";
        continue;
      }
      EXPECT_EQ(std::memcmp(&found->second, &chunk, sizeof(chunk)), 0);
      const auto content = reader.read(chunk);
      readable += content.has_value();
      if (!content) continue;
      EXPECT_EQ(content->size(), chunk.payload_bytes);
      EXPECT_TRUE(std::equal(
          content->begin(), content->end(),
          bytes_.begin() + static_cast<std::ptrdiff_t>(chunk.file_offset) + sizeof(ChunkHeader)));
    }
    return readable;
  }

  // The chunks that end within the first `size` bytes; padding does not count.
  [[nodiscard]] std::uint64_t whole_below(std::uint64_t size) const {
    std::uint64_t count = 0;
    for (const auto& [offset, chunk] : written_)
      count += offset + sizeof(ChunkHeader) + chunk.payload_bytes <= size;
    return count;
  }

  void check_cut(std::uint64_t size) {
    ASSERT_EQ(::truncate(path_.c_str(), static_cast<off_t>(size)), 0);
    const std::uint64_t whole = whole_below(size);
    for (const auto how : {Open::kScan, Open::kIndexed}) {
      auto reader = CaptureReader::open(path_, how);
      if (!reader) {
        EXPECT_EQ(whole, 0u) << size;
        continue;
      }
      ASSERT_EQ(check_chunks(*reader), whole) << "cut at " << size;
      // Shorter at a chunk's end, or the damage is named.
      std::uint64_t reached = 0;
      for (const auto& chunk : reader->chunks())
        reached = chunk.file_offset + chunk_span(chunk.payload_bytes);
      if (reached < size) {
        ASSERT_FALSE(reader->damage().empty()) << "cut at " << size;
        EXPECT_EQ(reader->damage().front().offset, reached) << "cut at " << size;
      } else {
        EXPECT_TRUE(reader->damage().empty()) << "cut at " << size;
      }
    }
  }

  samples::TemporaryDirectory directory_{"/dev/shm"};
  const std::string path_ = directory_.file("capture.tide");
  std::vector<unsigned char> bytes_;
  std::map<std::uint64_t, IndexEntry> written_;
};

TEST_F(CaptureDamageTest, CutAtEveryByteOfASmallCapture) {
  write(2, 12);
  for (std::uint64_t size = bytes_.size(); size-- > 0;) check_cut(size);
}

TEST_F(CaptureDamageTest, CutAnywhereInTheLast200Kilobytes) {
  write(40, 300);
  ASSERT_GT(bytes_.size(), 400'000u);
  const bool full = std::getenv("TIDEMARK_FULL_SWEEP") != nullptr;
  const std::uint64_t stride = full ? 1 : 388 / fewer_under_sanitizer(4);
  std::uint64_t cuts = 0;
  for (std::uint64_t cut = 1; cut <= 200'000 && !HasFatalFailure(); cut += stride, ++cuts)
    check_cut(bytes_.size() - cut);
  RecordProperty("cuts", static_cast<int>(cuts));
  if (full) std::printf("%lu cuts of a capture of %zu bytes\n", cuts, bytes_.size());
}

TEST_F(CaptureDamageTest, AFlippedBitIsNeverReturnedAsContent) {
  write(3, 20);
  const auto sound = bytes_;
  std::uint64_t state = 2024;
  const auto next = [&] { return mix(state += 0x9E3779B97F4A7C15ull); };
  for (int round = 0; round < 4000 && !HasFatalFailure(); ++round) {
    auto damaged = sound;
    const std::uint64_t flips = 1 + next() % 3;
    std::uint64_t touched_chunks = 0;
    std::map<std::uint64_t, bool> touched;
    for (std::uint64_t i = 0; i < flips; ++i) {
      const std::uint64_t bit = next() % (sound.size() * 8);
      damaged[bit / 8] = static_cast<unsigned char>(damaged[bit / 8] ^ 1u << (bit % 8));
      for (const auto& [offset, chunk] : written_)
        if (bit / 8 >= offset && bit / 8 < offset + sizeof(ChunkHeader) + chunk.payload_bytes)
          touched[offset] = true;
    }
    touched_chunks = touched.size();
    samples::write_bytes(path_, damaged);
    for (const auto how : {Open::kScan, Open::kIndexed}) {
      auto reader = CaptureReader::open(path_, how);
      ASSERT_TRUE(reader) << reader.error().message;
      const std::uint64_t readable = check_chunks(*reader);
      EXPECT_GE(readable, written_.size() - touched_chunks) << "round " << round;
      if (how == Open::kScan && damaged != sound && readable < written_.size()) {
        EXPECT_FALSE(reader->damage().empty()) << "round " << round;
      }
    }
  }
}

// Whole blocks of noise, zeros, or bytes of elsewhere, as a broken disk leaves them.
TEST_F(CaptureDamageTest, OverwrittenBlocksCostOnlyTheChunksTheyTouch) {
  write(6, 40);
  const auto sound = bytes_;
  std::uint64_t state = 77;
  const auto next = [&] { return mix(state += 0x9E3779B97F4A7C15ull); };
  for (int round = 0; round < 500 && !HasFatalFailure(); ++round) {
    auto damaged = sound;
    const std::uint64_t size = 1 + next() % 5000, from = next() % (sound.size() - size);
    const std::uint64_t kind = next() % 3, other = next() % (sound.size() - size);
    for (std::uint64_t i = from; i < from + size; ++i)
      damaged[i] = kind == 0   ? static_cast<unsigned char>(next())
                   : kind == 1 ? 0
                               : sound[other + i - from];
    std::uint64_t touched = 0;
    for (const auto& [offset, chunk] : written_)
      touched += offset < from + size && from < offset + sizeof(ChunkHeader) + chunk.payload_bytes;
    samples::write_bytes(path_, damaged);
    for (const auto how : {Open::kScan, Open::kIndexed}) {
      auto reader = CaptureReader::open(path_, how);
      ASSERT_TRUE(reader) << reader.error().message;
      EXPECT_GE(check_chunks(*reader), written_.size() - touched) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace tidemark
