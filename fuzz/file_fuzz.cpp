// SPDX-License-Identifier: Apache-2.0
// Fuzzes the readers of small files: arrays, reports of runs, states of hung ones.
#include "fuzz/file_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)tidemark::fuzz::run_file_input({data, size});
  return 0;
}
