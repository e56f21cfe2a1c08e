// SPDX-License-Identifier: Apache-2.0
#include "tidemark/device/supervisor.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <memory>

#include "tidemark/base/monotonic_clock.h"
#include "tidemark/base/process_identity.h"
#include "tidemark/device/device_process.h"

namespace tidemark {

bool send_message(int socket, const SupervisorMessage& message, std::span<const int> passed) {
  iovec part{const_cast<SupervisorMessage*>(&message), sizeof(message)};
  alignas(cmsghdr) char control[CMSG_SPACE(kPassedMax * sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  TM_CHECK(passed.size() <= kPassedMax);
  if (!passed.empty()) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(passed.size_bytes());
    cmsghdr* pass = CMSG_FIRSTHDR(&header);
    pass->cmsg_level = SOL_SOCKET;
    pass->cmsg_type = SCM_RIGHTS;
    pass->cmsg_len = CMSG_LEN(passed.size_bytes());
    std::memcpy(CMSG_DATA(pass), passed.data(), passed.size_bytes());
  }
  return ::sendmsg(socket, &header, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof(message));
}

bool receive_message(int socket, SupervisorMessage& message,
                     std::array<UniqueFd, kPassedMax>& passed) {
  iovec part{&message, sizeof(message)};
  alignas(cmsghdr) char control[CMSG_SPACE(kPassedMax * sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  ssize_t got = 0;
  do got = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof(message))) return false;
  for (cmsghdr* pass = CMSG_FIRSTHDR(&header); pass != nullptr; pass = CMSG_NXTHDR(&header, pass))
    if (pass->cmsg_type == SCM_RIGHTS)
      for (std::size_t i = 0; i < kPassedMax && CMSG_LEN((i + 1) * sizeof(int)) <= pass->cmsg_len;
           ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(pass) + i * sizeof(int), sizeof(int));
        passed[i].reset(fd);
      }
  return true;
}

namespace {

constexpr int kOrphanGraceMs = 3000;
constexpr int kKilledGraceMs = 10'000;      // for a killed device process to be gone
constexpr int kSupervisorGraceMs = 15'000;  // for the supervisor after that

std::unique_ptr<Supervisor>& instance() {
  static std::unique_ptr<Supervisor> supervisor;
  return supervisor;
}

std::size_t thread_count() {
  std::error_code code;
  std::size_t count = 0;
  for (auto task = std::filesystem::directory_iterator("/proc/self/task", code);
       !code && task != std::filesystem::directory_iterator(); task.increment(code))
    ++count;
  return count;
}

// The process that stays behind in the fork. Never returns.
class SupervisorLoop {
 public:
  explicit SupervisorLoop(int socket) : socket_(socket) {}

  [[noreturn]] void run() {
    for (;;) {
      pollfd watched[2] = {{socket_, POLLIN, 0}, {device_fd_.get(), POLLIN, 0}};
      const int count = device_fd_.valid() ? 2 : 1;
      // Without a process descriptor the exit is looked for every few milliseconds.
      const int wait_ms = device_pid_ > 0 && !device_fd_.valid() ? 5 : -1;
      if (::poll(watched, static_cast<nfds_t>(count), wait_ms) < 0 && errno != EINTR) leave();
      if (device_pid_ > 0) collect_exit();
      if (watched[0].revents != 0) handle_message();
    }
  }

 private:
  void handle_message() {
    SupervisorMessage message;
    std::array<UniqueFd, kPassedMax> files;
    if (!receive_message(socket_, message, files)) leave();
    if (message.word == SupervisorWord::kKill && device_pid_ > 0) ::kill(device_pid_, SIGKILL);
    if (message.word == SupervisorWord::kLaunch || message.word == SupervisorWord::kOpen)
      launch(message, files);
  }

  void launch(SupervisorMessage& message, std::array<UniqueFd, kPassedMax>& files) {
    message.program[kProgramNameBytes - 1] = 0;
    const pid_t self = ::getpid();
    const pid_t pid = device_pid_ > 0 ? -1 : ::fork();
    if (pid < 0) {
      send_message(socket_,
                   {.word = SupervisorWord::kRefused, .status = device_pid_ > 0 ? EBUSY : errno});
      return;
    }
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != self) ::_exit(1);
      if (message.word == SupervisorWord::kOpen)
        open_device_process(message, std::move(files[0]), socket_);
      run_device_process(message, files, socket_, nullptr);
    }
    device_pid_ = pid;
    device_fd_ = pin_process(pid);
    send_message(socket_, {.word = SupervisorWord::kStarted,
                           .device = identify_process(static_cast<std::uint32_t>(pid))});
  }

