// SPDX-License-Identifier: Apache-2.0
// The command line: one file per subcommand, each adding itself to the program. Running one gives
// its exit code; errors are printed as one line.
#pragma once

#include <memory>
#include <string>

#include "tidemark/base/command.h"
#include "tidemark/base/expected.h"

namespace tidemark::cli {

// Exit codes, as documented in the README.
inline constexpr int kExitUsage = 2;
inline constexpr int kExitDamage = 4;

// Prints the error as one line on standard error and returns its exit code.
int report_error(const Error& error);

// The arguments of a command; `run` gives its exit code. They live as long as Command::run.
template <class Args>
Args& add_arguments(Command& command, Expected<int> (*run)(const Args&)) {
  auto args = std::make_shared<Args>();
  command.run = [args, run] { return run(*args); };
  return *args;
}
// The same for a command about a run, whose directory is Args::run.
template <class Args>
Args& add_run_arguments(Command& command, Expected<int> (*run)(const Args&)) {
  Args& args = add_arguments(command, run);
  command.option("run", &args.run, "Directory of the run (default: the newest in outputs/)");
  return args;
}

void add_list_command(Command& program);
void add_run_command(Command& program);
void add_export_command(Command& program);
void add_swimlane_command(Command& program);
void add_scopes_command(Command& program);
void add_deps_command(Command& program);
void add_dump_command(Command& program);
void add_replay_command(Command& program);
void add_check_command(Command& program);
void add_hang_command(Command& program);
void add_top_command(Command& program);
void add_recover_command(Command& program);
void add_report_command(Command& program);
void add_serve_command(Command& program);
void add_bench_command(Command& program);

// The run directory a command works on: the one named, or the newest.
Expected<std::string> resolve_run(const std::string& named);

// Registers the programs, forks the supervisor, parses, runs. What main returns.
int run_command_line(int argc, char** argv);
// The same with the programs that are known already, as often as one likes.
int run_arguments(int argc, char** argv);
// `register_more`: programs in place of those of the same name.
int run_command_line(int argc, char** argv, void (*register_more)());

}  // namespace tidemark::cli
