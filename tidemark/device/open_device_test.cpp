// SPDX-License-Identifier: Apache-2.0
// The simulated device: programs run on the region in a process of their own or in a thread, end in
// the way the host is told, and can be ended by force.
#include <poll.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include <gtest/gtest.h>

#include "tidemark/device/cuda/cuda_program.h"
#include "tidemark/device/device.h"
#include "tidemark/device/device_process.h"
#include "tidemark/device/supervisor.h"
#include "tidemark/device/testing/test_programs.h"
#include "tidemark/schema/task_span.h"

namespace tidemark {
namespace {

constexpr std::uint32_t kOpenWaitMs = 20'000;

class SimDeviceTest : public testing::Test {
 protected:
  SimDeviceTest() {
    RegionRequest request;
    for (int i = 0; i < 3; ++i) request.lanes.push_back({.overflow = Overflow::kKeepLast});
    request.recorder.page_bytes = 1024;
    request.run_id = std::uint64_t{this_process().pid} << 32 | 0xDE71CE;
    plan_ = *plan_region(request);
    ::unlink(region_path(request.run_id).c_str());
    region_ = std::move(*create_region_file(plan_));
    ::unlink(region_.path.c_str());
    mapping_ = std::move(*map_region(region_.fd.get(), region_.path, region_.bytes));
    view_ = RegionView(mapping_.base());
  }
  std::unique_ptr<Device> open(Isolation isolation) {
    auto device = open_device(default_platform(), 0, isolation);
    EXPECT_TRUE(device) << device.error().message;
    return std::move(*device);
  }
  Expected<void> launch(Device& device, const char* program, const WriteSpansArgs& args = {}) {
    return device.launch(
        {.program = program, .args = std::as_bytes(std::span(&args, 1)), .region = &region_});
  }
  void expect_spans(std::uint32_t units, std::uint32_t count) {
    for (std::uint32_t unit = 0; unit < units; ++unit) {
      EXPECT_EQ(view_.lane(unit).words.attempted.load_acquire(), count);
      const PageIndex page = plan_.lanes[unit].reserved_first_page;
      EXPECT_EQ(view_.page(page).run_id.load_acquire(), plan_.identity.run_id);
      for (std::uint32_t i = 0; i < count; ++i) {
        std::uint64_t words[4];
        std::memcpy(words, view_.payload(page) + i * TaskSpan::kBytes, sizeof(words));
        EXPECT_EQ(words[0], std::uint64_t{unit} << 32 | i);
      }
    }
  }

  RegionPlan plan_;
  RegionFile region_;
  MappedMemory mapping_;
  RegionView view_;
};

TEST_F(SimDeviceTest, SignalsDuringALaunchAreNoAnswer) {
  struct sigaction action {
  }, old{};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;  // which does not restart a poll
  ASSERT_EQ(::sigaction(SIGALRM, &action, &old), 0);
  const itimerval often{.it_interval = {0, 100}, .it_value = {0, 100}};
  const itimerval never{};
  for (int i = 0; i < 50; ++i) {
    const auto device = open(Isolation::kProcess);
    ASSERT_EQ(::setitimer(ITIMER_REAL, &often, nullptr), 0);
    const auto launched = launch(*device, kUntilStop);
    ::setitimer(ITIMER_REAL, &never, nullptr);
    ASSERT_TRUE(launched) << launched.error().message;
    EXPECT_TRUE(device->reset());
  }
  ::sigaction(SIGALRM, &old, nullptr);
}

TEST_F(SimDeviceTest, AProcessThatSomebodyStoppedIsSeenAsHeld) {
  const auto device = open(Isolation::kProcess);
  ASSERT_TRUE(launch(*device, kNeverReturn));
  EXPECT_FALSE(device->is_held());
  EXPECT_TRUE(device->hold());
  EXPECT_TRUE(device->is_held());
  EXPECT_FALSE(device->wait(0));
  EXPECT_TRUE(device->reset()) << "a stopped process can be ended";
  EXPECT_FALSE(device->is_held());
}

TEST(SupervisorTest, IsNotForkedBesideThreads) {
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) ::usleep(1000);
  });
  const auto started = Supervisor::start();
  over = true;
  other.join();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().kind, ErrorKind::kUsage);
  EXPECT_NE(started.error().message.find("thread"), std::string::npos) << started.error().message;
}

