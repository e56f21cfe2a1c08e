// SPDX-License-Identifier: Apache-2.0
#include "tidemark/bench/rounds.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "tidemark/base/monotonic_clock.h"
#include "tidemark/base/unique_fd.h"

namespace tidemark::bench {

namespace {

// This program again, and what it prints. An exit code other than 0 is an error.
Expected<std::string> run_self(const std::vector<std::string>& args, SampleRun& run) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return file_failure("make", "a pipe");
  UniqueFd out(ends[0]), in(ends[1]);
  std::vector<char*> argv;
  for (const auto& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in.get(), STDOUT_FILENO);
  const std::uint64_t begin_ns = monotonic_ns();
  pid_t child = 0;
  const int code =
      ::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, argv.data(), ::environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (code != 0) return failure(ErrorKind::kDevice, "cannot start this program again");
  in.reset();
  std::string text;
  char buffer[64 * 1024];
  for (ssize_t got = 0; (got = ::read(out.get(), buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  int status = 0;
  struct rusage usage {};
  ::wait4(child, &status, 0, &usage);
  run.wall_ns = static_cast<double>(monotonic_ns() - begin_ns);
  run.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return failure(ErrorKind::kDevice, "'tidemark {} {}' did not end well", args[1], args[2]);
  return text;
}

}  // namespace

std::string decide_limit(const EndToEnd& run, const std::string& sink) {
  if (run.stall_share < 0.05) return "producer";
  if (run.drain_busy_share < 0.7) return "pages";
  return sink == "file" && run.sink_share > 0.5 ? "file" : "drain";
}

void put_options(BenchFields& v, const BenchOptions& options) {
  TM_FIELDS(v, options, platform, sink, lanes, record_bytes);
  v("drain_threads", options.recorder.drain_threads);
  v("rounds", options.rounds);
}

Expected<ScratchDirectory> ScratchDirectory::create(const std::string& parent) {
  std::string path = parent + "/tidemark-bench-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr)
    return failure(ErrorKind::kFile, "--dir {}: cannot make a directory there", parent);
  return ScratchDirectory(path);
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code code;
  if (!path_.empty()) std::filesystem::remove_all(path_, code);
}

Expected<SampleRun> sample_run(std::vector<std::string> args, const std::string& directory) {
  std::error_code code;
  std::filesystem::remove_all(directory, code);
  args.insert(args.begin(), {"tidemark", "run"});
  args.insert(args.end(), {"--json", "--output-prefix", directory});
  SampleRun run;
  TM_TRY(const auto text, run_self(args, run));
  TM_TRY(run.report, parse_run_report(text, "the output of 'tidemark run --json'"));
  return run;
}

}  // namespace tidemark::bench
