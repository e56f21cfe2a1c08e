// SPDX-License-Identifier: Apache-2.0
// value() waits as long as tasks complete, and no longer. Time and tasks are made up: every pause
// of the wait is a step of the clock, and after some of them the next task is complete.
#include <sys/mman.h>

#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "tidemark/runtime/graph/orchestrator.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kLimitTicks = 1000;
constexpr std::uint64_t kStepTicks = 10;

struct MadeUpTime {
  static std::uint64_t now_ticks() { return now; }
  static std::uint64_t ordered_ticks() { return now; }
  static void pause(std::uint32_t) {}
  static void take_turn(std::uint32_t) {}
  static void wait_for_space(std::uint32_t) {
    now += kStepTicks;
    if (step) step();
  }
  template <class Word>
  static void sleep(const Word&, std::uint32_t) {}
  template <class Word>
  static void wake(const Word&) {}

  static inline std::uint64_t now = 1;
  static inline std::function<void()> step;
};

struct Rewrite {
  static constexpr KernelInfo kInfo{
      .name = "rewrite", .core = CoreType::kAiv, .args = {inout("to", DType::kInt64)}};
};

class ValueWait : public testing::Test {
 protected:
  using Orch = Orchestrator<KernelList<Rewrite>, MadeUpTime>;

  ValueWait() : layout_(lay_out(config())) {
    base_ = ::mmap(nullptr, layout_.total_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    status_.resize(status_bytes(layout_.config.units()) / 8 + 1);
  }
  ~ValueWait() override {
    MadeUpTime::step = nullptr;
    ::munmap(base_, layout_.total_bytes);
  }
  static RuntimeConfig config() {
    RuntimeConfig config;
    config.task_timeout_ticks = kLimitTicks;
    config.tensormap_entries = 64;
    for (RingSizes& ring : config.rings) ring = {16, 64, 1 << 16};
    return config;
  }
  RuntimeStatus* status() { return reinterpret_cast<RuntimeStatus*>(status_.data()); }
  ErrorCode error() { return status()->error.code.load_acquire(); }

  // A chain of tasks on one number, of which each completes so long after the one before; 0: never.
  std::int64_t value_behind(const std::vector<std::uint64_t>& gaps_ticks) {
    const RuntimeMemory memory(base_, layout_);
    NoWatch watch;
    Orch orch(memory, status(), watch);
    Scope root(orch);
    const TensorRef number = orch.allocate(Args().out({1, {1}}, DType::kInt64)).output(0);
    std::vector<TaskHandle> chain;
    for (std::size_t i = 0; i < gaps_ticks.size(); ++i)
      chain.push_back(orch.submit<Rewrite>(Args().inout(number)));
    std::uint64_t last = MadeUpTime::now;
    std::size_t complete = 0;
    MadeUpTime::step = [&] {
      if (complete == chain.size() || gaps_ticks[complete] == 0) return;
      if (MadeUpTime::now - last < gaps_ticks[complete]) return;
      last = MadeUpTime::now;
      *memory.at<std::int64_t>(number.view.buffer) += 1;
      const TaskId id = chain[complete++].id;
      complete_task<MadeUpTime>(memory, SlotRef::make(id.ring(), id.local()));
    };
    return orch.value<std::int64_t>(number, 0);
  }

  RuntimeLayout layout_;
  void* base_ = nullptr;
  std::vector<std::uint64_t> status_;
};

TEST_F(ValueWait, IsAsLongAsTasksComplete) {
  constexpr std::uint64_t kThird = kLimitTicks * 3 / 10;
  EXPECT_EQ(value_behind({kThird, kThird, kThird, kThird, kThird}), 5);
  EXPECT_EQ(to_text(error()), "NONE");
}

TEST_F(ValueWait, EndsWhenNoneDoesForTheLimit) {
  EXPECT_EQ(value_behind({0}), 0);
  EXPECT_EQ(to_text(error()), "TENSOR_WAIT_TIMEOUT");
  EXPECT_GT(status()->error.used.load_relaxed(), kLimitTicks);
  EXPECT_LE(status()->error.used.load_relaxed(), kLimitTicks + 2 * kStepTicks);
}

TEST_F(ValueWait, CountsFromTheLastTaskThatCompleted) {
  const std::uint64_t begin = MadeUpTime::now;
  EXPECT_EQ(value_behind({kLimitTicks * 9 / 10, 0}), 0);
  EXPECT_EQ(to_text(error()), "TENSOR_WAIT_TIMEOUT");
  EXPECT_GT(MadeUpTime::now - begin, kLimitTicks * 19 / 10);
  EXPECT_LE(status()->error.used.load_relaxed(), kLimitTicks + 2 * kStepTicks);
}

}  // namespace
}  // namespace tidemark
