// SPDX-License-Identifier: Apache-2.0
// The streams a run can record, and the choices that are made per stream before launch.
#pragma once

#include <cstdint>

namespace tidemark {

enum class StreamId : std::uint16_t {
  kSwimlane = 1,
  kPhases = 2,
  kEdges = 3,
  kScopes = 4,
  kDump = 5,
  kEvents = 6,
};

// What a producer does when it needs a page and none is there.
enum class Overflow : std::uint16_t {
  kWait = 1,      // lossless: the producer stalls until the drainer returns a page
  kDrop = 2,      // never stalls: the attempt is refused and counted
  kKeepLast = 3,  // flight recorder: the lane overwrites its own oldest page
};

// Why an attempt was refused or a page never reached the capture.
enum class DropReason : std::uint16_t {
  kNoPage = 0,      // no page came
  kHostGone = 1,    // the host process died
  kAborted = 2,     // the run was aborted
  kFileError = 3,   // the capture could not be written
  kDeviceLost = 4,  // the device context died with pages that only it held
};
inline constexpr std::uint32_t kDropReasonCount = 5;

}  // namespace tidemark
