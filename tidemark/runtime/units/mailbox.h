// SPDX-License-Identifier: Apache-2.0
// Between a scheduler and one core. The scheduler writes a dispatch under the next token; the
// worker answers finished for that token. Tokens are counts, so an answer cannot be taken for
// another one's. A dispatch that waits behind another one may be taken for another core
// (dispatch_claim.h); the worker then passes over it, and answers finished all the same.
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
  DispatchClaim claim;
};
static_assert(sizeof(DispatchCell) == 32);

struct alignas(128) Mailbox {
  // Writer: scheduler. The worker polls this line.
  DeviceWord<std::uint64_t> dispatched;  // tokens given
  DeviceWord<std::uint32_t> leave;       // 1: there will be no more
  std::uint32_t reserved;
  // Writer: worker.
  alignas(64) DeviceWord<std::uint64_t> finished;
  Doorbell doorbell;  // the worker sleeps here
  // Scheduler only.
  alignas(64) std::uint64_t handled;  // finished tokens it has seen
  std::uint64_t given;                // tokens with a dispatch; `dispatched` says so to the worker
};
static_assert(sizeof(Mailbox) == 256);

}  // namespace tidemark
