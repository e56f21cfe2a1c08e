// SPDX-License-Identifier: Apache-2.0
// Of the second copy of an open page only that is believed which the first copy has complete.
#include "tidemark/transport/open_page.h"

#include <vector>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

constexpr std::uint32_t kGeneration = 7;

PageHeaderImage open_header(std::uint32_t record_bytes) {
  PageHeaderImage header{};
  header.sequence = 3;
  header.generation = kGeneration;
  header.record_bytes = record_bytes;
  header.record_count = kPageOpen;
  header.first_frame_offset = kNoFrame;
  return header;
}

class Payload {
 public:
  Payload() : bytes(512) {}
  void stamp(std::uint64_t quantum, Stamp value) {
    std::memcpy(bytes.data() + quantum * kQuantumBytes + kStampOffset, &value, sizeof(value));
  }
  [[nodiscard]] Stamp stamp_of(std::uint64_t quantum) const {
    Stamp value;
    std::memcpy(&value, bytes.data() + quantum * kQuantumBytes + kStampOffset, sizeof(value));
    return value;
  }
  void fragment(std::uint64_t at, const FragmentCommit& commit) {
    const FragmentImage image{.frame_number = 1, .commit = encode_commit(commit)};
    std::memcpy(bytes.data() + at, &image, sizeof(image));
  }
  [[nodiscard]] FragmentCommit commit_of(std::uint64_t at) const {
    FragmentImage image;
    std::memcpy(&image, bytes.data() + at, sizeof(image));
    return decode_commit(image.commit);
  }

  std::vector<unsigned char> bytes;
};

TEST(OpenPage, AStampThatOnlyTheSecondCopyHasIsNotBelieved) {
  Payload first, second;
  first.stamp(0, kGeneration);
  first.stamp(1, kGeneration - 1);  // of the filling before
  for (std::uint64_t quantum = 0; quantum < 4; ++quantum) second.stamp(quantum, kGeneration);
  PageHeaderImage header = open_header(32);
  settle_open_page(header, first.bytes.data(), second.bytes);
  EXPECT_EQ(second.stamp_of(0), kGeneration);
  for (std::uint64_t quantum = 1; quantum < 4; ++quantum) EXPECT_EQ(second.stamp_of(quantum), 0);
}

TEST(OpenPage, FragmentsEndWhereTheFirstCopyEnds) {
  Payload first, second;
  const FragmentCommit rest{.length = 20, .last = true, .generation = kGeneration};
  const FragmentCommit whole{.length = 40, .first = true, .last = true, .generation = kGeneration};
  const std::uint64_t at_whole = fragment_span(20), at_later = at_whole + fragment_span(40);
  first.fragment(0, rest);
  first.fragment(at_whole, whole);
  second.bytes = first.bytes;
  second.fragment(at_later, whole);
  PageHeaderImage header = open_header(0);
  settle_open_page(header, first.bytes.data(), second.bytes);
  EXPECT_EQ(second.commit_of(0).generation, kGeneration);
  EXPECT_EQ(second.commit_of(at_whole).generation, kGeneration);
  EXPECT_EQ(second.commit_of(at_later).generation, 0u);
  EXPECT_EQ(header.first_frame_offset, at_whole) << "where a frame begins, as the copies have it";
}

// The header may have been copied after the first frame was announced and before it was committed.
TEST(OpenPage, AFirstFrameThatWasNotCommittedIsNotOne) {
  Payload first, second;
  second.fragment(0, {.length = 40, .first = true, .last = true, .generation = kGeneration});
  PageHeaderImage header = open_header(0);
  header.first_frame_offset = 0;
  settle_open_page(header, first.bytes.data(), second.bytes);
  EXPECT_EQ(second.commit_of(0).generation, 0u);
  EXPECT_EQ(header.first_frame_offset, kNoFrame);
}

TEST(OpenPage, AFragmentLongerThanThePageEndsTheWalk) {
  Payload first;
  first.fragment(0, {.length = 10'000, .first = true, .generation = kGeneration});
  Payload second = first;
  PageHeaderImage header = open_header(0);
  settle_open_page(header, first.bytes.data(), second.bytes);
  EXPECT_EQ(second.bytes, first.bytes);
}

}  // namespace
}  // namespace tidemark
