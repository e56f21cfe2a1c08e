// SPDX-License-Identifier: Apache-2.0
// The two phases of a launch on a GPU, without one: a device process that says what its GPU holds
// and waits for its launch on a socket of its own. Here it is told by the supervisor's words, and
// launched with a program of the simulated device.
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include <gtest/gtest.h>

#include "tidemark/device/device.h"
#include "tidemark/device/supervisor.h"
#include "tidemark/device/testing/test_programs.h"

namespace tidemark {
namespace {

constexpr std::uint32_t kAnswerMs = 20'000;
constexpr std::uint32_t kNotMs = 50;  // so long nothing comes

class LaunchChannel : public testing::Test {
 protected:
  LaunchChannel() {
    RegionRequest request;
    for (int i = 0; i < 3; ++i) request.lanes.push_back({.overflow = Overflow::kKeepLast});
    request.recorder.page_bytes = 1024;
    request.run_id = std::uint64_t{this_process().pid} << 32 | 0xC4A22E;
    plan_ = *plan_region(request);
    ::unlink(region_path(request.run_id).c_str());
    region_ = std::move(*create_region_file(plan_));
    ::unlink(region_.path.c_str());
    mapping_ = std::move(*map_region(region_.fd.get(), region_.path, region_.bytes));
  }
  ~LaunchChannel() override {
    if (!running_) return;
    EXPECT_TRUE(supervisor().send({.word = SupervisorWord::kKill}));
    static_cast<void>(exit_status());
  }
  static Supervisor& supervisor() { return *Supervisor::current(); }

  // The supervisor starts a device process for it; this test has the near end of its channel.
  void open(const char* program) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    channel_ = UniqueFd(ends[0]);
    const UniqueFd far_end(ends[1]);
    SupervisorMessage message{.word = SupervisorWord::kOpen};
    std::strcpy(message.program, program);
    const int files[] = {far_end.get()};
    ASSERT_TRUE(supervisor().send(message, files));
    const auto reply = supervisor().receive(kAnswerMs);
    ASSERT_TRUE(reply);
    ASSERT_EQ(reply->word, SupervisorWord::kStarted);
    process_ = reply->device;
    running_ = true;
  }
  // What the process says first.
  DeviceShape shape() {
    DeviceShape shape;
    pollfd watched{channel_.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&watched, 1, kAnswerMs), 1);
    EXPECT_EQ(::recv(channel_.get(), &shape, sizeof(shape), 0),
              static_cast<ssize_t>(sizeof(shape)));
    return shape;
  }
  bool launch(const char* program, std::uint32_t count) {
    const WriteSpansArgs args{.units = 3, .count = count};
    SupervisorMessage message{
        .word = SupervisorWord::kLaunch, .region_bytes = region_.bytes, .args_bytes = sizeof(args)};
    std::memcpy(message.args, &args, sizeof(args));
    std::strcpy(message.program, program);
    const int files[] = {region_.fd.get()};
    return send_message(channel_.get(), message, files);
  }
  // The wait status of the process.
  int exit_status() {
    const auto message = supervisor().receive(kAnswerMs);
    EXPECT_TRUE(message && message->word == SupervisorWord::kExited);
    running_ = false;
    return message ? message->status : -1;
  }
  bool still_waits() { return !supervisor().receive(kNotMs); }

  RegionPlan plan_;
  RegionFile region_;
  MappedMemory mapping_;
  UniqueFd channel_;
  ProcessIdentity process_;
  bool running_ = false;
};

TEST_F(LaunchChannel, TheProcessSaysItsShapeWaitsAndRunsWhatItIsLaunchedWith) {
  open("nobody_knows_it");
  EXPECT_STREQ(shape().error, "no such program of tasks");
  EXPECT_TRUE(still_waits());
  ASSERT_TRUE(launch(kWriteSpans, 7));
  const int status = exit_status();
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const RegionView view(mapping_.base());
  EXPECT_EQ(view.header().device.device_pid.load_relaxed(), process_.pid)
      << "the process that was opened, and no other";
  for (LaneIndex lane = 0; lane < 3; ++lane)
    EXPECT_EQ(view.lane(lane).words.attempted.load_acquire(), 7u);
}

