// SPDX-License-Identifier: Apache-2.0
// A struct that is declared once is written and read back; what a file has no right to say does not
// get into it.
#include "tidemark/run/json_fields.h"

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark {
namespace samples {

enum class Colour : std::uint8_t { kRed, kGreen };

struct Point {
  std::uint64_t x = 0;
  std::uint32_t y = 0;
};

struct Sheet {
  std::uint16_t small = 0;
  std::string text;
  bool open = true;
  double share = 0;
  Colour colour = Colour::kRed;
  std::vector<Point> points;
  std::uint32_t sizes[3] = {1, 2, 3};
  std::vector<std::string> names;
  bool sealed = false;
  std::uint64_t ticks = 0;
};

void numbers(auto& v, Of<Point> auto& point) { v.row(point.x, point.y); }

template <class V>
void fields(V& v, Of<Sheet> auto& sheet) {
  v("small", sheet.small);
  v("text", sheet.text);
  v("open", sheet.open);
  v("share", sheet.share);
  v("colour", sheet.colour);
  v("points", sheet.points);
  v("sizes", sheet.sizes);
  v("names", sheet.names);
  v.flag("sealed", sheet.sealed);
  v.decimal("ticks", sheet.ticks);
  v.writes("count", sheet.points.size());
}

}  // namespace samples

namespace {

using samples::Sheet;

Sheet read(const std::string& text) {
  rapidjson::Document document;
  document.Parse(text.data(), text.size());
  Sheet sheet;
  FieldReader::read(document, sheet);
  return sheet;
}

TEST(JsonFields, WhatIsWrittenIsReadBack) {
  const Sheet sheet{.small = 7,
                    .text = "a \"b\"",
                    .open = false,
                    .share = 0.5,
                    .colour = samples::Colour::kGreen,
                    .points = {{~0ull, 2}, {3, 4}},
                    .sizes = {4, 5, 6},
                    .names = {"", "x"},
                    .sealed = true,
                    .ticks = ~0ull};
  const std::string text = json_text(sheet);
  EXPECT_EQ(text, R"({"small":7,"text":"a \"b\"","open":false,"share":0.5,"colour":1,)"
                  R"("points":[[18446744073709551615,2],[3,4]],"sizes":[4,5,6],"names":["","x"],)"
                  R"("sealed":1,"ticks":"18446744073709551615","count":2})");
  EXPECT_EQ(json_text(read(text)), text);
}

TEST(JsonFields, NothingIsTrusted) {
  const Sheet sheet =
      read(R"({"small":70000,"text":[],"open":1,"share":"x","colour":-1,"points":[7,[1],{}],)"
           R"("sizes":[9],"names":{},"sealed":true,"ticks":5})");
  EXPECT_EQ(sheet.small, 65535);
  EXPECT_EQ(sheet.text, "");
  EXPECT_TRUE(sheet.open);
  EXPECT_EQ(sheet.share, 0);
  EXPECT_EQ(sheet.colour, samples::Colour::kRed);
  ASSERT_EQ(sheet.points.size(), 3u);
  EXPECT_EQ(sheet.points[1].x, 1u);
  EXPECT_EQ(sheet.points[2].x, 0u);
  EXPECT_EQ(sheet.sizes[0], 9u);
  EXPECT_EQ(sheet.sizes[2], 0u);
  EXPECT_TRUE(sheet.names.empty());
  EXPECT_FALSE(sheet.sealed);
  EXPECT_EQ(sheet.ticks, 0u);
  EXPECT_EQ(read("[]").sizes[1], 2u) << "what is not there stays";
}

TEST(JsonFields, ATextThatIsNoUtf8IsWrittenWithoutItsBytes) {
  EXPECT_EQ(json_text("\xc3\xa4 \xe6\xb5\xb7"), "\"\xc3\xa4 \xe6\xb5\xb7\"");
  EXPECT_EQ(json_text("\xc3\xa4 cut \xe6\xb5"), "\"?? cut ??\"");
}

TEST(JsonFields, WhatIsNoNumberInJsonIsAText) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(json_text(std::vector<double>{0.5, std::nan(""), inf, -inf}),
            R"([0.5,"nan","inf","-inf"])");
}

TEST(JsonFields, AnOptionalWithoutAValueIsNull) {
  EXPECT_EQ(json_text(std::optional<int>()), "null");
  EXPECT_EQ(json_text(std::vector<std::optional<int>>{-3, {}}), "[-3,null]");
}

}  // namespace
}  // namespace tidemark
