// SPDX-License-Identifier: Apache-2.0
// tidemark bench top: whether a live look from another process disturbs a run at full rate.
#pragma once

#include <cstdint>
#include <string>

namespace tidemark::cli {

struct TopBenchOptions {
  std::string platform = "sim";
  std::string directory = "/dev/shm";
  std::uint64_t records = 20'000'000;  // per lane
  std::uint32_t lanes = 2;
  std::uint32_t interval_ms = 100;
  std::uint32_t rounds = 7;
  bool json = false;
};

int bench_top(const TopBenchOptions& options);

}  // namespace tidemark::cli
