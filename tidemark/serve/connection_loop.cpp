// SPDX-License-Identifier: Apache-2.0
#include "tidemark/serve/connection_loop.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <utility>

#include "tidemark/base/monotonic_clock.h"
#include "tidemark/serve/answer_threads.h"

namespace tidemark {
namespace {

constexpr std::size_t kOwnFiles = 64;  // open files that are no connections
constexpr std::size_t kConnectionsMin = 8;
constexpr std::size_t kAcceptsAtOnce = 256;
constexpr std::uint64_t kLongestWaitMs = 1000;
constexpr std::uint64_t kPauseMs = 20;  // of accepting, where the system has no room

std::size_t connections_max(std::size_t wanted) {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return wanted;
  const auto allowed = static_cast<std::size_t>(files.rlim_cur);
  const std::size_t room = allowed > kOwnFiles ? allowed - kOwnFiles : 0;
  return std::max(kConnectionsMin, std::min(wanted, room));
}

class ConnectionLoop {
 public:
  ConnectionLoop(const Listener& listener, const HeadAnswerer& answer, int stop_fd,
                 const LoopLimits& limits)
      : listener_(listener),
        stop_fd_(stop_fd),
        limits_(limits),
        most_(connections_max(limits.connections)),
        threads_(limits.threads, answer) {}

  Expected<void> run() {
    for (;;) {
      TM_TRY(const bool stopped, wait());
      if (stopped) return {};
      now_ns_ = monotonic_ns();
      for (auto& [number, answer] : threads_.take_answers())
        if (const auto found = connections_.find(number); found != connections_.end())
          found->second->send(std::move(answer), now_ns_);
      for (std::size_t i = 0; i < polled_.size(); ++i)
        if (ready(i + first_connection_)) polled_[i]->second->go_on(now_ns_);
      tend();
      for (std::size_t i = 0; i < listener_.sockets.size(); ++i)
        if (accepts_ && ready(2 + i)) accept_from(listener_.sockets[i].get());
    }
  }

 private:
  using Connections = std::map<std::uint64_t, std::unique_ptr<Connection>>;

  // Whose descriptors are in `polls_`: the stop, the answers, the listeners, then `polled_`.
  Expected<bool> wait() {
    accepts_ = monotonic_ns() >= paused_until_ns_;
    polls_.assign({{stop_fd_, POLLIN, 0}, {threads_.fd(), POLLIN, 0}});
    for (const auto& socket : listener_.sockets)
      polls_.push_back({accepts_ ? socket.get() : -1, POLLIN, 0});
    first_connection_ = polls_.size();
    polled_.clear();
    std::uint64_t until_ns = monotonic_ns() + kLongestWaitMs * 1'000'000;
    if (!accepts_) until_ns = std::min(until_ns, paused_until_ns_);
    for (auto at = connections_.begin(); at != connections_.end(); ++at) {
      const Connection& one = *at->second;
      until_ns = std::min(until_ns, one.deadline_ns());
      if (one.events() == 0) continue;  // what is being answered is looked at again afterwards
      polls_.push_back({one.fd(), one.events(), 0});
      polled_.push_back(at);
    }
    const std::uint64_t now = monotonic_ns();
    const auto wait_ms = until_ns > now ? static_cast<int>((until_ns - now) / 1'000'000 + 1) : 0;
    if (::poll(polls_.data(), polls_.size(), wait_ms) < 0) {
      if (errno != EINTR) return failure(ErrorKind::kFile, "poll: {}", std::strerror(errno));
      for (auto& one : polls_) one.revents = 0;
    }
    return polls_[0].revents != 0;
  }

  [[nodiscard]] bool ready(std::size_t at) const { return polls_[at].revents != 0; }

  // Ends those that are over or late, and hands whole requests to the threads.
  void tend() {
    std::uint64_t unsent = 0;
    std::size_t answering = 0;
    for (auto& [number, connection] : connections_) {
      if (connection->deadline_ns() <= now_ns_) connection->pass_deadline(now_ns_);
      unsent += connection->unsent_bytes();
      answering += connection->state() == Connection::State::kAnswering;
    }
    if (unsent <= limits_.unsent_bytes) ask_in_turn(limits_.threads * 2 - answering);
    std::erase_if(connections_,
                  [](const auto& one) { return one.second->state() == Connection::State::kOver; });
  }

  // At most so many, and after the one that was asked last: whoever asks all the time has his turn
  // after everybody else.
  void ask_in_turn(std::size_t most) {
    AnswerThreads::Question question;
    auto at = connections_.upper_bound(asked_last_);
    for (std::size_t left = connections_.size(); left > 0 && most > 0; --left, ++at) {
      if (at == connections_.end()) at = connections_.begin();
      if (!at->second->take_head(question.head, question.last, now_ns_)) continue;
      asked_last_ = question.connection = at->first;
      threads_.ask(std::exchange(question, {}));
      --most;
    }
  }

  // So many at once, so that others have their turn; the rest is still there next time.
  void accept_from(int socket) {
    for (std::size_t count = 0; count < kAcceptsAtOnce; ++count) {
      UniqueFd fd(::accept4(socket, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!fd.valid()) {
        const bool full = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
        if (full && !end_longest_waiting()) paused_until_ns_ = now_ns_ + kPauseMs * 1'000'000;
        if (full || errno == EAGAIN) return;
        continue;  // that one has gone again
      }
      if (connections_.size() >= most_ && !end_longest_waiting()) continue;  // closed at once
      connections_.emplace(
          next_number_++, std::make_unique<Connection>(std::move(fd), limits_.connection, now_ns_));
    }
  }

  // Of those from which no whole request came, the one whose time is up first. False: there is
  // none.
  bool end_longest_waiting() {
    auto oldest = connections_.end();
    for (auto at = connections_.begin(); at != connections_.end(); ++at) {
      const auto state = at->second->state();
      if (state != Connection::State::kReading && state != Connection::State::kLeaving) continue;
      if (oldest == connections_.end() || at->second->deadline_ns() < oldest->second->deadline_ns())
        oldest = at;
    }
    if (oldest == connections_.end()) return false;
    connections_.erase(oldest);
    return true;
  }

  const Listener& listener_;
  int stop_fd_;
  LoopLimits limits_;
  std::size_t most_;
  Connections connections_;  // by number, in the order in which they came
  std::uint64_t next_number_ = 1;
  std::uint64_t asked_last_ = 0;
  std::uint64_t now_ns_ = 0;
  std::uint64_t paused_until_ns_ = 0;
  bool accepts_ = true;
  std::vector<pollfd> polls_;
  std::size_t first_connection_ = 0;
  std::vector<Connections::iterator> polled_;
  AnswerThreads threads_;
};

}  // namespace

Expected<void> serve_connections(const Listener& listener, const HeadAnswerer& answer, int stop_fd,
                                 const LoopLimits& limits) {
  return ConnectionLoop(listener, answer, stop_fd, limits).run();
}

}  // namespace tidemark
