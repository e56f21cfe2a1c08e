// SPDX-License-Identifier: Apache-2.0
// What asks a driver for core dumps, beside a thread that does as an NVIDIA driver: it reads the
// environment when its context is made, makes a pipe, and writes a file when something comes in.
#include "tidemark/device/gpu_core.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/base/wait_until.h"
#include "tidemark/device/core_file.h"

namespace tidemark {
namespace {

constexpr std::uint32_t kPatienceMs = 20'000;
constexpr const char* kNames[] = {"CUDA_ENABLE_COREDUMP_ON_EXCEPTION",
                                  "CUDA_ENABLE_USER_TRIGGERED_COREDUMP",
                                  "CUDA_COREDUMP_GENERATION_FLAGS",
                                  "CUDA_COREDUMP_FILE",
                                  "CUDA_COREDUMP_PIPE",
                                  "CUDA_DEVICE_WAITS_ON_EXCEPTION"};

class FakeDriver {
 public:
  FakeDriver()
      : pipe_name_(samples::environment("CUDA_COREDUMP_PIPE", "")),
        file_(samples::environment("CUDA_COREDUMP_FILE", "")) {
    EXPECT_EQ(::mkfifo(pipe_name_.c_str(), 0600), 0);
    pipe_ = UniqueFd(::open(pipe_name_.c_str(), O_RDONLY | O_NONBLOCK));
  }
  // Waits for the wish, then writes.
  void serve(const std::string& text) {
    char any = 0;
    const auto asked = [&] { return ::read(pipe_.get(), &any, 1) == 1; };
    if (wait_until(asked, kPatienceMs, 1)) write(text);
  }
  void write(const std::string& text) {
    const UniqueFd out(::open(file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644));
    EXPECT_TRUE(out.valid());
    for (const char letter : text) EXPECT_EQ(::write(out.get(), &letter, 1), 1);
  }

 private:
  std::string pipe_name_, file_;
  UniqueFd pipe_;
};

class GpuCoreTest : public ::testing::Test {
 protected:
  GpuCoreTest() : before_(samples::environment("TMPDIR", "/tmp")) {
    ::setenv("TMPDIR", home_.path().c_str(), 1);
    clear();
  }
  ~GpuCoreTest() override {
    ::setenv("TMPDIR", before_.c_str(), 1);
    clear();
  }
  static void clear() {
    for (const char* name : kNames) ::unsetenv(name);
  }
  [[nodiscard]] bool leaves_nothing() const { return std::filesystem::is_empty(home_.path()); }
  static std::string text_of(const CoreFile& file) {
    const auto bytes = samples::read_bytes(file.path());
    return {bytes.begin(), bytes.end()};
  }

  samples::TemporaryDirectory home_;
  std::string before_;
};

TEST_F(GpuCoreTest, AHungKernelIsDumpedWhenThatIsAskedFor) {
  const auto core = GpuCore::arm();
  ASSERT_NE(core, nullptr);
  FakeDriver driver;
  ASSERT_TRUE(core->take_pipe());
  EXPECT_TRUE(leaves_nothing()) << "before the first dump: whatever ends the process then";
  const auto file = CoreFile::create();
  ASSERT_TRUE(file && core->aim(file->fd()));
  EXPECT_FALSE(core->is_written());
  std::thread serving([&] { driver.serve("a core"); });
  ASSERT_TRUE(core->ask());
  EXPECT_TRUE(wait_until([&] { return core->is_written(); }, kPatienceMs, 1));
  serving.join();
  EXPECT_EQ(text_of(*file), "a core");
}

TEST_F(GpuCoreTest, AnExceptionIsDumpedByItself) {
  const auto core = GpuCore::arm();
  FakeDriver driver;
  ASSERT_TRUE(core->take_pipe());
  driver.write("before there is a file");  // goes nowhere, and nothing fails
  const auto file = CoreFile::create();
  ASSERT_TRUE(file && core->aim(file->fd()));
  EXPECT_FALSE(core->is_written());
  driver.write("an exception");
  EXPECT_TRUE(core->is_written());
  EXPECT_EQ(file->bytes(), 12u);
}

TEST_F(GpuCoreTest, AnEmptyFileIsNoDump) {
  const auto core = GpuCore::arm();
  FakeDriver driver;
  const auto file = CoreFile::create();
  ASSERT_TRUE(file && core->aim(file->fd()));
  driver.write("");
  EXPECT_FALSE(core->is_written());
}

TEST_F(GpuCoreTest, InAUsersProcessTheDriverDumpsOnlyWhenAskedAndEndsNothingBesides) {
  const auto core = GpuCore::arm(GpuCore::In::kUsersProcess);
  ASSERT_NE(core, nullptr);
  EXPECT_EQ(samples::environment("CUDA_ENABLE_USER_TRIGGERED_COREDUMP", "unset"), "1");
  EXPECT_EQ(samples::environment("CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "unset"), "unset");
  const std::string flags = samples::environment("CUDA_COREDUMP_GENERATION_FLAGS", "");
  EXPECT_NE(flags.find("skip_abort"), std::string::npos) << flags;
  EXPECT_NE(flags.find("skip_global_memory"), std::string::npos) << flags;
}

TEST_F(GpuCoreTest, WhatTheUserAskedTheDriverForIsLeftAlone) {
  for (const char* name : kNames) {
    ::setenv(name, "0", 1);
    EXPECT_EQ(GpuCore::arm(), nullptr) << name;
    for (const char* other : kNames)
      EXPECT_EQ(samples::environment(other, "unset"), std::string(other == name ? "0" : "unset"));
    ::unsetenv(name);
  }
  EXPECT_TRUE(leaves_nothing());
}

TEST_F(GpuCoreTest, ADriverThatMakesNoPipeIsNotAsked) {
  const auto core = GpuCore::arm();
  ASSERT_NE(core, nullptr);
  EXPECT_FALSE(core->take_pipe());
  EXPECT_FALSE(core->ask());
  EXPECT_TRUE(leaves_nothing());
}

TEST_F(GpuCoreTest, WithoutATemporaryFolderThereIsNone) {
  ::setenv("TMPDIR", home_.file("missing").c_str(), 1);
  EXPECT_EQ(GpuCore::arm(), nullptr);
  EXPECT_EQ(samples::environment("CUDA_COREDUMP_FILE", "unset"), "unset");
}

}  // namespace
}  // namespace tidemark
