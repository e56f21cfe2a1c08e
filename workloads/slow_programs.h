// SPDX-License-Identifier: Apache-2.0
// Programs that are slow or wait: slow is not deadlock, and waiting has a limit.
#pragma once

#include "workloads/fault_kernels.h"

namespace tidemark {

// No task at all.
struct EmptyProgram : WithoutData {
  static constexpr const char* kName = "empty";
  static constexpr const char* kDescription = "zero tasks: ends at once";
  using Kernels = KernelList<Nothing>;
  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch);
  }
};

// A kernel of one second, and after it more tasks than the ring holds, in scopes that are closed:
// the orchestrator waits for the kernel, and the run passes.
struct SlowKernel : WithoutData {
  static constexpr const char* kName = "slow_kernel";
  static constexpr const char* kDescription =
      "one kernel takes 1 s while its ring is full of tasks that wait for it: passes";
  using Kernels = KernelList<Linger, Nothing>;
  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch);
    const auto slow = orch.template submit<Linger>(Args().scalar(std::uint64_t{1'000'000'000}));
    for (int group = 0; group < 40; ++group) {
      Scope scope(orch);
      for (int i = 0; i < 512; ++i) orch.template submit<Nothing>(Args().after(slow));
    }
  }
};

// Tasks that come faster than they run: the orchestrator is held back, which is worth a warning.
struct Backpressure : WithoutData {
  static constexpr const char* kName = "backpressure";
  static constexpr const char* kDescription =
      "more tasks than the cores keep up with: passes with RING_BUFFER_BACKPRESSURE";
  using Kernels = KernelList<Linger>;
  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch);
    for (int group = 0; group < 600; ++group) {
      Scope scope(orch);
      for (int i = 0; i < 40; ++i) orch.template submit<Linger>(Args().scalar(std::uint64_t{1000}));
    }
  }
};

// The orchestration wants a number that a task of 30 s will write.
struct TensorWaitTimeout : WithoutData {
  static constexpr const char* kName = "tensor_wait_timeout";
  static constexpr const char* kDescription =
      "fault: the orchestration waits for an element longer than --scheduler-timeout-ms";
  struct Wait {
    static constexpr KernelInfo kInfo{
        .name = "wait", .core = CoreType::kAiv, .args = {out("made", DType::kInt32)}};
    template <class Block>
    TM_DEVICE static void run(Block& block, const TaskArgs& args) {
      if (block.thread() != 0) return;
      const auto* control = reinterpret_cast<const RuntimeControl*>(args.memory());
      for (int ms = 0; ms < 30'000 && control->error.load_acquire() == ErrorCode::kNone; ++ms)
        block.wait_ns(1'000'000);
      args.tensor<std::int32_t>(0)[0] = 1;
    }
  };
  using Kernels = KernelList<Wait>;
  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch);
    const auto slow = orch.template submit<Wait>(Args().out({1, {1}}, DType::kInt32));
    orch.template value<std::int32_t>(slow.output(0), 0);
  }
};

}  // namespace tidemark
