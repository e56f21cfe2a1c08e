// SPDX-License-Identifier: Apache-2.0
// The commit word of a fragment: every part comes back, and zero is no commit.
#include "tidemark/transport/fragment.h"

#include <random>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(Fragment, CommitComesBackAsItWasEncoded) {
  std::mt19937_64 random(9);
  for (int i = 0; i < 20'000; ++i) {
    const FragmentCommit commit{.length = static_cast<std::uint32_t>(random()),
                                .first = random() % 2 == 0,
                                .last = random() % 2 == 0,
                                .generation = 1 + static_cast<std::uint32_t>(random() % 65535)};
    const FragmentCommit back = decode_commit(encode_commit(commit));
    ASSERT_EQ(back.length, commit.length);
    ASSERT_EQ(back.first, commit.first);
    ASSERT_EQ(back.last, commit.last);
    ASSERT_EQ(back.generation, commit.generation);
  }
}

TEST(Fragment, AZeroWordIsNotCommittedInAnyGeneration) {
  EXPECT_EQ(decode_commit(0).generation, 0u);
  EXPECT_EQ(encode_commit({.length = 0, .first = true, .last = true, .generation = 1}) >> 48, 1u);
}

TEST(Fragment, SpanReachesToTheNextQuantum) {
  EXPECT_EQ(fragment_span(0), kFragmentHeaderBytes);
  EXPECT_EQ(fragment_span(1), kFragmentHeaderBytes + 16);
  EXPECT_EQ(fragment_span(16), kFragmentHeaderBytes + 16);
  EXPECT_EQ(fragment_span(17), kFragmentHeaderBytes + 32);
  EXPECT_EQ(fragment_span(0xFFFFFFFFull), kFragmentHeaderBytes + 0x100000000ull);
}

}  // namespace
}  // namespace tidemark
