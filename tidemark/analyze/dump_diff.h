// SPDX-License-Identifier: Apache-2.0
// Two dumps side by side: which arguments differ, by how much, and which task is the first whose
// inputs agree and whose outputs do not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidemark/analyze/diff_tolerance.h"
#include "tidemark/analyze/dump_index.h"
#include "tidemark/schema/dtype.h"

namespace tidemark {

struct ArgumentDiff {
  std::uint64_t task_id = 0;
  DumpStage stage{};
  std::uint8_t arg_index = 0;
  std::string kernel;
  bool only_in_one = false;  // the other run has no such argument, or of another type or shape
  std::string unlike;        // not empty: why the two cannot be compared
  bool by_hash = false;      // no payload on at least one side: only that they differ is known
  bool is_output = false;
  bool is_tensor = true;
  std::uint64_t elements = 0;
  std::uint64_t differing = 0;
  std::uint64_t first_index = 0;
  double max_abs = 0;
  double max_rel = 0;
  std::uint64_t max_ulp = 0;
};

struct DumpDiff {
  std::uint64_t compared = 0;
  std::vector<ArgumentDiff> differences;       // in the order of the tasks
  std::vector<std::uint64_t> first_divergent;  // inputs agree, outputs differ; earliest first
  // Names of arrays, where a run is compared with files.
  std::vector<std::string> only_in_run, only_in_files;

  [[nodiscard]] std::uint64_t differing() const {
    return differences.size() + only_in_run.size() + only_in_files.size();
  }
};

// Counts what differs beyond the tolerance; NaN equals NaN.
void compare_elements(DType dtype, const std::vector<unsigned char>& a,
                      const std::vector<unsigned char>& b, const DiffTolerance& tolerance,
                      ArgumentDiff& diff);
// What is known of an argument before it is compared.
ArgumentDiff diff_of(const RunCapture& run, const DumpHeader& header);
// In the order of the tasks, with the first divergence.
void put_in_order(RunCapture& run, const DumpIndex& index, std::vector<ArgumentDiff> found,
                  DumpDiff& result);

Expected<DumpDiff> diff_dumps(RunCapture& one, RunCapture& other, const DiffTolerances& tolerances);

// Tasks in an order in which producers come first: of the graph if it was recorded, else of time.
std::vector<std::uint64_t> tasks_in_order(RunCapture& run, const DumpIndex& index);

}  // namespace tidemark
