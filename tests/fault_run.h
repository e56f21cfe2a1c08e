// SPDX-License-Identifier: Apache-2.0
// Carries out one case of the fault campaign and judges what it leaves: files against the audit's
// own words, exit codes, processes, shared memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/fault_case.h"

namespace tidemark {

struct FaultOutcome {
  bool fired = false;         // by the word of the fault plan
  std::uint64_t reached = 0;  // how often the place was come to
  std::uint64_t capture_bytes = 0;
  std::uint64_t recovered = 0;  // records that were found only in the region
  std::uint64_t found = 0;
  std::uint64_t overwritten = 0;  // older than what keep-last lanes must have
  std::uint64_t lost = 0;         // accepted, and nowhere
  std::uint64_t twice = 0;        // in the capture
  std::uint64_t torn = 0;         // taken with a content that was never written
  std::uint64_t incomplete = 0;   // torn, seen and not taken
  std::uint64_t tool_hangs = 0;
  std::uint64_t leftovers = 0;  // processes, regions
  std::uint64_t recover_faults = 0, recover_fired = 0;
  std::vector<std::string> problems;
};

// `audited`: tests/audited_tidemark. `directory` is made and is the case's own; it stays.
FaultOutcome run_fault_case(const FaultCase& the_case, const std::string& audited,
                            const std::string& directory);

}  // namespace tidemark
