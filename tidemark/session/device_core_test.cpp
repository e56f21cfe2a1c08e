// SPDX-License-Identifier: Apache-2.0
// A core dump that is kept and read, with programs in PATH that print what cuda-gdb printed of core
// dumps of an H200, print nonsense, do not end, or are not there.
#include "tidemark/session/device_core.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include <gtest/gtest.h>

#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/base/whole_io.h"
#include "tidemark/device/cuda/unit_placement.h"
#include "tidemark/run/hang_text.h"

namespace tidemark {
namespace {

constexpr const char* kTranscripts = TIDEMARK_SOURCE_DIR "/tests/cuda_gdb/";
constexpr std::uint32_t kPatienceMs = 30'000;

class DeviceCoreTest : public ::testing::Test {
 protected:
  DeviceCoreTest()
      : path_(samples::environment("PATH", "")),
        tmpdir_(samples::environment("TMPDIR", "/tmp")),
        file_(std::move(*CoreFile::create())) {
    ::setenv("PATH", (tools_.path() + ":" + path_).c_str(), 1);
    ::setenv("TMPDIR", scratch_.path().c_str(), 1);
    // The H200 of the transcripts.
    state_.units = {.schedulers = 8, .cores = 129};
    state_.lines.resize(state_.units.total());
    for (auto& line : state_.lines) line = {};
    state_.orchestration_done = true;
    state_.ticks_per_second = 1'000'000'000;
    state_.kernels = {"copy"};
  }
  ~DeviceCoreTest() override {
    ::setenv("PATH", path_.c_str(), 1);
    ::setenv("TMPDIR", tmpdir_.c_str(), 1);
  }

  // A cuda-gdb that writes down its arguments and does this.
  void debugger(const std::string& does) {
    const std::string text = "#!/bin/sh\nprintf '%s\\n' \"$@\" >" + tools_.file("arguments") +
                             "\necho left >$TMPDIR/left\n" + does + "\n";
    samples::write_bytes(tools_.file("cuda-gdb"), {text.begin(), text.end()});
    ASSERT_EQ(::chmod(tools_.file("cuda-gdb").c_str(), 0700), 0);
  }
  void prints(const std::string& transcript) { debugger("cat " + (kTranscripts + transcript)); }
  std::string arguments() const {
    const auto bytes = samples::read_bytes(tools_.file("arguments"));
    return {bytes.begin(), bytes.end()};
  }
  void fill(const std::vector<unsigned char>& bytes) {
    ASSERT_TRUE(write_at(file_.fd(), 0, bytes.data(), bytes.size()));
  }
  void run_in(std::uint32_t unit) {
    state_.unit = unit;
    state_.has_unit = true;
    state_.hang = HangClass::kRunningStalled;
    state_.lines[unit].state = UnitState::kBusy;
    state_.lines[unit].place = 10;
  }
  Expected<void> keep_and_read(std::uint32_t limit_ms = kPatienceMs) {
    return keep_and_read_core(file_, run_.path(), state_, limit_ms);
  }
  void expect_nothing_left() { EXPECT_TRUE(std::filesystem::is_empty(scratch_.path())); }

