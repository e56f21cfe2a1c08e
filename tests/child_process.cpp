// SPDX-License-Identifier: Apache-2.0
#include "tests/child_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "tidemark/base/check.h"

namespace tidemark {
namespace {

ProgramEnd end_of(int status) {
  if (WIFSIGNALED(status)) return {.exit_code = -1, .signal = WTERMSIG(status)};
  return {.exit_code = WEXITSTATUS(status), .signal = 0};
}

// The parent of a process; 0 if there is no such process.
pid_t parent_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  if (!std::getline(file, line)) return 0;
  const auto name_end = line.rfind(')');  // the name itself may hold anything
  if (name_end == std::string::npos) return 0;
  char state = 0;
  int parent = 0;
  if (std::sscanf(line.c_str() + name_end + 1, " %c %d", &state, &parent) != 2) return 0;
  return parent;
}

std::string name_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/comm", pid));
  std::string name;
  std::getline(file, name);
  return name;
}

}  // namespace

void become_reaper() { TM_CHECK(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0); }

namespace {

pid_t start(const std::vector<std::string>& arguments, const std::string& log_path, bool traced) {
  std::vector<char*> pointers;
  for (const auto& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  const pid_t pid = ::fork();
  TM_CHECK(pid >= 0);
  if (pid > 0) return pid;
  const int log = ::open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (log < 0 || nothing < 0) ::_exit(127);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  if (traced && ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(126);
  ::execv(pointers[0], pointers.data());
  ::_exit(127);
}

}  // namespace

pid_t start_program(const std::vector<std::string>& arguments, const std::string& log_path) {
  return start(arguments, log_path, false);
}

std::optional<ProgramEnd> wait_for(pid_t pid, std::uint32_t timeout_ms) {
  const std::uint64_t deadline_us = now_us() + std::uint64_t{timeout_ms} * 1000;
  for (;;) {
    int status = 0;
    const pid_t got = ::waitpid(pid, &status, WNOHANG);
    TM_CHECK(got >= 0);
    if (got == pid) return end_of(status);
    if (now_us() >= deadline_us) return std::nullopt;
    sleep_us(300);
  }
}

ProgramEnd run_program(const std::vector<std::string>& arguments, const std::string& log_path,
                       std::uint32_t timeout_ms) {
  const pid_t pid = start_program(arguments, log_path);
  if (const auto end = wait_for(pid, timeout_ms)) return *end;
  ::kill(pid, SIGKILL);
  int status = 0;
  TM_CHECK(::waitpid(pid, &status, 0) == pid);
  return end_of(status);
}

TracedEnd run_traced(const std::vector<std::string>& arguments, const std::string& log_path,
                     std::uint64_t kill_at_stop, const std::string& watched) {
  constexpr int kCallStop = SIGTRAP | 0x80;
  const pid_t pid = start(arguments, log_path, true);
  TracedEnd traced;
  int status = 0;
  TM_CHECK(::waitpid(pid, &status, 0) == pid);
  if (WIFSTOPPED(status))
    TM_CHECK(::ptrace(PTRACE_SETOPTIONS, pid, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) ==
             0);
  for (long signal = 0; WIFSTOPPED(status);) {
    if (traced.stops == kill_at_stop) ::kill(pid, SIGKILL);
    ::ptrace(PTRACE_SYSCALL, pid, nullptr, signal);  // fails only where the kill came first
    TM_CHECK(::waitpid(pid, &status, 0) == pid);
    const bool at_call = WIFSTOPPED(status) && WSTOPSIG(status) == kCallStop;
    traced.stops += at_call;
    if (!watched.empty() && traced.stops_before == 0 && ::access(watched.c_str(), F_OK) == 0)
      traced.stops_before = traced.stops;
    signal = at_call || !WIFSTOPPED(status) ? 0 : WSTOPSIG(status);
  }
  traced.end = end_of(status);
  return traced;
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  DIR* processes = ::opendir("/proc");
  TM_CHECK(processes != nullptr);
  while (const dirent* entry = ::readdir(processes)) {
    pid_t pid = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, pid).ptr != end) continue;
    if (parent_of(pid) == parent) children.push_back(pid);
  }
  ::closedir(processes);
  return children;
}

Reaped reap_all(std::uint32_t timeout_ms) {
  const std::uint64_t begin_us = now_us();
  Reaped reaped;
  for (;;) {
    pid_t got = 0;
    do got = ::waitpid(-1, nullptr, WNOHANG);
    while (got > 0);
    reaped.waited_ms = static_cast<std::uint32_t>((now_us() - begin_us) / 1000);
    if (got < 0) return reaped;  // no child is left
    if (reaped.waited_ms >= timeout_ms) break;
    sleep_us(500);
  }
  // Each that is killed here may leave children of its own, which come back as ours.
  for (int round = 0; round < 100; ++round) {
    for (const pid_t pid : children_of(::getpid())) {
      reaped.left += fmt::format("{}{} ({})", reaped.left.empty() ? "" : ", ", pid, name_of(pid));
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    if (::waitpid(-1, nullptr, WNOHANG) < 0) break;
    sleep_us(1000);
  }
  return reaped;
}

void sleep_us(std::uint64_t microseconds) {
  const timespec pause{.tv_sec = static_cast<time_t>(microseconds / 1'000'000),
                       .tv_nsec = static_cast<long>(microseconds % 1'000'000 * 1000)};
  ::nanosleep(&pause, nullptr);
}

std::uint64_t now_us() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec) / 1000;
}

}  // namespace tidemark
