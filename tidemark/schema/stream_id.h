// SPDX-License-Identifier: Apache-2.0
// The streams a run can record, and the choices that are made per stream before launch.
#pragma once

#include <cstdint>
#include <string_view>

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
  switch (overflow) {
    case Overflow::kWait:
      return "wait";
    case Overflow::kDrop:
      return "drop";
    case Overflow::kKeepLast:
      return "keep-last";
  }
  return "unknown";
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
  switch (reason) {
    case DropReason::kNoPage:
      return "no_page";
    case DropReason::kHostGone:
      return "host_gone";
    case DropReason::kAborted:
      return "aborted";
    case DropReason::kFileError:
      return "file_error";
    case DropReason::kDeviceLost:
      return "device_lost";
  }
  return "unknown";
}

}  // namespace tidemark
