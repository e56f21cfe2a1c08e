// SPDX-License-Identifier: Apache-2.0
#include "tidemark/cli/command_line.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <new>
#include <sstream>

#include <CLI/CLI.hpp>

#include "tidemark/base/file_size_signal.h"
#include "tidemark/base/human_text.h"
#include "tidemark/base/nearest_name.h"
#include "tidemark/cli/terminal.h"
#include "tidemark/run/output_directory.h"
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

CLI::Option* add_flag(CLI::App& app, const Flag& flag) {
  return std::visit(
      [&](const auto& value) -> CLI::Option* {
        using Value = std::remove_cvref_t<decltype(value)>;
        if constexpr (!std::is_pointer_v<Value>)
          return app.add_option_function<std::string>(flag.names, value, flag.text);
        else if constexpr (std::is_same_v<Value, bool*> || std::is_same_v<Value, std::string*> ||
                           std::is_same_v<Value, std::uint32_t*>)
          return flag.needs_value ? app.add_option(flag.names, *value, flag.text)
                                  : app.add_flag(flag.names, *value, flag.text);
        else
          return app.add_option(flag.names, *value, flag.text);
      },
      flag.value);
}

// What a flag takes, for its line of help: the parser's own words differ between its versions.
std::string value_text(const CLI::Option& option) {
  std::string text = option.get_type_name();
  if (const std::string value = option.get_default_str(); !value.empty()) text += "=" + value;
  if (option.get_expected_max() == CLI::detail::expected_max_vector_size)
    text += " ...";
  else if (option.get_expected_min() > 1)
    text += fmt::format(" x {}", option.get_expected_min());
  if (option.get_required()) text += " REQUIRED";
  return text;
}

void add_flags(CLI::App& app, const Command& command) {
  for (const Flag& flag : command.flags) {
    CLI::Option* option = add_flag(app, flag);
    const FlagRules& rules = flag.rules;
    if (!flag.group.empty()) option->group(flag.group);
    if (rules.required) option->required();
    if (rules.values > 0) option->expected(rules.values);
    if (rules.range) option->check(CLI::Range(rules.range->first, rules.range->second));
    if (!rules.one_of.empty())
      option->check([names = rules.one_of](const std::string& value) {
        return std::find(names.begin(), names.end(), value) != names.end()
                   ? ""
                   : fmt::format("'{}' is not {}{}", value, joined(names, ", ", " or "),
                                 did_you_mean(value, names));
      });
    if (rules.check) option->check(rules.check);
    if (!rules.type_name.empty()) option->type_name(rules.type_name);
    if (rules.shows_default) option->capture_default_str();
    if (option->get_items_expected_min() > 0)
      option->option_text(value_text(*option));
    else
      option->default_str("");  // may be given bare
  }
}

void add_commands(CLI::App& app, const Command& command) {
  add_flags(app, command);
  if (!command.run) app.require_subcommand(1);
  for (const Command& one : command.commands) {
    CLI::App* its_app = app.add_subcommand(one.name, one.text);
    if (one.hidden) its_app->group("");
    add_commands(*its_app, one);
  }
}

// The innermost command that was named.
const Command& named_command(const CLI::App& app, const Command& command) {
  for (const Command& one : command.commands)
    if (const CLI::App* its_app = app.get_subcommand(one.name); its_app->parsed())
      return named_command(*its_app, one);
  return command;
}

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
int parse_and_run(CLI::App& app, const Command& program, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    const Expected<int> exit_code = named_command(app, program).run();
    return exit_code ? *exit_code : report_error(exit_code.error());
  } catch (const CLI::Success& asked) {
    return print_answer(app, asked);
  } catch (const CLI::ParseError& error) {
    return refuse(app, error);
  } catch (const std::bad_alloc&) {
    print_error("tidemark: out of memory; a file may be damaged, or larger than this machine\n");
    return kExitDamage;
  } catch (const std::exception& error) {
    print_error("tidemark: {}\n", error.what());
    return kExitDamage;
  }
}

}  // namespace

int report_error(const Error& error) {
  print_error("tidemark: {}\n", error.message);
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
  return run_arguments(argc, argv);
}

int run_arguments(int argc, char** argv) {
  Command program{.name = "tidemark",
                  .text = "Tidemark: a flight recorder for on-device task runtimes."};
  add_list_command(program);
  add_run_command(program);
  add_export_command(program);
  add_swimlane_command(program);
  add_scopes_command(program);
  add_deps_command(program);
  add_dump_command(program);
  add_replay_command(program);
  add_report_command(program);
  add_serve_command(program);
  add_check_command(program);
  add_hang_command(program);
  add_top_command(program);
  add_recover_command(program);
  add_bench_command(program);
  CLI::App app(program.text, program.name);
  app.footer(kFooter);
  app.set_version_flag("--version", "tidemark 0.1.0");
  add_commands(app, program);
  return parse_and_run(app, program, argc, argv);
}

}  // namespace tidemark::cli
