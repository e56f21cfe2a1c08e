// SPDX-License-Identifier: Apache-2.0
// Between a scheduler and one core. The scheduler writes a dispatch under the next token; the
// worker answers finished for that token. Tokens are counts, so an answer cannot be taken for
// another one's.
#pragma once

#include <cstdint>

#include "tidemark/runtime/units/doorbell.h"

namespace tidemark {

struct Dispatch {
  std::uint32_t task;  // SlotRef
  std::uint16_t kernel;
  std::uint16_t part;  // place of the kernel in a mix
  std::uint32_t block;
  std::uint32_t reserved;
  std::uint64_t dispatch_ticks;
};
static_assert(sizeof(Dispatch) == 24);

struct alignas(128) Mailbox {
  // Writer: scheduler.
  DeviceWord<std::uint64_t> dispatched;  // tokens given
  DeviceWord<std::uint32_t> leave;       // 1: there will be no more
  std::uint32_t reserved;
  std::uint64_t handled;  // scheduler only: finished tokens it has seen
  // Writer: worker.
  alignas(64) DeviceWord<std::uint64_t> finished;
  Doorbell doorbell;  // the worker sleeps here
};
static_assert(sizeof(Mailbox) == 256);

}  // namespace tidemark
