// SPDX-License-Identifier: Apache-2.0
// An index is used only if every byte of it is as it was written: whatever is wrong with it, the
// capture is scanned, and the scan finds the same pages.
#include <cstring>

#include <gtest/gtest.h>

#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/capture/capture_reader.h"
#include "tidemark/capture/testing/sample_pages.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kPages = 3;

class IndexDamage : public testing::Test {
 protected:
  IndexDamage() {
    samples::write_page_capture(path_, kPages, 25);
    bytes_ = samples::read_bytes(path_);
    auto reader = CaptureReader::open(path_).value();
    EXPECT_TRUE(reader.used_index());
    index_ = reader.chunks()[reader.chunks().size() - 2];
  }
  // The pages that are found, and whether by the index.
  std::pair<std::uint64_t, bool> look() {
    samples::write_bytes(path_, bytes_);
    auto reader = CaptureReader::open(path_).value();
    std::uint64_t pages = 0;
    for (const auto& chunk : reader.chunks())
      if (chunk.type == ChunkType::kPage) {
        ++pages;
        EXPECT_TRUE(reader.read(chunk));
      }
    return {pages, reader.used_index()};
  }

  samples::TemporaryDirectory directory_;
  const std::string path_ = directory_.file("capture.tide");
  std::vector<unsigned char> bytes_;
  IndexEntry index_{};
};

TEST_F(IndexDamage, NoByteOfItMayDiffer) {
  ASSERT_EQ(index_.type, ChunkType::kIndex);
  const std::uint64_t begin = index_.file_offset + sizeof(ChunkHeader);
  ASSERT_GT(index_.payload_bytes, 4 * sizeof(IndexEntry));
  for (std::uint64_t at = begin; at < begin + index_.payload_bytes; ++at) {
    bytes_[at] ^= 1;
    const auto [pages, by_index] = look();
    ASSERT_FALSE(by_index) << "byte " << at - begin << " of the index";
    ASSERT_EQ(pages, 2 * kPages);
    bytes_[at] ^= 1;
  }
  EXPECT_TRUE(look().second);
}

}  // namespace
}  // namespace tidemark
