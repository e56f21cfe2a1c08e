// SPDX-License-Identifier: Apache-2.0
#include "tidemark/device/process_identity.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "tidemark/base/unique_fd.h"

namespace tidemark {
namespace {

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

ProcessIdentity this_process() { return identify_process(static_cast<std::uint32_t>(::getpid())); }

ProcessIdentity identify_process(std::uint32_t pid) {
  ProcessIdentity identity{.pid = pid};
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  if (!std::getline(file, line)) return identity;
  const auto name_end = line.rfind(')');  // the name itself may hold anything
  if (name_end == std::string::npos) return identity;
  std::istringstream fields(line.substr(name_end + 2));
  std::string field;
  std::string state;
  for (int index = 3; index <= 22 && fields >> field; ++index) {
    if (index == 3) state = field;
    if (index == 22) identity.start_time = std::stoull(field);
  }
  if (state == "Z" || state == "X") identity.start_time = 0;  // dead, only not yet collected
  return identity;
}

bool is_alive(const ProcessIdentity& process) {
  return process.pid != 0 && process.start_time != 0 &&
         identify_process(process.pid).start_time == process.start_time;
}

bool end_process(const ProcessIdentity& process, std::uint32_t wait_ms) {
  if (!is_alive(process)) return true;
  // The descriptor pins the process: the identity is checked again before the signal is sent.
  UniqueFd pinned(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (!is_alive(process)) return true;
  if (pinned.valid())
    ::syscall(SYS_pidfd_send_signal, pinned.get(), SIGKILL, nullptr, 0);
  else
    ::kill(static_cast<pid_t>(process.pid), SIGKILL);
  for (std::uint32_t waited_ms = 0; waited_ms <= wait_ms; ++waited_ms) {
    if (!is_alive(process)) return true;
    const timespec pause{.tv_sec = 0, .tv_nsec = 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
  return !is_alive(process);
}

std::string boot_id() { return first_line("/proc/sys/kernel/random/boot_id"); }

std::string host_id() {
  const std::string id = first_line("/etc/machine-id");
  return id.empty() ? boot_id() : id;
}

}  // namespace tidemark
