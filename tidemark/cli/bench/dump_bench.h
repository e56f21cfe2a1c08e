// SPDX-License-Identifier: Apache-2.0
// tidemark bench dump: how fast tensors come into a capture, beside a plain loop that copies the
// same bytes once and writes them to the same file system.
#pragma once

#include <cstdint>
#include <string>

namespace tidemark::cli {

struct DumpBenchOptions {
  std::string case_name = "Large";  // of wide_tensors
  std::string platform = "sim";
  std::string directory = ".";
  std::uint64_t pool_bytes = 16u << 20;
  std::uint32_t rounds = 3;
  bool verify = true;
  bool json = false;
};

int bench_dump(const DumpBenchOptions& options);

}  // namespace tidemark::cli
