// SPDX-License-Identifier: Apache-2.0
// Where a run is, or how it ended.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace tidemark {

enum class RunStatus : std::uint8_t {
  kMissing,  // of a file that does not say
  kRunning,
  kOk,
  kMismatch,     // the results differ from the golden reference
  kFatal,        // the runtime gave up
  kHang,         // stopped: it did not go on
  kDeviceFault,  // the device crashed
  kInterrupted,  // by a signal
  kRecovered,    // finished by `tidemark recover`
  kUnknown,      // of a file that says something else
};

// As run.json and the capture have it.
inline constexpr std::string_view kRunStatusTexts[] = {
    "",     "running",      "ok",          "mismatch",  "fatal",
    "hang", "device_fault", "interrupted", "recovered", "unknown"};

constexpr std::string_view to_text(RunStatus status) {
  return kRunStatusTexts[static_cast<std::size_t>(status)];
}
constexpr void from_text(std::string_view text, RunStatus& status) {
  const auto* found = std::find(std::begin(kRunStatusTexts), std::end(kRunStatusTexts) - 1, text);
  status = static_cast<RunStatus>(found - std::begin(kRunStatusTexts));
}

}  // namespace tidemark
