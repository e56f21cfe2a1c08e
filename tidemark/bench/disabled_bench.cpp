// SPDX-License-Identifier: Apache-2.0
// tidemark bench producer --disabled: what a probe costs when recording is off, in instructions,
// and what the dump adds to a part of a task when nothing is dumped. The same loop runs twice under
// callgrind, with it and without it.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/core.h>

#include "tidemark/bench/rounds.h"
#include "tidemark/device/region_file.h"
#include "tidemark/device/sim/sim_units.h"

namespace tidemark::bench {
namespace {

constexpr std::uint64_t kIterations = 1'000'000;
constexpr std::uint64_t kParts = 100'000;

// Memory may have changed, for all the compiler knows: the recorder may have been switched on.
inline void forget_memory() { asm volatile("" : : : "memory"); }

__attribute__((noinline)) std::uint64_t loop_with_probe(Recorder<TaskSpan, SimEnv>& recorder,
                                                        std::uint64_t iterations) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < iterations; ++i) {
    sum += i ^ sum << 1;
    forget_memory();
    recorder.write({.task_id = i, .begin_ticks = sum, .end_ticks = sum, .block = 7});
  }
  return sum;
}

__attribute__((noinline)) std::uint64_t loop_without_probe(std::uint64_t iterations) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < iterations; ++i) {
    sum += i ^ sum << 1;
    forget_memory();
  }
  return sum;
}

// A core compiled without the dump.
struct NoDumper {
  NoDumper(const RuntimeMemory&, const RegionView*, std::uint32_t, RecorderCosts*) {}
  static constexpr bool enabled() { return false; }
  template <class Block>
  static void before(Block&, TaskSlot&) {}
  template <class Block>
  static void after(Block&, TaskSlot&) {}
  static void close() {}
};

struct NoWork {
  static constexpr KernelInfo kInfo{.name = "no_work", .core = CoreType::kAiv, .args = {}};
  template <class Block>
  static void run(Block&, const TaskArgs&) {
    forget_memory();
  }
};

// A core that finds one task in its mailbox again and again, and then that it may leave.
template <class Dumper>
void run_parts(std::uint64_t count) {
  RuntimeConfig config;
  config.cluster_count = 1;
  config.scheduler_count = 1;
  config.tensormap_entries = kTensormapMin;
  for (RingSizes& ring : config.rings) ring = {kTaskWindowMin, kDepPoolMin, kHeapBytesMin};
  const RuntimeLayout layout = lay_out(config);
  // Zero is where everything begins.
  struct alignas(4096) Unit {
    unsigned char bytes[4096];
  };
  std::vector<Unit> memory_bytes(layout.total_bytes / sizeof(Unit) + 1);
  std::vector<Unit> status(status_bytes(config.units()) / sizeof(Unit) + 1);
  const RuntimeMemory memory(memory_bytes.data(), layout);
  TaskSlot& slot = memory.slot(SlotRef::make(0, 0));
  slot.block_count = 1;
  slot.shape = TaskShape::kAiv;
  constexpr std::uint32_t kCore = 1;
  for (std::uint32_t i = 0; i < config.mailbox_depth; ++i)
    memory.dispatch(kCore, i).dispatch = {.task = SlotRef::make(0, 0).value};
  memory.mailbox(kCore).dispatched.store_relaxed(count);
  memory.mailbox(kCore).leave.store_relaxed(1);
  SimBlock block;
  Worker<KernelList<NoWork>, SimEnv, SimBlock, Dumper>(
      memory, reinterpret_cast<RuntimeStatus*>(status.data()), kCore, 0)
      .run(block);
  TM_CHECK(memory.mailbox(kCore).finished.load_acquire() == count);
}

