// SPDX-License-Identifier: Apache-2.0
// The streams a run can record, and the choices that are made per stream before launch.
#pragma once

#include <cstdint>
#include <string_view>

#include "tidemark/schema/enum_text.h"

namespace tidemark {

enum class StreamId : std::uint16_t {
  kNone = 0,  // a lane that is not described yet
  kSwimlane = 1,
  kPhases = 2,
  kEdges = 3,
  kScopes = 4,
  kDump = 5,
  kEvents = 6,
};
inline constexpr std::uint32_t kStreamIdCount = 7;  // with kNone

// What a producer does when it needs a page and none is there.
enum class Overflow : std::uint16_t {
  kWait = 1,      // lossless: the producer stalls until the drainer returns a page
  kDrop = 2,      // never stalls: the attempt is refused and counted
  kKeepLast = 3,  // flight recorder: the lane overwrites its own oldest page
};

constexpr std::string_view to_text(Overflow overflow) {
  return enum_text(overflow, Overflow::kWait, {"wait", "drop", "keep-last"});
}

// Why an attempt was refused or a page never reached the capture.
enum class DropReason : std::uint16_t {
  kNoPage = 0,      // no page came
  kHostGone = 1,    // the host process died
  kAborted = 2,     // the run was aborted
  kFileError = 3,   // the capture could not be written
  kDeviceLost = 4,  // the device context died with pages that only it held
};
inline constexpr std::uint32_t kDropReasonCount = 5;

constexpr std::string_view to_text(DropReason reason) {
  return enum_text(reason, DropReason::kNoPage,
                   {"no_page", "host_gone", "aborted", "file_error", "device_lost"});
}

}  // namespace tidemark
