// SPDX-License-Identifier: Apache-2.0
// The slots of one ring's live tasks. Tasks are numbered as they are made; task n is in slot
// n & mask until the tail has passed it. One slot stays free, so that full and empty differ.
#pragma once

#include <cstdint>

#include "tidemark/base/align.h"
#include "tidemark/base/check.h"

namespace tidemark {

class TaskWindow {
 public:
  TM_DEVICE constexpr explicit TaskWindow(std::uint32_t slot_count) : slot_count_(slot_count) {
    TM_CHECK(is_power_of_two(slot_count));
    TM_CHECK(slot_count >= 2);
  }

  TM_DEVICE constexpr bool full() const { return live_count() == slot_count_ - 1; }
  // Before the first task: numbers do not begin at 0.
  TM_DEVICE constexpr void start_at(std::uint64_t number) {
    TM_CHECK(live_count() == 0);
    head_ = tail_ = number;
  }
  // The number of the new task.
  TM_DEVICE constexpr std::uint64_t push() {
    TM_CHECK(!full());
    return head_++;
  }
  // Every task below `number` is gone.
  TM_DEVICE constexpr void retire_below(std::uint64_t number) {
    TM_CHECK(number >= tail_);
    TM_CHECK(number <= head_);
    tail_ = number;
  }

  TM_DEVICE constexpr std::uint32_t slot_of(std::uint64_t number) const {
    return static_cast<std::uint32_t>(number & (slot_count_ - 1));
  }
  TM_DEVICE constexpr bool is_live(std::uint64_t number) const {
    return number >= tail_ && number < head_;
  }
  TM_DEVICE constexpr std::uint64_t live_count() const { return head_ - tail_; }
  TM_DEVICE constexpr std::uint64_t head() const { return head_; }
  TM_DEVICE constexpr std::uint64_t tail() const { return tail_; }
  TM_DEVICE constexpr std::uint32_t slot_count() const { return slot_count_; }

 private:
  std::uint32_t slot_count_;
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
};

}  // namespace tidemark
