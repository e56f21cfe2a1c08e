// SPDX-License-Identifier: Apache-2.0
// A device process whose host is gone ends by itself: it stops its producers, and the program
// returns. Here the test is supervisor and host: nobody else would end the process.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include <gtest/gtest.h>

#include "tidemark/device/device_process.h"
#include "tidemark/device/region_file.h"
#include "tidemark/device/supervisor.h"
#include "tidemark/device/testing/test_programs.h"

namespace tidemark {
namespace {

constexpr int kEndWithinMs = 20'000;

class HostGone : public testing::Test {
 protected:
  HostGone() {
    RegionRequest request;
    request.lanes = {{.overflow = Overflow::kKeepLast}};
    request.recorder.page_bytes = 1024;
    request.run_id = std::uint64_t{this_process().pid} << 32 | 0x6093;
    const RegionPlan plan = *plan_region(request);
    ::unlink(region_path(request.run_id).c_str());
    region_ = std::move(*create_region_file(plan));
    ::unlink(region_.path.c_str());
    mapping_ = std::move(*map_region(region_.fd.get(), region_.path, region_.bytes));
    view_ = RegionView(mapping_.base());
  }
  ~HostGone() override {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  void launch(const char* program) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    host_end_.reset(ends[0]);
    UniqueFd device_end(ends[1]);
    SupervisorMessage message;
    message.region_bytes = region_.bytes;
    std::strncpy(message.program, program, kProgramNameBytes - 1);
    pid_ = ::fork();
    ASSERT_GE(pid_, 0);
    if (pid_ == 0) {
      host_end_.reset();
      UniqueFd region(::fcntl(region_.fd.get(), F_DUPFD_CLOEXEC, 0));
      run_device_process(message, std::span(&region, 1), device_end.get(), nullptr);
    }
    // The program runs.
    for (int waited_ms = 0; waited_ms < kEndWithinMs; ++waited_ms) {
      if (view_.header().device.launch_ticks.load_acquire() != 0) return;
      ::poll(nullptr, 0, 1);
    }
    FAIL() << "the program was not started";
  }
  // Its wait status, or -1 while it goes on.
  int status_within(int ms) {
    int status = -1;
    for (int waited_ms = 0; waited_ms < ms; ++waited_ms) {
      if (::waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = 0;
        return status;
      }
      ::poll(nullptr, 0, 1);
    }
    return -1;
  }

  RegionFile region_;
  MappedMemory mapping_;
  RegionView view_;
  UniqueFd host_end_;
  pid_t pid_ = 0;
};

TEST_F(HostGone, TheProgramIsToldAndReturnsAndTheProcessEndsByItself) {
  ASSERT_NO_FATAL_FAILURE(launch(kUntilStop));
  EXPECT_EQ(view_.header().device.host_gone.load_acquire(), 0u);
  EXPECT_EQ(status_within(50), -1) << "it goes on while the host lives";
  host_end_.reset();
  const int status = status_within(kEndWithinMs);
  ASSERT_NE(status, -1) << "the program was not told to stop";
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(view_.header().device.host_gone.load_acquire(), 1u);
  EXPECT_NE(view_.header().device.finish_ticks.load_acquire(), 0u) << "the program returned";
}

// What the host sends to the supervisor is nothing to the device process.
TEST_F(HostGone, AMessageOfTheHostIsNoEnd) {
  ASSERT_NO_FATAL_FAILURE(launch(kUntilStop));
  const char word = 'x';
  ASSERT_EQ(::send(host_end_.get(), &word, 1, MSG_NOSIGNAL), 1);
  EXPECT_EQ(status_within(50), -1);
  EXPECT_EQ(view_.header().device.host_gone.load_acquire(), 0u);
  view_.header().host.abort.store_release(1);
  const int status = status_within(kEndWithinMs);
  ASSERT_NE(status, -1);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(view_.header().device.host_gone.load_acquire(), 0u);
}

}  // namespace
}  // namespace tidemark
