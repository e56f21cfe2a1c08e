// SPDX-License-Identifier: Apache-2.0
// What the benches are asked to measure. Each gives the exit code of its command.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "tidemark/base/expected.h"
#include "tidemark/device/platform_table.h"
#include "tidemark/device/region_plan.h"

namespace tidemark::bench {

// Where the words of a bench go.
struct BenchOutput {
  std::function<void(const std::string&)> text;
  std::function<void(const std::string&)> progress;  // one line that replaces the last

  template <class... Args>
  void print(fmt::format_string<Args...> words, Args&&... args) const {
    text(fmt::format(words, std::forward<Args>(args)...));
  }
};

// Of 'bench producer' and 'bench drain'.
struct BenchOptions {
  std::string platform{default_platform().name};
  std::string sink = "memory";
  std::string directory = "/dev/shm";
  std::uint32_t lanes = 1;
  std::uint32_t record_bytes = 32;
  std::uint64_t records = 0;  // per lane and round; 0: sized to the lanes
  std::uint32_t rounds = 15;
  RecorderSettings recorder;
  std::uint32_t device = 0;
  bool one_thread = false;  // CUDA: one thread writes a lane, not a warp
  bool disabled = false;
  bool json = false;
};

struct RuntimeBenchOptions {
  std::string platform{default_platform().name};
  std::string graph = "all";    // all, or a bench of its own: tiles, cores
  std::string runtime = "all";  // on a GPU; all, host_build_graph or tensormap_and_ringbuffer
  std::uint32_t device = 0;
  std::uint32_t rounds = 5;
  std::uint64_t tasks = 100'000;  // of a graph; independent ones also a tenth and ten times
  bool json = false;
};

struct OverheadBenchOptions {
  std::string workload = "paged_attention";
  std::string case_name;  // empty: Case2 of paged_attention, otherwise the workload's first
  std::string platform{default_platform().name};
  std::string directory = "/dev/shm";  // where the runs leave their files
  std::uint32_t rounds = 11;
  bool json = false;
};

struct DumpBenchOptions {
  std::string case_name = "Large";  // of wide_tensors
  std::string platform = "sim";
  std::string directory = ".";
  std::uint64_t pool_bytes = 16u << 20;
  std::uint32_t page_bytes = 64u << 10;
  std::uint32_t drain_threads = 1;
  std::uint32_t rounds = 3;
  bool verify = true;
  bool json = false;
};

struct TopBenchOptions {
  std::string platform = "sim";
  std::string directory = "/dev/shm";
  std::uint64_t records = 20'000'000;  // per lane
  std::uint32_t lanes = 2;
  std::uint32_t interval_ms = 100;
  std::uint32_t rounds = 7;
  bool json = false;
};

struct WatchedBenchOptions {
  std::string platform = "sim";
  std::string directory = "/dev/shm";
  std::uint64_t rate = 1'000'000;  // records per second, of all lanes
  std::uint32_t lanes = 4;
  double seconds = 10;
  std::uint32_t clients = 2;
  std::uint32_t poll_ms = 1000;  // as the page does
  std::uint32_t rounds = 7;
  bool json = false;
};

Expected<int> bench_producer(const BenchOptions& options, const BenchOutput& out);
Expected<int> bench_producer_on_cuda(const BenchOptions& options, const BenchOutput& out);
Expected<int> bench_drain(const BenchOptions& options, const BenchOutput& out);
Expected<int> bench_disabled(const BenchOptions& options, const BenchOutput& out);
Expected<int> bench_runtime(const RuntimeBenchOptions& options, const BenchOutput& out);
Expected<int> bench_overhead(const OverheadBenchOptions& asked, const BenchOutput& out);
Expected<int> bench_dump(const DumpBenchOptions& options, const BenchOutput& out);
Expected<int> bench_top(const TopBenchOptions& options, const BenchOutput& out);
Expected<int> bench_watched(const WatchedBenchOptions& options, const BenchOutput& out);
// What the disabled bench counts. Not for people.
enum class CountedLoop {
  kNothing,
  kProbe,         // the same with a probe of a disabled recorder
  kPart,          // parts of tasks on a core that cannot dump
  kPartWithDump,  // on one that can and does not
};
int run_counted_loop(CountedLoop loop, std::uint64_t iterations);

}  // namespace tidemark::bench
