// SPDX-License-Identifier: Apache-2.0
// Who runs a dispatch that waits in a mailbox behind another one: its core, or a scheduler that
// takes it for an idle core. The word is used only for tokens that are contested (mailbox.h).
//
//    63                                                2 1       0
//  ┌────────────────────────────────────────────────────┬─────────┐
//  │ token: whose dispatch this is about                │ state   │
//  └────────────────────────────────────────────────────┴─────────┘
//   open ─▶ the core's                     by the worker
//   open ─▶ taken ─▶ copied                by the scheduler that takes it
//
// A word of a lower token is open. A dispatch is copied out of its cell after it is taken, and the
// cell is used again after it is copied.
#pragma once

#include <cstdint>

#include "tidemark/runtime/device_word.h"

namespace tidemark {

class DispatchClaim {
 public:
  // Nobody has it yet.
  TM_DEVICE bool is_open(std::uint64_t token) const { return is_open(word_.load_relaxed(), token); }
  // By the worker. False: it was taken, so pass over it.
  TM_DEVICE bool visit(std::uint64_t token) { return become(token, kWorkers); }
  // By a scheduler with a core for it. True: it is the caller's, who copies it and says so.
  TM_DEVICE bool take(std::uint64_t token) { return become(token, kTaken); }
  TM_DEVICE void copied(std::uint64_t token) {
    word_.store_release(token << 2 | kCopied);  // [dispatch copied]
  }

  enum class Fate { kRun, kMoving, kMoved };
  // By the core's scheduler, of what the worker is finished with.
  TM_DEVICE Fate fate(std::uint64_t token) const {
    const std::uint64_t word = word_.load_acquire();  // pairs with [dispatch copied]
    if (word == (token << 2 | kTaken)) return Fate::kMoving;
    return word == (token << 2 | kCopied) ? Fate::kMoved : Fate::kRun;
  }

 private:
  static constexpr std::uint64_t kWorkers = 1;
  static constexpr std::uint64_t kTaken = 2;
  static constexpr std::uint64_t kCopied = 3;

  TM_DEVICE static bool is_open(std::uint64_t word, std::uint64_t token) {
    return word <= token << 2;
  }
  TM_DEVICE bool become(std::uint64_t token, std::uint64_t state) {
    for (std::uint64_t seen = word_.load_relaxed(); is_open(seen, token);)
      // alone: it only decides; what is dispatched came with its token
      if (word_.replace_acq_rel(seen, token << 2 | state)) return true;
    return false;
  }

  DeviceWord<std::uint64_t> word_;
};
static_assert(sizeof(DispatchClaim) == 8);

}  // namespace tidemark
