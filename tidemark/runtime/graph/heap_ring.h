// SPDX-License-Identifier: Apache-2.0
// Memory for the outputs of tasks, or for their arguments, in the order of the tasks: allocated at
// the head, freed at the tail. Head and tail only grow; what lies between them is used. A request
// never straddles the end: the bytes left over there are skipped and count as used until the tail
// passes them.
#pragma once

#include <cstdint>

#include "tidemark/base/align.h"
#include "tidemark/base/check.h"
#include "tidemark/schema/task_limits.h"

namespace tidemark {

template <std::uint64_t kAlign>
class ByteRing {
 public:
  // A capacity that is no multiple of kAlign loses the rest.
  TM_DEVICE constexpr explicit ByteRing(std::uint64_t capacity_bytes)
      : capacity_(capacity_bytes / kAlign * kAlign) {}

  enum class Answer : std::uint8_t { kAllocated, kFull, kTooLarge };
  struct Allocation {
    Answer answer = Answer::kFull;
    std::uint64_t offset = 0;  // from the beginning of the ring's memory
    std::uint64_t mark = 0;    // the head after it: what free_up_to takes
  };

  // kFull: there is no room now. kTooLarge: there never will be. Also nothing has a place of its
  // own: one unit.
  TM_DEVICE constexpr Allocation allocate(std::uint64_t bytes) {
    if (bytes > capacity_ || capacity_ == 0) return {.answer = Answer::kTooLarge};
    const std::uint64_t wanted = bytes == 0 ? kAlign : round_up(bytes, kAlign);
    if (head_ == tail_) start_anew();
    const std::uint64_t skipped = wanted > capacity_ - position_ ? capacity_ - position_ : 0;
    if (wanted + skipped > free_bytes()) return {.answer = Answer::kFull};
    const std::uint64_t offset = skipped > 0 ? 0 : position_;
    head_ += skipped + wanted;
    position_ = offset + wanted < capacity_ ? offset + wanted : 0;
    return {.answer = Answer::kAllocated, .offset = offset, .mark = head_};
  }

  // Everything allocated before `mark` is free. Marks come in order.
  TM_DEVICE constexpr void free_up_to(std::uint64_t mark) {
    TM_CHECK(mark >= tail_);
    TM_CHECK(mark <= head_);
    tail_ = mark;
  }

  TM_DEVICE constexpr std::uint64_t used_bytes() const { return head_ - tail_; }
  TM_DEVICE constexpr std::uint64_t free_bytes() const { return capacity_ - used_bytes(); }
  TM_DEVICE constexpr std::uint64_t capacity() const { return capacity_; }
  TM_DEVICE constexpr std::uint64_t head() const { return head_; }
  TM_DEVICE constexpr std::uint64_t tail() const { return tail_; }

 private:
  // An empty ring goes on at its beginning, so that a request of any size finds all of it.
  TM_DEVICE constexpr void start_anew() {
    if (position_ != 0) head_ += capacity_ - position_;
    tail_ = head_;
    position_ = 0;
  }

  std::uint64_t capacity_;
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
  std::uint64_t position_ = 0;  // of the head in this lap: a division is slow on a GPU
};
using HeapRing = ByteRing<kHeapAlign>;
using ArgRing = ByteRing<64>;

}  // namespace tidemark
