// SPDX-License-Identifier: Apache-2.0
// A port of this machine that only this machine can reach.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/base/expected.h"
#include "tidemark/base/unique_fd.h"

namespace tidemark {

struct Listener {
  std::uint16_t port = 0;
  std::vector<UniqueFd> sockets;  // 127.0.0.1, and ::1 where it is free
};

// Port 0: any that is free.
Expected<Listener> listen_on_loopback(std::uint16_t port);

}  // namespace tidemark
