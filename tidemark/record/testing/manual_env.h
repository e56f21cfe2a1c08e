// SPDX-License-Identifier: Apache-2.0
// Test support: a device leaf whose clock only moves when it is asked, and whose pauses are a place
// where a test plays the host. One producer at a time.
#pragma once

#include <cstdint>
#include <functional>

namespace tidemark {

struct ManualEnv {
  static inline std::uint64_t ticks = 0;
  static inline std::uint64_t pauses = 0;
  static inline std::uint64_t pause_ticks = 10;
  static inline std::function<void()> on_pause;

  static void reset() {
    ticks = 1000;
    pauses = 0;
    pause_ticks = 10;
    on_pause = nullptr;
  }
  static std::uint64_t now_ticks() { return ++ticks; }
  static void pause(std::uint32_t) {
    ++pauses;
    ticks += pause_ticks;
    if (on_pause) on_pause();
  }
};

}  // namespace tidemark
