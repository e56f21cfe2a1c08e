// SPDX-License-Identifier: Apache-2.0
// Programs that do not end, or end badly: one for each way a device is lost. All of them do some
// honest work first, so that there is something to be found afterwards.
#pragma once

#include "workloads/vector_example.h"

namespace tidemark {

// Copies its input, but never returns if `stuck`: it has written half of its output by then.
struct CopyOrHang {
  static constexpr KernelInfo kInfo{.name = "copy_or_hang",
                                    .core = CoreType::kAiv,
                                    .args = {in("a"), out("c"), scalar("stuck", DType::kInt32)}};
  template <class Block>
  TM_DEVICE static void run(Block& block, const TaskArgs& args) {
    const auto a = args.tensor<float>(0), c = args.tensor<float>(1);
    const bool stuck = args.scalar<std::int32_t>(0) != 0;
    const std::uint64_t end = stuck ? c.size() / 2 : c.size();
    block.copy(c.data(), a.data(), end * sizeof(float));
    while (stuck) block.wait_ns(1'000'000);
  }
};

// Copies its input, but its last thread touches an address nobody has if `broken`.
struct CopyOrCrash {
  static constexpr KernelInfo kInfo{.name = "copy_or_crash",
                                    .core = CoreType::kAiv,
                                    .args = {in("a"), out("c"), scalar("broken", DType::kInt32)}};
  template <class Block>
  TM_DEVICE static void run(Block& block, const TaskArgs& args) {
    const auto a = args.tensor<float>(0), c = args.tensor<float>(1);
    const bool broken = args.scalar<std::int32_t>(0) != 0;
    block.copy(c.data(), a.data(), (broken ? c.size() / 2 : c.size()) * sizeof(float));
    block.sync();
    volatile std::uintptr_t nowhere = broken && block.thread() + 1 == block.threads() ? 8 : 0;
    if (nowhere != 0) *reinterpret_cast<volatile int*>(nowhere) = 1;
  }
};

// A chain of kHealthy copies, one task that goes wrong, and kBehind tasks that wait for it.
template <class Kernel>
struct ChainProgram {
  static constexpr std::uint64_t kElements = 4096;
  static constexpr int kHealthy = 12, kBehind = 5;
  static constexpr bool kDeviceBuilds = true;
  using Kernels = KernelList<Kernel, Add>;

  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs& entry) {
    const TensorShape shape = entry.tensor(0).view.shape;
    Scope root(orch);
    TensorRef last = entry.tensor(0);
    Submitted task;
    for (int i = 0; i <= kHealthy; ++i) {
      Args args;
      args.in(last).out(shape, DType::kFloat32).scalar(std::int32_t{i == kHealthy ? 1 : 0});
      if (i > 0) args.after(task);
      task = orch.template submit<Kernel>(args);
      last = task.output(0);
    }
    Scope behind(orch);
    for (int i = 0; i < kBehind; ++i) {
      task = orch.template submit<Add>(
          Args().in(last).in(entry.tensor(0)).out(shape, DType::kFloat32).after(task));
      last = task.output(0);
    }
  }
  static std::vector<WorkloadCase> cases() { return {{"default", ""}}; }
  static void prepare(const WorkloadSetup&, EntryData& data) {
    data.add<float>({1, {kElements}}, [](std::uint64_t i) { return static_cast<float>(i % 64); });
  }
  static ResultCheck check(const WorkloadSetup&, const EntryData&) {
    return {false, "this program does not end"};
  }
};

struct HangKernel : ChainProgram<CopyOrHang> {
  static constexpr const char* kName = "hang_kernel";
  static constexpr const char* kDescription =
      "fault: a kernel never returns; five tasks wait for it (exit 3, hang.txt)";
};

struct CrashKernel : ChainProgram<CopyOrCrash> {
  static constexpr const char* kName = "crash_kernel";
  static constexpr const char* kDescription =
      "fault: a kernel touches a bad address; the host survives (exit 3, hang.txt)";
};

// Submits some tasks and then waits for something that never comes, without telling anybody.
struct HangOrchestration : ChainProgram<CopyOrHang> {
  static constexpr const char* kName = "hang_orchestration";
  static constexpr const char* kDescription =
      "fault: the orchestration never returns; its tasks are complete (exit 3, hang.txt)";

  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs& entry) {
    Scope root(orch);
    for (int i = 0; i < kHealthy; ++i)
      orch.template submit<CopyOrHang>(Args()
                                           .in(entry.tensor(0))
                                           .out(entry.tensor(0).view.shape, DType::kFloat32)
                                           .scalar(std::int32_t{0}));
    for (std::uint32_t round = 0;; ++round) Orch::give_way(round);
  }
};

// The first scheduler stops polling when it has completed a few tasks.
struct HangScheduler : ChainProgram<CopyOrHang> {
  static constexpr const char* kName = "hang_scheduler";
  static constexpr const char* kDescription =
      "fault: a scheduler stops polling while tasks remain (exit 3, hang.txt)";
  static void configure(RuntimeConfig& config) { config.stall_scheduler_after = 4; }

  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs& entry) {
    Scope root(orch);
    Submitted task;
    TensorRef last = entry.tensor(0);
    for (int i = 0; i < 40 * kHealthy; ++i) {
      Args args;
      args.in(last).out(entry.tensor(0).view.shape, DType::kFloat32).scalar(std::int32_t{0});
      if (i > 0) args.after(task);
      task = orch.template submit<CopyOrHang>(args);
      last = task.output(0);
    }
  }
};

}  // namespace tidemark
