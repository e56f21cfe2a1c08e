// SPDX-License-Identifier: Apache-2.0
// The few lines a person reads after a run, a recovery or a check.
#pragma once

#include <string>

#include "tidemark/run/run_report.h"

namespace tidemark::cli {

// Ends with a line break.
std::string summarize(const RunReport& report, const std::string& directory);
// Of a run that keeps its region because the disk was full: its numbers come with its recovery.
std::string summarize_kept(const RunReport& report);

}  // namespace tidemark::cli
