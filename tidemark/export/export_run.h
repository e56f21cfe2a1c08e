// SPDX-License-Identifier: Apache-2.0
// Makes artifacts from a run's capture: all that belong to its streams, or those asked for by name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidemark/base/expected.h"
#include "tidemark/run/run_report.h"

namespace tidemark {

inline constexpr std::uint64_t kExportLimitDefault = 2'000'000;

struct ExportOptions {
  std::uint64_t limit = kExportLimitDefault;  // records; above it a file is left out and named
  bool only_on_request = false;               // leave everything out and name it
  std::uint64_t payload_limit = 1ull << 30;   // bytes of a dump above which it stays in the capture
};

// At the end of a run: writes what the options allow, lists the rest in report.not_exported.
Expected<void> export_automatically(const std::string& directory, RunReport& report,
                                    const ExportOptions& options);

// On request: the files named, or all. Returns the paths written.
Expected<std::vector<std::string>> export_files(const std::string& directory,
                                                const std::vector<std::string>& files);

}  // namespace tidemark
