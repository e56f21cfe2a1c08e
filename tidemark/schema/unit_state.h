// SPDX-License-Identifier: Apache-2.0
// What a unit is doing. Watchdogs subtract the waits that are not its own fault.
#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark {

enum class UnitState : std::uint32_t {
  kNotStarted,
  kIdle,
  kBusy,     // worker: in a kernel; scheduler: in a round; orchestrator: in the program
  kWaiting,  // orchestrator: for space, for a tensor, for the end
  kCopying,  // worker: arguments, for the dump
  kLeft,
};
inline constexpr std::uint32_t kUnitStateCount = 6;

constexpr std::string_view to_text(UnitState state) {
  constexpr std::string_view kTexts[kUnitStateCount] = {"not started", "idle",    "busy",
                                                        "waiting",     "copying", "left"};
  const auto index = static_cast<std::uint32_t>(state);
  return index < kUnitStateCount ? kTexts[index] : "damaged";
}

}  // namespace tidemark