// Instructions of one loop in a process of its own, as callgrind counts them.
Expected<std::uint64_t> count_instructions(CountedLoop loop, std::uint64_t iterations) {
  char self[4096] = {};
  if (::readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
    return file_failure("readlink", "/proc/self/exe");
  const std::string command = fmt::format(
      "valgrind --tool=callgrind --callgrind-out-file=/dev/null '{}' bench counted-loop "
      "{} --iterations {} 2>&1",
      self, static_cast<int>(loop), iterations);
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return failure(ErrorKind::kDevice, "valgrind could not be started");
  std::uint64_t count = 0;
  bool found = false;
  char line[512];
  while (std::fgets(line, sizeof(line), pipe) != nullptr) {
    const char* collected = std::strstr(line, "Collected : ");
    if (collected != nullptr) found = std::sscanf(collected, "Collected : %lu", &count) == 1;
  }
  if (::pclose(pipe) != 0 || !found)
    return failure(ErrorKind::kDevice,
                   "valgrind (callgrind) did not count; is the package valgrind installed?");
  return count;
}

// Of the loop alone: what the process does before and after it cancels out.
Expected<std::uint64_t> count_loop(CountedLoop loop, std::uint64_t iterations) {
  TM_TRY(const auto twice, count_instructions(loop, 2 * iterations));
  TM_TRY(const auto once, count_instructions(loop, iterations));
  return twice - once;
}

struct Counted {
  std::uint64_t with = 0, without = 0;
  double each = 0;  // what one more costs
};
Expected<Counted> count_difference(CountedLoop with, CountedLoop without,
                                   std::uint64_t iterations) {
  TM_TRY(const auto more, count_loop(with, iterations));
  TM_TRY(const auto less, count_loop(without, iterations));
  return Counted{.with = more,
                 .without = less,
                 .each = static_cast<double>(static_cast<std::int64_t>(more - less)) /
                         static_cast<double>(iterations)};
}

std::uint64_t entries_in(const char* directory) {
  std::error_code code;
  return static_cast<std::uint64_t>(std::distance(
      std::filesystem::directory_iterator(directory, code), std::filesystem::directory_iterator()));
}

// Regions this process has mapped.
std::uint64_t mapped_regions() {
  std::ifstream maps("/proc/self/maps");
  std::uint64_t count = 0;
  for (std::string line; std::getline(maps, line);)
    count += line.find(kRegionDirectory) != std::string::npos;
  return count;
}

}  // namespace

int run_counted_loop(CountedLoop loop, std::uint64_t iterations) {
  Recorder<TaskSpan, SimEnv> disabled;
  std::uint64_t sum = 0;
  switch (loop) {
    case CountedLoop::kNothing:
      sum = loop_without_probe(iterations);
      break;
    case CountedLoop::kProbe:
      sum = loop_with_probe(disabled, iterations);
      break;
    case CountedLoop::kPart:
      run_parts<NoDumper>(iterations);
      break;
    case CountedLoop::kPartWithDump:
      run_parts<TensorDumper<SimEnv>>(iterations);
      break;
  }
  return sum == 1 ? 1 : 0;
}

Expected<int> bench_disabled(const BenchOptions& options, const BenchOutput& out) {
  const std::uint64_t files_before = entries_in("/proc/self/fd");
  run_counted_loop(CountedLoop::kProbe, kIterations);
  const std::uint64_t threads = entries_in("/proc/self/task");
  const std::uint64_t regions = mapped_regions();
  const std::uint64_t files = entries_in("/proc/self/fd") - files_before;
  TM_TRY(const auto probe,
         count_difference(CountedLoop::kProbe, CountedLoop::kNothing, kIterations));
  TM_TRY(const auto dump, count_difference(CountedLoop::kPartWithDump, CountedLoop::kPart, kParts));
  if (!options.json) {
    out.print(
        "a disabled probe costs {:.2f} instructions ({} with it, {} without it, {} "
        "iterations); {} thread, {} regions, {} files opened\n"
        "the dump, off, costs {:.2f} instructions per part of a task ({} with it, {} without it, "
        "{} parts)\n",
        probe.each, probe.with, probe.without, kIterations, threads, regions, files, dump.each,
        dump.with, dump.without, kParts);
    return 0;
  }
  print_json(out, "producer", [&](BenchFields& v) {
    v("disabled", true);
    v("instructions_per_probe", probe.each);
    v("iterations", kIterations);
    v("instructions_with_probe", probe.with);
    v("instructions_without_probe", probe.without);
    v("dump_instructions_per_part", dump.each);
    v("parts", kParts);
    v("instructions_with_dump", dump.with);
    v("instructions_without_dump", dump.without);
    v("threads", threads);
    v("regions", regions);
    v("files", files);
  });
  return 0;
}

}  // namespace tidemark::bench
