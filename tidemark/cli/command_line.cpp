// SPDX-License-Identifier: Apache-2.0
#include "tidemark/cli/command_line.h"

#include <exception>
#include <filesystem>
#include <new>
#include <sstream>

#include "tidemark/base/file_size_signal.h"
#include "tidemark/base/nearest_name.h"
#include "tidemark/cli/bench/cuda_bench.h"
#include "tidemark/cli/terminal.h"
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

// What the parser answers itself: help, version.
int print_answer(const CLI::App& app, const CLI::Error& asked) {
  std::ostringstream out, error;
  const int exit_code = app.exit(asked, out, error);
  print_text(out.str());
  print_text(error.str(), Stream::kError);
  return exit_code;
}

// What is wrong with the arguments, with the nearest name that is known where one is not.
std::string refusal_text(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;  // the last one that was understood
  while (!command->get_subcommands().empty()) command = command->get_subcommands().back();
  const auto unknown = app.remaining(true);
  if (unknown.empty()) return error.what();
  const std::string word = unknown.front().substr(0, unknown.front().find('='));
  if (word.starts_with('-')) {
    std::vector<std::string> flags;
    for (const auto* option : command->get_options())
      for (const auto& name : option->get_lnames()) flags.push_back("--" + name);
    return fmt::format("no flag {}{}", word, did_you_mean(word, flags));
  }
  const auto commands = command->get_subcommands([](const CLI::App*) { return true; });
  if (commands.empty()) return error.what();
  return fmt::format("no command {}{}", word, did_you_mean(word, commands, &CLI::App::get_name));
}

int refuse(const CLI::App& app, const CLI::ParseError& error) {
  print_error("tidemark: {}\n", refusal_text(app, error));
  print_error("Try 'tidemark --help'.\n");
  return kExitUsage;
}

// No exception ends the process: what a hostile file brings about is a line and an exit code.
int parse_and_run(CLI::App& app, int argc, char** argv, const Outcome& outcome) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return print_answer(app, help);
  } catch (const CLI::CallForAllHelp& help) {
    return print_answer(app, help);
  } catch (const CLI::CallForVersion& version) {
    return print_answer(app, version);
  } catch (const CLI::ParseError& error) {
    return refuse(app, error);
  } catch (const std::bad_alloc&) {
    print_error("tidemark: out of memory; a file may be damaged, or larger than this machine\n");
    return kExitDamage;
  } catch (const std::exception& error) {
    print_error("tidemark: {}\n", error.what());
    return kExitDamage;
  }
  return outcome.exit_code;
}

}  // namespace

int exit_code_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kUsage:
      return kExitUsage;
    case ErrorKind::kDevice:
      return 3;
    case ErrorKind::kDamage:
      return kExitDamage;
    case ErrorKind::kFile:
      return 5;
  }
  return kExitUsage;
}

int report_error(const Error& error) {
  print_error("tidemark: {}\n", error.message);
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
  return run_arguments(argc, argv);
}

int run_arguments(int argc, char** argv) {
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
  return parse_and_run(app, argc, argv, outcome);
}

}  // namespace tidemark::cli
