// SPDX-License-Identifier: Apache-2.0
#include "tidemark/cli/command_line.h"

#include <filesystem>

#include <fmt/core.h>

#include "tidemark/base/file_size_signal.h"
#include "tidemark/cli/bench/cuda_bench.h"
#include "tidemark/session/output_directory.h"
#include "workloads/workload_table.h"

namespace tidemark::cli {
namespace {

constexpr const char* kFooter =
    R"(Exit codes: 0 ok, 1 results differ, 2 usage, 3 device error or hang, 4 records lost or
damage, 5 file system error, 130 SIGINT, 143 SIGTERM.

A first try:
  tidemark run vector_example --enable-l2-swimlane --enable-dep-gen --enable-scope-stats
  tidemark swimlane
  tidemark deps --list
  tidemark scopes)";

}  // namespace

int exit_code_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kUsage:
      return kExitUsage;
    case ErrorKind::kDevice:
      return 3;
    case ErrorKind::kDamage:
      return 4;
    case ErrorKind::kFile:
      return 5;
  }
  return kExitUsage;
}

int report_error(const Error& error) {
  fmt::print(stderr, "tidemark: {}\n", error.message);
  return exit_code_of(error);
}

Expected<std::string> resolve_run(const std::string& named) {
  if (named.empty()) return newest_run();
  std::error_code code;
  if (!std::filesystem::is_directory(named, code))
    return failure(ErrorKind::kUsage, "{} is not a run: no such directory", named);
  if (!std::filesystem::exists(named + "/run.json", code))
    return failure(ErrorKind::kUsage, "{} is not a run: it has no run.json", named);
  return named;
}

int run_command_line(int argc, char** argv) { return run_command_line(argc, argv, nullptr); }

int run_command_line(int argc, char** argv, void (*register_more)()) {
  make_file_size_limit_an_error();
  register_workloads();
  if (register_more != nullptr) register_more();
  register_cuda_bench();
  CLI::App app("Tidemark: a flight recorder for on-device task runtimes.", "tidemark");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.set_version_flag("--version", "tidemark 0.1.0");
  Outcome outcome;
  add_list_command(app, outcome);
  add_run_command(app, outcome);
  add_export_command(app, outcome);
  add_swimlane_command(app, outcome);
  add_scopes_command(app, outcome);
  add_deps_command(app, outcome);
  add_dump_command(app, outcome);
  add_replay_command(app, outcome);
  add_check_command(app, outcome);
  add_hang_command(app, outcome);
  add_top_command(app, outcome);
  add_recover_command(app, outcome);
  add_bench_command(app, outcome);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForAllHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForVersion& version) {
    return app.exit(version);
  } catch (const CLI::ParseError& error) {
    const bool unknown_command = argc > 1 && argv[1][0] != '-' && app.get_subcommands().empty();
    if (unknown_command)
      fmt::print(stderr, "tidemark: no command {}\n", argv[1]);
    else
      fmt::print(stderr, "tidemark: {}\n", error.what());
    fmt::print(stderr, "Try 'tidemark --help'.\n");
    return kExitUsage;
  }
  return outcome.exit_code;
}

}  // namespace tidemark::cli
