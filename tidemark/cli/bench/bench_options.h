// SPDX-License-Identifier: Apache-2.0
// What 'bench producer' and 'bench drain' are asked to measure, and the result of one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidemark/base/expected.h"
#include "tidemark/device/platform_table.h"
#include "tidemark/transport/page.h"

namespace tidemark::cli {

struct BenchOptions {
  std::string platform{default_platform().name};
  std::string sink = "memory";
  std::string directory = "/dev/shm";
  std::uint32_t lanes = 1;
  std::uint32_t record_bytes = 32;
  std::uint64_t records = 0;  // per lane and round; 0: sized to the lanes
  std::uint32_t rounds = 15;
  std::uint32_t drain_threads = 1;
  std::uint32_t page_bytes = kPageBytesDefault;
  std::uint64_t pool_bytes = 0;
  std::uint32_t device = 0;
  bool one_thread = false;  // CUDA: one thread writes a lane, not a warp
  bool disabled = false;
  bool json = false;
};

// One lossless run end to end.
struct EndToEnd {
  std::uint64_t records = 0;
  std::uint64_t lost = 0;
  double seconds = 0;
  double stall_share = 0;       // of the producers' time
  double host_cpu_share = 0;    // processor time of the drain threads over the time
  double drain_busy_share = 0;  // of the drain threads' time, moving pages
  double sink_share = 0;        // of the busy time, inside the sink
};

// `pages`: producers starve while the drainer idles. Otherwise the busy drainer is the limit, or
// within it the file.
std::string decide_limit(const EndToEnd& run, const std::string& sink);

double median(std::vector<double> values);

int bench_producer(const BenchOptions& options);
int bench_producer_on_cuda(const BenchOptions& options);
int bench_drain(const BenchOptions& options);
int bench_disabled(const BenchOptions& options);
// What the disabled bench counts. Not for people.
enum class CountedLoop {
  kNothing,
  kProbe,         // the same with a probe of a disabled recorder
  kPart,          // parts of tasks on a core that cannot dump
  kPartWithDump,  // on one that can and does not
};
int run_counted_loop(CountedLoop loop, std::uint64_t iterations);

}  // namespace tidemark::cli
