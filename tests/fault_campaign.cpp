// SPDX-License-Identifier: Apache-2.0
// The fault campaign: seeded faults at every named point, on every platform, under every policy,
// with streams mixed. Prints the table; every number behind "lost" must be 0.
#include <unistd.h>

#include <filesystem>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "tests/child_process.h"
#include "tests/fault_case.h"

namespace {

using namespace tidemark;
namespace fs = std::filesystem;

struct Options {
  std::string audited, work_directory, platform = "all", point = "all";
  std::uint64_t per_cell = 25, seed = 1;
};

struct Sum {
  std::uint64_t faults = 0, not_reached = 0, failed = 0, recovered = 0, found = 0, lost = 0,
                duplicates = 0, torn = 0, hangs = 0, leftovers = 0;

  void add(const FaultOutcome& outcome) {
    faults += outcome.hit ? 1 : 0;
    not_reached += outcome.hit ? 0 : 1;
    failed += outcome.problems.empty() ? 0 : 1;
    recovered += outcome.recovered;
    found += outcome.found;
    lost += outcome.lost;
    duplicates += outcome.duplicates;
    torn += outcome.torn;
    hangs += outcome.tool_hangs;
    leftovers += outcome.leftovers;
  }
  void add(const Sum& other) {
    faults += other.faults;
    not_reached += other.not_reached;
    failed += other.failed;
    recovered += other.recovered;
    found += other.found;
    lost += other.lost;
    duplicates += other.duplicates;
    torn += other.torn;
    hangs += other.hangs;
    leftovers += other.leftovers;
  }
};

constexpr const char* kPolicyNames[] = {"wait", "drop", "keep-last"};

void print_row(const std::string& cell, const Sum& sum) {
  fmt::print("{:<38} {:>6} {:>9} {:>9} {:>5} {:>5} {:>5} {:>5} {:>5} {:>6}\n", cell, sum.faults,
             sum.found, sum.recovered, sum.lost, sum.duplicates, sum.torn, sum.hangs, sum.leftovers,
             sum.failed);
  std::fflush(stdout);
}

// A cell is full when so many faults have really come.
Sum run_cell(const Options& options, FaultPoint point, std::string_view platform,
             std::size_t policy) {
  Sum sum;
  for (std::uint64_t seed = options.seed;
       sum.faults < options.per_cell && seed < options.seed + options.per_cell * 4; ++seed) {
    const FaultCase the_case = make_fault_case(point, platform, kFaultPolicies[policy], seed);
    const std::string directory =
        fmt::format("{}/{}_{}_{}_{}", options.work_directory, row_name(point), platform,
                    kPolicyNames[policy], seed);
    const FaultOutcome outcome = run_fault_case(the_case, options.audited, directory);
    sum.add(outcome);
    if (outcome.problems.empty()) {
      fs::remove_all(directory);
      continue;
    }
    fmt::print("FAILED {}: {}\n  run   TIDEMARK_AUDIT={}/audit {} run {} --inject {}\n",
               fault_text(the_case), fmt::join(outcome.problems, "; "), directory, options.audited,
               fmt::join(the_case.run_flags, " "), fault_text(the_case));
  }
  return sum;
}

int run_campaign(const Options& options) {
  become_reaper();
  const std::uint64_t begin_us = now_us();
  fmt::print("{:<38} {:>6} {:>9} {:>9} {:>5} {:>5} {:>5} {:>5} {:>5} {:>6}\n",
             "point, platform, policy", "faults", "found", "recovered", "lost", "twice", "torn",
             "hangs", "left", "failed");
  Sum total;
  bool full = true;
  for (std::uint32_t row = 0; row < kFaultRowCount; ++row) {
    const auto point = static_cast<FaultPoint>(row);
    if (options.point != "all" && options.point != row_name(point)) continue;
    for (const auto platform : kFaultPlatforms) {
      if (options.platform != "all" && options.platform != platform) continue;
      for (std::size_t policy = 0; policy < std::size(kFaultPolicies); ++policy) {
        const Sum sum = run_cell(options, point, platform, policy);
        print_row(fmt::format("{}, {}, {}", row_name(point), platform, kPolicyNames[policy]), sum);
        full = full && sum.faults >= options.per_cell;
        total.add(sum);
      }
    }
  }
  print_row("all", total);
  std::error_code code;
  fs::remove(options.work_directory, code);
  fmt::print("fault campaign: {} faults, {} of them failed, seed {}, {:.1f} s{}\n", total.faults,
             total.failed, options.seed, static_cast<double>(now_us() - begin_us) / 1e6,
             full ? "" : "; some cells are NOT FULL");
  return total.failed == 0 && full ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.work_directory =
      (fs::temp_directory_path() / fmt::format("tidemark_faults_{}", ::getpid())).string();
  CLI::App app("Asks for faults at every named point and judges what is left.");
  app.add_option("--audited", options.audited, "The audited executable to test")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--per-cell", options.per_cell, "Faults in each cell")->capture_default_str();
  app.add_option("--seed", options.seed, "Seed of the first case")->capture_default_str();
  app.add_option("--platform", options.platform, "Only this one")->capture_default_str();
  app.add_option("--point", options.point, "Only this one")->capture_default_str();
  app.add_option("--work-directory", options.work_directory, "Where failing cases are kept")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  options.audited = fs::absolute(options.audited).string();
  options.work_directory = fs::absolute(options.work_directory).string();
  return run_campaign(options);
}
