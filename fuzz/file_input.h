// SPDX-License-Identifier: Apache-2.0
// One fuzzer input as each of the small files that are read: an array, the report of a run, the
// state of a hung one. Called by file_fuzz.cpp and tests/hostile_hang_test.cpp.
#pragma once

#include <span>
#include <string>

#include "tidemark/analyze/hang_report.h"
#include "tidemark/base/testing/plain_output.h"
#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/export/npy_file.h"
#include "tidemark/run/run_report.h"

namespace tidemark::fuzz {

// What is accepted is whole, and the same again once it was written.
inline bool run_array_input(const std::string& text) {
  static const samples::TemporaryDirectory directory("/dev/shm");
  const std::string path = directory.file("a.npy");
  samples::write_bytes(path, {text.begin(), text.end()});
  const auto array = read_npy(path);
  if (!array) return false;
  std::uint64_t bytes = dtype_bytes(array->dtype);
  for (const std::uint64_t extent : array->shape) bytes *= extent;
  TM_CHECK(array->bytes.size() == bytes);
  TM_CHECK(write_npy(path, *array).has_value());
  const auto again = read_npy(path);
  TM_CHECK(again && again->dtype == array->dtype && again->shape == array->shape &&
           again->bytes == array->bytes);
  return true;
}

inline bool run_hang_input(const std::string& text) {
  const auto state = parse_hang_state(text);
  if (!state) return false;
  const HangReport report = make_hang_report(*state, nullptr);
  TM_CHECK(report.stuck.size() <= 16);
  TM_CHECK(first_order_in(hang_summary(report, "run") + hang_sentence(*state)).empty());
  return true;
}

// How many kinds of file it can be.
inline int run_file_input(std::span<const unsigned char> bytes) {
  const std::string text(bytes.begin(), bytes.end());
  const auto report = parse_run_report(text, "run.json");
  if (report) TM_CHECK(!to_json(*report).empty());
  return run_array_input(text) + run_hang_input(text) + report.has_value();
}

}  // namespace tidemark::fuzz
