// SPDX-License-Identifier: Apache-2.0
// What 'bench runtime' is asked to measure.
#pragma once

#include <cstdint>
#include <string>

#include "tidemark/device/platform_table.h"

namespace tidemark::cli {

struct RuntimeBenchOptions {
  std::string platform{default_platform().name};
  std::uint32_t rounds = 5;
  std::uint64_t tasks = 100'000;  // of a graph; independent ones also a tenth and ten times
  bool json = false;
};

int bench_runtime(const RuntimeBenchOptions& options);

}  // namespace tidemark::cli
