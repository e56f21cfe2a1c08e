// SPDX-License-Identifier: Apache-2.0
// vector_example: f = (a + b + 1)(a + b + 2) + (a + b) on 16,384 float32 numbers; with a = 2 and
// b = 3 every element is 47. Five tasks, two scopes, six edges: the smallest program that shows
// scopes, scalars and automatic dependencies.
#pragma once

#include <vector>

#include "tidemark/runtime/graph/orchestrator.h"
#include "tidemark/session/entry_data.h"
#include "tidemark/session/workload_entry.h"

namespace tidemark {

struct Add {
  static constexpr KernelInfo kInfo{
      .name = "add", .core = CoreType::kAiv, .args = {in("a"), in("b"), out("c")}};
  template <class Block>
  TM_DEVICE static void run(Block& block, const TaskArgs& args) {
    const auto a = args.tensor<float>(0), b = args.tensor<float>(1), c = args.tensor<float>(2);
    for (auto i = block.thread(); i < c.size(); i += block.threads()) c[i] = a[i] + b[i];
  }
};

struct AddScalar {
  static constexpr KernelInfo kInfo{.name = "add_scalar",
                                    .core = CoreType::kAiv,
                                    .args = {in("a"), out("c"), scalar("s", DType::kFloat32)}};
  template <class Block>
  TM_DEVICE static void run(Block& block, const TaskArgs& args) {
    const auto a = args.tensor<float>(0), c = args.tensor<float>(1);
    const auto s = args.scalar<float>(0);
    for (auto i = block.thread(); i < c.size(); i += block.threads()) c[i] = a[i] + s;
  }
};

struct Mul {
  static constexpr KernelInfo kInfo{
      .name = "mul", .core = CoreType::kAiv, .args = {in("a"), in("b"), out("c")}};
  template <class Block>
  TM_DEVICE static void run(Block& block, const TaskArgs& args) {
    const auto a = args.tensor<float>(0), b = args.tensor<float>(1), c = args.tensor<float>(2);
    for (auto i = block.thread(); i < c.size(); i += block.threads()) c[i] = a[i] * b[i];
  }
};

struct VectorExample {
  static constexpr const char* kName = "vector_example";
  static constexpr const char* kDescription =
      "f = (a+b+1)(a+b+2)+(a+b): five tasks, two scopes, six edges; every element is 47";
  static constexpr std::uint64_t kElements = 16384;
  using Kernels = KernelList<Add, AddScalar, Mul>;

  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs& entry) {
    const TensorRef a = entry.tensor(0), b = entry.tensor(1), f = entry.tensor(2);
    const TensorShape shape = a.view.shape;
    Scope root(orch);
    const auto t0 = orch.template submit<Add>(Args().in(a).in(b).out(shape, DType::kFloat32));
    const TensorRef c = t0.output(0);
    {
      Scope inner(orch);
      const auto t1 = orch.template submit<AddScalar>(
          Args().in(c).out(shape, DType::kFloat32).scalar(1.0f).after(t0));
      const auto t2 = orch.template submit<AddScalar>(
          Args().in(c).out(shape, DType::kFloat32).scalar(2.0f).after(t0));
      const auto t3 = orch.template submit<Mul>(
          Args().in(t1.output(0)).in(t2.output(0)).out(shape, DType::kFloat32).after(t1).after(t2));
      orch.template submit<Add>(Args().in(t3.output(0)).in(c).out_existing(f).after(t3).after(t0));
    }
  }

  static std::vector<WorkloadCase> cases() { return {{"default", "16,384 elements"}}; }
  static void prepare(const WorkloadSetup&, EntryData& data) {
    data.add<float>({1, {kElements}}, [](std::uint64_t) { return 2.0f; });
    data.add<float>({1, {kElements}}, [](std::uint64_t) { return 3.0f; });
    data.add<float>({1, {kElements}}, [](std::uint64_t) { return 0.0f; });
  }
  static ResultCheck check(const WorkloadSetup&, const EntryData& data) {
    ResultComparison compared("f");
    const auto a = data.values<float>(0), b = data.values<float>(1), f = data.values<float>(2);
    for (std::uint64_t i = 0; i < kElements; ++i) {
      const double sum = static_cast<double>(a[i]) + static_cast<double>(b[i]);
      compared.add(i, static_cast<double>(f[i]), (sum + 1) * (sum + 2) + sum);
    }
    return compared.result();
  }
};

}  // namespace tidemark
