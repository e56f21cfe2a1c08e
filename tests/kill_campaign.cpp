// SPDX-License-Identifier: Apache-2.0
// The kill campaign: many short runs whose device process, host process or recovery is killed at a
// random moment, each judged by what its producers had counted. Seeds are printed; case number i
// of a campaign with seed S is the case of seed S + i, alone repeatable with --runs 1.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "tests/child_process.h"
#include "tests/kill_run.h"

namespace {

using namespace tidemark;  // NOLINT(google-build-using-namespace): one program, one file
namespace fs = std::filesystem;

struct CampaignOptions {
  std::string tidemark;
  std::string mode = "all";
  std::string work_directory;
  std::uint64_t runs = 100;
  std::uint64_t seed = 1;
  bool verbose = false;
};

constexpr std::uint64_t kLongCampaign = 100;  // cases of a mode

struct Tally {
  std::uint64_t cases = 0;
  std::uint64_t hit = 0;
  std::uint64_t too_late = 0;
  std::uint64_t never_began = 0;
  std::uint64_t failed = 0;
  std::uint64_t recover_kills = 0;
  std::uint64_t compared = 0;
  std::uint64_t records = 0;
  std::uint64_t frames = 0;
  std::uint64_t incomplete = 0;
  std::uint64_t told = 0, never_told = 0;
  std::uint32_t process_wait_ms = 0;
  std::uint64_t floors_missed = 0;
  std::uint64_t cases_at[kKillMomentCount] = {};
  std::uint64_t hit_at[kKillMomentCount] = {};

