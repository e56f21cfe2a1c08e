// SPDX-License-Identifier: Apache-2.0
// Waiting, bounded, for something that nobody announces.
#pragma once

#include <cstdint>

#include "tidemark/base/monotonic_clock.h"

namespace tidemark {

// Looks at once and then about every pause_ms. False: done() was not true within timeout_ms.
template <class Done>
bool wait_until(const Done& done, std::uint32_t timeout_ms, std::uint32_t pause_ms) {
  const std::uint64_t end_ns = monotonic_ns() + timeout_ms * 1'000'000ull;
  while (!done()) {
    if (monotonic_ns() >= end_ns) return false;
    sleep_ms(pause_ms);
  }
  return true;
}

}  // namespace tidemark
