// SPDX-License-Identifier: Apache-2.0
#include "tidemark/base/fault_plan.h"

#include <sys/mman.h>
#include <sys/wait.h>

#include <new>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

// Shared with the processes that are ended.
class FaultPlanTest : public testing::Test {
 protected:
  void SetUp() override {
    void* base = ::mmap(nullptr, sizeof(FaultTally), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(base, MAP_FAILED);
    tally_ = new (base) FaultTally{};
  }
  void TearDown() override { ::munmap(tally_, sizeof(FaultTally)); }

  [[nodiscard]] std::uint64_t reached(FaultPoint point) const {
    return tally_->reached[static_cast<std::uint32_t>(point)].load();
  }

  FaultTally* tally_ = nullptr;
};

TEST_F(FaultPlanTest, CountsEveryPointOfItsSideWithoutAFault) {
  FaultPlan plan;
  EXPECT_FALSE(plan.armed());
  plan.tell(tally_);
  EXPECT_TRUE(plan.armed());
  for (int i = 0; i < 3; ++i) plan.reach(FaultPoint::kDrain);
  plan.reach(FaultPoint::kPublish);  // of the device, and this is the host
  plan.enter_device();
  for (int i = 0; i < 5; ++i) plan.reach(FaultPoint::kPublish);
  plan.reach(FaultPoint::kDrain);
  EXPECT_EQ(reached(FaultPoint::kDrain), 3u);
  EXPECT_EQ(reached(FaultPoint::kPublish), 5u);
  EXPECT_EQ(reached(FaultPoint::kReport), 0u);
  EXPECT_EQ(tally_->fired.load(), 0u);
}

TEST_F(FaultPlanTest, SaysThatItFiredBeforeItActs) {
  const pid_t pid = ::fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    FaultPlan plan;
    plan.tell(tally_);
    plan.arm(FaultPoint::kExport, FaultAction::kKill, 3);
    for (int i = 0; i < 9; ++i) {
      plan.reach(FaultPoint::kDrain);
      plan.reach(FaultPoint::kExport);
    }
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_EQ(tally_->fired.load(), 1u);
  EXPECT_EQ(reached(FaultPoint::kExport), 3u);
  EXPECT_EQ(reached(FaultPoint::kDrain), 3u);
}

TEST_F(FaultPlanTest, OneThatIsNotComeToSaysNothing) {
  FaultPlan plan;
  plan.tell(tally_);
  plan.arm(FaultPoint::kExport, FaultAction::kKill, 4);
  for (int i = 0; i < 3; ++i) plan.reach(FaultPoint::kExport);
  EXPECT_EQ(tally_->fired.load(), 0u);
  EXPECT_EQ(reached(FaultPoint::kExport), 3u);
}

}  // namespace
}  // namespace tidemark
