// SPDX-License-Identifier: Apache-2.0
// All connections of a server on one thread that never waits for one of them, and a few threads
// that make answers. A connection costs a thread only while its whole request is being answered, so
// a thousand that say nothing, or say it slowly, hold nobody up.
#pragma once

#include <functional>

#include "tidemark/serve/connection.h"
#include "tidemark/serve/listener.h"

namespace tidemark {

struct LoopLimits {
  ConnectionLimits connection = {};
  // Beyond it the one that has waited longest for its request is closed. The system's limit on open
  // files may allow less.
  std::size_t connections = 2048;
  std::uint64_t unsent_bytes = 64ull << 20;  // beyond it no further request is taken
  std::uint32_t threads = 4;
};

// Called by several threads: a head to its answer.
using HeadAnswerer = std::function<HttpAnswer(const std::string& head, bool last)>;

// Returns once `stop_fd` is readable; all connections are then closed.
Expected<void> serve_connections(const Listener& listener, const HeadAnswerer& answer, int stop_fd,
                                 const LoopLimits& limits = {});

}  // namespace tidemark
