// SPDX-License-Identifier: Apache-2.0
// Test support: how a unit of a test waits. Sleep has no timeout, so that a wake-up that is lost
// stays lost; it gives up only after a time no test takes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace tidemark {

struct YieldEnv {
  using Clock = std::chrono::steady_clock;

  static std::uint64_t now_ticks() {
    return static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
  }
  static std::uint64_t ordered_ticks() { return now_ticks(); }
  static void pause(std::uint32_t) { std::this_thread::yield(); }
  static void take_turn(std::uint32_t) { std::this_thread::yield(); }
  static void wait_for_space(std::uint32_t) { std::this_thread::yield(); }
  template <class Word>
  static void sleep(const Word& word, std::uint32_t heard) {
    sleeps.fetch_add(1, std::memory_order_relaxed);
    const auto end = Clock::now() + std::chrono::seconds(60);
    while (word.load_acquire() == heard) {
      std::this_thread::yield();
      if (Clock::now() < end) continue;
      lost.store(true);
      return;
    }
  }
  template <class Word>
  static void wake(const Word&) {}

  static void fences() { fence_count.fetch_add(1, std::memory_order_relaxed); }

  static inline std::atomic<std::uint64_t> sleeps{0}, fence_count{0};
  static inline std::atomic<bool> lost{false};
};

}  // namespace tidemark
