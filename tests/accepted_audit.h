// SPDX-License-Identifier: Apache-2.0
// Holds a capture against what the producers themselves counted as accepted. Counts every record
// and frame that really stands in the file; run.json must agree with that, never the other way.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/kill_case.h"
#include "tidemark/run/run_report.h"

namespace tidemark {

// What a capture holds of one lane: records, or frames put together from all their fragments.
struct LaneFound {
  std::uint64_t count = 0;
  std::uint64_t first = 0;
  std::uint64_t end = 0;     // one past the last number
  std::uint64_t digest = 0;  // of the numbers
  std::uint64_t out_of_order = 0;
  std::uint64_t false_content = 0;
  bool operator==(const LaneFound&) const = default;
};

struct CaptureFound {
  std::vector<LaneFound> lanes;  // records of every lane, then frames of every lane
};

using Problems = std::vector<std::string>;

// Reads every byte of DIRECTORY/capture.tide. A file that is not there holds nothing.
CaptureFound read_found(const KillCase& the_case, const std::string& directory, Problems& problems);

// `accepted`: two words per lane, records then frames, as the producers left them.
void audit_accepted(const KillCase& the_case, const CaptureFound& found, const RunReport& report,
                    std::span<const std::uint64_t> accepted, Problems& problems);

// Two recoveries of one run must have come to the same.
void audit_same(const CaptureFound& found, const RunReport& report, const CaptureFound& other_found,
                const RunReport& other_report, Problems& problems);

}  // namespace tidemark
