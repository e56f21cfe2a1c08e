// SPDX-License-Identifier: Apache-2.0
// Connections that mean no good, on real sockets.
#include "tidemark/serve/connection_loop.h"

#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tidemark/serve/testing/raw_client.h"

// The library is not compiled for ThreadSanitizer, which therefore does not see that the first look
// at a constant inside of one of its functions waits until the constant is made.
extern "C" const char* __tsan_default_suppressions() {  // NOLINT: its name is ThreadSanitizer's
  return "called_from_lib:libcpp-httplib.so\n";
}

namespace tidemark {
namespace {

using samples::RawClient;

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::size_t kLargeBytes = 8 << 20;  // more than the system takes for a socket

class Server {
 public:
  explicit Server(const LoopLimits& limits = {})
      : listener_(listen_on_loopback(0).value()), stop_(::eventfd(0, EFD_CLOEXEC)) {
    thread_ = std::jthread([this, limits] {
      const auto answer = [this](const std::string& head, bool last) {
        return http_.answer(head, last);
      };
      ended_ = serve_connections(listener_, answer, stop_.get(), limits).has_value();
    });
  }
  ~Server() {
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(stop_.get(), &one, sizeof(one)), 8);
    thread_.join();
    EXPECT_TRUE(ended_);
  }
  [[nodiscard]] std::uint16_t port() const { return listener_.port; }
  [[nodiscard]] std::string get(const std::string& path = "/") const {
    return samples::get_request(path, port());
  }
  [[nodiscard]] std::string ask(const std::string& path = "/") const {
    return samples::ask(port(), path);
  }
  // How long a new connection waits for its answer. The least of a few: how much else runs on the
  // machine must not decide a test, and who is held up is so every time.
  [[nodiscard]] std::uint64_t new_request_ns() const {
    std::uint64_t least = ~std::uint64_t{0};
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t begin = monotonic_ns();
      EXPECT_EQ(samples::status_of(ask()), 200);
      least = std::min(least, monotonic_ns() - begin);
    }
    return least;
  }

  std::atomic<std::uint64_t> answers{0};
  std::atomic<bool> holds{false};

 private:
  Reply reply(const Request& request) {
    while (holds) sleep_ms(1);
    ++answers;
    return {.type = "text/plain",
            .body = request.path == "/large" ? std::string(kLargeBytes, 'x') : request.path};
  }

  Listener listener_;
  UniqueFd stop_;
  std::atomic<bool> ended_{false};
  HttpText http_{[this](const Request& request) { return reply(request); }};
  std::jthread thread_;
};

TEST(ConnectionLoop, AnswersAndKeepsTheConnectionForTheNextRequest) {
  const Server server;
  RawClient client(server.port());
  for (const char* path : {"/a", "/b", "/c"}) {
    ASSERT_TRUE(client.send(server.get(path)));
    EXPECT_EQ(samples::body_of(client.receive_answer()), path);
  }
}

TEST(ConnectionLoop, RequestsThatComeTogetherAreAnsweredInOrder) {
  const Server server;
  RawClient client(server.port());
  ASSERT_TRUE(client.send(server.get("/1") + "\r\n" + server.get("/2") + server.get("/3")));
  for (const char* path : {"/1", "/2", "/3"})
    EXPECT_EQ(samples::body_of(client.receive_answer()), path);
}

TEST(ConnectionLoop, ARequestThatComesByteByByteIsARequest) {
  const Server server;
  RawClient client(server.port());
  for (const char byte : server.get("/slow")) ASSERT_TRUE(client.send({&byte, 1}));
  EXPECT_EQ(samples::body_of(client.receive_answer()), "/slow");
}

