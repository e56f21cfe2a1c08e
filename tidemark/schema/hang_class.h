// SPDX-License-Identifier: Apache-2.0
// What a run without progress is stopped by.
#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark {

enum class HangClass : std::uint32_t {
  kNone,
  kRunningStalled,       // a kernel runs past its time
  kReadyAllIdle,         // there is something to do, and nobody does it
  kDependencyDeadlock,   // tasks wait for each other
  kOrchestratorStalled,  // the orchestration does not go on
  kRecorderStalled,      // all is done, and a unit does not come to close its lanes
};
inline constexpr std::uint32_t kHangClassCount = 6;
constexpr std::string_view to_text(HangClass hang) {
  constexpr std::string_view kNames[kHangClassCount] = {"none",
                                                        "running stalled",
                                                        "ready but all idle",
                                                        "dependency deadlock",
                                                        "orchestrator stalled",
                                                        "recorder stalled"};
  const auto index = static_cast<std::uint32_t>(hang);
  return index < kHangClassCount ? kNames[index] : "unknown";
}

}  // namespace tidemark
