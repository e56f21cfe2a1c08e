// SPDX-License-Identifier: Apache-2.0
// A pool whose entries are taken at the head and freed at the tail, in the order of the tasks that
// took them. Head and tail only grow.
#pragma once

#include <cstdint>

#include "tidemark/base/check.h"
#include "tidemark/base/host_device.h"

namespace tidemark {

class CounterRing {
 public:
  TM_DEVICE constexpr explicit CounterRing(std::uint32_t capacity) : capacity_(capacity) {}

  TM_DEVICE constexpr bool full() const { return head_ - tail_ == capacity_; }
  // The place of the new entry.
  TM_DEVICE constexpr std::uint32_t push() {
    TM_CHECK(!full());
    const std::uint32_t place = place_;
    place_ = place + 1 < capacity_ ? place + 1 : 0;
    ++head_;
    return place;
  }
  TM_DEVICE constexpr std::uint32_t place(std::uint64_t position) const {
    return static_cast<std::uint32_t>(position % capacity_);
  }
  TM_DEVICE constexpr void free_up_to(std::uint64_t mark) {
    TM_CHECK(mark >= tail_);
    TM_CHECK(mark <= head_);
    tail_ = mark;
  }
  TM_DEVICE constexpr std::uint64_t used() const { return head_ - tail_; }
  TM_DEVICE constexpr std::uint64_t head() const { return head_; }
  TM_DEVICE constexpr std::uint64_t tail() const { return tail_; }
  TM_DEVICE constexpr std::uint32_t capacity() const { return capacity_; }

 private:
  std::uint32_t capacity_;
  std::uint32_t place_ = 0;  // of the head: a division is slow on a GPU
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
};

}  // namespace tidemark
