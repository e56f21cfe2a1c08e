// SPDX-License-Identifier: Apache-2.0
// The shared pool's pages in the host's hands, and the rule for giving them out: by starvation, not
// by arrivals. A lane that holds none is served first; nobody gets a second page while an open lane
// holds none. Used by all drain threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "tidemark/transport/page.h"

namespace tidemark {

class PagePool {
 public:
  explicit PagePool(std::uint32_t page_count) : page_count_(page_count) {
    free_.reserve(page_count);
    for (PageIndex page = page_count; page-- > 0;) free_.push_back(page);
    min_free_ = page_count;
  }

  // For a lane that holds none. kNoPageIndex: none left; the lane is remembered as starving until
  // it asks again.
  PageIndex take_for_starving(bool already_starving) {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      if (!already_starving) starving_.fetch_add(1, std::memory_order_relaxed);
      return kNoPageIndex;
    }
    if (already_starving) starving_.fetch_sub(1, std::memory_order_relaxed);
    return take();
  }

  // For a lane that holds some already.
  PageIndex take_extra() {
    const std::lock_guard lock(mutex_);
    return anybody_starves() || free_.empty() ? kNoPageIndex : take();
  }

  void give_back(PageIndex page) {
    const std::lock_guard lock(mutex_);
    free_.push_back(page);
  }

  // Asked for every page: without the lock.
  [[nodiscard]] bool anybody_starves() const {
    return starving_.load(std::memory_order_relaxed) > 0;
  }
  [[nodiscard]] std::uint32_t page_count() const { return page_count_; }
  [[nodiscard]] std::uint32_t min_free() const {
    const std::lock_guard lock(mutex_);
    return min_free_;
  }
  [[nodiscard]] std::uint32_t free_count() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::uint32_t>(free_.size());
  }

 private:
  PageIndex take() {
    const PageIndex page = free_.back();
    free_.pop_back();
    min_free_ = std::min(min_free_, static_cast<std::uint32_t>(free_.size()));
    return page;
  }

  const std::uint32_t page_count_;
  mutable std::mutex mutex_;
  std::vector<PageIndex> free_;
  std::atomic<std::uint32_t> starving_{0};  // changed under the lock; alone: only a figure
  std::uint32_t min_free_ = 0;
};

}  // namespace tidemark
