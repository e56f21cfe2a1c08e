// SPDX-License-Identifier: Apache-2.0
// Lines of a kernel that hung on an H200, from what its core dump has of its code; and bytes that
// are no such thing.
#include "tidemark/run/core_lines.h"

#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "tidemark/base/testing/plain_output.h"
#include "tidemark/base/testing/seed_range.h"
#include "tidemark/base/testing/temporary_directory.h"

namespace tidemark {
namespace {

// The instruction behind __nanosleep, three calls deep in a function that was not inlined.
constexpr std::uint64_t kHungPc = 0x7f697f7a05b0;
constexpr std::uint64_t kCodeBegin = 0x7f697f7a0000, kCodeEnd = 0x7f697f7a0900;

std::vector<unsigned char> core_bytes() {
  auto bytes = samples::read_bytes(TIDEMARK_SOURCE_DIR "/tests/cuda_gdb/probe_hang.core");
  EXPECT_GT(bytes.size(), 10'000u);
  return bytes;
}

TEST(CoreLines, AnInstructionHasAllTheCallsItWasInlinedInto) {
  const CoreLines lines(core_bytes());
  const std::vector<StackFrame> frames = lines.frames_at(kHungPc);
  ASSERT_EQ(frames.size(), 4u);
  EXPECT_EQ(frames[0].function, "__nanosleep");
  EXPECT_TRUE(frames[0].file.ends_with("/crt/sm_70_rt.hpp")) << frames[0].file;
  EXPECT_EQ(frames[0].line, 169u);
  EXPECT_EQ(frames[1].function, "wait_ns");
  EXPECT_EQ(frames[1].line, 20u);
  EXPECT_EQ(frames[2].function, "CopyOrHang::run");
  EXPECT_EQ(frames[2].file, "/source/of/probes/probe2.cu");
  EXPECT_EQ(frames[2].line, 26u) << "while (stuck) wait_ns(1000000);";
  EXPECT_EQ(frames[3].function, "") << "the one that all of them were inlined into";
  EXPECT_EQ(frames[3].line, 38u);
}

// Where the linker put several functions into one table, callers are numbered within each of them.
TEST(CoreLines, ALinkedKernelHasThemToo) {
  const CoreLines lines(
      samples::read_bytes(TIDEMARK_SOURCE_DIR "/tests/cuda_gdb/hang_kernel.core"));
  std::vector<std::string> texts;
  for (const StackFrame& frame : lines.frames_at(0x7fbea96ddc40))
    texts.push_back(frame.function + " " + frame_place(frame));
  EXPECT_EQ(
      texts,
      (std::vector<std::string>{
          "__nanosleep sm_70_rt.hpp:169", "tidemark::CtaUnitBlock::wait_ns cuda_block.cuh:93",
          "tidemark::CopyOrHang::run hang_programs.h:21", "tidemark::run_kernel kernel_list.h:32",
          "tidemark::KernelList::run kernel_list.h:76", " kernel_call.h:21"}));
}

TEST(CoreLines, OutsideOfTheCodeNothingIsKnown) {
  const CoreLines lines(core_bytes());
  for (const std::uint64_t pc : {std::uint64_t{0}, kCodeBegin - 1, kCodeEnd, ~std::uint64_t{0}})
    EXPECT_TRUE(lines.frames_at(pc).empty()) << pc;
  EXPECT_FALSE(lines.frames_at(kCodeBegin).empty());
  EXPECT_FALSE(lines.frames_at(kCodeEnd - 1).empty());
}

TEST(CoreLines, TheFrameOfTheUserTellsMost) {
  const UnitStack stack{.frames = CoreLines(core_bytes()).frames_at(kHungPc)};
  const StackFrame* frame = telling_frame(stack);
  ASSERT_NE(frame, nullptr);
  EXPECT_EQ(frame->function, "wait_ns") << "not the header of the compiler";
}

TEST(CoreLines, WhatIsNoCoreDumpHasNoLines) {
  EXPECT_TRUE(CoreLines({}).frames_at(kHungPc).empty());
  const std::vector<unsigned char> zeros(4096);
  EXPECT_TRUE(CoreLines(zeros).frames_at(0).empty());
}

TEST(CoreLines, ACutCoreDumpIsReadAsFarAsItGoes) {
  const auto whole = core_bytes();
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 97)
    EXPECT_LE(CoreLines(std::span(whole).first(bytes)).frames_at(kHungPc).size(), 4u);
}

TEST(CoreLines, DamageIsBounded) {
  const auto whole = core_bytes();
  for (std::uint64_t seed = 0; seed < fewer_under_sanitizer(2000); ++seed) {
    std::mt19937_64 random(seed);
    auto bytes = whole;
    // Where the headers and the line table are, more often than elsewhere.
    for (std::uint64_t i = 0; i < 1 + seed % 20; ++i) {
      const std::size_t at = random() % 3 == 0   ? random() % 128
                             : random() % 2 == 0 ? bytes.size() - 1 - random() % 300
                                                 : random() % bytes.size();
      const std::uint64_t value = random() % 4 == 0 ? ~std::uint64_t{0} : random();
      const std::size_t size = std::min<std::size_t>(1u << (random() % 4), bytes.size() - at);
      std::memcpy(bytes.data() + at, &value, size);
    }
    const CoreLines lines(bytes);
    for (std::uint64_t pc = kCodeBegin; pc < kCodeEnd; pc += 64) {
      const auto frames = lines.frames_at(pc);
      EXPECT_LE(frames.size(), kFramesMax);
      for (const StackFrame& frame : frames) {
        EXPECT_EQ(first_order_in(frame.file), "");
        EXPECT_EQ(first_order_in(frame.function), "");
      }
    }
  }
}

}  // namespace
}  // namespace tidemark
