// SPDX-License-Identifier: Apache-2.0
#include "tidemark/base/process_identity.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/core.h>

#include "tidemark/base/wait_until.h"

namespace tidemark {
namespace {

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The field after the name in a stat file; 0 if there is none.
char state_in(const std::string& stat_path) {
  const std::string line = first_line(stat_path.c_str());
  const auto name_end = line.rfind(')');
  return name_end == std::string::npos || name_end + 2 >= line.size() ? 0 : line[name_end + 2];
}

// The descriptor pins the process: the identity is checked again before the signal is sent.
void send_signal(const ProcessIdentity& process, int number) {
  const UniqueFd pinned = pin_process(static_cast<pid_t>(process.pid));
  if (!is_alive(process)) return;
  if (pinned.valid())
    ::syscall(SYS_pidfd_send_signal, pinned.get(), number, nullptr, 0);
  else
    ::kill(static_cast<pid_t>(process.pid), number);
}

}  // namespace

// <sys/pidfd.h> of glibc 2.36 cannot be used from C++.
UniqueFd pin_process(pid_t pid) {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

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
  send_signal(process, SIGKILL);
  return wait_until([&] { return !is_alive(process); }, wait_ms, 1);
}

bool is_stopped(const ProcessIdentity& process) {
  if (!is_alive(process)) return false;
  std::error_code code;
  bool any = false;
  for (const auto& task :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/task", process.pid), code)) {
    const char state = state_in(task.path().string() + "/stat");
    if (state != 'T' && state != 't' && state != 'Z' && state != 'X' && state != 0) return false;
    any = any || state == 'T' || state == 't';
  }
  return any && is_alive(process);
}

bool stop_process(const ProcessIdentity& process, std::uint32_t wait_ms) {
  if (!is_alive(process)) return false;
  send_signal(process, SIGSTOP);
  return wait_until([&] { return is_stopped(process); }, wait_ms, 1);
}

std::string boot_id() { return first_line("/proc/sys/kernel/random/boot_id"); }

std::string host_id() {
  const std::string id = first_line("/etc/machine-id");
  return id.empty() ? boot_id() : id;
}

std::string host_name() {
  struct utsname name {};
  return ::uname(&name) == 0 ? name.nodename : "";
}

std::uint64_t pid_namespace() {
  struct stat info {};
  return ::stat("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
}

}  // namespace tidemark
