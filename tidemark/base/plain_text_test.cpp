// SPDX-License-Identifier: Apache-2.0
// No byte that a terminal could take for an order passes; letters of every language do.
#include "tidemark/base/plain_text.h"

#include <random>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(PlainText, KeepsLettersOfEveryLanguage) {
  for (const std::string text : {"add", "Übung", "海", "\xF0\x9F\x8C\x8A", "a b~`'\"\\", ""})
    EXPECT_EQ(plain_text(text), text);
}

TEST(PlainText, ReplacesControlCharacters) {
  EXPECT_EQ(plain_text("\x1b[31mred\x1b]0;title\x07"), "?[31mred?]0;title?");
  EXPECT_EQ(plain_text(std::string_view("a\0b\r\x7F", 5)), "a?b??");
  EXPECT_EQ(plain_text("line\nbreak\tand tab"), "line?break?and tab");
  EXPECT_EQ(plain_text("line\nbreak\tand tab\r", TextLines::kMany), "line\nbreak?and tab?");
}

TEST(PlainText, ReplacesTheSecondSetOfControlsAsBytesAndAsCharacters) {
  EXPECT_EQ(plain_text("\x9B"
                       "31m"),
            "?31m");
  EXPECT_EQ(plain_text("\xC2\x9B"
                       "31m"),
            "?31m");
  EXPECT_EQ(plain_text("\xC2\x80\xC2\x9F\xC2\xA0"), "??\xC2\xA0");
}

TEST(PlainText, ReplacesWhatTurnsTheDirectionOfWritingAndForeignLineEnds) {
  EXPECT_EQ(plain_text("\u202Etxt.exe\u202C \u2066a\u2069 \u200F \u061C"), "?txt.exe? ?a? ? ?");
  EXPECT_EQ(plain_text("a\u2028b\u2029c", TextLines::kMany), "a?b?c");
}

TEST(PlainText, ReplacesEveryByteThatIsNoUtf8) {
  EXPECT_EQ(plain_text("caf\xC3"), "caf?");
  EXPECT_EQ(plain_text("\xED\xA0\x80"), "???") << "a surrogate";
  EXPECT_EQ(plain_text("\xC0\xAF"), "??") << "not the shortest form";
  EXPECT_EQ(plain_text("\xF5xyz"), "?xyz");
  EXPECT_EQ(plain_text("\xE2\x1B[m"), "??[m") << "an order hidden behind half a character";
}

TEST(PlainText, OfRandomBytesIsPlainAndStaysAsItIs) {
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::string text(random() % 24, ' ');
    for (char& c : text) c = static_cast<char>(random());
    const std::string plain = plain_text(text);
    EXPECT_EQ(plain_text(plain), plain);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      const auto byte = static_cast<unsigned char>(plain[i]);
      ASSERT_TRUE(byte >= 0x20 && byte != 0x7F);
      const bool second_set = byte == 0xC2 && static_cast<unsigned char>(plain[i + 1]) < 0xA0;
      ASSERT_FALSE(second_set);
    }
  }
}

}  // namespace
}  // namespace tidemark
