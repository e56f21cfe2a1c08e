// SPDX-License-Identifier: Apache-2.0
// Another program, run for the text it prints, with limits: what it starts is ended with it, and it
// does not outlive this process. Where it crashes it leaves no core file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/base/expected.h"

namespace tidemark {

struct ToolRun {
  std::string path;  // of its executable
  std::vector<std::string> args;
  std::vector<std::string> environment;  // NAME=value, beside and before what this process has
  std::uint32_t limit_ms = 1000;
  std::size_t text_bytes = 1 << 20;  // what it prints after that is thrown away
};

struct ToolText {
  std::string text;  // of both its outputs; foreign, so nothing in it is trusted
  bool timed_out = false;
  bool is_cut = false;
  int exit_code = -1;  // -1: ended by a signal
};

// Where PATH has an executable of that name; empty: nowhere.
std::string find_tool(std::string_view name);

// Waits until it ends, or ends it. An error: it could not be started.
Expected<ToolText> run_tool(const ToolRun& tool);

}  // namespace tidemark
