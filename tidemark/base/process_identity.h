// SPDX-License-Identifier: Apache-2.0
// A process named so that a recycled pid is not mistaken for it: pid and start time.
#pragma once

#include <cstdint>
#include <string>

#include "tidemark/base/unique_fd.h"

namespace tidemark {

struct ProcessIdentity {
  std::uint32_t pid = 0;
  std::uint64_t start_time = 0;  // clock ticks since boot, as the kernel counts it
};

// A descriptor of the process: its pid is not used again while this is open. Not valid: no such
// process, or an old kernel.
UniqueFd pin_process(pid_t pid);

ProcessIdentity this_process();
// Zero start time: no such process.
ProcessIdentity identify_process(std::uint32_t pid);
bool is_alive(const ProcessIdentity& process);
// Ends the process with SIGKILL and waits (bounded) until it is gone. True if it is gone.
bool end_process(const ProcessIdentity& process, std::uint32_t wait_ms);

// Changes with every boot; shared memory does not outlive it.
std::string boot_id();
std::string host_id();
std::string host_name();
// The number of this process's pid namespace; pids mean something only within one. 0: not known.
std::uint64_t pid_namespace();

// True if a signal or a debugger stopped every thread of the process.
bool is_stopped(const ProcessIdentity& process);
// Stops the process and waits (bounded) until all of its threads are stopped. True if they are.
bool stop_process(const ProcessIdentity& process, std::uint32_t wait_ms);

}  // namespace tidemark
