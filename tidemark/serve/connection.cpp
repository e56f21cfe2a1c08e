// SPDX-License-Identifier: Apache-2.0
#include "tidemark/serve/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "tidemark/base/uninterrupted.h"

namespace tidemark {
namespace {

constexpr std::size_t kReadBytes = 4096;
constexpr std::uint64_t kNever = ~std::uint64_t{0};

bool would_wait() { return errno == EAGAIN; }

}  // namespace

Connection::Connection(UniqueFd fd, const ConnectionLimits& limits, std::uint64_t now_ns)
    : fd_(std::move(fd)), limits_(limits) {
  begin(State::kReading, limits_.idle_ms, now_ns);
}

void Connection::begin(State state, std::uint64_t limit_ms, std::uint64_t now_ns) {
  state_ = state;
  deadline_ns_ = limit_ms == kNever ? kNever : now_ns + limit_ms * 1'000'000;
}

short Connection::events() const {
  switch (state_) {
    case State::kReading:
      // Requests that wait for their turn are read no further.
      return in_.size() <= limits_.head_bytes ? POLLIN : 0;
    case State::kLeaving:
      return POLLIN;
    case State::kSending:
      return POLLOUT;
    case State::kAnswering:
    case State::kOver:
      break;
  }
  return 0;
}

void Connection::go_on(std::uint64_t now_ns) {
  if (state_ == State::kReading)
    read_some(now_ns);
  else if (state_ == State::kSending)
    send_some(now_ns);
  else if (state_ == State::kLeaving)
    throw_away();
}

void Connection::pass_deadline(std::uint64_t now_ns) {
  if (state_ != State::kReading || in_.empty()) {
    state_ = State::kOver;
  } else if (end_of_head(in_) != std::string::npos) {
    begin(State::kReading, limits_.head_ms, now_ns);  // all of it is here: it waits for its turn
  } else {
    send(HttpText::refusal(408), now_ns);  // so that whoever sent half of it knows why
  }
}

void Connection::read_some(std::uint64_t now_ns) {
  char bytes[kReadBytes];
  const ssize_t got =
      uninterrupted([&] { return ::recv(fd_.get(), bytes, sizeof(bytes), MSG_DONTWAIT); });
  if (got <= 0) {
    if (got == 0 || !would_wait()) state_ = State::kOver;
    return;
  }
  if (in_.empty()) begin(State::kReading, limits_.head_ms, now_ns);
  in_.append(bytes, static_cast<std::size_t>(got));
}

bool Connection::take_head(std::string& head, bool& last, std::uint64_t now_ns) {
  if (state_ != State::kReading) return false;
  while (in_.starts_with("\r\n")) in_.erase(0, 2);  // some send one behind a body
  const std::size_t end = end_of_head(in_);
  if (end > limits_.head_bytes) {
    if (in_.size() > limits_.head_bytes)
      send(HttpText::refusal(in_.find('\n') > limits_.head_bytes ? 414 : 431), now_ns);
    return false;
  }
  head = in_.substr(0, end);
  in_.erase(0, end);
  last = ++requests_ >= limits_.requests;
  begin(State::kAnswering, kNever, now_ns);
  return true;
}

void Connection::send(HttpAnswer answer, std::uint64_t now_ns) {
  out_ = std::move(answer.bytes);
  sent_ = 0;
  closes_ = answer.closes;
  begin(State::kSending, limits_.send_ms, now_ns);
  send_some(now_ns);
}

void Connection::send_some(std::uint64_t now_ns) {
  const ssize_t put = uninterrupted([&] {
    return ::send(fd_.get(), out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
  });
  if (put < 0 && !would_wait()) state_ = State::kOver;
  if (put < 0) return;
  sent_ += static_cast<std::size_t>(put);
  if (sent_ < out_.size()) return;
  out_ = {};
  sent_ = 0;
  if (closes_) return leave(now_ns);
  begin(State::kReading, in_.empty() ? limits_.idle_ms : limits_.head_ms, now_ns);
}

// A socket that is closed with bytes unread is reset, and the answer may be lost on its way.
void Connection::leave(std::uint64_t now_ns) {
  in_ = {};
  ::shutdown(fd_.get(), SHUT_WR);
  begin(State::kLeaving, limits_.leave_ms, now_ns);
}

void Connection::throw_away() {
  char bytes[kReadBytes];
  const ssize_t got =
      uninterrupted([&] { return ::recv(fd_.get(), bytes, sizeof(bytes), MSG_DONTWAIT); });
  if (got > 0) thrown_away_ += static_cast<std::size_t>(got);
  if (got == 0 || (got < 0 && !would_wait()) || thrown_away_ > limits_.leave_bytes)
    state_ = State::kOver;
}

}  // namespace tidemark
