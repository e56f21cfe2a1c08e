// SPDX-License-Identifier: Apache-2.0
// nan_producer: a healthy chain of tasks of which one writes a NaN. Everything after it is
// poisoned; the comparison with the reference fails (exit code 1). Case "healthy" has no such task.
#pragma once

#include "workloads/vector_example.h"

namespace tidemark {

// c = a + s, but one element becomes NaN if `broken`.
struct AddMaybeNan {
  static constexpr KernelInfo kInfo{
      .name = "add_maybe_nan",
      .core = CoreType::kAiv,
      .args = {in("a"), out("c"), scalar("s", DType::kFloat32), scalar("broken", DType::kInt32)}};
  template <class Block>
  TM_DEVICE static void run(Block& block, const TaskArgs& args) {
    const auto a = args.tensor<float>(0), c = args.tensor<float>(1);
    const auto s = args.scalar<float>(0);
    const bool broken = args.scalar<std::int32_t>(1) != 0;
    for (auto i = block.thread(); i < c.size(); i += block.threads()) {
      const float infinity = broken && i == 7 ? 1e38f * 1e38f : 0.0f;
      c[i] = a[i] + s + (infinity - infinity);
    }
  }
};

struct NanProducer {
  static constexpr const char* kName = "nan_producer";
  static constexpr const char* kDescription =
      "fault: one of eight tasks writes a NaN into an otherwise healthy graph";
  static constexpr std::uint64_t kElements = 1024;
  static constexpr int kTasks = 8, kBroken = 4;
  using Kernels = KernelList<AddMaybeNan, Add>;

  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs& entry) {
    const bool broken = entry.number(0) != 0;
    const TensorShape shape = entry.tensor(0).view.shape;
    Scope root(orch);
    TensorRef last = entry.tensor(0);
    TaskHandle before{};
    for (int i = 0; i + 1 < kTasks; ++i) {
      Args args;
      args.in(last).out(shape, DType::kFloat32).scalar(1.0f);
      args.scalar(std::int32_t{broken && i == kBroken ? 1 : 0});
      if (before.valid()) args.after(before);
      const auto task = orch.template submit<AddMaybeNan>(args);
      last = task.output(0);
      before = task;
    }
    orch.template submit<Add>(
        Args().in(last).in(entry.tensor(0)).out_existing(entry.tensor(1)).after(before));
  }

  static std::vector<WorkloadCase> cases() {
    return {{"broken", "task 4 writes a NaN"}, {"healthy", "no task does"}};
  }
  static void prepare(const WorkloadSetup& setup, EntryData& data) {
    data.add<float>({1, {kElements}}, [](std::uint64_t i) { return static_cast<float>(i % 16); });
    data.add<float>({1, {kElements}}, [](std::uint64_t) { return 0.0f; });
    data.add_number(setup.case_name == "broken" ? 1 : 0);
  }
  static ResultCheck check(const WorkloadSetup&, const EntryData& data) {
    ResultComparison compared("sum");
    const auto a = data.values<float>(0), sum = data.values<float>(1);
    for (std::uint64_t i = 0; i < kElements; ++i)
      compared.add(i, static_cast<double>(sum[i]), 2.0 * static_cast<double>(a[i]) + kTasks - 1);
    return compared.result();
  }
};

}  // namespace tidemark
