// SPDX-License-Identifier: Apache-2.0
// Dumped arguments as files people and other tools read.
#pragma once

#include <string>
#include <vector>

#include "tidemark/analyze/dump_index.h"

namespace tidemark::cli {

// Header, row-major grid, elements with their indices.
Expected<std::string> dump_text(RunCapture& run, const DumpEntry& entry);
// One file per entry. Returns how many were written.
Expected<std::size_t> write_dump_files(RunCapture& run, const DumpIndex& index,
                                       const std::vector<std::size_t>& chosen,
                                       const std::string& directory, const std::string& format);

}  // namespace tidemark::cli
