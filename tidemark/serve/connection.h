// SPDX-License-Identifier: Apache-2.0
// One connection: what came of its request, what of the answer is left to send, and until when it
// may take. It never waits: whoever owns it says when the socket can be read or written.
//
//            a whole head                  answered               all sent
//  kReading ──────────────▶ kAnswering ──────────────▶ kSending ──────────▶ kReading again, or
//                                                                            kLeaving ──▶ over
#pragma once

#include <cstdint>
#include <string>

#include "tidemark/base/unique_fd.h"
#include "tidemark/serve/http_text.h"

namespace tidemark {

struct ConnectionLimits {
  std::size_t head_bytes = 16 * 1024;  // of a request line and its headers
  std::uint32_t requests = 1000;       // then it is closed, and others have their turn
  std::uint64_t idle_ms = 30'000;      // between two requests
  std::uint64_t head_ms = 10'000;      // from the first byte of a head to its last
  std::uint64_t send_ms = 60'000;      // a whole answer
  std::uint64_t leave_ms = 1'000;      // until the other side has read the last answer
  std::size_t leave_bytes = 1 << 20;   // that it may send meanwhile
};

class Connection {
 public:
  enum class State { kReading, kAnswering, kSending, kLeaving, kOver };

  Connection(UniqueFd fd, const ConnectionLimits& limits, std::uint64_t now_ns);

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] std::uint64_t deadline_ns() const { return deadline_ns_; }
  [[nodiscard]] std::uint64_t unsent_bytes() const { return out_.size() - sent_; }
  // What poll() is asked for.
  [[nodiscard]] short events() const;

  // The socket is ready. Afterwards `take_head` may have something.
  void go_on(std::uint64_t now_ns);
  void pass_deadline(std::uint64_t now_ns);

  // The next whole head, if it is kReading and one is there: then it is kAnswering.
  bool take_head(std::string& head, bool& last, std::uint64_t now_ns);
  void send(HttpAnswer answer, std::uint64_t now_ns);

 private:
  void read_some(std::uint64_t now_ns);
  void send_some(std::uint64_t now_ns);
  void leave(std::uint64_t now_ns);
  void throw_away();
  void begin(State state, std::uint64_t limit_ms, std::uint64_t now_ns);

  UniqueFd fd_;
  ConnectionLimits limits_;
  State state_ = State::kReading;
  std::uint64_t deadline_ns_ = 0;
  std::string in_;
  std::string out_;
  std::size_t sent_ = 0;
  bool closes_ = false;
  std::uint32_t requests_ = 0;
  std::size_t thrown_away_ = 0;
};

}  // namespace tidemark
