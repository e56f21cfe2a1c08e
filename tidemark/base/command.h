// SPDX-License-Identifier: Apache-2.0
// What a command line may say, as data: commands, their flags, and where each value goes. Code that
// declares flags needs no parser: cli/command_line.cpp is the only source that knows one.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tidemark/base/expected.h"

namespace tidemark {

// Where the value of a flag goes. It must live until the command has run.
using FlagValue = std::variant<bool*, std::uint32_t*, std::uint64_t*, double*, std::string*,
                               std::optional<std::uint32_t>*, std::optional<std::uint64_t>*,
                               std::vector<std::string>*, std::function<void(const std::string&)>>;

struct FlagRules {
  bool shows_default = false;  // the help shows the value from before
  bool required = false;
  std::optional<std::pair<int, int>> range = {};  // least and most
  std::vector<std::string> one_of = {};
  int values = 0;              // of a list: exactly so many; 0: any number
  std::string type_name = {};  // in the help, instead of that of the value
  // Says what is wrong with a value; an empty text: nothing.
  std::function<std::string(const std::string&)> check = {};
};
inline const FlagRules kShowsDefault{.shows_default = true};

struct Flag {
  std::string names;  // "-p,--platform"; without dashes: an argument, by its position
  FlagValue value;
  std::string text;
  std::string group;  // the heading above it in the help; empty: "Options"
  bool needs_value = true;
  FlagRules rules = {};
};

struct Command {
  std::string name;
  std::string text;
  std::function<Expected<int>()> run =
      {};                  // its exit code; without it, one of `commands` must be named
  bool hidden = false;     // not in the help
  std::string group = {};  // of the flags that are added from now on
  std::vector<Flag> flags = {};
  std::list<Command> commands = {};

  // "--name VALUE".
  void option(std::string names, FlagValue value, std::string says, FlagRules rules = {}) {
    flags.push_back(
        {std::move(names), std::move(value), std::move(says), group, true, std::move(rules)});
  }
  // "--name" alone; "--name{X}" means X without a value, "!--no-name" the opposite.
  void flag(std::string names, FlagValue value, std::string says) {
    flags.push_back({std::move(names), std::move(value), std::move(says), group, false});
  }
  Command& command(std::string its_name, std::string says) {
    return commands.emplace_back(Command{.name = std::move(its_name), .text = std::move(says)});
  }
};

}  // namespace tidemark
