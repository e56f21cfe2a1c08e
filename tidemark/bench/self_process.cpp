// SPDX-License-Identifier: Apache-2.0
#include "tidemark/bench/self_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tidemark::bench {
namespace {

std::uint64_t ns_of(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_usec) * 1000;
}

}  // namespace

Expected<SelfProcess> SelfProcess::start(const std::vector<std::string>& args) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return file_failure("make", "a pipe");
  UniqueFd out(ends[0]), in(ends[1]);
  std::vector<char*> argv;
  for (const auto& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in.get(), STDOUT_FILENO);
  pid_t child = 0;
  const int code =
      ::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, argv.data(), ::environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (code != 0) return failure(ErrorKind::kDevice, "cannot start this program again");
  return SelfProcess(child, std::move(out));
}

SelfProcess::~SelfProcess() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  wait();
}

std::string SelfProcess::read(std::string_view until) const {
  std::string text;
  char buffer[64 * 1024];
  while (until.empty() || text.find(until) == std::string::npos) {
    const ssize_t got = ::read(out_.get(), buffer, sizeof(buffer));
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

void SelfProcess::ask_to_end() const { ::kill(pid_, SIGTERM); }

SelfProcess::End SelfProcess::wait() {
  int status = 0;
  rusage usage{};
  ::wait4(std::exchange(pid_, 0), &status, 0, &usage);
  return {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          .peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024,
          .processor_ns = ns_of(usage.ru_utime) + ns_of(usage.ru_stime)};
}

}  // namespace tidemark::bench
