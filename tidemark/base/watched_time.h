// SPDX-License-Identifier: Apache-2.0
// Time as a watcher may charge it to others: what passes between two looks counts only up to a
// limit. A watcher that was itself stopped (a signal, a debugger, a paused machine) has seen
// nothing of that time, and a clock that goes back charges nothing.
#pragma once

#include <cstdint>

#include "tidemark/base/host_device.h"

namespace tidemark {

class WatchedTime {
 public:
  WatchedTime() = default;
  // `step_max`: several times the usual pause between two looks.
  TM_DEVICE constexpr explicit WatchedTime(std::uint64_t step_max) : step_max_(step_max) {}

  // The time watched so far, at a reading of the clock. The first reading is the beginning.
  TM_DEVICE constexpr std::uint64_t look(std::uint64_t now) {
    const std::uint64_t passed = looked_ && now > last_ ? now - last_ : 0;
    surplus_ = passed > step_max_ ? passed - step_max_ : 0;
    watched_ += passed - surplus_;
    last_ = now;
    looked_ = true;
    return watched_;
  }
  // A look that charges nothing: whoever is watched is known to be held.
  TM_DEVICE constexpr void pass(std::uint64_t now) {
    last_ = now;
    looked_ = true;
  }
  // What the last look did not charge.
  [[nodiscard]] TM_DEVICE constexpr std::uint64_t surplus() const { return surplus_; }
  [[nodiscard]] TM_DEVICE constexpr std::uint64_t last() const { return last_; }
  [[nodiscard]] TM_DEVICE constexpr std::uint64_t watched() const { return watched_; }

 private:
  std::uint64_t step_max_ = 0;
  std::uint64_t watched_ = 0;
  std::uint64_t last_ = 0;
  std::uint64_t surplus_ = 0;
  bool looked_ = false;
};

}  // namespace tidemark
