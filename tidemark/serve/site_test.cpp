// SPDX-License-Identifier: Apache-2.0
// What is at which address, with a made-up store.
#include "tidemark/serve/site.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

const std::string kToken(32, 'a');

class NamedStore : public TileStore {
 public:
  Reply answer(std::string_view name, const std::string& if_none_match) override {
    return {.type = "application/octet-stream",
            .body = std::string(name) + (if_none_match.empty() ? "" : " " + if_none_match)};
  }
};

Site make_site(bool with_list) {
  Site::Options options{.gate = {.port = 80, .token = kToken},
                        .page = {.title = "a run", .run = "run/k/"},
                        .find = [](const std::string& key) -> std::shared_ptr<TileStore> {
                          return key == "k" ? std::make_shared<NamedStore>() : nullptr;
                        }};
  if (with_list) options.list = [] { return std::string("{\"runs\":[]}"); };
  return Site(std::move(options));
}
Reply ask(const Site& site, const std::string& path, const std::string& if_none_match = {}) {
  return site.answer({.method = "GET",
                      .path = "/" + kToken + path,
                      .hosts = {"localhost"},
                      .if_none_match = if_none_match});
}

TEST(Site, HasThePageItsFilesAndTheNamesOfItsRuns) {
  const Site site = make_site(false);
  EXPECT_NE(ask(site, "/").body.find("a run"), std::string::npos);
  EXPECT_EQ(ask(site, "/").type, "text/html; charset=utf-8");
  EXPECT_EQ(ask(site, "/viewer.js").body, page_bundle().script);
  EXPECT_EQ(ask(site, "/viewer.js").type, "text/javascript; charset=utf-8");
  EXPECT_EQ(ask(site, "/viewer.css").type, "text/css; charset=utf-8");
  EXPECT_EQ(ask(site, "/run/k/t/0/0/1", "\"tag\"").body, "t/0/0/1 \"tag\"");
  EXPECT_EQ(ask(site, "").status, 308);
  EXPECT_EQ(ask(site, "").location, "/" + kToken + "/");
}

TEST(Site, HasAListOnlyOfAFolder) {
  EXPECT_EQ(ask(make_site(true), "/runs.json").body, "{\"runs\":[]}");
  EXPECT_EQ(ask(make_site(false), "/runs.json").status, 404);
}

TEST(Site, HasNothingElse) {
  const Site site = make_site(false);
  for (const char* path : {"/x", "/run", "/run/", "/run/k", "/run/k/", "/run/other/t/0",
                           "/run/k/../t/0", "/run/k//t", "/run/k/T", "/viewer.js/..", "//"})
    EXPECT_EQ(ask(site, path).status, 404) << path;
}

TEST(Site, RefusesBeforeItLooks) {
  const Site site = make_site(true);
  const Request other_host{.method = "GET", .path = "/" + kToken + "/", .hosts = {"evil"}};
  EXPECT_EQ(site.answer(other_host).status, 403);
  const Request no_token{.method = "GET", .path = "/runs.json", .hosts = {"localhost"}};
  EXPECT_EQ(site.answer(no_token).status, 403);
  const Request post{.method = "POST", .path = "/" + kToken + "/", .hosts = {"localhost"}};
  EXPECT_EQ(site.answer(post).status, 405);
}

}  // namespace
}  // namespace tidemark
