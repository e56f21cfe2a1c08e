// SPDX-License-Identifier: Apache-2.0
#include "tidemark/serve/request_check.h"

#include <set>

#include <gtest/gtest.h>

#include "tidemark/serve/token.h"
#include "tidemark/tiles/folder_sink.h"

namespace tidemark {
namespace {

const Gate kGate{.port = 8080, .token = "0123456789abcdef0123456789abcdef"};

Request asked(const std::string& path, const std::string& host = "127.0.0.1:8080") {
  return {.method = "GET", .path = path, .hosts = {host}};
}
int refused(const Request& request) {
  std::string_view rest;
  return refusal_of(request, kGate, rest);
}
std::string path_of(const std::string& rest) { return "/" + kGate.token + rest; }

TEST(RequestCheck, OwnHostsAreTheThreeNamesOfLoopbackWithThePort) {
  for (const char* host : {"127.0.0.1:8080", "localhost:8080", "[::1]:8080"})
    EXPECT_TRUE(is_own_host(host, 8080)) << host;
  for (const char* host :
       {"", "127.0.0.1", "127.0.0.1:80801", "127.0.0.1:808", "localhost", "evil.example:8080",
        "localhost.evil.example:8080", "127.0.0.1:8080.evil.example", "::1:8080", "LOCALHOST:8080 ",
        "0.0.0.0:8080", "127.1:8080"})
    EXPECT_FALSE(is_own_host(host, 8080)) << host;
  EXPECT_TRUE(is_own_host("127.0.0.1", 80)) << "browsers leave out the port of HTTP";
}

TEST(RequestCheck, WhatIsBehindTheTokenIsGivenBack) {
  std::string_view rest;
  const Request request = asked(path_of("/run/x/index.json"));
  EXPECT_EQ(refusal_of(request, kGate, rest), 0);
  EXPECT_EQ(rest, "/run/x/index.json");
  const Request bare = asked(path_of(""));
  EXPECT_EQ(refusal_of(bare, kGate, rest), 0);
  EXPECT_EQ(rest, "");
}

TEST(RequestCheck, OtherHostsAreRefusedEvenWithTheToken) {
  EXPECT_EQ(refused(asked(path_of("/"), "evil.example:8080")), 403);
  Request none = asked(path_of("/"));
  none.hosts.clear();
  EXPECT_EQ(refused(none), 403);
  Request two = asked(path_of("/"));
  two.hosts.push_back(two.hosts.front());
  EXPECT_EQ(refused(two), 403) << "two hosts: which one counts is anybody's guess";
}

TEST(RequestCheck, WithoutTheWholeTokenThereIsNothing) {
  for (const std::string& path :
       {std::string("/"), std::string(""), std::string("*"), std::string("/index.html"),
        "/" + kGate.token.substr(1), "/" + kGate.token + "0/", "//" + kGate.token + "/",
        "/x/../" + kGate.token + "/", "http://127.0.0.1:8080/" + kGate.token + "/"})
    EXPECT_EQ(refused(asked(path)), 403) << path;
  std::string wrong = kGate.token;
  wrong.back() = '0';
  EXPECT_EQ(refused(asked("/" + wrong + "/")), 403);
}

TEST(RequestCheck, OnlyReadingIsAllowed) {
  for (const char* method :
       {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PRI"}) {
    Request request = asked(path_of("/"));
    request.method = method;
    EXPECT_EQ(refused(request), 405) << method;
  }
  Request head = asked(path_of("/"));
  head.method = "HEAD";
  EXPECT_EQ(refused(head), 0);
}

TEST(RequestCheck, NamesOfBlobsLeadNowhereElse) {
  for (const char* name : {"index.json", "t/0/0/17", "doc/overview", "g12/t/3/1/0", "a-b.c/d"})
    EXPECT_TRUE(is_tile_name(name)) << name;
  for (const std::string& name :
       {std::string(""), std::string("/"), std::string("/etc/passwd"), std::string("../run.json"),
        std::string("t/../../run.json"), std::string("t/./0"), std::string("t//0"),
        std::string("t/"), std::string(".."), std::string("."), std::string("T/0"),
        std::string("t\\0"), std::string("t/0\0", 4), std::string("%2e%2e"), std::string("t/ü")})
    EXPECT_FALSE(is_tile_name(name)) << name;
}

TEST(Token, EachOneIsDifferentAndHas128Bits) {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) {
    const auto token = make_token();
    ASSERT_TRUE(token);
    EXPECT_EQ(token->size(), 32u);
    EXPECT_EQ(token->find_first_not_of("0123456789abcdef"), std::string::npos);
    tokens.insert(*token);
  }
  EXPECT_EQ(tokens.size(), 100u);
}

TEST(Token, IsTheSameOnlyIfEveryCharacterIs) {
  EXPECT_TRUE(is_same_secret("abcd", "abcd"));
  for (const char* given : {"abcc", "bbcd", "abc", "abcde", "", "ABCD"})
    EXPECT_FALSE(is_same_secret(given, "abcd")) << given;
}

}  // namespace
}  // namespace tidemark
