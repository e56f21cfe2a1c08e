// SPDX-License-Identifier: Apache-2.0
// Programs the kill campaign starts, and every process they leave behind: orphans come back to the
// campaign, which is their reaper, so none can hide. Ends only what descends from itself.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tidemark {

struct ProgramEnd {
  int exit_code = 0;
  int signal = 0;  // not 0: a signal ended it
};

// Orphaned descendants of this process become its children from now on.
void become_reaper();

// Standard output and error are appended to `log_path`.
pid_t start_program(const std::vector<std::string>& arguments, const std::string& log_path);

// Nothing if the child still runs after timeout_ms.
std::optional<ProgramEnd> wait_for(pid_t pid, std::uint32_t timeout_ms);

// Runs to its end, or is killed after timeout_ms.
ProgramEnd run_program(const std::vector<std::string>& arguments, const std::string& log_path,
                       std::uint32_t timeout_ms);

// Runs a program to its end, or kills it where its main thread stands before or after a system
// call: stop 1, 2, … of its life, two for every call. `watched`: a file whose coming is noted.
struct TracedEnd {
  ProgramEnd end;
  std::uint64_t stops = 0;
  std::uint64_t stops_before = 0;  // the watched file was there
};
inline constexpr std::uint64_t kNoStop = ~std::uint64_t{0};
TracedEnd run_traced(const std::vector<std::string>& arguments, const std::string& log_path,
                     std::uint64_t kill_at_stop, const std::string& watched = {});

std::vector<pid_t> children_of(pid_t parent);

struct Reaped {
  std::uint32_t waited_ms = 0;
  std::string left;  // processes that were still there at the end of the wait; then killed
};
// Waits until this process has no child left.
Reaped reap_all(std::uint32_t timeout_ms);

void sleep_us(std::uint64_t microseconds);
std::uint64_t now_us();

}  // namespace tidemark
