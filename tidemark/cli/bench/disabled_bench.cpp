// SPDX-License-Identifier: Apache-2.0
// tidemark bench producer --disabled: what a probe costs when recording is off, in instructions.
// The same loop runs twice under callgrind, with the probe and without it.
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/core.h>

#include "tidemark/cli/bench/bench_options.h"
#include "tidemark/cli/command_line.h"
#include "tidemark/device/region_file.h"
#include "tidemark/device/sim/sim_env.h"
#include "tidemark/record/recorder.h"
#include "tidemark/schema/task_span.h"
#include "tidemark/session/json.h"

namespace tidemark::cli {
namespace {

constexpr std::uint64_t kIterations = 1'000'000;

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

// Instructions of one probe loop in a process of its own, as callgrind counts them.
Expected<std::uint64_t> count_instructions(bool with_probe, std::uint64_t iterations) {
  char self[4096] = {};
  if (::readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
    return file_failure("readlink", "/proc/self/exe");
  const std::string command = fmt::format(
      "valgrind --tool=callgrind --callgrind-out-file=/dev/null '{}' bench probe-loop "
      "{} --iterations {} 2>&1",
      self, with_probe ? "--probe" : "", iterations);
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
Expected<std::uint64_t> count_loop(bool with_probe) {
  const auto twice = count_instructions(with_probe, 2 * kIterations);
  if (!twice) return twice;
  const auto once = count_instructions(with_probe, kIterations);
  if (!once) return once;
  return *twice - *once;
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

int run_probe_loop(bool with_probe, std::uint64_t iterations) {
  Recorder<TaskSpan, SimEnv> disabled;
  const std::uint64_t sum =
      with_probe ? loop_with_probe(disabled, iterations) : loop_without_probe(iterations);
  return sum == 1 ? 1 : 0;
}

int bench_disabled(const BenchOptions& options) {
  const std::uint64_t files_before = entries_in("/proc/self/fd");
  run_probe_loop(true, kIterations);
  const std::uint64_t threads = entries_in("/proc/self/task");
  const std::uint64_t regions = mapped_regions();
  const std::uint64_t files = entries_in("/proc/self/fd") - files_before;
  const auto with_probe = count_loop(true);
  if (!with_probe) return report_error(with_probe.error());
  const auto without = count_loop(false);
  if (!without) return report_error(without.error());
  const double per_probe = static_cast<double>(static_cast<std::int64_t>(*with_probe - *without)) /
                           static_cast<double>(kIterations);
  if (!options.json) {
    fmt::print(
        "a disabled probe costs {:.2f} instructions ({} with it, {} without it, {} "
        "iterations); {} thread, {} regions, {} files opened\n",
        per_probe, *with_probe, *without, kIterations, threads, regions, files);
    return 0;
  }
  rapidjson::StringBuffer buffer;
  JsonWriter json(buffer);
  json.SetIndent(' ', 2);
  json.StartObject();
  put(json, "bench", std::string_view("producer"));
  put(json, "disabled", true);
  put(json, "instructions_per_probe", std::round(per_probe * 1000) / 1000);
  put(json, "iterations", kIterations);
  put(json, "instructions_with_probe", *with_probe);
  put(json, "instructions_without_probe", *without);
  put(json, "threads", threads);
  put(json, "regions", regions);
  put(json, "files", files);
  json.EndObject();
  fmt::print("{}\n", buffer.GetString());
  return 0;
}

}  // namespace tidemark::cli
