// SPDX-License-Identifier: Apache-2.0
#include "tidemark/serve/page_text.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

constexpr PageBundle kBundle{
    .page =
        "<title>{{title}}</title>|{{policy}}|{{style}}|{{other}}|{{setup}}|{{data}}|{{script}}{{",
    .script = "let a = '{{title}}';",
    .style = "p{}",
    .script_sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    .style_sha256 = "00ff",
};

TEST(PageText, PutsEveryPlaceOfTheTemplate) {
  const PageText text =
      page_text({.way = PageWay::kServed, .title = "a", .run = "run/1/"}, kBundle);
  EXPECT_NE(text.before_data.find("<title>a</title>"), std::string::npos);
  EXPECT_NE(text.before_data.find(R"(|<link rel="stylesheet" href="viewer.css">|{{other}}|)"),
            std::string::npos);
  EXPECT_NE(text.before_data.find(R"({"way":"served","run":"run/1/","other":null,"runs":null})"),
            std::string::npos);
  EXPECT_EQ(text.after_data, R"(|<script src="viewer.js" defer></script>{{)");
}

TEST(PageText, ASingleFileHasItsScriptInsideAndNamesItByItsHash) {
  const PageText text =
      page_text({.way = PageWay::kEmbedded, .title = "a", .run = "run/"}, kBundle);
  EXPECT_EQ(text.after_data, "|<script>let a = '{{title}}';</script>{{");
  // The hash of nothing, as others write it.
  EXPECT_NE(text.before_data.find(
                "script-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; style-src "
                "'sha256-AP8='"),
            std::string::npos)
      << text.before_data;
  EXPECT_NE(text.before_data.find("connect-src 'none'"), std::string::npos);
}

TEST(PageText, NamesAreTextAndNoMarkupNorPlaces) {
  const PageText text = page_text(
      {.way = PageWay::kSite, .title = "<b>\"&{{data}}", .run = "</script><!--", .other = "<"},
      kBundle);
  EXPECT_NE(text.before_data.find("<title>&lt;b&gt;&quot;&amp;{{data}}</title>"),
            std::string::npos);
  EXPECT_EQ(text.before_data.find("</script>"), std::string::npos);
  EXPECT_NE(text.before_data.find(R"("run":"\u003c/script>\u003c!--","other":"\u003c")"),
            std::string::npos)
      << text.before_data;
}

TEST(PageText, TheBundleIsTheOneOfTheCheckout) {
  EXPECT_NE(page_bundle().page.find("{{data}}"), std::string_view::npos);
  EXPECT_EQ(page_bundle().script.find("</script"), std::string_view::npos);
  EXPECT_EQ(page_bundle().style.find("</style"), std::string_view::npos);
  EXPECT_GT(page_bundle().script.size(), 1000u);
  EXPECT_EQ(page_bundle().script_sha256.size(), 64u);
}

TEST(Base64, IsTheOneOfTheStandard) {
  const std::pair<const char*, const char*> pairs[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : pairs) {
    EXPECT_EQ(base64(bytes), text);
    EXPECT_EQ(base64_bytes(std::string_view(bytes).size()), std::string_view(text).size());
  }
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

}  // namespace
}  // namespace tidemark
