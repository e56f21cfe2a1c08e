// SPDX-License-Identifier: Apache-2.0
// The runtime's status read from outside: counts add up, errors become text, and nonsense in shared
// memory is only nonsense in the text.
#include "tidemark/session/runtime_report.h"

#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tidemark/base/testing/plain_output.h"
#include "tidemark/runtime/units/unit_line.h"

namespace tidemark {
namespace {

class RuntimeReport : public testing::Test {
 protected:
  RuntimeReport()
      : layout_(lay_out(RegionShape{.status_bytes = static_cast<std::uint32_t>(
                                        status_bytes({.schedulers = 3, .cores = 6}))})),
        words_(layout_.total_bytes / 8),
        port_(RegionPort::over_memory(
            {reinterpret_cast<unsigned char*>(words_.data()), layout_.total_bytes})) {}

  RuntimeStatus& status() {
    return *reinterpret_cast<RuntimeStatus*>(reinterpret_cast<unsigned char*>(words_.data()) +
                                             layout_.status_offset);
  }

  RegionLayout layout_;
  std::vector<std::uint64_t> words_;
  RegionPort port_;
};

TEST_F(RuntimeReport, CompletedTasksAreThoseOfAllSchedulersAndOfTheOrchestrator) {
  status().submitted.store_relaxed(100);
  status().completed_at_once.store_relaxed(7);
  status().scopes.store_relaxed(12);
  status().scheduler_count.store_relaxed(3);
  for (std::uint32_t i = 0; i < 3; ++i) unit_lines(&status())[1 + i].count.store_relaxed(20 + i);
  unit_lines(&status())[4].count.store_relaxed(999);  // a core's: parts, not tasks
  RunReport report;
  report.tasks = read_task_counts(port_, layout_);
  EXPECT_EQ(report.tasks.submitted, 100u);
  EXPECT_EQ(report.tasks.completed, 7u + 20 + 21 + 22);
  EXPECT_EQ(report.tasks.scopes, 12u);
}

TEST_F(RuntimeReport, WithoutARuntimeThereIsNothing) {
  const RegionLayout none = lay_out(RegionShape{});
  EXPECT_EQ(read_task_counts(port_, none).submitted, 0u);
  EXPECT_FALSE(read_runtime_error(port_, none, {}));
  EXPECT_FALSE(read_backpressure(port_, none));
}

TEST_F(RuntimeReport, AnAbortOfTheHostIsNoErrorOfTheProgram) {
  status().error.code.store_relaxed(ErrorCode::kAborted);
  EXPECT_FALSE(read_runtime_error(port_, layout_, {}));
}

TEST_F(RuntimeReport, AKernelThatWantsMoreSharedMemoryIsNamedWithWhatItNeeds) {
  LatchedError& error = status().error;
  error.code.store_relaxed(ErrorCode::kInvalidArgs);
  error.requested.store_relaxed(4096);
  error.capacity.store_relaxed(1024);
  error.task_id.store_relaxed(3);
  std::strcpy(error.kernel, "up");
  const auto said = read_runtime_error(port_, layout_, {});
  ASSERT_TRUE(said);
  EXPECT_EQ(said->message,
            "kernel 'up' (task t3) asks its block for 4096 bytes of shared memory; its kInfo "
            "declares 1024");
  EXPECT_EQ(said->hint, ".shared_bytes = 4096 in the kernel's kInfo; at most 232448");
}

TEST_F(RuntimeReport, RandomBytesAreReadWithoutHarmAndPrintedAsText) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 2000; ++round) {
    auto* bytes = reinterpret_cast<unsigned char*>(&status());
    for (std::uint32_t at = 0; at < layout_.shape.status_bytes; at += 8) {
      const std::uint64_t word = random();
      std::memcpy(bytes + at, &word, 8);
    }
    if (round % 2 == 0) status().error.code.store_relaxed(static_cast<ErrorCode>(random() % 13));
    read_task_counts(port_, layout_);
    for (const auto& told :
         {read_runtime_error(port_, layout_, {}), read_backpressure(port_, layout_)}) {
      if (!told) continue;
      const std::string text = told->message + told->hint;
      ASSERT_EQ(first_order_in(text), "");
      ASSERT_EQ(text.find('\n'), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace tidemark
