// SPDX-License-Identifier: Apache-2.0
// A program asks for a core dump of its own kernel that hangs: beside a thread that does as an
// NVIDIA driver, and a cuda-gdb that prints what it printed of a dump of an H200.
#include "tidemark/session/own_core.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/base/wait_until.h"
#include "tidemark/run/producer_text.h"

namespace tidemark {
namespace {

constexpr const char* kCoreFiles = TIDEMARK_SOURCE_DIR "/tests/cuda_gdb/";
constexpr std::uint32_t kDriverMs = 20'000;
constexpr std::uint64_t kSecondOfTicks = 1'000'000'000;
constexpr const char* kDriverNames[] = {
    "CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "CUDA_ENABLE_USER_TRIGGERED_COREDUMP",
    "CUDA_COREDUMP_GENERATION_FLAGS", "CUDA_COREDUMP_FILE", "CUDA_COREDUMP_PIPE"};

class OwnCore : public testing::Test {
 protected:
  OwnCore()
      : path_(samples::environment("PATH", "")), tmpdir_(samples::environment("TMPDIR", "/tmp")) {
    ::setenv("PATH", (tools_.path() + ":" + path_).c_str(), 1);
    ::setenv("TMPDIR", scratch_.path().c_str(), 1);
    for (const char* name : kDriverNames) ::unsetenv(name);
    state_.ticks_per_second = kSecondOfTicks;
    state_.detected_ticks = 10 * kSecondOfTicks;
    state_.producers.push_back({.producer = "CTA 65 compute",
                                .state = LaneState::kOpen,
                                .at = "compute",
                                .number = 17,
                                .since_ticks = 8 * kSecondOfTicks,
                                .place = encode_place({.multiprocessor = 9, .block = 65})});
    state_.message = "nothing was heard; " + producers_sentence(state_) + "; the end";
    core_ = GpuCore::arm(GpuCore::In::kUsersProcess);
    pipe_name_ = samples::environment("CUDA_COREDUMP_PIPE", "");
    file_name_ = samples::environment("CUDA_COREDUMP_FILE", "");
  }
  ~OwnCore() override {
    ::setenv("PATH", path_.c_str(), 1);
    ::setenv("TMPDIR", tmpdir_.c_str(), 1);
    for (const char* name : kDriverNames) ::unsetenv(name);
  }
  void has_driver() {
    ASSERT_EQ(::mkfifo(pipe_name_.c_str(), 0600), 0);
    pipe_ = UniqueFd(::open(pipe_name_.c_str(), O_RDONLY | O_NONBLOCK));
    ASSERT_TRUE(core_->take_pipe());
  }
  // Writes the dump of the H200 when it is asked.
  void serve() {
    char any = 0;
    if (wait_until([&] { return ::read(pipe_.get(), &any, 1) == 1; }, kDriverMs, 1))
      samples::write_bytes(file_name_,
                           samples::read_bytes(std::string(kCoreFiles) + "probe_hang.core"));
  }
  void has_debugger() {
    const std::string text = std::string("#!/bin/sh\ncat ") + kCoreFiles + "probe_hang.txt\n";
    samples::write_bytes(tools_.file("cuda-gdb"), {text.begin(), text.end()});
    ASSERT_EQ(::chmod(tools_.file("cuda-gdb").c_str(), 0700), 0);
  }

  const samples::TemporaryDirectory tools_, scratch_, run_;
  std::unique_ptr<GpuCore> core_;
  HangState state_;

 private:
  std::string path_, tmpdir_, pipe_name_, file_name_;
  UniqueFd pipe_;
};

TEST_F(OwnCore, TheLineIsInTheSentenceAndTheDumpIsKept) {
  has_driver();
  has_debugger();
  std::thread driver([this] { serve(); });
  state_ = *with_own_core(*core_, run_.path(), state_);
  driver.join();
  EXPECT_EQ(state_.core.why_unread, "");
  EXPECT_EQ(state_.core.file, "device.core");
  EXPECT_EQ(samples::read_bytes(run_.file("device.core")),
            samples::read_bytes(std::string(kCoreFiles) + "probe_hang.core"));
  EXPECT_EQ(state_.message,
            "nothing was heard; CTA 65 compute has been at `compute` 17 for 2.0 s (probe2.cu:20, "
            "called at probe2.cu:26, called at probe2.cu:38); the end");
}

TEST_F(OwnCore, WithoutADebuggerTheDumpIsKeptAndTheReasonSaid) {
  has_driver();
  ::setenv("PATH", tools_.path().c_str(), 1);
  std::thread driver([this] { serve(); });
  const std::string before = state_.message;
  state_ = *with_own_core(*core_, run_.path(), state_);
  driver.join();
  EXPECT_EQ(state_.core.file, "device.core");
  EXPECT_EQ(state_.core.why_unread, "cuda-gdb is not on this machine");
  EXPECT_EQ(state_.message, before);
}

TEST_F(OwnCore, ADriverThatDoesNotListenIsSaid) {
  state_ = *with_own_core(*core_, run_.path(), state_);
  EXPECT_EQ(state_.core.why_unread, "no core dump: the driver does not listen");
  EXPECT_EQ(state_.core.file, "");
}

}  // namespace
}  // namespace tidemark
