// SPDX-License-Identifier: Apache-2.0
// Scopes as spans, from their begins and ends. What the recorder lost of them leaves no scope open:
// an end without its begin is passed over; a begin without its end ends with the scope around it,
// or with the last boundary there is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tidemark/schema/scope_boundary.h"

namespace tidemark {

class ScopeSpans {
 public:
  // Deeper ones of a damaged capture are passed over.
  static constexpr std::size_t kOpenMost = 65536;

  // fn(begin boundary, end ticks) for each scope that ends here, inner ones first.
  template <class Fn>
  void take(const ScopeBoundary& boundary, const Fn& fn) {
    last_ticks_ = boundary.time_ticks;
    if (boundary.phase == ScopeBoundary::Phase::kBegin) {
      if (open_.size() < kOpenMost) open_.push_back(boundary);
      return;
    }
    const auto is_it = [&](const ScopeBoundary& begun) { return begun.serial == boundary.serial; };
    const auto found = std::find_if(open_.rbegin(), open_.rend(), is_it);
    if (found == open_.rend()) return;
    close(static_cast<std::size_t>(open_.rend() - found) - 1, fn);
  }
  template <class Fn>
  void finish(const Fn& fn) {
    close(0, fn);
  }

 private:
  template <class Fn>
  void close(std::size_t down_to, const Fn& fn) {
    for (; open_.size() > down_to; open_.pop_back()) fn(open_.back(), last_ticks_);
  }

  std::vector<ScopeBoundary> open_;
  std::uint64_t last_ticks_ = 0;
};

}  // namespace tidemark
