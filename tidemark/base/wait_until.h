// SPDX-License-Identifier: Apache-2.0
// Waiting, bounded, for something that nobody announces.
#pragma once

#include <cstdint>

#include "tidemark/base/monotonic_clock.h"

namespace tidemark {

// Looks at once and then every pause_ms. False: done() was not true within timeout_ms of pauses.
template <class Done>
bool wait_until(const Done& done, std::uint32_t timeout_ms, std::uint32_t pause_ms) {
  for (std::uint64_t waited_ms = 0; !done(); waited_ms += pause_ms) {
    if (waited_ms >= timeout_ms) return false;
    sleep_ms(pause_ms);
  }
  return true;
}

}  // namespace tidemark
