// SPDX-License-Identifier: Apache-2.0
// The two ways to be a device, simulated or not: a process behind the supervisor, and threads of
// this process.
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "tidemark/device/cuda/cuda_program.h"
#include "tidemark/device/cuda/task_kernel.h"
#include "tidemark/device/device.h"
#include "tidemark/device/device_process.h"
#include "tidemark/device/sim/sim_clock.h"
#include "tidemark/device/supervisor.h"

namespace tidemark {
namespace {

constexpr std::uint32_t kLaunchWaitMs = 10'000;
constexpr std::uint32_t kResetWaitMs = 10'000;
constexpr std::uint32_t kHoldWaitMs = 1'000;

// What follows from the kind of device, wherever it runs.
class PlatformDevice : public Device {
 public:
  PlatformDevice(const Platform& platform, std::uint32_t number)
      : kind_(platform.device), number_(number) {}
  std::optional<ClockSample> sample_clock() override {
    if (kind_ == DeviceKind::kCuda) return std::nullopt;
    return sample_sim_clock();
  }
  std::uint64_t ticks_per_second() override {
    return kind_ == DeviceKind::kCuda ? kCudaTicksPerSecond : sim_ticks_per_second();
  }

 protected:
  // Every process of the run has the same programs: what is unknown here is unknown everywhere.
  [[nodiscard]] Expected<void> check_program(const std::string& name) const {
    if (kind_ == DeviceKind::kCuda ? has_cuda_program(name) : find_device_program(name) != nullptr)
      return {};
    return failure(ErrorKind::kDevice, "{} has no program for {} devices", name,
                   kind_ == DeviceKind::kCuda ? "CUDA" : "simulated");
  }

  // The task kernel that open() is about; null: the platform's table is enough.
  [[nodiscard]] const TaskKernel* task_kernel(const std::string& program) const {
    return kind_ == DeviceKind::kCuda ? find_task_kernel(program) : nullptr;
  }
  static Expected<std::optional<DeviceShape>> judged(DeviceShape shape) {
    shape.error[kShapeErrorBytes - 1] = 0;
    shape.device_name[kDeviceNameBytes - 1] = 0;
    if (shape.error[0] != 0) return failure(ErrorKind::kDevice, "{}", shape.error);
    return std::optional<DeviceShape>(shape);
  }

  static constexpr std::uint64_t kCudaTicksPerSecond = 1'000'000'000;  // of %globaltimer
  DeviceKind kind_;
  std::uint32_t number_;
};

class ProcessDevice : public PlatformDevice {
 public:
  ProcessDevice(const Platform& platform, std::uint32_t number, Supervisor* supervisor)
      : PlatformDevice(platform, number), supervisor_(supervisor) {}
  ~ProcessDevice() override {
    if (running_) reset();
  }

  // The process that will be launched: it keeps its context.
  Expected<std::optional<DeviceShape>> open(const std::string& program, bool wants_core) override {
    TM_CHECK(!running_);
    if (task_kernel(program) == nullptr) return std::optional<DeviceShape>{};
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
      return failure(ErrorKind::kDevice, "socketpair for the device: {}", std::strerror(errno));
    channel_ = UniqueFd(ends[0]);
    const UniqueFd far_end(ends[1]);
    SupervisorMessage message{
        .word = SupervisorWord::kOpen, .kind = kind_, .device_number = number_};
    message.wants_core = wants_core ? 1 : 0;
    program.copy(message.program, kProgramNameBytes - 1);
    const int files[] = {far_end.get()};
    TM_TRY_DO(start(message, files));
    DeviceShape shape;
    pollfd watched{channel_.get(), POLLIN, 0};
    while (::poll(&watched, 1, kOpenWaitMs) < 0 && errno == EINTR) {
    }
    if ((watched.revents & POLLIN) == 0 ||
        ::recv(channel_.get(), &shape, sizeof(shape), 0) != sizeof(shape))
      return failure(ErrorKind::kDevice, "the device process does not say what its GPU holds");
    return judged(shape);
  }

