// SPDX-License-Identifier: Apache-2.0
// The hash a record carries is FNV-1a of the text, known at compile time, and never zero.
#include "tidemark/schema/name.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(Name, HashesAsFnv1aPublishedVectorsSay) {
  EXPECT_EQ(hash_name("", 0), 0xCBF29CE484222325ull);
  EXPECT_EQ(hash_name("a", 1), 0xAF63DC4C8601EC8Cull);
  EXPECT_EQ(hash_name("foobar", 6), 0x85944171F73967E8ull);
}

TEST(Name, ALiteralKnowsItsTextLengthAndHash) {
  constexpr Name kName("queue depth");
  static_assert(kName.length == 11);
  static_assert(kName.hash == hash_name("queue depth", 11));
  EXPECT_EQ(std::string(kName.text, kName.length), "queue depth");
}

TEST(Name, HashesBytesAboveAsciiAsUnsigned) {
  std::uint64_t expected = 0xCBF29CE484222325ull;
  for (const unsigned char byte : {0xC3, 0xA4}) expected = (expected ^ byte) * 0x100000001B3ull;
  EXPECT_EQ(hash_name("\xC3\xA4", 2), expected);
}

TEST(Name, DiffersForManySimilarNames) {
  std::set<std::uint64_t> hashes;
  for (int i = 0; i < 50'000; ++i) {
    const std::string text = "counter " + std::to_string(i);
    hashes.insert(hash_name(text.data(), text.size()));
  }
  EXPECT_EQ(hashes.size(), 50'000u);
  EXPECT_FALSE(hashes.contains(0));
}

}  // namespace
}  // namespace tidemark
