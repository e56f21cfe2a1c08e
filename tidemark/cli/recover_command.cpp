// SPDX-License-Identifier: Apache-2.0
// tidemark recover: finishes a run whose host was killed; lists and removes regions left behind.
#include <unistd.h>

#include <iostream>
#include <memory>

#include <fmt/core.h>

#include "tidemark/cli/command_line.h"
#include "tidemark/cli/fault_options.h"
#include "tidemark/cli/run_summary.h"
#include "tidemark/export/export_run.h"
#include "tidemark/session/recover.h"
#include "workloads/synthetic_producer.h"

namespace tidemark::cli {
namespace {

struct RecoverArgs {
  std::string run;
  std::string inject;
  bool list = false;
  bool clean = false;
  bool yes = false;
  bool host_is_gone = false;
  bool no_sync = false;
  std::uint64_t capture_limit = 0;
  std::uint64_t export_limit = kExportLimitDefault;
};

int recover(const RecoverArgs& args) {
  const auto directory = resolve_run(args.run);
  if (!directory) return report_error(directory.error());
  RecoverOptions options{.host_is_gone = args.host_is_gone,
                         .sync = !args.no_sync,
                         .capture_limit = args.capture_limit};
  options.export_artifacts = [&](const std::string& path, RunReport& report) {
    return export_automatically(
        path, report,
        {.limit = args.export_limit, .only_on_request = report.workload == kSyntheticProducer});
  };
  const auto result = recover_run(*directory, options);
  if (!result) return report_error(result.error());
  if (result->already_complete)
    fmt::print("{} is complete ({}); nothing to recover\n", *directory, result->report.status);
  else if (!result->incomplete)
    fmt::print("{}", summarize(result->report, *directory));
  if (!result->file_error.empty()) fmt::print(stderr, "tidemark: {}\n", result->file_error);
  return result->exit_code;
}

void print_region(const StaleRegion& region) {
  const char* state = region.run_id == 0    ? "not readable"
                      : region.host_alive   ? "running"
                      : region.device_alive ? "host gone, device process still there"
                                            : "left behind";
  fmt::print("{}  {:>10}  {}\n", region.path, human_bytes(region.bytes), state);
  if (!region.run_directory.empty())
    fmt::print("    {}{}\n", region.host_alive ? "" : "tidemark recover ", region.run_directory);
}

bool may_remove(const RecoverArgs& args) {
  if (args.yes) return true;
  if (::isatty(STDIN_FILENO) != 1) return false;
  fmt::print("Their records are lost for good. Remove them? [y/N] ");
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

int list_and_clean(const RecoverArgs& args) {
  std::vector<StaleRegion> dead;
  const auto regions = list_regions();
  for (const auto& region : regions) {
    print_region(region);
    if (!region.host_alive && !region.device_alive) dead.push_back(region);
  }
  if (regions.empty()) fmt::print("no regions in shared memory\n");
  if (!args.clean || dead.empty()) return 0;
  if (!may_remove(args)) {
    fmt::print(stderr, "tidemark: nothing removed; add --yes to remove {} region{}\n", dead.size(),
               dead.size() == 1 ? "" : "s");
    return kExitUsage;
  }
  for (const auto& region : dead) {
    if (::unlink(region.path.c_str()) != 0)
      return report_error(file_failure("remove", region.path).value());
    fmt::print("removed {}\n", region.path);
  }
  return 0;
}

}  // namespace

void add_recover_command(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand("recover", "Finish a run whose host was killed");
  auto args = std::make_shared<RecoverArgs>();
  command->add_option("run", args->run, "Directory of the run (default: the newest in outputs/)");
  command->add_flag("--host-is-gone", args->host_is_gone,
                    "You know that the run is over where this machine cannot: it ran on another "
                    "host, or in a container whose shared memory cannot be seen from here");
  command->add_flag("--no-sync", args->no_sync,
                    "Do not wait until the files are on stable storage");
  command->add_flag("--list", args->list, "List the regions in shared memory");
  command->add_flag("--clean", args->clean,
                    "Remove regions whose processes are gone, after asking");
  command->add_flag("--yes", args->yes, "With --clean: do not ask");
  command
      ->add_option("--export-limit", args->export_limit,
                   "Records above which a JSON artifact is written only on request")
      ->capture_default_str();
  command->add_option("--inject", args->inject,
                      "A fault for tests: kill@recovery:N, kill@export:N, kill@report, "
                      "capture_limit=N (bytes of a full disk)");
  command->callback([args, &outcome] {
    constexpr std::string_view kLimit = "capture_limit=";
    if (args->inject.starts_with(kLimit))
      args->capture_limit = std::strtoull(args->inject.c_str() + kLimit.size(), nullptr, 10);
    else if (!args->inject.empty())
      if (auto armed = arm_fault(args->inject); !armed) {
        outcome.exit_code = report_error(armed.error());
        return;
      }
    outcome.exit_code = args->list || args->clean ? list_and_clean(*args) : recover(*args);
  });
}

}  // namespace tidemark::cli
