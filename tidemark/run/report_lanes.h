// SPDX-License-Identifier: Apache-2.0
// Turns ledgers into the lanes of a report, and a finished report into its exit code.
#pragma once

#include "tidemark/ledger/ledger.h"
#include "tidemark/ledger/page_check.h"
#include "tidemark/run/run_report.h"

namespace tidemark {

LaneReport report_lane(LaneIndex lane, const LanePlan& plan, const LaneWordsImage& words,
                       const LaneCounts& counts);

void report_faults(const FaultCounts& faults, RecorderReport& report);

// Applies the precedence of the exit codes to what the report says. `file_error` is the line that
// says what could not be written; empty if all was.
int decide_exit_code(const RunReport& report, const std::string& file_error);

}  // namespace tidemark
