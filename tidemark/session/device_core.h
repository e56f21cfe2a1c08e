// SPDX-License-Identifier: Apache-2.0
// The core dump of a GPU whose kernel does not end, or ended badly: kept with the run's files, and
// read for source lines where `cuda-gdb` is on the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tidemark/device/core_file.h"
#include "tidemark/run/core_lines.h"
#include "tidemark/run/debugger_text.h"
#include "tidemark/run/hang_state.h"
#include "tidemark/session/active_run.h"
#include "tidemark/session/run_request.h"

namespace tidemark {

inline constexpr std::uint32_t kCoreReadMs = 2500;

// Where the device's core dump will go; nothing: none is wanted, or there is no such device.
std::optional<CoreFile> make_core_file(const RunRequest& request);

// Whether the device of a run can dump its core, and is to.
bool dumps_core(const RunRequest& request);

// How the device ended, as far as its core dump is concerned.
enum class CoreCause {
  kStillRuns,  // it is asked for a dump
  kCrashed,    // it has written one by itself
  kNone        // nothing is wrong with its kernel
};
// Of a run that was stopped: what is in the file goes into its directory, and what `cuda-gdb` reads
// there into the state of the hang and the message of the error.
void add_core(ActiveRun& run, const CoreFile& file, CoreCause cause);

// What `cuda-gdb` answers to commands about a core dump. An error: there is no such program, or it
// could not be started.
struct DebuggerAnswer {
  DebuggerText text;
  bool timed_out = false;
};
Expected<DebuggerAnswer> ask_debugger(const std::string& core_path,
                                      const std::vector<std::string>& questions,
                                      std::uint32_t limit_ms);
CoreLines read_core_lines(const CoreFile& file);
// Puts it into a run's directory; the path by which a debugger opens it comes back.
std::string keep_core(const CoreFile& file, const std::string& directory, HangState& state,
                      Expected<void>& kept);

// The same of a state alone. An error: the file could not be kept; its lines are in the state.
Expected<void> keep_and_read_core(const CoreFile& file, const std::string& directory,
                                  HangState& state, std::uint32_t limit_ms = kCoreReadMs);

}  // namespace tidemark
