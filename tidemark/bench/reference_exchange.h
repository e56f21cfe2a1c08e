// SPDX-License-Identifier: Apache-2.0
// The reference of 'bench producer', without project headers: plain stores into pages, two rings of
// page indices, one release per page, any sink. Swap in your own: only what is public is used.
// clang-format off
#pragma once
#include <sched.h>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace reference {
using Sink = void (*)(void* context, const unsigned char* page, std::size_t bytes);
class Exchange {
 public:
  Exchange(unsigned char* memory, std::uint32_t page_count, std::size_t page_bytes)
      : memory_(memory), page_bytes_(page_bytes), slots_(1) {
    while (slots_ < page_count) slots_ *= 2;
    free_ = std::make_unique<std::uint32_t[]>(slots_);
    full_ = std::make_unique<std::uint32_t[]>(slots_);
    for (std::uint32_t page = 0; page < page_count; ++page) free_[page] = page;
    free_pushed_.store(page_count);
  }

  // Producer: writes records number .. number + count - 1.
  template <std::size_t kBytes>
  void produce(std::uint64_t number, std::uint64_t count) {
    constexpr std::uint64_t kLow48 = (std::uint64_t{1} << 48) - 1;
    for (const std::uint64_t stop = number + count; number < stop; ++number) {
      if (cursor_ == end_) turn_page<kBytes>();
      auto* word = reinterpret_cast<std::uint64_t*>(cursor_);
      word[0] = number;
      word[1] = number & kLow48;
      word[2] = 7 | std::uint64_t{3} << 32 | std::uint64_t{1} << 48;
      word[3] = (number + 1) & kLow48;
      for (std::size_t i = 4; i < kBytes / 8; ++i) word[i] = number;
      cursor_ += kBytes;
    }
  }
  void flush() { if (cursor_ != begin_) publish(); }
  // Consumer: gives the oldest full page to the sink and back to the producer.
  bool drain_one(Sink sink, void* context) {
    if (drained_ == full_pushed_.load(std::memory_order_acquire)) return false;
    const std::uint32_t page = full_[drained_ & (slots_ - 1)];
    sink(context, memory_ + page * page_bytes_, page_bytes_);
    const std::uint64_t pushed = free_pushed_.load(std::memory_order_relaxed);
    free_[pushed & (slots_ - 1)] = page;
    free_pushed_.store(pushed + 1, std::memory_order_release);
    return ++drained_ != 0;
  }

 private:
  void publish() {
    const std::uint64_t pushed = full_pushed_.load(std::memory_order_relaxed);
    full_[pushed & (slots_ - 1)] = page_;
    full_pushed_.store(pushed + 1, std::memory_order_release);
    begin_ = cursor_ = end_ = nullptr;
  }
  template <std::size_t kBytes>
  __attribute__((noinline)) void turn_page() {
    if (begin_ != nullptr) publish();
    for (int spin = 0; taken_ == free_pushed_.load(std::memory_order_acquire); ++spin)
      if (spin > 64) ::sched_yield();
    page_ = free_[taken_++ & (slots_ - 1)];
    begin_ = cursor_ = memory_ + page_ * page_bytes_;
    end_ = begin_ + page_bytes_ / kBytes * kBytes;
  }

  unsigned char* memory_;
  std::size_t page_bytes_;
  std::uint64_t slots_;
  std::unique_ptr<std::uint32_t[]> free_, full_;
  alignas(64) std::atomic<std::uint64_t> free_pushed_{0};  // writer: consumer
  alignas(64) std::atomic<std::uint64_t> full_pushed_{0};  // writer: producer
  alignas(64) unsigned char *begin_ = nullptr, *cursor_ = nullptr, *end_ = nullptr;
  std::uint64_t taken_ = 0;
  std::uint32_t page_ = 0;
  alignas(64) std::uint64_t drained_ = 0;
};
}  // namespace reference
