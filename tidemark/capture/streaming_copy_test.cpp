// SPDX-License-Identifier: Apache-2.0
// The streaming copy is a memcpy, and its checksum is XXH3 over head and body.
#include "tidemark/capture/streaming_copy.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>
#include <xxhash.h>

#include "tidemark/base/mix.h"
#include "tidemark/capture/chunk.h"
#include "tidemark/capture/copy_kernel.h"

namespace tidemark {
namespace {

constexpr std::size_t kGuardBytes = 64;
constexpr unsigned char kGuard = 0xA5;

std::vector<unsigned char> noise(std::size_t bytes, std::uint64_t seed) {
  std::vector<unsigned char> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<unsigned char>(mix(seed + i));
  return data;
}

// The allocator aligns to 16; `offset` is the alignment under test on top of it.
struct Target {
  Target(std::size_t bytes, std::size_t offset) : data(bytes + offset + kGuardBytes, kGuard) {
    to = data.data() + offset;
  }
  [[nodiscard]] bool guards_stand(std::size_t bytes) const {
    for (const unsigned char* at = data.data(); at < data.data() + data.size(); ++at)
      if ((at < to || at >= to + bytes) && *at != kGuard) return false;
    return true;
  }
  std::vector<unsigned char> data;
  unsigned char* to;
};

const std::size_t kSizes[] = {0,    16,   32,   48,   64,   80,    128,   144,   1024,   4080,
                              4096, 4112, 4160, 8192, 8208, 65408, 65536, 65552, 1048576};

TEST(StreamingCopy, EqualsMemcpyForEverySizeAndAlignment) {
  for (const std::size_t bytes : kSizes)
    for (std::size_t to_offset = 0; to_offset < 64; to_offset += 16)
      for (std::size_t from_offset = 0; from_offset < 64; from_offset += 16) {
        const auto from = noise(bytes + from_offset + 1, bytes);  // never empty: data() is not null
        Target target(bytes, to_offset);
        streaming_copy(target.to, from.data() + from_offset, bytes);
        streaming_copy_done();
        ASSERT_TRUE(std::equal(target.to, target.to + bytes, from.data() + from_offset)) << bytes;
        ASSERT_TRUE(target.guards_stand(bytes)) << bytes;
      }
}

TEST(StreamingCopy, CopiesATailThatIsNoMultipleOfAQuantum) {
  for (std::size_t bytes = 0; bytes < 200; ++bytes) {
    const auto from = noise(bytes, 7);
    Target target(bytes, 16);
    streaming_copy(target.to, from.data(), bytes);
    streaming_copy_done();
    ASSERT_TRUE(bytes == 0 || std::memcmp(target.to, from.data(), bytes) == 0) << bytes;
    ASSERT_TRUE(target.guards_stand(bytes)) << bytes;
  }
}

TEST(CopyWithChecksum, CopiesHeadAndBodyAndReturnsTheirXxh3) {
  for (const std::size_t head_bytes : {std::size_t{16}, std::size_t{128}})
    for (const std::size_t body_bytes : kSizes)
      for (std::size_t offset = 0; offset < 64; offset += 16) {
        const auto whole = noise(head_bytes + body_bytes, body_bytes + head_bytes);
        const std::vector<unsigned char> body(
            whole.begin() + static_cast<std::ptrdiff_t>(head_bytes), whole.end());
        Target target(whole.size(), offset);
        const std::uint64_t sum =
            copy_with_checksum(target.to, whole.data(), head_bytes, body.data(), body_bytes);
        ASSERT_EQ(std::memcmp(target.to, whole.data(), whole.size()), 0) << body_bytes;
        ASSERT_EQ(sum, XXH3_64bits(whole.data(), whole.size())) << body_bytes;
        ASSERT_EQ(sum, checksum(whole.data(), whole.size()));
        ASSERT_TRUE(target.guards_stand(whole.size()));
      }
}

TEST(Checksum, OfAHeaderIsXxh3OfItsFirst56Bytes) {
  ChunkHeader header{
      .magic = kChunkMagic, .type = ChunkType::kPage, .version_major = 1, .run_id = 77};
  const std::uint64_t sum = checksum_of_header(header);
  EXPECT_EQ(sum, XXH3_64bits(&header, 56));
  header.header_checksum = 5;
  EXPECT_EQ(checksum_of_header(header), sum);
  header.payload_checksum = 1;
  EXPECT_NE(checksum_of_header(header), sum);
}

TEST(StreamingCopy, EveryKernelOfThisProcessorCopiesAndSumsAlike) {
  for (const CopyKernel* kernel : {&kCopyKernelBase, &kCopyKernelAvx2, &kCopyKernelAvx512}) {
    if (!processor_can_run(*kernel)) continue;
    for (const std::size_t head_bytes : {0, 16, 64, 128, 192})
      for (const std::size_t bytes : kSizes)
        for (const std::size_t to_offset : {0, 16}) {
          const auto head = noise(head_bytes + 1, 3);
          const auto body = noise(bytes + 1, bytes);
          std::vector<unsigned char> both(head.begin(), head.end() - 1);
          both.insert(both.end(), body.begin(), body.end() - 1);
          std::vector<unsigned char> room(both.size() + 128, kGuard);
          const std::size_t align = (64 - reinterpret_cast<std::uintptr_t>(room.data()) % 64) % 64;
          unsigned char* to = room.data() + align + to_offset;
          const auto sum =
              kernel->copy_with_checksum(to, head.data(), head_bytes, body.data(), bytes);
          streaming_copy_done();
          EXPECT_EQ(sum, XXH3_64bits(both.data(), both.size())) << kernel->name << " " << bytes;
          EXPECT_EQ(kernel->checksum(head.data(), head_bytes, body.data(), bytes), sum);
          EXPECT_TRUE(std::equal(both.begin(), both.end(), to)) << kernel->name << " " << bytes;
          EXPECT_EQ(to[both.size()], kGuard);
        }
  }
  EXPECT_TRUE(processor_can_run(best_copy_kernel()));
}

}  // namespace
}  // namespace tidemark
