// SPDX-License-Identifier: Apache-2.0
// What recording costs a unit: its own figures, for all its lanes, and the line where it shows
// them. The line is written and never read back: on a GPU it is in host memory, and a read of that
// takes about a microsecond.
#pragma once

#include <cstdint>

#include "tidemark/transport/lane.h"

namespace tidemark {

class RecorderCosts {
 public:
  TM_DEVICE explicit RecorderCosts(RecorderLine* line) : line_(line) {}

  TM_DEVICE std::uint64_t waited_ticks() const { return waited_ticks_; }

  TM_DEVICE void wait_begins(std::uint64_t now_ticks) {
    line_->waiting_since_ticks.store_relaxed(now_ticks);
    line_->waiting.store_release(1);  // [wait begun]
  }
  TM_DEVICE void wait_ended(std::uint64_t ticks) {
    waited_ticks_ += ticks;
    line_->waited_ticks.store_relaxed(waited_ticks_);
    line_->waiting.store_release(0);  // [wait ended]
  }
  TM_DEVICE void page_opened() { line_->pages.store_relaxed(++pages_); }

 private:
  RecorderLine* line_;
  std::uint64_t waited_ticks_ = 0;
  std::uint64_t pages_ = 0;
};

}  // namespace tidemark
