// SPDX-License-Identifier: Apache-2.0
// What `cuda-gdb` prints of a core dump, as data. The text is foreign: what cannot be understood is
// passed over, counts and lengths are bounded, and no control character survives.
//
//   info cuda threads      where every thread stood, equal neighbours in one line
//   cuda block B thread T  what the next backtrace is of ("Current focus set to ...")
//   bt                     its frames
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/run/unit_stack.h"

namespace tidemark {

// Threads of one block that stood at the same place, in the order of their numbers.
struct ThreadsAtPlace {
  std::uint32_t block = 0, first_thread = 0, last_thread = 0;
  std::uint64_t pc = 0;
  StackFrame frame;  // without a function
};

struct ThreadStack {
  std::uint32_t block = 0, thread = 0, sm = 0;
  std::string exception;  // of its warp; empty: none
  std::uint64_t pc = 0;   // of the exception, otherwise of the innermost frame; 0: not said
  std::vector<StackFrame> frames;  // of an exception: where it was raised, not where it stopped
  std::size_t own_frames = 0;      // of the innermost function; the others are its callers
};

struct DebuggerText {
  std::vector<ThreadsAtPlace> places;
  std::vector<ThreadStack> stacks;  // in their order
  std::string complaint;            // the first thing it could not do; empty: none
};

DebuggerText parse_debugger_text(std::string_view text);

}  // namespace tidemark