  void add(const KillCase& the_case, const CaseOutcome& outcome) {
    ++cases;
    ++cases_at[static_cast<std::uint32_t>(the_case.moment)];
    hit_at[static_cast<std::uint32_t>(the_case.moment)] += outcome.fate == KillFate::kHit;
    told += outcome.told;
    never_told += outcome.never_told;
    hit += outcome.fate == KillFate::kHit;
    too_late += outcome.fate == KillFate::kTooLate;
    never_began += outcome.fate == KillFate::kNeverBegan;
    failed += !outcome.problems.empty();
    recover_kills += outcome.recover_kills;
    compared += outcome.compared;
    records += outcome.records_found;
    frames += outcome.frames_found;
    incomplete += outcome.incomplete;
    process_wait_ms = std::max(process_wait_ms, outcome.process_wait_ms);
  }
};

void print_failure(const CampaignOptions& options, const KillCase& the_case,
                   const CaseOutcome& outcome, const std::string& directory) {
  fmt::print("FAILED seed {} ({}, {}): {}\n", the_case.seed, to_text(the_case.mode),
             to_text(the_case.moment), fmt::join(outcome.problems, "; "));
  fmt::print("  run       {}\n",
             fmt::join(run_arguments(the_case, options.tidemark, directory + "/run",
                                     directory + "/accepted"),
                       " "));
  fmt::print("  files     {}\n", directory);
  fmt::print("  repeat    tidemark_kill_campaign --tidemark {} --mode {} --seed {} --runs 1\n",
             options.tidemark, to_text(the_case.mode), the_case.seed);
}

// What so many cases must have met; otherwise they have shown nothing. That every kill of a long
// run hits is judged case by case.
std::uint64_t judge_floors(KillMode mode, const Tally& tally) {
  std::uint64_t missed = 0;
  const auto expect = [&](std::string_view what, std::uint64_t met, std::uint64_t least) {
    fmt::print("         floor: {:<32} {:>6} of at least {:>4}{}\n", what, met, least,
               met >= least ? "" : "  NOT MET");
    missed += met >= least ? 0 : 1;
  };
  for (std::uint32_t i = 0; i < kKillMomentCount; ++i)
    fmt::print("         at {:<12} {} of {} killed\n", to_text(static_cast<KillMoment>(i)),
               tally.hit_at[i], tally.cases_at[i]);
  expect("killed", tally.hit, tally.cases / 2);
  expect("killed at a system call", tally.hit_at[3], tally.cases_at[3] / 2);
  if (mode != KillMode::kDevice) {
    expect("devices that outlived their host", tally.told + tally.never_told, tally.cases / 4);
    expect("of them, told that it is gone", tally.told, (tally.told + tally.never_told) * 3 / 4);
  }
  if (mode == KillMode::kRecover) {
    expect("recoveries interrupted", tally.recover_kills, tally.cases / 2);
    expect("compared with one run through", tally.compared, tally.cases / 3);
  }
  // Where the host is killed, the device closes its lanes.
  if (mode == KillMode::kDevice && tally.cases >= kLongCampaign)
    expect("torn records met, not taken", tally.incomplete, tally.cases / 50);
  return missed;
}

Tally run_mode(const CampaignOptions& options, KillMode mode) {
  Tally tally;
  for (std::uint64_t i = 0; i < options.runs; ++i) {
    const KillCase the_case = make_case(mode, options.seed + i);
    const std::string directory =
        fmt::format("{}/{}_{}", options.work_directory, to_text(mode), the_case.seed);
    fs::remove_all(directory);
    const CaseOutcome outcome = run_case(the_case, options.tidemark, directory);
    tally.add(the_case, outcome);
    if (options.verbose)
      fmt::print("{} seed {}: {} at {} us, {} records, {} frames\n", to_text(mode), the_case.seed,
                 to_text(the_case.moment), the_case.delay_us, outcome.records_found,
                 outcome.frames_found);
    if (outcome.problems.empty())
      fs::remove_all(directory);
    else
      print_failure(options, the_case, outcome, directory);
    std::fflush(stdout);
  }
  fmt::print(
      "{:<8} {} cases from seed {}: {} killed, {} too late, {} never began; {} records and {} "
      "frames found, {} incomplete not taken; processes gone within {} ms; {} failed\n",
      to_text(mode), tally.cases, options.seed, tally.hit, tally.too_late, tally.never_began,
      tally.records, tally.frames, tally.incomplete, tally.process_wait_ms, tally.failed);
  if (mode == KillMode::kRecover)
    fmt::print("         {} recoveries interrupted, {} runs compared with one run through\n",
               tally.recover_kills, tally.compared);
  tally.floors_missed = judge_floors(mode, tally);
  std::fflush(stdout);
  return tally;
}

int run_campaign(const CampaignOptions& options) {
  become_reaper();
  const std::uint64_t begin_us = now_us();
  std::uint64_t cases = 0, failed = 0, floors_missed = 0;
  for (const auto mode : {KillMode::kDevice, KillMode::kHost, KillMode::kRecover}) {
    if (options.mode != "all" && options.mode != to_text(mode)) continue;
    const Tally tally = run_mode(options, mode);
    cases += tally.cases;
    failed += tally.failed;
    floors_missed += tally.floors_missed;
  }
  std::error_code code;
  fs::remove(options.work_directory, code);  // only if no failing case is kept in it
  fmt::print("kill campaign: {} of {} cases passed, {} floors not met, seed {}, {:.1f} s\n",
             cases - failed, cases, floors_missed, options.seed,
             static_cast<double>(now_us() - begin_us) / 1e6);
  return failed == 0 && floors_missed == 0 && cases > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CampaignOptions options;
  options.work_directory =
      (fs::temp_directory_path() / fmt::format("tidemark_kill_{}", ::getpid())).string();
  CLI::App app("Kills runs of tidemark at random moments and judges what is left.");
  app.add_option("--tidemark", options.tidemark, "The executable to test")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--runs", options.runs, "Cases of each mode")->capture_default_str();
  app.add_option("--seed", options.seed, "Seed of the first case")->capture_default_str();
  app.add_option("--mode", options.mode, "Who is killed: device, host, recover or all")
      ->check(CLI::IsMember({"device", "host", "recover", "all"}))
      ->capture_default_str();
  app.add_option("--work-directory", options.work_directory, "Where failing cases are kept")
      ->capture_default_str();
  app.add_flag("--verbose", options.verbose, "One line per case");
  CLI11_PARSE(app, argc, argv);
  options.tidemark = fs::absolute(options.tidemark).string();
  options.work_directory = fs::absolute(options.work_directory).string();
  return run_campaign(options);
}
