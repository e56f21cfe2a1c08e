// SPDX-License-Identifier: Apache-2.0
// Test support: a client that sends whatever bytes it is told to, and reads what comes.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "tidemark/base/check.h"
#include "tidemark/base/monotonic_clock.h"
#include "tidemark/base/unique_fd.h"

namespace tidemark::samples {

class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ =
        ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }

  [[nodiscard]] bool connected() const { return connected_; }
  [[nodiscard]] int fd() const { return fd_.get(); }
  // False: the other side has closed.
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t put = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (put <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
  }
  // Adds what comes to `got_`. False: closed, or nothing came until then.
  bool receive(std::uint64_t until_ns) {
    const std::uint64_t now = monotonic_ns();
    pollfd one{fd_.get(), POLLIN, 0};
    if (::poll(&one, 1, now < until_ns ? static_cast<int>((until_ns - now) / 1'000'000 + 1) : 0) <=
        0)
      return false;
    char bytes[65536];
    const ssize_t got = ::recv(fd_.get(), bytes, sizeof(bytes), 0);
    closed_ = got <= 0;
    if (got > 0) got_.append(bytes, static_cast<std::size_t>(got));
    return got > 0;
  }
  // Everything until the other side closes.
  std::string receive_all(std::uint64_t wait_ms = 20'000) {
    const std::uint64_t until = monotonic_ns() + wait_ms * 1'000'000;
    while (receive(until)) {
    }
    return got_;
  }
  // One answer with its body, by its Content-Length.
  std::string receive_answer(std::uint64_t wait_ms = 20'000) {
    const std::uint64_t until = monotonic_ns() + wait_ms * 1'000'000;
    for (;;) {
      const std::size_t head = got_.find("\r\n\r\n");
      if (head != std::string::npos) {
        const std::size_t at = got_.find("Content-Length: ");
        const std::size_t length =
            at < head ? std::strtoull(got_.c_str() + at + 16, nullptr, 10) : 0;
        if (got_.size() >= head + 4 + length) {
          std::string answer = got_.substr(0, head + 4 + length);
          got_.erase(0, answer.size());
          return answer;
        }
      }
      if (!receive(until)) return {};
    }
  }
  // True once the other side has closed.
  bool is_closed(std::uint64_t wait_ms) {
    const std::uint64_t until = monotonic_ns() + wait_ms * 1'000'000;
    while (!closed_ && receive(until)) {
    }
    return closed_;
  }

 private:
  UniqueFd fd_;
  bool connected_ = false;
  bool closed_ = false;
  std::string got_;
};

inline std::string get_request(std::string_view path, std::uint16_t port,
                               std::string_view more = "") {
  return fmt::format("GET {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{}\r\n", path, port, more);
}
inline int status_of(std::string_view answer) {
  return answer.starts_with("HTTP/1.1 ") ? std::atoi(std::string(answer.substr(9, 3)).c_str()) : 0;
}
inline std::string body_of(const std::string& answer) {
  const std::size_t head = answer.find("\r\n\r\n");
  return head == std::string::npos ? std::string() : answer.substr(head + 4);
}
// One request on a connection of its own.
inline std::string ask(std::uint16_t port, std::string_view path, std::string_view more = "") {
  RawClient client(port);
  client.send(get_request(path, port, more));
  return client.receive_answer();
}

}  // namespace tidemark::samples
