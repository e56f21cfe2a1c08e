// SPDX-License-Identifier: Apache-2.0
// What a run without progress is stopped by.
#pragma once

#include <cstdint>
#include <string_view>

#include "tidemark/schema/enum_text.h"

namespace tidemark {

enum class HangClass : std::uint32_t {
  kNone,
  kRunningStalled,       // a kernel runs past its time
  kReadyAllIdle,         // there is something to do, and nobody does it
  kDependencyDeadlock,   // tasks wait for each other
  kOrchestratorStalled,  // the orchestration does not go on
  kRecorderStalled,      // all is done, and a unit does not come to close its lanes
  kProducersStopped,     // of a recording: none of its producers goes on
};
inline constexpr std::uint32_t kHangClassCount = 7;
constexpr std::string_view to_text(HangClass hang) {
  return enum_text(hang, HangClass::kNone,
                   {"none", "running stalled", "ready but all idle", "dependency deadlock",
                    "orchestrator stalled", "recorder stalled", "producers stopped"});
}

}  // namespace tidemark
