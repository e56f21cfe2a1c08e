// SPDX-License-Identifier: Apache-2.0
// Test support: small programs for the simulated device, registered by test_main before the
// supervisor forks.
#pragma once

#include <cstdint>

namespace tidemark {

inline constexpr const char* kWriteSpans = "write-spans";  // args: WriteSpansArgs
inline constexpr const char* kAbortItself = "abort-itself";
inline constexpr const char* kLeaveEarly = "leave-early";  // exits with kLeaveEarlyCode
inline constexpr const char* kUntilStop = "until-stop";    // returns when the run is aborted
inline constexpr const char* kNeverReturn = "never-return";
inline constexpr int kLeaveEarlyCode = 23;
inline constexpr std::uint32_t kAbortUnit = 5;  // the unit that abort-itself runs as

// Every unit writes `count` spans into the lane of its number.
struct WriteSpansArgs {
  std::uint32_t units = 1;
  std::uint32_t count = 0;
};

}  // namespace tidemark