TEST(ConnectionLoop, BesideAThousandIdleConnectionsANewRequestIsAnsweredWithinASecond) {
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  const rlimit before = files;
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
  {
    const Server server;
    std::vector<std::unique_ptr<RawClient>> idle;
    for (int i = 0; i < 1000; ++i) {
      idle.push_back(std::make_unique<RawClient>(server.port()));
      ASSERT_TRUE(idle.back()->connected()) << i;
      // Half of them say a part of a request, so that they wait in the middle of it.
      ASSERT_TRUE(i % 2 == 0 || idle.back()->send("GET /half HTTP/1.1\r\nHost: 127"));
    }
    for (int i = 0; i < 2; ++i) EXPECT_LT(server.new_request_ns(), kSecondNs);
    EXPECT_EQ(server.answers, 6u);
    // None of them was closed for that: the one that came first can still ask.
    ASSERT_TRUE(idle.front()->send(server.get("/first")));
    EXPECT_EQ(samples::body_of(idle.front()->receive_answer()), "/first");
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST(ConnectionLoop, WhereNoMoreFitThoseThatWaitLongestMakeRoom) {
  const Server server({.connections = 20});
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 100; ++i) {
    idle.push_back(std::make_unique<RawClient>(server.port()));
    ASSERT_TRUE(idle.back()->connected());
    EXPECT_LT(server.new_request_ns(), kSecondNs);
  }
  EXPECT_TRUE(idle.front()->is_closed(5'000));
  ASSERT_TRUE(idle.back()->send(server.get("/last")));
  EXPECT_EQ(samples::body_of(idle.back()->receive_answer()), "/last");
}

TEST(ConnectionLoop, AnEndlessRequestLineIsRefused) {
  const Server server;
  RawClient client(server.port());
  client.send("GET /");
  const std::string part(4096, 'a');
  std::size_t sent = 0;
  while (sent < (64u << 20) && client.send(part)) sent += part.size();
  EXPECT_LT(sent, 32u << 20) << "somebody keeps all of it";
  EXPECT_LT(server.new_request_ns(), kSecondNs);
}

TEST(ConnectionLoop, AHeadThatIsTooLongIsAnsweredWithTheReason) {
  const Server server;
  RawClient line(server.port());
  ASSERT_TRUE(line.send("GET /" + std::string(17'000, 'a')));
  EXPECT_EQ(samples::status_of(line.receive_all()), 414);
  RawClient headers(server.port());
  std::string head = "GET / HTTP/1.1\r\n";
  while (head.size() < 17'000) head += "X-Filler: 0123456789\r\n";
  ASSERT_TRUE(headers.send(head));
  EXPECT_EQ(samples::status_of(headers.receive_all()), 431);
}

TEST(ConnectionLoop, HeadersWithoutEndEnd) {
  const Server server;
  RawClient client(server.port());
  client.send("GET / HTTP/1.1\r\n");
  std::size_t sent = 0;
  while (sent < (64u << 20) && client.send("X-Filler: 0123456789012345678901234567890\r\n"))
    sent += 44;
  EXPECT_LT(sent, 32u << 20);
  EXPECT_LT(server.new_request_ns(), kSecondNs);
}

TEST(ConnectionLoop, AHeadThatTakesTooLongEndsWithTheReason) {
  const Server server({.connection = {.head_ms = 200}});
  RawClient client(server.port());
  const std::uint64_t begin = monotonic_ns();
  // A byte now and then does not make the time begin again.
  for (const char byte : std::string("GET / HTTP/1.1\r\nHost: a\r\nX: yyyyyyyyyyyyyyyyyyyyyyyyy")) {
    if (!client.send({&byte, 1}) || client.receive(monotonic_ns() + 20'000'000)) break;
  }
  EXPECT_EQ(samples::status_of(client.receive_all()), 408);
  EXPECT_LT(monotonic_ns() - begin, 10 * kSecondNs);
}

TEST(ConnectionLoop, IdleConnectionsAreClosedAfterATime) {
  const Server server({.connection = {.idle_ms = 100}});
  RawClient silent(server.port()), after(server.port());
  ASSERT_TRUE(after.send(server.get()));
  EXPECT_EQ(samples::status_of(after.receive_answer()), 200);
  EXPECT_TRUE(silent.is_closed(10'000));
  EXPECT_TRUE(after.is_closed(10'000));
}

// Asks for much and reads nothing of it.
std::unique_ptr<RawClient> deaf_client(const Server& server) {
  auto client = std::make_unique<RawClient>(server.port());
  const int few = 4096;
  ::setsockopt(client->fd(), SOL_SOCKET, SO_RCVBUF, &few, sizeof(few));
  EXPECT_TRUE(client->send(server.get("/large")));
  return client;
}

TEST(ConnectionLoop, WhoDoesNotReadHoldsNobodyUp) {
  const Server server({.unsent_bytes = 1ull << 40});
  std::vector<std::unique_ptr<RawClient>> deaf;
  for (int i = 0; i < 12; ++i) deaf.push_back(deaf_client(server));
  while (server.answers < 12) sleep_ms(1);
  EXPECT_LT(server.new_request_ns(), kSecondNs);
}

TEST(ConnectionLoop, AnswersThatNobodyReadsTakeALimitedRoom) {
  const Server server(
      {.connection = {.head_ms = 300, .send_ms = 1'000}, .unsent_bytes = 2 * kLargeBytes});
  std::vector<std::unique_ptr<RawClient>> deaf;
  for (int i = 0; i < 20; ++i) deaf.push_back(deaf_client(server));
  while (server.answers == 0) sleep_ms(1);
  sleep_ms(200);
  EXPECT_LE(server.answers, 12u) << "every one of them has an answer of 8 MiB in memory";
  EXPECT_EQ(samples::status_of(server.ask()), 200) << "who waits for his turn is not forgotten";
}

TEST(ConnectionLoop, AFloodOfRequestsOnOneConnectionLeavesOthersTheirTurn) {
  const Server server({.connection = {.requests = 50}});
  std::atomic<bool> stop{false};
  std::vector<std::jthread> floods;
  for (int i = 0; i < 4; ++i)
    floods.emplace_back([&] {
      while (!stop) {
        RawClient client(server.port());
        for (int n = 0; n < 100 && !stop && client.send(server.get()); ++n)
          client.receive(monotonic_ns());
      }
    });
  for (int i = 0; i < 10; ++i) EXPECT_LT(server.new_request_ns(), kSecondNs);
  stop = true;
}

TEST(ConnectionLoop, AfterSoManyRequestsTheConnectionIsClosed) {
  const Server server({.connection = {.requests = 3}});
  RawClient client(server.port());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(client.send(server.get("/" + std::to_string(i))));
  const std::string all = client.receive_all();
  EXPECT_NE(all.find("/2"), std::string::npos);
  EXPECT_NE(all.find("Connection: close"), std::string::npos);
}

TEST(ConnectionLoop, WhoHangsUpWhileHisAnswerIsMadeHarmsNobody) {
  Server server;
  server.holds = true;
  for (int i = 0; i < 20; ++i) {
    RawClient client(server.port());
    ASSERT_TRUE(client.send(server.get()));
  }
  server.holds = false;
  EXPECT_LT(server.new_request_ns(), 5 * kSecondNs);
}

TEST(ConnectionLoop, OfARequestWithABodyTheAnswerArrives) {
  const Server server;
  RawClient client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" +
              std::string(100'000, 'b'));
  const std::string answer = client.receive_all();
  EXPECT_EQ(samples::status_of(answer), 200) << "a reset took it away";
  EXPECT_EQ(server.answers, 1u) << "the body was taken for requests";
}

TEST(ConnectionLoop, APortThatIsTakenIsNamed) {
  const Server server;
  const auto second = listen_on_loopback(server.port());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::kUsage);
  EXPECT_NE(second.error().message.find(fmt::format("127.0.0.1:{}", server.port())),
            std::string::npos);
}

}  // namespace
}  // namespace tidemark
