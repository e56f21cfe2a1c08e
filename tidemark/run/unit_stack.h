// SPDX-License-Identifier: Apache-2.0
// Where a unit of a GPU stood, from the core dump of the device: frames with file and line, and the
// exception if it was one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

inline constexpr const char* kCoreDumpFile = "device.core";
inline constexpr std::size_t kStacksMax = 64;  // of one core dump
inline constexpr std::size_t kFramesMax = 32;  // of one stack
inline constexpr std::size_t kFrameTextMax = 512;

// `file` as the compiler knew it; empty: the code has no line information.
struct StackFrame {
  std::string function, file;
  std::uint32_t line = 0;
};

// Threads of a unit that stood at the same place.
struct UnitStack {
  std::uint32_t unit = 0;
  std::uint32_t sm = 0;
  std::uint32_t first_thread = 0;
  std::uint32_t threads = 0;
  std::string exception;           // "Warp Illegal Address"; empty: none
  std::vector<StackFrame> frames;  // innermost first
};

// The core dump of a device that hung or crashed.
struct KeptCore {
  std::string file;         // in the run's directory; empty: there is none
  std::uint64_t bytes = 0;  // of the file
  std::string why_unread;   // what kept its source lines from being known; empty: nothing
};

// Foreign text as a name or a message: on one line, not too long.
std::string frame_text(std::string_view text);
// "hang_programs.h:24"; empty: not known.
std::string frame_place(const StackFrame& frame);
// The frame that says most: the innermost one of the user's own; where there is none, of what units
// of the runtime do. Null: none has a line.
const StackFrame* telling_frame(const UnitStack& stack);
// "copy_or_hang (hang_programs.h:24) in run_core (cuda_units.cuh:99)".
std::string stack_text(const UnitStack& stack);
// How a person reads the core dump of a run in `directory`.
std::string read_core_command(const std::string& directory, const KeptCore& core);

}  // namespace tidemark
