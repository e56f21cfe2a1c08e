// SPDX-License-Identifier: Apache-2.0
// Programs that fill a ring or a pool with what one open scope holds: no device can go on, and the
// runtime says so at once. With the setting that the message names doubled, each of them passes.
#pragma once

#include "workloads/fault_kernels.h"

namespace tidemark {

// One scope holds every slot of its ring: 16,384 tasks where 16,383 fit.
struct ScopeDeadlock : WithoutData {
  static constexpr const char* kName = "scope_deadlock";
  static constexpr const char* kDescription =
      "fault: one scope submits 16,384 tasks, one more than its ring can hold";
  using Kernels = KernelList<Nothing>;
  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch);
    for (int i = 0; i < 16384 && !orch.failed(); ++i) orch.template submit<Nothing>(Args());
  }
};

// Four outputs of 64 MiB fill the heap exactly; the fifth finds no room and none can come.
struct HeapDeadlock : WithoutData {
  static constexpr const char* kName = "heap_deadlock";
  static constexpr const char* kDescription =
      "fault: one scope keeps five outputs of 64 MiB, the heap of its ring holds four";
  using Kernels = KernelList<Touch>;
  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch);
    for (int i = 0; i < 5; ++i)
      orch.template submit<Touch>(Args().out({1, {64 << 20}}, DType::kUint8));
  }
};

// Scopes deeper than three share ring 3: two that are nested fill it together.
struct FlowControlDeadlock : WithoutData {
  static constexpr const char* kName = "flow_control_deadlock";
  static constexpr const char* kDescription =
      "fault: two nested scopes on ring 3 hold 8,192 tasks each, together one too many";
  using Kernels = KernelList<Nothing>;
  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope depth0(orch), depth1(orch), depth2(orch), depth3(orch);
    for (int i = 0; i < 8192; ++i) orch.template submit<Nothing>(Args());
    Scope depth4(orch);
    for (int i = 0; i < 8192 && !orch.failed(); ++i) orch.template submit<Nothing>(Args());
  }
};

// Every producer of a task has a place in its list until the scope is closed, complete or not, and
// what does not fit into the task's own slot is taken from the pool.
struct DepPoolOverflow : WithoutData {
  static constexpr const char* kName = "dep_pool_overflow";
  static constexpr const char* kDescription =
      "fault: one scope keeps 100 tasks with lists of 300 producers, the pool has 16,384 places";
  static constexpr int kProducers = 300;
  using Kernels = KernelList<Nothing>;
  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch);
    TaskHandle producers[kProducers];
    for (auto& task : producers) task = orch.template submit<Nothing>(Args());
    for (int i = 0; i < 100 && !orch.failed(); ++i)
      orch.template submit<Nothing>(Args().after(producers, kProducers));
  }
};

// 32 tensors are written in place by one task, each with its own entry in the tensor map.
struct TensormapOverflow : WithoutData {
  static constexpr const char* kName = "tensormap_overflow";
  static constexpr const char* kDescription =
      "fault: one task writes 32 tensors in place, the tensor map has 16 entries";
  static constexpr std::uint32_t kPerTask = 32;
  // Unless another size is asked for.
  static void configure(RuntimeConfig& config) {
    if (config.tensormap_entries == RuntimeConfig{}.tensormap_entries)
      config.tensormap_entries = kPerTask / 2;
  }
  struct Rewrite : DoesNothing {
    static constexpr KernelInfo kInfo{
        .name = "rewrite",
        .core = CoreType::kAiv,
        .args = {inout("0"),  inout("1"),  inout("2"),  inout("3"),  inout("4"),  inout("5"),
                 inout("6"),  inout("7"),  inout("8"),  inout("9"),  inout("10"), inout("11"),
                 inout("12"), inout("13"), inout("14"), inout("15"), inout("16"), inout("17"),
                 inout("18"), inout("19"), inout("20"), inout("21"), inout("22"), inout("23"),
                 inout("24"), inout("25"), inout("26"), inout("27"), inout("28"), inout("29"),
                 inout("30"), inout("31")}};
  };
  using Kernels = KernelList<Rewrite>;
  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch);
    Args rewritten;
    for (std::uint32_t made = 0; made < kPerTask; made += kOutputsMax) {
      Args outputs;
      for (std::uint32_t k = 0; k < kOutputsMax; ++k) outputs.out({1, {1}}, DType::kUint8);
      const auto task = orch.allocate(outputs);
      for (std::uint32_t k = 0; k < kOutputsMax; ++k) rewritten.inout(task.output(k));
    }
    orch.template submit<Rewrite>(rewritten);
  }
};

}  // namespace tidemark
