// SPDX-License-Identifier: Apache-2.0
// One case of the fault campaign: a run in which a fault is asked for at a named point.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/base/fault_plan.h"
#include "tidemark/schema/stream_id.h"

namespace tidemark {

struct FaultCase {
  std::uint64_t seed = 0;
  FaultPoint point = FaultPoint::kPageSwitch;
  std::string platform;
  Overflow policy = Overflow::kWait;
  FaultAction action = FaultAction::kCrash;
  std::uint64_t count = 1;  // the fault comes the count-th time
  std::uint64_t limit = 0;  // of kDiskFull: bytes the capture finds
  std::uint32_t keep_pages = 2;
  std::vector<std::string> run_flags;
  std::string recover_fault;                        // also in the first recovery; empty: none
  FaultPoint stop_point = FaultPoint::kPageSwitch;  // of kStopped
  std::uint32_t stop_ms = 0;
};

// Rows of the campaign that are no place in the program: a disk that is full after `limit`
// bytes, and a device process that is stopped at one of its points and continued later.
inline constexpr auto kDiskFull = static_cast<FaultPoint>(kFaultPointCount);
inline constexpr auto kStopped = static_cast<FaultPoint>(kFaultPointCount + 1);
inline constexpr std::uint32_t kFaultRowCount = kFaultPointCount + 2;
std::string_view row_name(FaultPoint row);
inline bool on_host(FaultPoint point) { return point >= FaultPoint::kDrain && point < kDiskFull; }

inline constexpr std::string_view kFaultPlatforms[] = {"sim", "a2a3sim", "a5sim"};
inline constexpr Overflow kFaultPolicies[] = {Overflow::kWait, Overflow::kDrop,
                                              Overflow::kKeepLast};

FaultCase make_fault_case(FaultPoint point, std::string_view platform, Overflow policy,
                          std::uint64_t seed);
// The place in the program of the fault; a disk has none.
FaultPoint place_of(const FaultCase& the_case);
// ACTION@POINT:N, or capture_limit=N
std::string fault_text(const FaultCase& the_case);

// How a run must end. Nothing else is right.
struct RightEnd {
  int signal = 0;
  int exit_code = 0;        // where no signal ended it
  std::string_view status;  // in run.json; after recovery, where a signal ended it
  std::uint32_t error = 0;  // code in run.json; 0: none
};
// Of every case but a full disk.
RightEnd right_end(const FaultCase& the_case, bool fired);

}  // namespace tidemark
