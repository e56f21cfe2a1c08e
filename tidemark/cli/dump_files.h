// SPDX-License-Identifier: Apache-2.0
// Dumped arguments as files people and other tools read.
#pragma once

#include <string>
#include <vector>

#include "tidemark/analyze/dump_diff.h"

namespace tidemark::cli {

// Header, row-major grid, elements with their indices.
Expected<std::string> dump_text(RunCapture& run, const DumpEntry& entry);
// One file per entry. Returns how many were written.
Expected<std::size_t> write_dump_files(RunCapture& run, const DumpIndex& index,
                                       const std::vector<std::size_t>& chosen,
                                       const std::string& directory, const std::string& format);

// Compares a run with arrays of another origin: files named as write_dump_files names them. What
// only one of the two has is a difference, unless the files are said to be a subset.
struct FileDiffOptions {
  DiffTolerances tolerances;
  bool subset = false;
};
Expected<DumpDiff> diff_with_files(RunCapture& run, const std::string& directory,
                                   const FileDiffOptions& options);

}  // namespace tidemark::cli
