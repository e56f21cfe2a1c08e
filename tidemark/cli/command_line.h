// SPDX-License-Identifier: Apache-2.0
// The command line: one file per subcommand, each adding itself to the application. A subcommand
// leaves its exit code here; errors are printed as one line.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "tidemark/base/expected.h"

namespace tidemark::cli {

// Exit codes, as documented in the README.
inline constexpr int kExitUsage = 2;
inline constexpr int kExitDamage = 4;

struct Outcome {
  int exit_code = 0;
};

int exit_code_of(const Error& error);
// Prints the error as one line on standard error and returns its exit code.
int report_error(const Error& error);

void add_list_command(CLI::App& app, Outcome& outcome);
void add_run_command(CLI::App& app, Outcome& outcome);
void add_export_command(CLI::App& app, Outcome& outcome);
void add_swimlane_command(CLI::App& app, Outcome& outcome);
void add_scopes_command(CLI::App& app, Outcome& outcome);
void add_deps_command(CLI::App& app, Outcome& outcome);
void add_dump_command(CLI::App& app, Outcome& outcome);
void add_replay_command(CLI::App& app, Outcome& outcome);
void add_check_command(CLI::App& app, Outcome& outcome);
void add_hang_command(CLI::App& app, Outcome& outcome);
void add_top_command(CLI::App& app, Outcome& outcome);
void add_recover_command(CLI::App& app, Outcome& outcome);
void add_bench_command(CLI::App& app, Outcome& outcome);

// The run directory a command works on: the one named, or the newest.
Expected<std::string> resolve_run(const std::string& named);

// Registers the programs, forks the supervisor, parses, runs. What main returns.
int run_command_line(int argc, char** argv);
// The same with the programs that are known already, as often as one likes.
int run_arguments(int argc, char** argv);
// `register_more`: programs in place of those of the same name.
int run_command_line(int argc, char** argv, void (*register_more)());

}  // namespace tidemark::cli
