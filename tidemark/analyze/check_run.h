// SPDX-License-Identifier: Apache-2.0
// Verifies a run from its files alone: every checksum, every stamp, every number, and that run.json
// says the same.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tidemark/base/expected.h"
#include "tidemark/capture/capture_ledger.h"
#include "tidemark/run/run_report.h"

namespace tidemark {

struct CheckResult {
  RunReport report;
  bool still_running = false;  // the capture is being written: the numbers are those of now
  LaneCounts counted;          // from the capture alone
  std::uint64_t chunks = 0;
  std::uint64_t pages = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t verified_tensors = 0;  // of a dump, against the device's hashes
  std::uint64_t verified_records = 0;  // content compared with what the workload must have written
  std::vector<std::string> problems;   // empty: the run is sound
  std::vector<std::string> notes;      // what a reader should know though nothing is wrong
};

// Judges one page's content; returns how many records it verified and appends what is wrong.
using ContentCheck =
    std::function<std::uint64_t(const CapturedPage& page, std::vector<std::string>& problems)>;

Expected<CheckResult> check_run(const std::string& directory, const ContentCheck& content_check);

}  // namespace tidemark