  samples::TemporaryDirectory tools_, run_, scratch_;
  std::string path_, tmpdir_;
  CoreFile file_;
  HangState state_;
};

TEST_F(DeviceCoreTest, AHungKernelHasItsWholeStack) {
  prints("probe_hang.txt");
  fill(samples::read_bytes(std::string(kTranscripts) + "probe_hang.core"));
  const std::uint32_t unit = unit_at(state_.units, {65, 0});
  run_in(unit);
  ASSERT_TRUE(keep_and_read());
  EXPECT_EQ(state_.core.file, "device.core");
  EXPECT_EQ(state_.core.bytes, file_.bytes());
  EXPECT_EQ(state_.core.why_unread, "");
  ASSERT_EQ(state_.stacks.size(), 1u);
  const UnitStack& stack = state_.stacks[0];
  EXPECT_EQ(stack.unit, unit);
  EXPECT_EQ(stack.sm, 9u);
  EXPECT_EQ(stack.first_thread, 0u);
  EXPECT_EQ(stack.threads, 256u);
  EXPECT_EQ(stack_text(stack),
            "__nanosleep (sm_70_rt.hpp:169) in wait_ns (probe2.cu:20) in CopyOrHang::run "
            "(probe2.cu:26) in run_kernel (probe2.cu:38)")
      << "the debugger shows two of these";
  EXPECT_NE(hang_sentence(state_).find(", at probe2.cu:20;"), std::string::npos)
      << hang_sentence(state_);
  expect_nothing_left();
}

TEST_F(DeviceCoreTest, ALinkedKernelHasItsLineWhereTheDebuggerHasNone) {
  prints("hang_kernel.txt");
  fill(samples::read_bytes(std::string(kTranscripts) + "hang_kernel.core"));
  run_in(state_.units.core(64));
  ASSERT_TRUE(keep_and_read());
  ASSERT_EQ(state_.stacks.size(), 1u);
  EXPECT_EQ(state_.stacks[0].unit, state_.units.core(64));
  EXPECT_EQ(state_.stacks[0].threads, 256u);
  EXPECT_EQ(state_.stacks[0].frames.back().function, "tidemark::run_call");
  EXPECT_NE(hang_sentence(state_).find(", at hang_programs.h:21;"), std::string::npos)
      << hang_sentence(state_);
}

TEST_F(DeviceCoreTest, TheOrchestrationHasItsCallers) {
  prints("hang_orchestration.txt");
  fill({'x'});
  run_in(0);
  state_.hang = HangClass::kOrchestratorStalled;
  state_.orchestration_done = false;
  ASSERT_TRUE(keep_and_read());
  ASSERT_EQ(state_.stacks.size(), 1u);
  EXPECT_EQ(stack_text(state_.stacks[0]),
            "tidemark::HangOrchestration::orchestrate (hang_programs.h:104) in "
            "tidemark::cuda_units_detail::run_orchestrator (cuda_units.cuh:53) in "
            "tidemark::run_cuda_units (cuda_units.cuh:141)");
}

TEST_F(DeviceCoreTest, ASchedulerIsNamedByItsOwnLine) {
  prints("hang_scheduler.txt");
  fill({'x'});
  run_in(state_.units.scheduler(0));
  state_.hang = HangClass::kReadyAllIdle;
  ASSERT_TRUE(keep_and_read());
  ASSERT_EQ(state_.stacks.size(), 1u);
  EXPECT_EQ(state_.stacks[0].unit, state_.units.scheduler(0));
  EXPECT_EQ(state_.stacks[0].sm, 129u);
  EXPECT_EQ(stack_text(state_.stacks[0]),
            "tidemark::RuntimeMemory::config (runtime_memory.h:20) in "
            "tidemark::cuda_units_detail::run_scheduler (scheduler.h:93) in "
            "tidemark::run_cuda_units (cuda_units.cuh:136)");
  EXPECT_NE(hang_sentence(state_).find(", at scheduler.h:93: "), std::string::npos)
      << hang_sentence(state_);
}

TEST_F(DeviceCoreTest, CallsWithinTheCompilersHeadersAreOne) {
  const UnitStack stack{.frames = {{"a", "/x/include/cccl/a.h", 1},
                                   {"b", "/x/include/cccl/b.h", 2},
                                   {"c", "/x/include/crt/c.hpp", 3},
                                   {"mine", "/x/mine.h", 4},
                                   {"d", "/x/include/cccl/d.h", 5}}};
  EXPECT_EQ(stack_text(stack), "a (a.h:1) in mine (mine.h:4) in d (d.h:5)");
}

TEST_F(DeviceCoreTest, WithoutLinesInTheDumpTheDebuggersFramesAreTaken) {
  prints("probe_hang.txt");
  fill({'x'});
  run_in(unit_at(state_.units, {65, 0}));
  ASSERT_TRUE(keep_and_read());
  ASSERT_EQ(state_.stacks.size(), 1u);
  EXPECT_EQ(stack_text(state_.stacks[0]),
            "__nanosleep (sm_70_rt.hpp:169) in run_kernel (probe2.cu:20)");
}

TEST_F(DeviceCoreTest, ACrashNamesTheThreadThatRaisedIt) {
  prints("crash_kernel.txt");
  fill({'x'});
  run_in(3);  // the only one that looked busy; it was another
  state_.hang = HangClass::kNone;
  ASSERT_TRUE(keep_and_read());
  ASSERT_FALSE(state_.stacks.empty());
  const UnitStack& stack = state_.stacks[0];
  EXPECT_EQ(stack.unit, unit_at(state_.units, {18, 224}));
  EXPECT_EQ(stack.sm, 86u);
  EXPECT_EQ(stack.first_thread, 224u);
  EXPECT_EQ(stack.exception, "Warp Illegal Address");
  EXPECT_EQ(stack_text(stack),
            "tidemark::CopyOrCrash::run (hang_programs.h:37) in tidemark::run_call "
            "(kernel_call.h:21)");
  EXPECT_EQ(state_.unit, stack.unit);
  EXPECT_TRUE(hang_sentence(state_).ends_with(
      ", at hang_programs.h:37 (Warp Illegal Address); nothing waits for it"))
      << hang_sentence(state_);
}

TEST_F(DeviceCoreTest, TheOthersOfTheBlockComeBehindTheOneThatIsStuck) {
  // Thread 0 of the scheduler's CTA and the waiting threads of a core, as they were in a crash.
  prints("crash_kernel.txt");
  fill({'x'});
  run_in(unit_at(state_.units, {2, 0}));
  ASSERT_TRUE(keep_and_read());
  std::vector<const UnitStack*> of_unit;
  for (const UnitStack& stack : state_.stacks)
    if (stack.unit == unit_at(state_.units, {2, 0})) of_unit.push_back(&stack);
  ASSERT_EQ(of_unit.size(), 3u);
  EXPECT_EQ(of_unit[0]->threads + of_unit[1]->threads + of_unit[2]->threads, 256u);
}

TEST_F(DeviceCoreTest, TheDebuggerIsAskedForTheUnitsThatMayBeStuck) {
  prints("probe_hang.txt");
  fill({'x'});
  run_in(state_.units.core(4));
  state_.orchestration_done = false;
  ASSERT_TRUE(keep_and_read());
  const std::string text = arguments();
  EXPECT_NE(text.find("target cudacore " + run_.path() + "/device.core\n"), std::string::npos);
  EXPECT_NE(text.find("cuda block 6 thread 0\n-ex\nbt\n"), std::string::npos) << text;
  EXPECT_NE(text.find("cuda block 6 thread 224\n"), std::string::npos) << "each of its warps";
  EXPECT_NE(text.find("cuda block 0 thread 0\n"), std::string::npos) << "the orchestrator";
  EXPECT_LT(text.find("cuda block 6 "), text.find("cuda block 0 ")) << "the culprit first";
}

TEST_F(DeviceCoreTest, AFolderWithBlanksIsNoTrouble) {
  prints("probe_hang.txt");
  fill({'x'});
  const std::string folder = run_.file("it's a folder");
  ASSERT_TRUE(std::filesystem::create_directory(folder));
  ASSERT_TRUE(keep_and_read_core(file_, folder, state_, kPatienceMs));
  EXPECT_TRUE(std::filesystem::exists(folder + "/device.core"));
  EXPECT_NE(arguments().find("target cudacore /proc/"), std::string::npos) << arguments();
}

TEST_F(DeviceCoreTest, WithoutADebuggerTheFileIsKept) {
  ::setenv("PATH", tools_.path().c_str(), 1);
  fill({'c', 'o', 'r', 'e'});
  ASSERT_TRUE(keep_and_read());
  EXPECT_EQ(state_.core.why_unread, "cuda-gdb is not on this machine");
  EXPECT_EQ(samples::read_bytes(run_.file("device.core")).size(), 4u);
  EXPECT_TRUE(state_.stacks.empty());
  struct stat info {};
  ASSERT_EQ(::stat(run_.file("device.core").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(DeviceCoreTest, ADebuggerThatDoesNotEndIsEnded) {
  debugger("sleep 600 & sleep 600");
  fill({'x'});
  ASSERT_TRUE(keep_and_read(300));
  EXPECT_EQ(state_.core.why_unread, "cuda-gdb had not read it after 0.3 s");
  expect_nothing_left();
}

TEST_F(DeviceCoreTest, WhatItSaidBeforeItWasEndedCounts) {
  debugger(std::string("cat ") + kTranscripts + "probe_hang.txt; sleep 600");
  fill({'x'});
  run_in(unit_at(state_.units, {65, 0}));
  ASSERT_TRUE(keep_and_read(1500));
  EXPECT_EQ(state_.core.why_unread, "");
  EXPECT_EQ(state_.stacks.size(), 1u);
}

TEST_F(DeviceCoreTest, WhatItCannotReadIsSaid) {
  fill({'x'});
  prints("no_core.txt");
  ASSERT_TRUE(keep_and_read());
  EXPECT_EQ(state_.core.why_unread,
            "cuda-gdb says nothing of any unit: Failed to read core file: elfOpenByName() failed: "
            "ELF header 'ident' verification failed");
  debugger("kill -SEGV $$");
  ASSERT_TRUE(keep_and_read());
  EXPECT_EQ(state_.core.why_unread, "cuda-gdb says nothing of any unit");
  debugger("yes '(1,0,0) (0,0,0) (1,0,0) (0,0,0) 1 0x12 a.h 3' | head -c 9000000");
  ASSERT_TRUE(keep_and_read());
  EXPECT_EQ(state_.stacks.size(), kStacksMax) << "and no more";
  expect_nothing_left();
}

TEST_F(DeviceCoreTest, UnitsThatAreNotThereAreNotNamed) {
  prints("crash_kernel.txt");
  fill({'x'});
  state_.units = {.schedulers = 1, .cores = 3};  // of a smaller device
  state_.lines.resize(state_.units.total());
  ASSERT_TRUE(keep_and_read());
  for (const UnitStack& stack : state_.stacks) EXPECT_LT(stack.unit, state_.units.total());
  EXPECT_FALSE(state_.has_unit);
}

TEST_F(DeviceCoreTest, OnAFullDiskItIsReadAllTheSame) {
  prints("probe_hang.txt");
  fill(std::vector<unsigned char>(300'000, 'x'));
  run_in(unit_at(state_.units, {65, 0}));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = 100'000, .rlim_max = before.rlim_max};
  const auto old = ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto kept = keep_and_read();
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, old);
  ASSERT_FALSE(kept);
  EXPECT_EQ(state_.core.file, "");
  EXPECT_EQ(state_.stacks.size(), 1u);
  EXPECT_TRUE(std::filesystem::is_empty(run_.path()));
}

TEST_F(DeviceCoreTest, OnlyAGpuInAProcessOfItsOwnIsAsked) {
  RunRequest request;
  request.platform = &platform_of(DeviceKind::kCuda);
  EXPECT_FALSE(make_core_file(request)) << "no units to be named";
  request.launch.runtime.emplace();
  EXPECT_TRUE(make_core_file(request));
  request.isolation = Isolation::kThread;
  EXPECT_FALSE(make_core_file(request)) << "the user's own process";
  request.isolation = Isolation::kProcess;
  request.core_dump = false;
  EXPECT_FALSE(make_core_file(request));
  request.core_dump = true;
  request.platform = &default_platform();
  EXPECT_FALSE(make_core_file(request));
}

}  // namespace
}  // namespace tidemark
