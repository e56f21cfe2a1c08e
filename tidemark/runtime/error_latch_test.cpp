// SPDX-License-Identifier: Apache-2.0
// One error per run: of many that come at the same time one stays, whole, and whoever sees its
// code in the status sees all of its details.
#include "tidemark/runtime/error_latch.h"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

struct LatchMemory {
  std::unique_ptr<RuntimeControl> control = std::make_unique<RuntimeControl>();
  std::unique_ptr<RuntimeStatus> status = std::make_unique<RuntimeStatus>();
  ErrorLatch latch() { return {control.get(), status.get()}; }
};

TEST(ErrorLatch, KeepsTheFirstErrorWithItsDetails) {
  LatchMemory memory;
  ErrorLatch latch = memory.latch();
  EXPECT_FALSE(latch.set());
  latch.latch({.code = ErrorCode::kHeapRingDeadlock,
               .resource = Resource::kHeap,
               .ring = 2,
               .arg = 5,
               .used = 1ull << 40,
               .capacity = (1ull << 40) + 1,
               .requested = 3ull << 30,
               .task_id = TaskId::make(3, 7).value,
               .scope = {"scope.cpp", 11},
               .submit = {"submit.cpp", 22},
               .kernel = "gemm",
               .text = "why"});
  latch.latch({.code = ErrorCode::kInvalidArgs, .kernel = "later", .text = "later"});
  EXPECT_TRUE(latch.set());
  EXPECT_EQ(latch.code(), ErrorCode::kHeapRingDeadlock);
  const LatchedError& error = memory.status->error;
  EXPECT_EQ(error.code.load_acquire(), ErrorCode::kHeapRingDeadlock);
  EXPECT_EQ(error.resource.load_relaxed(), Resource::kHeap);
  EXPECT_EQ(error.ring.load_relaxed(), 2u);
  EXPECT_EQ(error.arg.load_relaxed(), 5u);
  EXPECT_EQ(error.used.load_relaxed(), 1ull << 40);
  EXPECT_EQ(error.capacity.load_relaxed(), (1ull << 40) + 1);
  EXPECT_EQ(error.requested.load_relaxed(), 3ull << 30);
  EXPECT_EQ(error.task_id.load_relaxed(), TaskId::make(3, 7).value);
  EXPECT_STREQ(error.scope_file, "scope.cpp");
  EXPECT_EQ(error.scope_line.load_relaxed(), 11u);
  EXPECT_STREQ(error.submit_file, "submit.cpp");
  EXPECT_EQ(error.submit_line.load_relaxed(), 22u);
  EXPECT_STREQ(error.kernel, "gemm");
  EXPECT_STREQ(error.text, "why");
}

TEST(ErrorLatch, CutsTextsThatAreTooLong) {
  LatchMemory memory;
  const std::string longest(kStatusTextBytes - 1, 'x'), longer(1000, 'y');
  memory.latch().latch({.code = ErrorCode::kExplicitOrchFatal,
                        .scope = {longer.c_str(), 1},
                        .kernel = longest.c_str(),
                        .text = longer.c_str()});
  const LatchedError& error = memory.status->error;
  EXPECT_EQ(error.kernel, longest);
  EXPECT_EQ(error.text, longer.substr(0, kStatusTextBytes - 1));
  EXPECT_EQ(error.scope_file, longer.substr(0, kStatusTextBytes - 1));
  EXPECT_STREQ(error.submit_file, "");
}

TEST(ErrorLatch, OfManyThreadsOneWinsAndIsSeenWhole) {
  constexpr std::uint32_t kThreads = 4;
  for (int round = 0; round < 200; ++round) {
    LatchMemory memory;
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < kThreads; ++i)
      threads.emplace_back([&, i] {
        const std::string text(10 + i * 20, static_cast<char>('a' + i));
        memory.latch().latch({.code = static_cast<ErrorCode>(1 + i),
                              .ring = i,
                              .used = i * 1000,
                              .kernel = text.c_str(),
                              .text = text.c_str()});
      });
    const LatchedError& error = memory.status->error;
    ErrorCode code{};
    while ((code = error.code.load_acquire()) == ErrorCode::kNone) std::this_thread::yield();
    // Read while the other threads are still at it.
    const std::uint32_t winner = static_cast<std::uint32_t>(code) - 1;
    const std::string text(10 + winner * 20, static_cast<char>('a' + winner));
    EXPECT_EQ(error.ring.load_relaxed(), winner);
    EXPECT_EQ(error.used.load_relaxed(), winner * 1000);
    EXPECT_EQ(error.kernel, text);
    EXPECT_EQ(error.text, text);
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(error.code.load_acquire(), code);
    EXPECT_EQ(memory.latch().code(), code);
    EXPECT_EQ(error.text, text);
  }
}

}  // namespace
}  // namespace tidemark
