// SPDX-License-Identifier: Apache-2.0
// One case of the fault campaign: a run in which a fault is asked for at a named point, and the
// judgement of what it leaves: files against the audit's own counts, exit codes, processes, shared
// memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/base/fault_point.h"
#include "tidemark/schema/stream_id.h"

namespace tidemark {

struct FaultCase {
  std::uint64_t seed = 0;
  FaultPoint point = FaultPoint::kPageSwitch;
  std::string platform;
  Overflow policy = Overflow::kWait;
  FaultAction action = FaultAction::kCrash;
  std::uint64_t count = 1;  // the fault comes the count-th time
  std::vector<std::string> run_flags;
  std::string recover_fault;                        // also in the first recovery; empty: none
  FaultPoint stop_point = FaultPoint::kPageSwitch;  // of kStopped
  std::uint32_t stop_ms = 0;
};

// Rows of the campaign that are no place in the program: a disk that is full after `count` units,
// and a device process that is stopped at one of its points and continued later.
inline constexpr auto kDiskFull = static_cast<FaultPoint>(kFaultPointCount);
inline constexpr auto kStopped = static_cast<FaultPoint>(kFaultPointCount + 1);
inline constexpr std::uint32_t kFaultRowCount = kFaultPointCount + 2;
std::string_view row_name(FaultPoint row);

inline constexpr std::string_view kFaultPlatforms[] = {"sim", "a2a3sim", "a5sim"};
inline constexpr Overflow kFaultPolicies[] = {Overflow::kWait, Overflow::kDrop,
                                              Overflow::kKeepLast};

FaultCase make_fault_case(FaultPoint point, std::string_view platform, Overflow policy,
                          std::uint64_t seed);
// ACTION@POINT:N, or capture_limit=N
std::string fault_text(const FaultCase& the_case);

struct FaultOutcome {
  bool hit = false;             // the fault came
  std::uint64_t recovered = 0;  // records that were found only in the region
  std::uint64_t found = 0;
  std::uint64_t lost = 0;        // accepted, and nowhere
  std::uint64_t duplicates = 0;  // in the capture twice
  std::uint64_t torn = 0;        // taken with a content that was never written
  std::uint64_t tool_hangs = 0;
  std::uint64_t leftovers = 0;  // processes, regions
  std::vector<std::string> problems;
};

// `audited`: tests/audited_tidemark. `directory` is made and is the case's own; it stays.
FaultOutcome run_fault_case(FaultCase the_case, const std::string& audited,
                            const std::string& directory);

}  // namespace tidemark
