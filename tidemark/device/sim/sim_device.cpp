// SPDX-License-Identifier: Apache-2.0
// The two ways to be a simulated device: a process behind the supervisor, and threads of this
// process.
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include <cstring>
#include <thread>

#include "tidemark/device/sim/device_process.h"
#include "tidemark/device/sim/supervisor.h"

namespace tidemark {
namespace {

constexpr std::uint32_t kLaunchWaitMs = 10'000;
constexpr std::uint32_t kResetWaitMs = 10'000;

class SimDevice : public Device {
 public:
  ClockSample sample_clock() override { return sample_sim_clock(); }
  std::uint64_t ticks_per_second() override { return sim_ticks_per_second(); }
};

class ProcessDevice : public SimDevice {
 public:
  explicit ProcessDevice(Supervisor* supervisor) : supervisor_(supervisor) {}
  ~ProcessDevice() override {
    if (running_) reset();
  }

  Expected<void> launch(const LaunchRequest& request) override {
    CHECK(!running_);
    SupervisorMessage message;
    message.word = SupervisorWord::kLaunch;
    message.region_bytes = request.region->bytes;
    CHECK(request.args.size() <= kProgramArgsBytes);
    message.args_bytes = static_cast<std::uint32_t>(request.args.size());
    std::memcpy(message.args, request.args.data(), request.args.size());
    std::strncpy(message.program, request.program.c_str(), kProgramNameBytes - 1);
    if (auto sent = supervisor_->send(message, request.region->fd.get()); !sent) return sent;
    const auto reply = supervisor_->receive(kLaunchWaitMs);
    if (!reply || reply->word != SupervisorWord::kStarted)
      return failure(ErrorKind::kDevice, "the supervisor did not start a device process: {}",
                     reply ? std::strerror(reply->status) : "no answer");
    process_ = reply->device;
    running_ = true;
    return {};
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

  bool reset() override {
    if (!running_) return true;
    SupervisorMessage kill;
    kill.word = SupervisorWord::kKill;
    if (!supervisor_->send(kill)) end_process(process_, kResetWaitMs);
    return wait(kResetWaitMs).has_value();
  }

  [[nodiscard]] ProcessIdentity process() const override { return process_; }

 private:
  Supervisor* supervisor_;
  ProcessIdentity process_;
  bool running_ = false;
};

class ThreadDevice : public SimDevice {
 public:
  ThreadDevice() : done_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~ThreadDevice() override {
    if (thread_.joinable()) thread_.join();
  }

  Expected<void> launch(const LaunchRequest& request) override {
    CHECK(!thread_.joinable());
    const DeviceProgram program = find_device_program(request.program);
    if (program == nullptr)
      return failure(ErrorKind::kDevice, "no device program {}", request.program);
    auto mapping =
        map_region(request.region->fd.get(), request.region->path, request.region->bytes);
    if (!mapping) return tl::unexpected(mapping.error());
    args_.assign(request.args.begin(), request.args.end());
    const RegionView view(mapping->base());
    const ProcessIdentity self = this_process();
    view.header().device.device_pid.store_relaxed(self.pid);
    view.header().device.device_start_time.store_release(self.start_time);
    thread_ = std::thread([this, program, mapping = std::move(*mapping)] {
      DeviceContext context(RegionView(mapping.base()), args_);
      run_program(program, context);
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto written = ::write(done_.get(), &one, sizeof(one));
    });
    return {};
  }

  [[nodiscard]] int wait_fd() const override { return done_.get(); }

  std::optional<DeviceExit> wait(std::uint32_t timeout_ms) override {
    if (!thread_.joinable()) return std::nullopt;
    pollfd watched{done_.get(), POLLIN, 0};
    if (::poll(&watched, 1, static_cast<int>(timeout_ms)) <= 0) return std::nullopt;
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(done_.get(), &count, sizeof(count));
    thread_.join();
    return DeviceExit{};
  }

  bool reset() override { return !thread_.joinable(); }
  [[nodiscard]] ProcessIdentity process() const override { return this_process(); }

 private:
  UniqueFd done_;
  std::vector<std::byte> args_;
  std::thread thread_;
};

}  // namespace

Expected<std::unique_ptr<Device>> open_sim_device(Isolation isolation) {
  if (isolation == Isolation::kThread) return std::make_unique<ThreadDevice>();
  Supervisor* supervisor = Supervisor::current();
  if (supervisor == nullptr)
    return failure(ErrorKind::kUsage,
                   "process isolation needs the supervisor: call Supervisor::start() first in "
                   "main, or ask for thread isolation");
  return std::make_unique<ProcessDevice>(supervisor);
}

}  // namespace tidemark
