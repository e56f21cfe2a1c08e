// SPDX-License-Identifier: Apache-2.0
// The units of a simulated device by turns: only one of them runs at any time, and it runs until it
// waits. Their clock moves only by what they do. So a run has the same order and the same times
// every time, whatever else the machine does.
//
// The next one is the next unit by number that has something to do. If all sleep, the clock goes on
// to the first one that wakes.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace tidemark::approved {

// One orchestrator, one scheduler, one cluster of three cores: a machine of two processors.
inline constexpr std::uint32_t kUnits = 5;
inline constexpr std::uint64_t kEpochNs = 1'000'000'000;  // the device's clock at launch

class Turns {
 public:
  // A unit's first call waits for its turn. The scheduler begins: the orchestrator starts when all
  // other units are there.
  void enter(std::uint32_t unit);
  // It will not take part any more.
  void leave(std::uint32_t unit);

  // Others may go on.
  void yield(std::uint32_t unit);
  void sleep(std::uint32_t unit, std::uint64_t ns);
  // Until somebody wakes the word, or the time is over.
  void sleep_on(std::uint32_t unit, const void* word, std::uint64_t ns);
  void wake(const void* word);

  // For the unit whose turn it is: every look takes some time, not always the same, so that two
  // spans are hardly ever equally long.
  std::uint64_t tick();
  // For everybody else.
  [[nodiscard]] std::uint64_t now_ns() const { return clock_ns_.load(); }

 private:
  static constexpr std::uint64_t kLookNs = 100;
  static constexpr std::uint64_t kLookSpreadNs = 1'900;
  static constexpr std::uint64_t kTurnNs = 1'000;

  struct Unit {
    std::condition_variable turn;
    std::uint64_t wakes_ns = 0;
    const void* word = nullptr;
    bool left = false;
  };

  void hand_over(std::uint32_t unit, std::uint64_t wakes_ns, const void* word);
  void choose_next(std::uint32_t after);

  std::mutex mutex_;
  Unit units_[kUnits];
  std::uint32_t current_ = 1;
  std::uint64_t looks_ = 0;
  std::atomic<std::uint64_t> clock_ns_{kEpochNs};
};

}  // namespace tidemark::approved