  void collect_exit() {
    int status = 0;
    if (::waitpid(device_pid_, &status, WNOHANG) != device_pid_) return;
    device_pid_ = 0;
    device_fd_.reset();
    send_message(socket_, {.word = SupervisorWord::kExited, .status = status});
  }
  void await_exit(int grace_ms) {
    for (int waited_ms = 0; device_pid_ > 0 && waited_ms < grace_ms; waited_ms += 5) {
      collect_exit();
      if (device_pid_ > 0) ::poll(nullptr, 0, 5);
    }
  }

  // The host is gone. The device process notices by itself; if it does not, it is ended here.
  [[noreturn]] void leave() {
    await_exit(kOrphanGraceMs);
    // A process that waits inside the system (a lost GPU, a dead server) does not end; the run
    // does.
    if (device_pid_ > 0) ::kill(device_pid_, SIGKILL);
    await_exit(kKilledGraceMs);
    ::_exit(0);
  }

  int socket_;
  pid_t device_pid_ = 0;
  UniqueFd device_fd_;
};

}  // namespace

Expected<void> Supervisor::start() {
  // A thread that holds a lock at the fork would leave it locked in every device process.
  if (const std::size_t threads = thread_count(); threads > 1)
    return failure(ErrorKind::kUsage,
                   "the supervisor must be started before any thread: this process has {}; call "
                   "Supervisor::start() first in main, or ask for thread isolation",
                   threads);
  TM_CHECK(instance() == nullptr);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return failure(ErrorKind::kDevice, "socketpair for the supervisor: {}", std::strerror(errno));
  UniqueFd host_end(ends[0]);
  UniqueFd supervisor_end(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0)
    return failure(ErrorKind::kDevice, "fork of the supervisor: {}", std::strerror(errno));
  if (pid == 0) {
    host_end.reset();
    ::setpgid(0, 0);
    // In a group of its own it is not in the foreground: a device that prints or reads must not be
    // stopped for that.
    ::signal(SIGTTIN, SIG_IGN);
    ::signal(SIGTTOU, SIG_IGN);
    ::prctl(PR_SET_NAME, "tidemark-superv");
    SupervisorLoop(supervisor_end.get()).run();
  }
  ::setpgid(pid, pid);
  instance().reset(new Supervisor(std::move(host_end), pid));
  return {};
}

Supervisor::~Supervisor() {
  socket_.reset();
  // Bounded: the supervisor may stay behind, this process does not.
  for (int waited_ms = 0; waited_ms < kSupervisorGraceMs; ++waited_ms) {
    const pid_t gone = ::waitpid(pid_, nullptr, WNOHANG);
    if (gone == pid_ || (gone < 0 && errno != EINTR)) return;
    ::poll(nullptr, 0, 1);
  }
}

Supervisor* Supervisor::current() { return instance().get(); }

Expected<void> Supervisor::send(const SupervisorMessage& message, std::span<const int> passed_fds) {
  if (!send_message(socket_.get(), message, passed_fds))
    return failure(ErrorKind::kDevice, "the supervisor is gone: {}", std::strerror(errno));
  return {};
}

std::optional<SupervisorMessage> Supervisor::receive(std::uint32_t timeout_ms) {
  // A signal that is handled elsewhere is no answer.
  const std::uint64_t until_ns = monotonic_ns() + timeout_ms * 1'000'000ull;
  pollfd watched{socket_.get(), POLLIN, 0};
  for (std::uint32_t left_ms = timeout_ms;;) {
    const int ready = ::poll(&watched, 1, static_cast<int>(left_ms));
    if (ready > 0) break;
    const std::uint64_t now_ns = monotonic_ns();
    if (ready == 0 || errno != EINTR || now_ns >= until_ns) return std::nullopt;
    left_ms = static_cast<std::uint32_t>((until_ns - now_ns) / 1'000'000 + 1);
  }
  SupervisorMessage message;
  std::array<UniqueFd, kPassedMax> none;
  if (receive_message(socket_.get(), message, none)) return message;
  return SupervisorMessage{.word = SupervisorWord::kExited, .status = -1};
}

}  // namespace tidemark
