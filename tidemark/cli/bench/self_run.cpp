// SPDX-License-Identifier: Apache-2.0
#include "tidemark/cli/bench/self_run.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "tidemark/base/monotonic_clock.h"
#include "tidemark/base/unique_fd.h"

namespace tidemark::cli {

Expected<SelfRun> run_self(const std::vector<std::string>& args) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return file_failure("make", "a pipe");
  UniqueFd out(ends[0]), in(ends[1]);
  std::vector<char*> argv;
  for (const auto& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in.get(), STDOUT_FILENO);
  SelfRun run;
  const std::uint64_t begin_ns = monotonic_ns();
  pid_t child = 0;
  const int code =
      ::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, argv.data(), ::environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (code != 0) return failure(ErrorKind::kDevice, "cannot start this program again");
  in.reset();
  char buffer[64 * 1024];
  for (ssize_t got = 0; (got = ::read(out.get(), buffer, sizeof(buffer))) > 0;)
    run.out.append(buffer, static_cast<std::size_t>(got));
  int status = 0;
  struct rusage usage {};
  ::wait4(child, &status, 0, &usage);
  run.wall_ns = static_cast<double>(monotonic_ns() - begin_ns);
  run.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return failure(ErrorKind::kDevice, "'tidemark {} {}' did not end well", args[1], args[2]);
  return run;
}

ScratchDirectory::ScratchDirectory(const std::string& parent)
    : path_(parent + "/tidemark-bench-XXXXXX") {
  made_ = ::mkdtemp(path_.data()) != nullptr;
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code code;
  if (made_) std::filesystem::remove_all(path_, code);
}

}  // namespace tidemark::cli