  Expected<void> launch(const LaunchRequest& request) override {
    TM_CHECK(!running_ || channel_.valid());
    TM_TRY_DO(check_program(request.program));
    TM_CHECK(request.args.size() <= kProgramArgsBytes);
    SupervisorMessage message{.word = SupervisorWord::kLaunch,
                              .region_bytes = request.region->bytes,
                              .kind = kind_,
                              .device_number = number_,
                              .args_bytes = static_cast<std::uint32_t>(request.args.size())};
    std::copy(request.args.begin(), request.args.end(), message.args);
    request.program.copy(message.program, kProgramNameBytes - 1);
    std::vector<int> files{request.region->fd.get()};
    if (request.memory != nullptr) {
      message.memory_bytes = request.memory->bytes();
      files.push_back(request.memory->fd());
    }
    if (request.core != nullptr) {
      message.passes_core = 1;
      files.push_back(request.core->fd());
    }
    if (channel_.valid()) {
      const bool sent = send_message(channel_.get(), message, files);
      channel_.reset();
      // Whatever ended it is told by wait().
      return sent ? Expected<void>()
                  : failure(ErrorKind::kDevice, "the device process is gone before its launch");
    }
    return start(message, files);
  }

  [[nodiscard]] int wait_fd() const override { return supervisor_->socket(); }

  std::optional<DeviceExit> wait(std::uint32_t timeout_ms) override {
    if (!running_) return std::nullopt;
    const auto message = supervisor_->receive(timeout_ms);
    if (!message || message->word != SupervisorWord::kExited) return std::nullopt;
    running_ = false;
    if (message->status == -1) {
      end_process(process_, kResetWaitMs);
      return DeviceExit{DeviceExit::Kind::kLost, 0};
    }
    if (WIFSIGNALED(message->status))
      return DeviceExit{DeviceExit::Kind::kSignalled, WTERMSIG(message->status)};
    return DeviceExit{DeviceExit::Kind::kFinished, WEXITSTATUS(message->status)};
  }

  bool hold() override {
    return running_ && kind_ == DeviceKind::kSimulated && stop_process(process_, kHoldWaitMs);
  }
  [[nodiscard]] bool is_held() const override { return running_ && is_stopped(process_); }

  bool reset() override {
    if (!running_) return true;
    if (!supervisor_->send({.word = SupervisorWord::kKill})) end_process(process_, kResetWaitMs);
    return wait(kResetWaitMs).has_value();
  }

  [[nodiscard]] ProcessIdentity process() const override { return process_; }

 private:
  // A device process; it is the one that runs from then on.
  Expected<void> start(const SupervisorMessage& message, std::span<const int> files) {
    TM_TRY_DO(supervisor_->send(message, files));
    const auto reply = supervisor_->receive(kLaunchWaitMs);
    if (!reply || reply->word != SupervisorWord::kStarted) {
      if (!reply) withdraw_launch();
      return failure(ErrorKind::kDevice, "the supervisor did not start a device process: {}",
                     reply ? std::strerror(reply->status) : "no answer");
    }
    process_ = reply->device;
    running_ = true;
    return {};
  }

  // An answer that comes late must not be taken for that of the next launch.
  void withdraw_launch() {
    if (!supervisor_->send({.word = SupervisorWord::kKill})) return;
    for (auto late = supervisor_->receive(kResetWaitMs);
         late && late->word != SupervisorWord::kExited && late->word != SupervisorWord::kRefused;)
      late = supervisor_->receive(kResetWaitMs);
  }

  static constexpr int kOpenWaitMs = 60'000;  // a first context takes a second, on a bad day ten

  Supervisor* supervisor_;
  ProcessIdentity process_;
  UniqueFd channel_;  // to a process that waits for its launch
  bool running_ = false;
};

class ThreadDevice : public PlatformDevice {
 public:
  ThreadDevice(const Platform& platform, std::uint32_t number)
      : PlatformDevice(platform, number), launch_(std::make_shared<Launch>()) {}
  // A program that never returns keeps what it uses; there is no way to end it but the process's.
  ~ThreadDevice() override {
    if (!thread_.joinable()) return;
    if (is_over(0))
      thread_.join();
    else
      thread_.detach();
  }

