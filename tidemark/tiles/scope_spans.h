// SPDX-License-Identifier: Apache-2.0
// Scopes as spans, from their begins and ends. What the recorder lost of them leaves no scope open:
// an end without its begin is passed over; a begin without its end ends with the first boundary
// that is no deeper, since by then it was over, or with the last boundary there is.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/schema/scope_boundary.h"

namespace tidemark {

class ScopeSpans {
 public:
  // fn(begin boundary, end ticks) for each scope that ends here, inner ones first.
  template <class Fn>
  void take(const ScopeBoundary& boundary, const Fn& fn) {
    last_ticks_ = boundary.time_ticks;
    while (!open_.empty() && open_.back().depth >= boundary.depth) close(fn);
    if (boundary.phase == ScopeBoundary::Phase::kBegin) open_.push_back(boundary);
  }
  template <class Fn>
  void finish(const Fn& fn) {
    while (!open_.empty()) close(fn);
  }

 private:
  template <class Fn>
  void close(const Fn& fn) {
    fn(open_.back(), last_ticks_);
    open_.pop_back();
  }

  std::vector<ScopeBoundary> open_;  // each deeper than the one before: never more than depths
  std::uint64_t last_ticks_ = 0;
};

}  // namespace tidemark
