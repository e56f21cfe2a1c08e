// SPDX-License-Identifier: Apache-2.0
// Who runs a dispatch that was given to a core behind another one: that core, when it comes to it,
// or a scheduler that takes it first because the core is in a slow kernel. One word decides.
//
//    63     62                                   3     2       1        0
//  ┌─────────┬─────────────────────────────────────┬────────┬───────┬──────────┐
//  │ visited │ age: tasks taken from its queues    │ copied │ taken │ may move │
//  │         │ when it was given                   │        │       │          │
//  └─────────┴─────────────────────────────────────┴────────┴───────┴──────────┘
//    worker    the core's scheduler, before the      taker    taker   scheduler
//              token
//
// A dispatch is copied out of its cell only after it is taken, and the cell is used again only
// after it is copied.
#pragma once

#include <cstdint>

#include "tidemark/runtime/device_word.h"

namespace tidemark {

class DispatchClaim {
 public:
  // By the core's scheduler, with the dispatch; its token publishes both.
  TM_DEVICE void give(std::uint64_t age, bool may_move) {
    word_.store_release(age << kAgeShift | (may_move ? kMayMove : 0));  // [dispatch may move]
  }
  // By the worker, once. False: it was taken, so pass over it.
  TM_DEVICE bool visit() {
    // alone: it only decides; what the worker reads came with the token
    return (word_.add_acq_rel(kVisited) & kTaken) == 0;
  }
  // True: nobody has come to it; `age` says since when.
  TM_DEVICE bool waits(std::uint64_t& age) const {
    const std::uint64_t word = word_.load_relaxed();
    age = word >> kAgeShift;
    return (word & (kVisited | kCopied | kTaken | kMayMove)) == kMayMove;
  }
  // By a scheduler that has a core for it. True: it is the caller's, who copies the dispatch and
  // says so. Another dispatch of the same age may have come into the cell meanwhile: that one is
  // taken then.
  TM_DEVICE bool take(std::uint64_t age) {
    std::uint64_t seen = age << kAgeShift | kMayMove;
    return word_.replace_acq_rel(seen, seen | kTaken);  // pairs with [dispatch may move]
  }
  TM_DEVICE void copied() { word_.add_acq_rel(kCopied); }  // [dispatch copied]

  enum class Fate { kRun, kMoving, kMoved };
  // By the core's scheduler, of what the worker is finished with.
  TM_DEVICE Fate fate() const {
    const std::uint64_t word = word_.load_acquire();  // pairs with [dispatch copied]
    if ((word & kTaken) == 0) return Fate::kRun;
    return (word & kCopied) == 0 ? Fate::kMoving : Fate::kMoved;
  }

 private:
  static constexpr std::uint64_t kMayMove = 1;
  static constexpr std::uint64_t kTaken = 2;
  static constexpr std::uint64_t kCopied = 4;
  static constexpr std::uint32_t kAgeShift = 3;
  static constexpr std::uint64_t kVisited = std::uint64_t{1} << 63;

  DeviceWord<std::uint64_t> word_;
};
static_assert(sizeof(DispatchClaim) == 8);

}  // namespace tidemark