  // In the user's own process the driver is not asked for anything.
  Expected<std::optional<DeviceShape>> open(const std::string& program, bool) override {
    const TaskKernel* kernel = task_kernel(program);
    if (kernel == nullptr) return std::optional<DeviceShape>{};
    return judged(shape_of_cuda_device(*kernel, number_));
  }

  Expected<void> launch(const LaunchRequest& request) override {
    TM_CHECK(!thread_.joinable());
    TM_TRY_DO(check_program(request.program));
    launch_ = std::make_shared<Launch>();
    TM_TRY(launch_->region,
           map_region(request.region->fd.get(), request.region->path, request.region->bytes));
    if (request.memory != nullptr) {
      TM_TRY(launch_->memory, map_device_memory(request.memory->fd(), request.memory->bytes()));
    }
    if (request.memory != nullptr)
      launch_->memory_fd = UniqueFd(::fcntl(request.memory->fd(), F_DUPFD_CLOEXEC, 0));
    launch_->args.assign(request.args.begin(), request.args.end());
    launch_->run = {.program = request.program,
                    .kind = kind_,
                    .device = number_,
                    .region = launch_->region.base(),
                    .memory = launch_->memory.base(),
                    .memory_fd = launch_->memory_fd.get(),
                    .memory_bytes = launch_->memory.bytes(),
                    .args = launch_->args};
    name_device(RegionView(launch_->region.base()));
    thread_ = std::thread([launch = launch_] {
      launch->exit_code = run_program(launch->run);
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto written = ::write(launch->done.get(), &one, sizeof(one));
    });
    return {};
  }

  [[nodiscard]] int wait_fd() const override { return launch_->done.get(); }

  std::optional<DeviceExit> wait(std::uint32_t timeout_ms) override {
    if (!thread_.joinable() || !is_over(timeout_ms)) return std::nullopt;
    thread_.join();
    return DeviceExit{DeviceExit::Kind::kFinished, launch_->exit_code};
  }

  bool hold() override { return false; }
  [[nodiscard]] bool is_held() const override { return false; }
  bool reset() override { return !thread_.joinable(); }
  [[nodiscard]] ProcessIdentity process() const override { return this_process(); }

 private:
  // What the program's thread uses, also when nobody waits for it any more.
  struct Launch {
    UniqueFd done{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    MappedMemory region;
    MappedMemory memory;
    UniqueFd memory_fd;
    std::vector<std::byte> args;
    ProgramRun run;
    int exit_code = 0;
  };
  [[nodiscard]] bool is_over(std::uint32_t timeout_ms) const {
    pollfd watched{launch_->done.get(), POLLIN, 0};
    return ::poll(&watched, 1, static_cast<int>(timeout_ms)) > 0;
  }

  std::shared_ptr<Launch> launch_;
  std::thread thread_;
};

}  // namespace

Expected<std::unique_ptr<Device>> open_device(const Platform& platform, std::uint32_t number,
                                              Isolation isolation) {
  if (platform.device == DeviceKind::kCuda) {
    if (const std::string why = why_no_cuda(); !why.empty())
      return failure(ErrorKind::kDevice, "platform {}: {}", platform.name, why);
  } else if (number != 0) {
    return failure(ErrorKind::kUsage, "--device {}: {} has one device, 0", number, platform.name);
  }
  if (isolation == Isolation::kThread) return std::make_unique<ThreadDevice>(platform, number);
  Supervisor* supervisor = Supervisor::current();
  if (supervisor == nullptr)
    return failure(ErrorKind::kUsage,
                   "process isolation needs the supervisor: call Supervisor::start() first in "
                   "main, or ask for thread isolation");
  return std::make_unique<ProcessDevice>(platform, number, supervisor);
}

}  // namespace tidemark
