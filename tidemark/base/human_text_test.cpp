// SPDX-License-Identifier: Apache-2.0
// Numbers and lists as people read them.
#include "tidemark/base/human_text.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(HumanText, CommasAreBetweenEveryThreeDigits) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1'000), "1,000");
  EXPECT_EQ(with_commas(1'234'567), "1,234,567");
}

TEST(HumanText, UnitsChangeWhereTheyMakeANumberShorter) {
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1024), "1.0 KiB");
  EXPECT_EQ(human_bytes(3ull << 30), "3.0 GiB");
  EXPECT_EQ(human_ns(9'999), "9999 ns");
  EXPECT_EQ(human_ns(10'000), "10.0 us");
  EXPECT_EQ(human_ns(12'000'000'000), "12.0 s");
}

TEST(HumanText, AListIsJoinedWithAWordOfItsOwnBeforeTheLast) {
  const std::vector<std::string> none, one{"a"}, three{"a", "b", "c"};
  EXPECT_EQ(joined(none, ", ", " or "), "");
  EXPECT_EQ(joined(one, ", ", " or "), "a");
  EXPECT_EQ(joined(three, ", ", " or "), "a, b or c");
  EXPECT_EQ(joined(three, "+"), "a+b+c");
  EXPECT_EQ(joined(std::array{1, 2}, ", ", {}, [](int i) { return std::to_string(i); }), "1, 2");
}

}  // namespace
}  // namespace tidemark
