// SPDX-License-Identifier: Apache-2.0
#include "tidemark/cli/file_mode_option.h"

#include <charconv>
#include <optional>
#include <string>

#include <fmt/core.h>

#include "tidemark/base/file_mode.h"

namespace tidemark::cli {
namespace {

// Its owner must be able to go on with it, and nothing of a run is a program.
std::optional<mode_t> parse_mode(const std::string& text) {
  mode_t mode = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, mode, 8);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  if ((mode & ~mode_t{0666}) != 0 || (mode & 0600) != 0600) return std::nullopt;
  return mode;
}

}  // namespace

void add_file_mode_option(Command& command) {
  command.option(
      "--file-mode", FlagValue([](const std::string& text) { set_file_mode(*parse_mode(text)); }),
      "Who may use the files: an octal mode (default 0600, only you; 0644 lets all read)",
      {.type_name = "OCTAL", .check = [](const std::string& text) {
         return parse_mode(text)
                    ? std::string()
                    : fmt::format("--file-mode {}: an octal mode from 0600 to 0666", text);
       }});
}

}  // namespace tidemark::cli
