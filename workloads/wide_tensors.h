// SPDX-License-Identifier: Apache-2.0
// wide_tensors: tasks that compute nothing and read large tensors, each another stretch of one
// buffer. There to see what a dump of so many bytes costs, apart from any kernel.
#pragma once

#include "tidemark/runtime/graph/orchestrator.h"
#include "tidemark/session/entry_data.h"
#include "tidemark/session/workload_entry.h"

namespace tidemark {

// c[0] = a[last].
struct LookAtLast {
  static constexpr KernelInfo kInfo{
      .name = "look_at_last", .core = CoreType::kAiv, .args = {in("a"), out("c")}};
  template <class Block>
  TM_DEVICE static void run(Block& block, const TaskArgs& args) {
    const auto a = args.tensor<float>(0), c = args.tensor<float>(1);
    if (block.thread() == 0) c[0] = a[a.size() - 1];
  }
};

struct WideTensors {
  static constexpr const char* kName = "wide_tensors";
  static constexpr const char* kDescription =
      "tasks that read large tensors and compute nothing: the dump alone";
  using Kernels = KernelList<LookAtLast>;
  static constexpr std::uint64_t kStep = 1000;  // elements from one task's tensor to the next

  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs& entry) {
    const auto tasks = static_cast<std::uint64_t>(entry.number(0));
    const auto elements = static_cast<std::uint64_t>(entry.number(1));
    Scope root(orch);
    for (std::uint64_t i = 0; i < tasks; ++i) {
      Scope scope(orch);
      orch.template submit<LookAtLast>(Args()
                                           .in(entry.tensor(0).slice(0, i * kStep, elements))
                                           .out_existing(entry.tensor(1).slice(0, i, 1)));
    }
  }

  struct Size {
    std::uint64_t tasks, elements;
  };
  static Size size_of(const std::string& case_name) {
    if (case_name == "Large") return {512, 2u << 20};
    return {16, 1u << 16};
  }
  static float element(std::uint64_t i) { return static_cast<float>(i % 8191) - 4000.0f; }

  static std::vector<WorkloadCase> cases() {
    return {{"Small", "16 tensors of 256 KiB"}, {"Large", "512 tensors of 8 MiB: 4 GiB"}};
  }
  static void prepare(const WorkloadSetup& setup, EntryData& data) {
    const Size size = size_of(setup.case_name);
    data.add<float>({1, {size.elements + size.tasks * kStep}}, element);
    data.add<float>({1, {size.tasks}}, [](std::uint64_t) { return 0.0f; });
    data.add_number(static_cast<std::int64_t>(size.tasks));
    data.add_number(static_cast<std::int64_t>(size.elements));
  }
  static ResultCheck check(const WorkloadSetup& setup, const EntryData& data) {
    const Size size = size_of(setup.case_name);
    ResultComparison compared("last elements");
    const auto found = data.values<float>(1);
    for (std::uint64_t i = 0; i < size.tasks; ++i)
      compared.add(i, static_cast<double>(found[i]),
                   static_cast<double>(element(i * kStep + size.elements - 1)));
    return compared.result();
  }
};

}  // namespace tidemark