TEST_F(SimDeviceTest, AProgramRunsInAProcessOfItsOwnAndItsRecordsAreInTheRegion) {
  const auto device = open(Isolation::kProcess);
  ASSERT_TRUE(launch(*device, kWriteSpans, {.units = 3, .count = 20}));
  const auto exit = device->wait(kOpenWaitMs);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->kind, DeviceExit::Kind::kFinished);
  EXPECT_EQ(exit->code, 0);
  expect_spans(3, 20);
  const RegionDeviceWords& words = view_.header().device;
  EXPECT_NE(words.device_pid.load_acquire(), static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(words.device_pid.load_acquire(), device->process().pid);
  EXPECT_EQ(words.host_gone.load_acquire(), 0u);
  EXPECT_NE(words.launch_ticks.load_acquire(), 0u);
  EXPECT_GE(words.finish_ticks.load_acquire(), words.launch_ticks.load_acquire());
  EXPECT_FALSE(device->wait(0)) << "an exit is reported once";
}

TEST_F(SimDeviceTest, ACrashIsToldWithItsSignalAndTheHostLives) {
  const auto device = open(Isolation::kProcess);
  ASSERT_TRUE(launch(*device, kAbortItself));
  const auto exit = device->wait(kOpenWaitMs);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->kind, DeviceExit::Kind::kSignalled);
  EXPECT_EQ(exit->code, SIGABRT);
  EXPECT_EQ(view_.header().device.finish_ticks.load_acquire(), 0u);
}

TEST_F(SimDeviceTest, AnEarlyExitIsToldWithItsCode) {
  const auto device = open(Isolation::kProcess);
  ASSERT_TRUE(launch(*device, kLeaveEarly));
  const auto exit = device->wait(kOpenWaitMs);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->kind, DeviceExit::Kind::kFinished);
  EXPECT_EQ(exit->code, kLeaveEarlyCode);
}

TEST_F(SimDeviceTest, AResetEndsAProgramThatNeverReturns) {
  const auto device = open(Isolation::kProcess);
  ASSERT_TRUE(launch(*device, kNeverReturn));
  EXPECT_FALSE(device->wait(20));
  const ProcessIdentity process = device->process();
  EXPECT_TRUE(is_alive(process));
  EXPECT_TRUE(device->reset());
  EXPECT_FALSE(is_alive(process));
  EXPECT_TRUE(device->reset()) << "nothing is left to reset";
  EXPECT_FALSE(device->wait(0));
}

TEST_F(SimDeviceTest, ADeviceThatIsLetGoTakesItsProcessWithIt) {
  ProcessIdentity process;
  {
    const auto device = open(Isolation::kProcess);
    ASSERT_TRUE(launch(*device, kNeverReturn));
    process = device->process();
  }
  EXPECT_FALSE(is_alive(process));
}

TEST_F(SimDeviceTest, OneDeviceLaunchesAgainAfterEveryKindOfEnd) {
  const auto device = open(Isolation::kProcess);
  for (const char* before : {kAbortItself, kLeaveEarly, kNeverReturn}) {
    ASSERT_TRUE(launch(*device, before));
    EXPECT_TRUE(before == kNeverReturn ? device->reset() : device->wait(kOpenWaitMs).has_value());
    for (LaneIndex lane = 0; lane < 3; ++lane)
      std::memset(static_cast<void*>(&view_.lane(lane).words), 0, sizeof(LaneWords));
    ASSERT_TRUE(launch(*device, kWriteSpans, {.units = 2, .count = 5}));
    const auto exit = device->wait(kOpenWaitMs);
    ASSERT_TRUE(exit) << "after " << before;
    EXPECT_EQ(exit->kind, DeviceExit::Kind::kFinished);
    EXPECT_EQ(exit->code, 0);
    expect_spans(2, 5);
  }
}

TEST_F(SimDeviceTest, TwoDevicesOfOneSupervisorDoNotRunAtOnce) {
  const auto first = open(Isolation::kProcess), second = open(Isolation::kProcess);
  ASSERT_TRUE(launch(*first, kUntilStop));
  const auto refused = launch(*second, kUntilStop);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kDevice);
  EXPECT_NE(refused.error().message.find(std::strerror(EBUSY)), std::string::npos);
  view_.header().host.abort.store_release(1);
  const auto exit = first->wait(kOpenWaitMs);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->kind, DeviceExit::Kind::kFinished);
}

