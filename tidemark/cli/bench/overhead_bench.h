// SPDX-License-Identifier: Apache-2.0
// What 'bench overhead' is asked to measure.
#pragma once

#include <cstdint>
#include <string>

#include "tidemark/device/platform_table.h"

namespace tidemark::cli {

struct OverheadBenchOptions {
  std::string workload = "paged_attention";
  std::string case_name;  // empty: the workload's first
  std::string platform{default_platform().name};
  std::string directory = "/dev/shm";  // where the runs leave their files
  std::uint32_t rounds = 11;
  bool json = false;
};

int bench_overhead(const OverheadBenchOptions& options);

}  // namespace tidemark::cli
