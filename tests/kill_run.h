// SPDX-License-Identifier: Apache-2.0
// Carries out one case of the kill campaign and judges what is left: the files against the
// producers' own counts, exit codes, processes, shared memory.
#pragma once

#include <cstdint>
#include <string>

#include "tests/accepted_audit.h"
#include "tests/kill_case.h"

namespace tidemark {

enum class KillFate {
  kHit,         // the signal ended the process it was meant for
  kTooLate,     // the run was over
  kNeverBegan,  // killed before there was a run.json: nothing to recover
};

struct CaseOutcome {
  Problems problems;
  KillFate fate = KillFate::kHit;
  std::uint64_t recover_kills = 0;  // recoveries that were really interrupted
  bool told = false;                // the device process said that its host was gone
  bool never_told = false;          // it was ended from outside and had not said so
  std::uint64_t compared = 0;       // 1: compared with a recovery that ran through
  std::uint64_t records_found = 0;
  std::uint64_t frames_found = 0;
  std::uint64_t incomplete = 0;       // torn records and frames, seen and not taken
  std::uint32_t process_wait_ms = 0;  // until the last process of the run was gone
};

// `directory` is made and is the case's own; it stays.
CaseOutcome run_case(const KillCase& the_case, const std::string& tidemark,
                     const std::string& directory);

}  // namespace tidemark
