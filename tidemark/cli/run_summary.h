// SPDX-License-Identifier: Apache-2.0
// The few lines a person reads after a run, a recovery or a check.
#pragma once

#include <string>

#include "tidemark/session/run_report.h"

namespace tidemark::cli {

// 1234567 becomes "1,234,567".
std::string with_commas(std::uint64_t value);
std::string human_bytes(std::uint64_t bytes);
std::string human_ns(std::uint64_t ns);

// Ends with a line break.
std::string summarize(const RunReport& report, const std::string& directory);
// Of a run that keeps its region because the disk was full: its numbers come with its recovery.
std::string summarize_kept(const RunReport& report);

}  // namespace tidemark::cli
