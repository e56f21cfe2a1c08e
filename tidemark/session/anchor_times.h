// SPDX-License-Identifier: Apache-2.0
// When readings of the device's clock are due: every second at first, and half as often each time
// there are enough of them, so that a run of months has hardly more than a run of minutes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tidemark/run/run_report.h"

namespace tidemark {

class AnchorTimes {
 public:
  bool is_due(std::uint64_t elapsed_ms) {
    if (elapsed_ms < next_ms_) return false;
    if (++count_ >= kAnchorsMax) {
      count_ /= 2;
      every_ms_ *= 2;
    }
    next_ms_ = (elapsed_ms / every_ms_ + 1) * every_ms_;
    return true;
  }

 private:
  std::uint64_t next_ms_ = 0;
  std::uint64_t every_ms_ = 1000;
  std::size_t count_ = 0;
};

}  // namespace tidemark
