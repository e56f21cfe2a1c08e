// SPDX-License-Identifier: Apache-2.0
#include "tidemark/serve/http_text.h"

#include <stdexcept>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

class HttpTextTest : public testing::Test {
 protected:
  HttpAnswer answer(const std::string& head, bool last = false) { return http_.answer(head, last); }
  static std::string get(const std::string& path, const std::string& more = "") {
    return "GET " + path + " HTTP/1.1\r\nHost: a:1\r\n" + more + "\r\n";
  }
  static int status_of(const HttpAnswer& answer) { return std::stoi(answer.bytes.substr(9, 3)); }
  static std::string body_of(const HttpAnswer& answer) {
    return answer.bytes.substr(answer.bytes.find("\r\n\r\n") + 4);
  }

  std::vector<Request> seen_;
  Reply reply_{.type = "application/octet-stream", .body = std::string(3000, 'x')};
  HttpText http_{[this](const Request& request) {
    seen_.push_back(request);
    if (request.path == "/throws") throw std::runtime_error("no");
    return reply_;
  }};
};

TEST_F(HttpTextTest, ARequestIsWhatItSays) {
  const HttpAnswer got = answer(get("/a%20b?x=1#y", "If-None-Match: \"1\"\r\nhOsT: b:2\r\n"));
  ASSERT_EQ(seen_.size(), 1u);
  EXPECT_EQ(seen_[0].method, "GET");
  EXPECT_EQ(seen_[0].path, "/a b");
  EXPECT_EQ(seen_[0].hosts, (std::vector<std::string>{"a:1", "b:2"}));
  EXPECT_EQ(seen_[0].if_none_match, "\"1\"");
  EXPECT_EQ(status_of(got), 200);
  EXPECT_EQ(body_of(got), reply_.body);
  EXPECT_FALSE(got.closes);
}

TEST_F(HttpTextTest, EveryAnswerHasTheHeadersThatKeepOthersOut) {
  for (const std::string& head : {get("/"), get("/throws"), std::string("nonsense\r\n\r\n")}) {
    const std::string bytes = answer(head).bytes;
    for (const char* header :
         {"Content-Security-Policy: default-src 'none';", "X-Content-Type-Options: nosniff",
          "Referrer-Policy: no-referrer", "Cross-Origin-Resource-Policy: same-origin"})
      EXPECT_NE(bytes.find(header), std::string::npos) << header << "\n" << bytes.substr(0, 900);
    EXPECT_EQ(bytes.find("Access-Control"), std::string::npos);
  }
}

TEST_F(HttpTextTest, WhatNeverChangesMayBeKeptAndNothingElse) {
  EXPECT_NE(answer(get("/")).bytes.find("Cache-Control: no-store"), std::string::npos);
  reply_.keep = Reply::Keep::kForever;
  EXPECT_NE(answer(get("/")).bytes.find("Cache-Control: private, max-age=31536000, immutable"),
            std::string::npos);
}

TEST_F(HttpTextTest, HeadHasTheLengthAndNoBody) {
  const HttpAnswer got = answer("HEAD / HTTP/1.1\r\nHost: a:1\r\n\r\n");
  EXPECT_EQ(status_of(got), 200);
  EXPECT_NE(got.bytes.find("Content-Length: 3000"), std::string::npos);
  EXPECT_EQ(body_of(got), "");
}

// The library would repeat a range as often as it is asked for, and compress text each time anew.
TEST_F(HttpTextTest, RangesEncodingsAndExpectationsAreNotHeard) {
  reply_.type = "text/plain";
  std::string ranges = "Range: bytes=0-2999";
  for (int i = 0; i < 500; ++i) ranges += ",0-2999";
  const HttpAnswer got = answer(
      get("/", ranges + "\r\nAccept-Encoding: br, gzip\r\nExpect: 100-continue\r\nrange: x\r\n"));
  EXPECT_EQ(status_of(got), 200);
  EXPECT_EQ(body_of(got).size(), 3000u);
  EXPECT_EQ(got.bytes.find("Content-Encoding"), std::string::npos);
}

TEST_F(HttpTextTest, AConnectionEndsBehindABodyThatNobodyReads) {
  EXPECT_TRUE(answer(get("/", "Content-Length: 5\r\n")).closes);
  EXPECT_TRUE(answer(get("/", "Transfer-Encoding: chunked\r\n")).closes);
  EXPECT_TRUE(answer(get("/", "Connection: close\r\n")).closes);
  EXPECT_TRUE(answer(get("/"), true).closes);
  EXPECT_FALSE(answer(get("/", "Content-Length: 0\r\n")).closes);
  EXPECT_TRUE(answer("GET / HTTP/1.0\r\nHost: a:1\r\n\r\n").closes);
  EXPECT_NE(answer(get("/", "Content-Length: 5\r\n")).bytes.find("Connection: close"),
            std::string::npos);
}

// A page that follows a run meets names of an older generation; its next request must not fail.
TEST_F(HttpTextTest, AfterARefusalTheConnectionIsUsedAgain) {
  for (const int status : {404, 410, 403, 405}) {
    reply_.status = status;
    const HttpAnswer got = answer(get("/"));
    EXPECT_EQ(status_of(got), status);
    EXPECT_FALSE(got.closes) << status;
  }
}

TEST_F(HttpTextTest, AnExceptionIsAnAnswerToo) {
  EXPECT_EQ(status_of(answer(get("/throws"))), 500);
}

TEST_F(HttpTextTest, WhatIsNoRequestIsRefusedAndTheConnectionEnds) {
  for (const std::string& head :
       {std::string("\r\n"), std::string("GET\r\n\r\n"), std::string("GET / HTTP/9.9\r\n\r\n"),
        std::string("EVIL / HTTP/1.1\r\n\r\n"), std::string("GET /  / HTTP/1.1 x\r\n\r\n"),
        std::string("GET /\0/ HTTP/1.1\r\n\r\n", 20), std::string("\x16\x03\x01\x02\n\r\n")}) {
    seen_.clear();
    const HttpAnswer got = answer(head);
    EXPECT_EQ(status_of(got), 400) << head;
    EXPECT_TRUE(got.closes) << head;
    EXPECT_TRUE(seen_.empty()) << head;
  }
}

TEST_F(HttpTextTest, AnAddressThatIsTooLongIsNamedSo) {
  EXPECT_EQ(status_of(answer(get("/" + std::string(9000, 'a')))), 414);
  EXPECT_TRUE(seen_.empty());
}

TEST(EndOfHead, IsBehindTheFirstEmptyLine) {
  EXPECT_EQ(end_of_head(""), std::string_view::npos);
  EXPECT_EQ(end_of_head("GET / HTTP/1.1\r\nHost: a\r\n"), std::string_view::npos);
  EXPECT_EQ(end_of_head("GET /\r\n\r\nrest"), 9u);
}

}  // namespace
}  // namespace tidemark