TEST_F(LaunchChannel, WithoutALaunchItEndsQuietly) {
  open("nobody_knows_it");
  static_cast<void>(shape());
  channel_.reset();
  EXPECT_EQ(exit_status(), 0);
  // Also where nobody waits for what it says.
  open("nobody_knows_it");
  channel_.reset();
  EXPECT_EQ(exit_status(), 0);
}

TEST_F(LaunchChannel, WhatIsNoLaunchEndsIt) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, sizeof(SupervisorMessage) - 1}) {
    SCOPED_TRACE(bytes);
    open("nobody_knows_it");
    static_cast<void>(shape());
    const std::vector<char> some(bytes, 'x');
    ASSERT_EQ(::send(channel_.get(), some.data(), bytes, MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes));
    EXPECT_EQ(exit_status(), 0);
  }
}

// A name without an end, of a program that nobody has: the region says so.
TEST_F(LaunchChannel, NamesAreCutNotBelieved) {
  open("nobody_knows_it");
  static_cast<void>(shape());
  SupervisorMessage message{.word = SupervisorWord::kLaunch, .region_bytes = region_.bytes};
  std::memset(message.program, 'x', sizeof(message.program));
  const int files[] = {region_.fd.get()};
  ASSERT_TRUE(send_message(channel_.get(), message, files));
  const int status = exit_status();
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), kExitDeviceFault);
  const RegionHeader& header = RegionView(mapping_.base()).header();
  const std::string fault(
      header.fault_text,
      std::min<std::size_t>(header.device.fault_bytes.load_acquire(), kFaultTextBytes));
  EXPECT_EQ(fault, "no device program " + std::string(kProgramNameBytes - 1, 'x'));
}

// A launch without a region, or with one that is not as long as it says.
TEST_F(LaunchChannel, ALaunchWithoutItsRegionIsRefused) {
  for (const bool with_file : {false, true}) {
    open("nobody_knows_it");
    static_cast<void>(shape());
    SupervisorMessage message{.word = SupervisorWord::kLaunch,
                              .region_bytes = with_file ? 0 : region_.bytes};
    std::strcpy(message.program, kWriteSpans);
    const int files[] = {region_.fd.get()};
    ASSERT_TRUE(send_message(channel_.get(), message,
                             with_file ? std::span<const int>(files) : std::span<const int>()));
    const int status = exit_status();
    EXPECT_TRUE(WIFEXITED(status)) << status;
    EXPECT_NE(WEXITSTATUS(status), 0);
  }
}

TEST_F(LaunchChannel, WhileItWaitsThereIsNoSecondOneAndItCanBeKilled) {
  open("nobody_knows_it");
  static_cast<void>(shape());
  for (const SupervisorWord word : {SupervisorWord::kOpen, SupervisorWord::kLaunch}) {
    ASSERT_TRUE(supervisor().send({.word = word}));
    const auto refused = supervisor().receive(kAnswerMs);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->word, SupervisorWord::kRefused);
    EXPECT_EQ(refused->status, EBUSY);
  }
  ASSERT_TRUE(supervisor().send({.word = SupervisorWord::kKill}));
  const int status = exit_status();
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

// The next launch after each of these is an ordinary one.
TEST_F(LaunchChannel, LeavesTheSupervisorAsItWas) {
  open("nobody_knows_it");
  channel_.reset();
  EXPECT_EQ(exit_status(), 0);
  const auto device = open_device(default_platform(), 0, Isolation::kProcess);
  ASSERT_TRUE(device);
  const WriteSpansArgs args{.units = 3, .count = 4};
  ASSERT_TRUE((*device)->launch(
      {.program = kWriteSpans, .args = std::as_bytes(std::span(&args, 1)), .region = &region_}));
  const auto exit = (*device)->wait(kAnswerMs);
  ASSERT_TRUE(exit);
  EXPECT_TRUE(exit->is_well());
}

}  // namespace
}  // namespace tidemark
