// SPDX-License-Identifier: Apache-2.0
// What cuda-gdb 13.0 printed of core dumps of an H200, and what nobody prints.
#include "tidemark/run/debugger_text.h"

#include <fstream>
#include <iterator>
#include <random>

#include <gtest/gtest.h>

#include "tidemark/base/testing/plain_output.h"
#include "tidemark/base/testing/seed_range.h"

namespace tidemark {
namespace {

std::string transcript(const std::string& name) {
  std::ifstream file(TIDEMARK_SOURCE_DIR "/tests/cuda_gdb/" + name);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> texts_of(const std::vector<StackFrame>& frames) {
  std::vector<std::string> texts;
  for (const auto& frame : frames)
    texts.push_back(fmt::format("{} at {}:{}", frame.function, frame.file, frame.line));
  return texts;
}

using Texts = std::vector<std::string>;

TEST(DebuggerText, AnExceptionIsWhereItWasRaisedNotWhereItsWarpStopped) {
  const DebuggerText text = parse_debugger_text(transcript("crash_kernel.txt"));
  ASSERT_EQ(text.stacks.size(), 1u);
  const ThreadStack& stack = text.stacks[0];
  EXPECT_EQ(stack.block, 18u);
  EXPECT_EQ(stack.thread, 224u);
  EXPECT_EQ(stack.sm, 86u);
  EXPECT_EQ(stack.exception, "Warp Illegal Address");
  EXPECT_EQ(stack.pc, 0x7f37256e3710u);
  EXPECT_EQ(texts_of(stack.frames), (Texts{"tidemark::CopyOrCrash::run at hang_programs.h:37",
                                           "tidemark::run_call at kernel_call.h:21"}));
  EXPECT_EQ(text.complaint, "") << "a source that is not at hand is no trouble";
}

TEST(DebuggerText, EveryThreadHasItsPlace) {
  const DebuggerText text = parse_debugger_text(transcript("crash_kernel.txt"));
  ASSERT_GT(text.places.size(), 390u);
  EXPECT_EQ(text.places[0].block, 0u);
  EXPECT_EQ(text.places[0].last_thread, 0u);
  const ThreadsAtPlace& last = text.places.back();
  EXPECT_EQ(last.block, 130u);
  EXPECT_EQ(last.first_thread, 32u);
  EXPECT_EQ(last.last_thread, 255u);
  EXPECT_EQ(last.pc, 0x7f37256054f0u);
  EXPECT_EQ(last.frame.file, "/src/tidemark/device/cuda/cuda_env.cuh");
  EXPECT_EQ(last.frame.line, 95u);
}

TEST(DebuggerText, AHungKernelHasAnInlinedFrameAndThatAroundIt) {
  const DebuggerText text = parse_debugger_text(transcript("probe_hang.txt"));
  ASSERT_EQ(text.stacks.size(), 1u) << "asked for twice";
  EXPECT_EQ(text.stacks[0].block, 65u);
  EXPECT_EQ(text.stacks[0].sm, 9u);
  EXPECT_EQ(text.stacks[0].exception, "");
  EXPECT_EQ(text.stacks[0].pc, 0x7f697f7a05b0u);
  EXPECT_EQ(texts_of(text.stacks[0].frames),
            (Texts{"__nanosleep at /usr/local/cuda/bin/../targets/x86_64-linux/include/crt/"
                   "sm_70_rt.hpp:169",
                   "run_kernel at probe2.cu:20"}));
  ASSERT_EQ(text.places.size(), 1u);
  EXPECT_EQ(text.places[0].first_thread, 0u);
  EXPECT_EQ(text.places[0].last_thread, 255u);
}

TEST(DebuggerText, TheFocusThatWasNotGivenIsNotTaken) {
  const DebuggerText text = parse_debugger_text(transcript("probe_focus.txt"));
  ASSERT_EQ(text.stacks.size(), 2u);
  EXPECT_EQ(text.stacks[0].thread, 0u);
  EXPECT_EQ(text.stacks[1].thread, 32u) << "block 3 is gone, so this one is shown once more";
  EXPECT_EQ(text.stacks[1].block, 65u);
  for (const ThreadStack& stack : text.stacks) EXPECT_EQ(stack.frames.size(), 2u);
}

TEST(DebuggerText, AFrameWithoutAnAddressIsOne) {
  const DebuggerText text = parse_debugger_text(
      "[Switching focus to CUDA kernel 0, grid 1, block (7,0,0), thread (3,0,0), device 0, sm 5, "
      "warp 0, lane 3]\n"
      "#0  units<<<(131,1,1),(256,1,1)>>> () at /src/a folder/probe.cu:48\n"
      "#1  0x00007f6a6ade6000 in f(int) (a=..., b=...) at b.cu:9\n"
      "#2  0x00007f6a6ade6000 in ?\?<<<(131,1,1),(256,1,1)>>> ()\n");
  ASSERT_EQ(text.stacks.size(), 1u);
  EXPECT_EQ(text.stacks[0].pc, 0u);
  EXPECT_EQ(texts_of(text.stacks[0].frames),
            (Texts{"units at /src/a folder/probe.cu:48", "f at b.cu:9"}));
}

TEST(DebuggerText, WhatItCouldNotDoIsKnown) {
  EXPECT_EQ(parse_debugger_text(transcript("no_core.txt")).complaint,
            "Failed to read core file: elfOpenByName() failed: ELF header 'ident' verification "
            "failed");
  EXPECT_NE(parse_debugger_text(transcript("cut_core.txt")).complaint.find("internal-error"),
            std::string::npos);
  for (const char* name : {"no_core.txt", "cut_core.txt"}) {
    EXPECT_TRUE(parse_debugger_text(transcript(name)).stacks.empty());
    EXPECT_TRUE(parse_debugger_text(transcript(name)).places.empty());
  }
}

void expect_bounded(const DebuggerText& text) {
  const auto is_fine = [](const std::string& part) {
    // Three bytes for one that is no UTF-8 would still be more than enough.
    EXPECT_LE(part.size(), 3 * kFrameTextMax);
    EXPECT_EQ(first_order_in(part), "");
  };
  EXPECT_LE(text.stacks.size(), kStacksMax);
  EXPECT_LE(text.places.size(), 4096u);
  is_fine(text.complaint);
  for (const auto& stack : text.stacks) {
    EXPECT_FALSE(stack.frames.empty());
    EXPECT_LE(stack.frames.size(), kFramesMax + 2);
    is_fine(stack.exception);
    for (const auto& frame : stack.frames) {
      is_fine(frame.function);
      is_fine(frame.file);
    }
  }
  for (const auto& place : text.places) is_fine(place.frame.file);
}

TEST(DebuggerText, EndlessTextIsBounded) {
  std::string focus, frames, threads;
  for (int i = 0; i < 5000; ++i) {
    focus += fmt::format("[Switching focus to CUDA kernel 0, block ({},0,0), thread (0,0,0)]\n", i);
    focus += "#0  0x1 in f () at a.h:1\n";
    frames += fmt::format("#{}  0x1 in f () at a.h:1 in g inlined from b.h:2\n", i);
    threads += fmt::format("({},0,0) (0,0,0) ({},0,0) (1,0,0) 2 0x10 a.h 3\n", i, i);
  }
  expect_bounded(parse_debugger_text(focus + frames));
  expect_bounded(parse_debugger_text(threads));
  EXPECT_EQ(parse_debugger_text(focus).stacks.size(), kStacksMax);
  EXPECT_EQ(parse_debugger_text(threads).places.size(), 4096u);
  expect_bounded(parse_debugger_text(std::string(3 << 20, '#')));
  expect_bounded(
      parse_debugger_text("[focus set to CUDA kernel block (1,0,0), thread (1,0,0)]\n#0  0x1 in " +
                          std::string(60'000, 'a') + "<" + std::string(4000, '(') + " () at " +
                          std::string(5000, '/') + ":4294967295\n"));
}

TEST(DebuggerText, OrdersToATerminalDoNotComeThrough) {
  const DebuggerText text = parse_debugger_text(
      "[Switching focus to CUDA kernel 0, block (1,0,0), thread (0,0,0), sm 4]\n"
      "CUDA Exception: \x1b[2J\xff gone\n"
      "The exception was triggered at PC 0x12  f\x1b]0;x\x07()  (a\x1b.h:3 in g\r inlined from "
      "b:4)\n"
      "#0  0x1 in h () at c:5\n");
  ASSERT_EQ(text.stacks.size(), 1u);
  expect_bounded(text);
  EXPECT_EQ(text.stacks[0].exception, "?[2J? gone");
}

TEST(DebuggerText, DamagedTextIsReadAsFarAsItMakesSense) {
  const std::string whole = transcript("crash_kernel.txt").substr(0, 8000) +
                            transcript("probe_focus.txt") + transcript("probe_hang.txt");
  for (std::uint64_t seed = 0; seed < fewer_under_sanitizer(300); ++seed) {
    std::mt19937_64 random(seed);
    std::string text = whole;
    for (std::uint64_t i = 0; i < 1 + seed % 40; ++i) {
      const std::size_t at = random() % text.size();
      switch (random() % 5) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, random() % 200);
          break;
        case 2:
          text.insert(at, text.substr(random() % text.size(), random() % 500));
          break;
        case 3:
          text[at] = '\n';
          break;
        default:
          text[at] = "(),#:<>0x [] "[random() % 13];
      }
      if (text.empty()) text = "x";
    }
    expect_bounded(parse_debugger_text(text));
  }
}

}  // namespace
}  // namespace tidemark
