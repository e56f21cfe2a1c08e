// SPDX-License-Identifier: Apache-2.0
// What a unit is doing. Watchdogs subtract the waits that are not its own fault.
#pragma once

#include <cstdint>
#include <string_view>

#include "tidemark/schema/enum_text.h"

namespace tidemark {

enum class UnitState : std::uint32_t {
  kNotStarted,
  kIdle,
  kBusy,     // worker: in a kernel; scheduler: in a round; orchestrator: in the program
  kWaiting,  // orchestrator: for space, for a tensor, for the end; worker: for other blocks
  kCopying,  // worker: arguments, for the dump
  kLeft,
};

constexpr std::string_view to_text(UnitState state) {
  return enum_text(state, UnitState::kNotStarted,
                   {"not started", "idle", "busy", "waiting", "copying", "left"}, "damaged");
}

}  // namespace tidemark
