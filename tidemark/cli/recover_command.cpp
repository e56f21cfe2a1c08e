// SPDX-License-Identifier: Apache-2.0
// tidemark recover: finishes a run whose host was killed; lists and removes regions left behind.
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "tidemark/base/human_text.h"
#include "tidemark/cli/command_line.h"
#include "tidemark/cli/fault_options.h"
#include "tidemark/cli/file_mode_option.h"
#include "tidemark/cli/run_summary.h"
#include "tidemark/cli/terminal.h"
#include "tidemark/export/export_run.h"
#include "tidemark/session/recover.h"
#include "tidemark/session/stale_regions.h"
#include "tidemark/session/workload_entry.h"

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
  std::uint64_t export_limit = kExportLimitDefault;
};

const char* state_of(const StaleRegion& region) {
  if (region.run_id == 0)
    return region.in_use ? "not readable by this version, in use" : "not readable by this version";
  if (!region.in_use) return "left behind";
  if (region.host_alive) return "running";
  return region.device_alive ? "host gone, device process still there"
                             : "running, in a place that is not seen from here";
}

// A word for a shell, so that the line may be copied whatever the directory is called.
std::string shell_word(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

void print_region(const StaleRegion& region) {
  if (!region.not_yours.empty()) {
    print("{}\n", region.not_yours);
    return;
  }
  print("{}  {:>10}  {}\n", region.path, human_bytes(region.bytes), state_of(region));
  if (!region.run_directory.empty())
    print("    {}{}\n", region.in_use ? "" : "tidemark recover ",
          region.in_use ? region.run_directory : shell_word(region.run_directory));
}

bool may_remove(const RecoverArgs& args) {
  if (args.yes) return true;
  if (::isatty(STDIN_FILENO) != 1) return false;
  print("Their records are lost for good. Remove them? [y/N] ");
  flush();
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

// What is in use or not the caller's stays. One that cannot be removed does not keep the others.
int remove_all(const std::vector<StaleRegion>& regions) {
  int exit_code = 0;
  for (const auto& region : regions) {
    if (!region.not_yours.empty()) {
      print("left: {}\n", region.not_yours);
    } else if (const auto removed = remove_region_if_dead(region.path)) {
      print("removed {}\n", region.path);
    } else if (removed.error().kind == ErrorKind::kUsage) {
      print("left: {}\n", removed.error().message);
    } else {
      exit_code = report_error(removed.error());
    }
  }
  return exit_code;
}

int list_and_clean(const RecoverArgs& args) {
  const auto regions = list_regions();
  for (const auto& region : regions) print_region(region);
  if (regions.empty()) print("no regions in shared memory\n");
  const auto dead = std::count_if(regions.begin(), regions.end(), [](const StaleRegion& region) {
    return region.not_yours.empty() && !region.in_use;
  });
  if (!args.clean) return 0;
  if (dead == 0) {
    print("nothing to remove\n");
    return 0;
  }
  if (!may_remove(args)) {
    print_error("tidemark: nothing removed; add --yes to remove {} region{}\n", dead,
                dead == 1 ? "" : "s");
    return kExitUsage;
  }
  return remove_all(regions);
}

Expected<int> recover(const RecoverArgs& args) {
  RecoverOptions options{.host_is_gone = args.host_is_gone, .sync = !args.no_sync};
  constexpr std::string_view kLimit = "capture_limit=";
  if (args.inject.starts_with(kLimit))
    options.capture_limit = std::strtoull(args.inject.c_str() + kLimit.size(), nullptr, 10);
  else if (!args.inject.empty())
    TM_TRY_DO(arm_fault(args.inject));
  if (args.list || args.clean) return list_and_clean(args);
  TM_TRY(const auto directory, resolve_run(args.run));
  options.export_artifacts = [&](const std::string& path, RunReport& report) {
    return export_automatically(
        path, report,
        {.limit = args.export_limit, .only_on_request = exports_on_request(report.workload)});
  };
  TM_TRY(const auto result, recover_run(directory, options));
  if (result.already_complete)
    print("{} is complete ({}); nothing to recover\n", directory, to_text(result.report.status));
  else if (!result.incomplete)
    print_text(summarize(result.report, directory));
  if (!result.file_error.empty()) print_error("tidemark: {}\n", result.file_error);
  return result.exit_code;
}

}  // namespace

void add_recover_command(Command& program) {
  Command& command = program.command("recover", "Finish a run whose host was killed");
  auto& args = add_run_arguments<RecoverArgs>(command, recover);
  command.flag("--host-is-gone", &args.host_is_gone,
               "You know that the run is over where this machine cannot: it ran on another "
               "host, or in a container whose shared memory cannot be seen from here");
  command.flag("--no-sync", &args.no_sync, "Do not wait until the files are on stable storage");
  command.flag("--list", &args.list, "List the regions in shared memory, and whose they are");
  command.flag("--clean", &args.clean,
               "Remove regions of yours that no process holds, after asking");
  command.flag("--yes", &args.yes, "With --clean: do not ask");
  command.option("--export-limit", &args.export_limit,
                 "Records above which a JSON artifact is written only on request", kShowsDefault);
  command.option("--inject", &args.inject,
                 "A fault for tests: kill@recovery:N, kill@export:N, kill@report, "
                 "capture_limit=N (bytes of a full disk)");
  add_file_mode_option(command);
}

}  // namespace tidemark::cli
