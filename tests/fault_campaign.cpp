// SPDX-License-Identifier: Apache-2.0
// The fault campaign: seeded faults at every named point, on every platform, under every policy,
// with streams mixed. Prints the table; every number behind "lost" must be 0.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "tests/child_process.h"
#include "tests/fault_run.h"

namespace {

using namespace tidemark;  // NOLINT(google-build-using-namespace): one program, one file
namespace fs = std::filesystem;

struct Options {
  std::string audited, work_directory, platform = "all", point = "all";
  std::uint64_t per_cell = 25, seed = 1;
};

struct Sum {
  std::uint64_t fired = 0, not_fired = 0, failed = 0, recovered = 0, found = 0, overwritten = 0,
                lost = 0, twice = 0, torn = 0, incomplete = 0, hangs = 0, leftovers = 0,
                recover_faults = 0, recover_fired = 0;

  void add(const FaultOutcome& outcome) {
    add(Sum{.fired = outcome.fired ? 1u : 0u,
            .not_fired = outcome.fired ? 0u : 1u,
            .failed = outcome.problems.empty() ? 0u : 1u,
            .recovered = outcome.recovered,
            .found = outcome.found,
            .overwritten = outcome.overwritten,
            .lost = outcome.lost,
            .twice = outcome.twice,
            .torn = outcome.torn,
            .incomplete = outcome.incomplete,
            .hangs = outcome.tool_hangs,
            .leftovers = outcome.leftovers,
            .recover_faults = outcome.recover_faults,
            .recover_fired = outcome.recover_fired});
  }
  void add(const Sum& other) {
    fired += other.fired;
    not_fired += other.not_fired;
    failed += other.failed;
    recovered += other.recovered;
    found += other.found;
    overwritten += other.overwritten;
    lost += other.lost;
    twice += other.twice;
    torn += other.torn;
    incomplete += other.incomplete;
    hangs += other.hangs;
    leftovers += other.leftovers;
    recover_faults += other.recover_faults;
    recover_fired += other.recover_fired;
  }
};

constexpr const char* kPolicyNames[] = {"wait", "drop", "keep-last"};

void print_row(const std::string& cell, const Sum& sum) {
  fmt::print("{:<32} {:>6} {:>6} {:>8} {:>9} {:>8} {:>5} {:>5} {:>5} {:>6} {:>5} {:>5} {:>6}\n",
             cell, sum.fired, sum.not_fired, sum.found, sum.recovered, sum.overwritten, sum.lost,
             sum.twice, sum.torn, sum.incomplete, sum.hangs, sum.leftovers, sum.failed);
  std::fflush(stdout);
}

// One attempt, judged whether or not its fault fires.
FaultOutcome attempt(const Options& options, const FaultCase& the_case,
                     const std::string& directory, Sum& sum, bool must_fire) {
  FaultOutcome outcome = run_fault_case(the_case, options.audited, directory);
  if (!outcome.fired && must_fire)
    outcome.problems.push_back("the fault cannot fire: its place is never come to");
  sum.add(outcome);
  if (outcome.problems.empty()) {
    fs::remove_all(directory);
    return outcome;
  }
  fmt::print("FAILED {}: {}\n  run   TIDEMARK_AUDIT={}/audit {} run {} --inject {}\n",
             fault_text(the_case), fmt::join(outcome.problems, "; "), directory, options.audited,
             fmt::join(the_case.run_flags, " "), fault_text(the_case));
  return outcome;
}

// Where a run was over before its fault, the next one takes what this one came to: a count within
// it, and then the first time; three quarters of the space that it needed.
void bring_nearer(FaultCase& the_case, const FaultOutcome& outcome, int round) {
  the_case.limit = outcome.capture_bytes * 3 / 4;
  the_case.count =
      round > 0 || outcome.reached == 0 ? 1 : 1 + the_case.count % outcome.reached * 3 / 4;
}

Sum run_cell(const Options& options, FaultPoint point, std::string_view platform,
             std::size_t policy) {
  constexpr int kRounds = 3;
  Sum sum;
  for (std::uint64_t seed = options.seed; seed < options.seed + options.per_cell; ++seed) {
    FaultCase the_case = make_fault_case(point, platform, kFaultPolicies[policy], seed);
    for (int round = 0; round < kRounds; ++round) {
      const std::string directory =
          fmt::format("{}/{}_{}_{}_{}_{}", options.work_directory, row_name(point), platform,
                      kPolicyNames[policy], seed, round);
      const FaultOutcome outcome = attempt(options, the_case, directory, sum, round + 1 == kRounds);
      if (outcome.fired || !outcome.problems.empty()) break;
      bring_nearer(the_case, outcome, round);
    }
  }
  return sum;
}

// What a campaign of this size must have met; otherwise it has shown nothing.
struct Floors {
  std::uint64_t missed = 0;

  void expect(const std::string& what, std::uint64_t met, std::uint64_t least) {
    const bool enough = met >= least;
    missed += enough ? 0 : 1;
    fmt::print("floor: {:<48} {:>8} of at least {:>6}{}\n", what, met, least,
               enough ? "" : "  NOT MET");
  }
};

int run_campaign(const Options& options) {
  become_reaper();
  const std::uint64_t begin_us = now_us();
  fmt::print("{:<32} {:>6} {:>6} {:>8} {:>9} {:>8} {:>5} {:>5} {:>5} {:>6} {:>5} {:>5} {:>6}\n",
             "point, platform, policy", "fired", "not", "found", "recovered", "overwr.", "lost",
             "twice", "torn", "incom.", "hangs", "left", "failed");
  Sum total, kept, cut;
  std::uint64_t emptiest = options.per_cell;
  for (std::uint32_t row = 0; row < kFaultRowCount; ++row) {
    const auto point = static_cast<FaultPoint>(row);
    if (options.point != "all" && options.point != row_name(point)) continue;
    for (const auto platform : kFaultPlatforms) {
      if (options.platform != "all" && options.platform != platform) continue;
      for (std::size_t policy = 0; policy < std::size(kFaultPolicies); ++policy) {
        const Sum sum = run_cell(options, point, platform, policy);
        print_row(fmt::format("{}, {}, {}", row_name(point), platform, kPolicyNames[policy]), sum);
        emptiest = std::min(emptiest, sum.fired);
        total.add(sum);
        if (kFaultPolicies[policy] == Overflow::kKeepLast) kept.add(sum);
        if (point == FaultPoint::kPageSwitch) cut.add(sum);
      }
    }
  }
  print_row("all", total);
  Floors floors;
  floors.expect("faults fired in the emptiest cell", emptiest, options.per_cell);
  floors.expect("recoveries cut by a second fault", total.recover_fired, total.recover_faults / 3);
  floors.expect("overwritten in keep-last cells", kept.overwritten, kept.fired * 3);
  floors.expect("records and frames cut at page switches", cut.incomplete, cut.fired / 5);
  std::error_code code;
  fs::remove(options.work_directory, code);
  fmt::print(
      "fault campaign: {} faults fired, {} did not and were judged too, {} failed, {} floors not "
      "met, seed {}, {:.1f} s\n",
      total.fired, total.not_fired, total.failed, floors.missed, options.seed,
      static_cast<double>(now_us() - begin_us) / 1e6);
  return total.failed == 0 && floors.missed == 0 && total.fired > 0 ? 0 : 1;
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