TEST_F(SimDeviceTest, AnUnknownProgramIsRefusedByName) {
  for (const Isolation isolation : {Isolation::kProcess, Isolation::kThread}) {
    const auto device = open(isolation);
    const auto refused = launch(*device, "no such program");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::kDevice);
    EXPECT_NE(refused.error().message.find("no such program"), std::string::npos);
    EXPECT_EQ(view_.header().device.launch_ticks.load_acquire(), 0u);
  }
}

// A device process that finds something wrong says so in the region and leaves with its code.
TEST_F(SimDeviceTest, AProgramThatCannotRunLeavesItsReasonInTheRegion) {
  const int code = run_program(
      {.program = "no such program", .kind = DeviceKind::kCuda, .region = mapping_.base()});
  EXPECT_EQ(code, kExitDeviceFault);
  const std::uint32_t bytes = view_.header().device.fault_bytes.load_acquire();
  EXPECT_EQ(std::string(view_.header().fault_text, bytes),
            "no such program has no program for CUDA devices");
}

TEST_F(SimDeviceTest, APlatformHasOnlyItsOwnDevices) {
  const auto second = open_device(default_platform(), 1, Isolation::kThread);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::kUsage);
}

TEST_F(SimDeviceTest, WithoutADriverTheCudaPlatformsSayWhy) {
  if (why_no_cuda().empty()) GTEST_SKIP() << "this machine has a driver";
  for (const char* name : {"cuda", "cuda-copy"}) {
    const auto device = open_device(*find_platform(name), 0, Isolation::kProcess);
    ASSERT_FALSE(device);
    EXPECT_EQ(device.error().kind, ErrorKind::kDevice);
    EXPECT_EQ(device.error().message, fmt::format("platform {}: {}", name, why_no_cuda()));
  }
  EXPECT_FALSE(cuda_devices());
}

TEST_F(SimDeviceTest, TheWaitDescriptorIsReadableWhenTheProgramHasEnded) {
  for (const Isolation isolation : {Isolation::kProcess, Isolation::kThread}) {
    const auto device = open(isolation);
    ASSERT_TRUE(launch(*device, kWriteSpans, {.units = 1, .count = 1}));
    pollfd watched{device->wait_fd(), POLLIN, 0};
    EXPECT_EQ(::poll(&watched, 1, kOpenWaitMs), 1);
    EXPECT_TRUE(device->wait(0));
  }
}

TEST_F(SimDeviceTest, ThreadModeRunsInThisProcessAndCannotBeReset) {
  const auto device = open(Isolation::kThread);
  EXPECT_EQ(device->process().pid, static_cast<std::uint32_t>(::getpid()));
  ASSERT_TRUE(launch(*device, kUntilStop));
  EXPECT_FALSE(device->wait(20));
  EXPECT_FALSE(device->reset()) << "a thread cannot be ended by force";
  view_.header().host.abort.store_release(1);
  ASSERT_TRUE(device->wait(kOpenWaitMs));
  EXPECT_TRUE(device->reset());
  EXPECT_EQ(view_.header().device.device_pid.load_acquire(),
            static_cast<std::uint32_t>(::getpid()));
  ASSERT_TRUE(launch(*device, kWriteSpans, {.units = 3, .count = 20}));
  const auto exit = device->wait(kOpenWaitMs);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->kind, DeviceExit::Kind::kFinished);
  expect_spans(3, 20);
}

TEST_F(SimDeviceTest, TheSupervisorIsAnotherProcessInItsOwnGroup) {
  ASSERT_NE(Supervisor::current(), nullptr);
  const auto device = open(Isolation::kProcess);
  ASSERT_TRUE(launch(*device, kUntilStop));
  const auto pid = static_cast<pid_t>(device->process().pid);
  EXPECT_NE(::getpgid(pid), ::getpgrp()) << "a Ctrl-C of the terminal must not reach it";
  view_.header().host.abort.store_release(1);
  EXPECT_TRUE(device->wait(kOpenWaitMs));
}

}  // namespace
}  // namespace tidemark
