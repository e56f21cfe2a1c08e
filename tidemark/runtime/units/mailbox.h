// SPDX-License-Identifier: Apache-2.0
// Between a scheduler and one core. The scheduler writes a dispatch under the next token; the
// worker answers finished for that token. Tokens are counts, so an answer cannot be taken for
// another one's.
//
// What waits behind the dispatch that a core is at may be taken for another core. Whoever wants it
// contests its token first. Then either the worker sees that, and asks the claim of the cell before
// it runs the dispatch, or the taker sees that the worker has come to it, and leaves it alone:
//
//   worker: finished = token ─▶ fence ─▶ token contested? ask the claim : run it
//   taker:  contest token    ─▶ fence ─▶ finished < token? ask the claim : leave it
//
// A token that was taken is passed over, and answered finished all the same.
#pragma once

#include <cstdint>

#include "tidemark/runtime/units/dispatch_claim.h"
#include "tidemark/runtime/units/doorbell.h"

namespace tidemark {

// Of a dispatch.
inline constexpr std::uint32_t kOnlyPart = 1;        // its task has no other one
inline constexpr std::uint32_t kStartsTogether = 2;  // it begins when all blocks are placed

struct Dispatch {
  std::uint32_t task;  // SlotRef
  std::uint16_t kernel;
  std::uint16_t part;  // place of the kernel in a mix
  std::uint32_t block;
  std::uint32_t flags;
  std::uint64_t dispatch_ticks;
};
static_assert(sizeof(Dispatch) == 24);

struct DispatchCell {
  Dispatch dispatch;
  // Of a dispatch that waits behind another one: tasks that were taken when it was given
  // (own_cores.h). Writer: scheduler.
  DeviceWord<std::uint64_t> age;
  DispatchClaim claim;
};
static_assert(sizeof(DispatchCell) == 40);

struct alignas(128) Mailbox {
  // Writer: scheduler. The worker polls this line.
  DeviceWord<std::uint64_t> dispatched;  // tokens given
  DeviceWord<std::uint32_t> leave;       // 1: there will be no more
  std::uint32_t reserved;
  // Writers: schedulers that take what waits here. It only grows.
  DeviceWord<std::uint64_t> contested;  // tokens below it are asked for
  // Writer: worker.
  alignas(64) DeviceWord<std::uint64_t> finished;
  Doorbell doorbell;  // the worker sleeps here
  // Scheduler only.
  alignas(64) std::uint64_t handled;  // finished tokens it has seen
  std::uint64_t given;                // tokens with a dispatch; `dispatched` says so to the worker

  // By the worker, after a fence since it stored `finished`. False: pass over it.
  TM_DEVICE bool core_runs(std::uint64_t token, DispatchCell& cell) const {
    return contested.load_relaxed() <= token || cell.claim.visit(token);
  }
  // By a scheduler with a core for it. True: it is the caller's, who copies it and says so.
  TM_DEVICE bool take(std::uint64_t token, DispatchCell& cell) {
    for (std::uint64_t seen = contested.load_relaxed(); seen <= token;)
      if (contested.replace_acq_rel(seen, token + 1)) break;  // alone: the fence orders it
    order_store_before_look();
    // pairs with [dispatched]: what is in the cell
    return finished.load_relaxed() < token && token < dispatched.load_acquire() &&
           cell.claim.take(token);
  }
  // By the scheduler, of what the worker is finished with.
  TM_DEVICE DispatchClaim::Fate fate(std::uint64_t token, const DispatchCell& cell) const {
    // What was taken was contested before the worker passed over it.
    return contested.load_relaxed() <= token ? DispatchClaim::Fate::kRun : cell.claim.fate(token);
  }
};
static_assert(sizeof(Mailbox) == 256);

}  // namespace tidemark
