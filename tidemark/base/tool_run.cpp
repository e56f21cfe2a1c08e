// SPDX-License-Identifier: Apache-2.0
#include "tidemark/base/tool_run.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "tidemark/base/monotonic_clock.h"
#include "tidemark/base/uninterrupted.h"
#include "tidemark/base/unique_fd.h"

namespace tidemark {
namespace {

constexpr int kExitNotStarted = 127;
constexpr int kExitLookMs = 2;

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environment_of(const ToolRun& tool) {
  std::vector<std::string> all = tool.environment;
  const auto is_set = [&](std::string_view entry) {
    const std::string_view name = entry.substr(0, entry.find('=') + 1);
    return std::ranges::any_of(tool.environment,
                               [&](const std::string& own) { return own.starts_with(name); });
  };
  for (char** entry = ::environ; *entry != nullptr; ++entry)
    if (!is_set(*entry)) all.emplace_back(*entry);
  return all;
}

// Between fork and exec nothing may be called that takes memory or a lock.
[[noreturn]] void become(const char* path, char* const* args, char* const* environment, int out,
                         pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kExitNotStarted);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  const rlimit no_core{};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const int nothing = ::open("/dev/null", O_RDWR);
  if (nothing < 0 || ::dup2(nothing, STDIN_FILENO) < 0 || ::dup2(out, STDOUT_FILENO) < 0 ||
      ::dup2(out, STDERR_FILENO) < 0)
    ::_exit(kExitNotStarted);
  ::close_range(STDERR_FILENO + 1, ~0u, 0);
  ::execve(path, args, environment);
  ::_exit(kExitNotStarted);
}

// The end of a started program and of all in its group, whatever happens.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) end();
  }

  bool has_ended() {
    if (pid_ > 0 && uninterrupted([&] { return ::waitpid(pid_, &status_, WNOHANG); }) == pid_) {
      ::kill(-pid_, SIGKILL);  // what it left behind
      pid_ = 0;
    }
    return pid_ == 0;
  }
  void end() {
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    uninterrupted([&] { return ::waitpid(pid_, &status_, 0); });
    pid_ = 0;
  }
  [[nodiscard]] int exit_code() const { return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1; }

 private:
  pid_t pid_;
  int status_ = 0;
};

// False: it is over.
bool read_some(int fd, std::size_t limit, ToolText& result) {
  char buffer[16 << 10];
  const ssize_t got = uninterrupted([&] { return ::read(fd, buffer, sizeof(buffer)); });
  if (got <= 0) return false;
  const std::size_t kept =
      std::min(static_cast<std::size_t>(got), limit - std::min(limit, result.text.size()));
  result.text.append(buffer, kept);
  if (kept < static_cast<std::size_t>(got)) result.is_cut = true;
  return true;
}

}  // namespace

std::string find_tool(std::string_view name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string file = std::string(rest.substr(0, end)) + "/" + std::string(name);
    struct stat info {};
    // An empty entry means the current directory: no tool is taken from there.
    if (end > 0 && ::stat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
        ::access(file.c_str(), X_OK) == 0)
      return file;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

Expected<ToolText> run_tool(const ToolRun& tool) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return file_failure("make a pipe for", tool.path);
  const UniqueFd out(ends[0]);
  UniqueFd in(ends[1]);
  std::vector<std::string> args{tool.path};
  args.insert(args.end(), tool.args.begin(), tool.args.end());
  std::vector<std::string> environment = environment_of(tool);
  const std::vector<char*> arg_pointers = pointers_to(args);
  const std::vector<char*> environment_pointers = pointers_to(environment);
  const pid_t self = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return file_failure("start", tool.path);
  if (pid == 0)
    become(tool.path.c_str(), arg_pointers.data(), environment_pointers.data(), in.get(), self);
  ::setpgid(pid, pid);
  Child child(pid);
  in.reset();
  ToolText result;
  const std::uint64_t end_ns = monotonic_ns() + tool.limit_ms * 1'000'000ull;
  const auto left_ms = [&] {
    const std::uint64_t now_ns = monotonic_ns();
    return now_ns < end_ns ? static_cast<int>((end_ns - now_ns) / 1'000'000 + 1) : 0;
  };
  bool is_open = true;
  while (left_ms() > 0 && (is_open || !child.has_ended())) {
    pollfd watched{out.get(), POLLIN, 0};
    if (!is_open)
      sleep_ms(kExitLookMs);
    else if (::poll(&watched, 1, left_ms()) > 0)
      is_open = read_some(out.get(), tool.text_bytes, result);
  }
  if (!child.has_ended()) {
    result.timed_out = true;
    child.end();
  }
  result.exit_code = child.exit_code();
  if (result.exit_code == kExitNotStarted && result.text.empty())
    return failure(ErrorKind::kFile, "{} could not be started", tool.path);
  return result;
}

}  // namespace tidemark
