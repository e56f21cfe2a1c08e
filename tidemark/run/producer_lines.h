// SPDX-License-Identifier: Apache-2.0
// At which source lines the producers of a recording stood, from a core dump of their GPU.
#pragma once

#include <string>
#include <vector>

#include "tidemark/run/core_lines.h"
#include "tidemark/run/debugger_text.h"
#include "tidemark/run/hang_state.h"

namespace tidemark {

// What to ask the debugger: the backtraces of those that stopped, as far as it is known where they
// run; worst first, not all of many.
std::vector<std::string> questions_about_producers(const HangState& state);

// File and line of each producer of which it is told; a grid of several dimensions is passed over.
void add_producer_lines(const DebuggerText& text, const CoreLines& lines, HangState& state);

}  // namespace tidemark
