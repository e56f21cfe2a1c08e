// SPDX-License-Identifier: Apache-2.0
// Test support: what small programs for the simulated machine have in common. Kernels can be held
// at gates, so that a test decides what is finished when.
#pragma once

#include <sched.h>

#include <atomic>
#include <string>

#include <fmt/core.h>

#include "tidemark/runtime/graph/orchestrator.h"
#include "tidemark/session/testing/sim_machine.h"

namespace tidemark::small {

// A program without buffers of its own.
struct SmallWorkload {
  static constexpr const char* kName = "small";
  static constexpr const char* kDescription = "a program of a test";
  static std::vector<WorkloadCase> cases() { return {{"default", ""}}; }
  static void prepare(const WorkloadSetup&, EntryData&) {}
  static ResultCheck check(const WorkloadSetup&, const EntryData&) { return {}; }
};

// Shut until a test (or the orchestration) opens it. A run that failed opens it too: a kernel that
// waits must not keep its core for ever.
class Gate {
 public:
  void shut() { open_.store(false); }
  void open() { open_.store(true); }
  template <class Failed>
  void wait(const Failed& failed) const {
    while (!open_.load() && !failed()) ::sched_yield();
  }

 private:
  std::atomic<bool> open_{false};
};

inline Gate gates[4];
inline std::atomic<bool> gates_given_up{false};
inline void shut_gates() {
  gates_given_up.store(false);
  for (Gate& gate : gates) gate.shut();
}

// Waits at the gate whose number it is given.
struct WaitAtGate {
  static constexpr KernelInfo kInfo{
      .name = "wait_at_gate", .core = CoreType::kAiv, .args = {scalar("gate", DType::kUint64)}};
  template <class Block>
  static void run(Block&, const TaskArgs& args) {
    gates[args.scalar<std::uint64_t>(0)].wait([] { return gates_given_up.load(); });
  }
};

// Waits until the orchestrator itself waits for space of a kind.
struct WaitForOrchestrator {
  static constexpr KernelInfo kInfo{.name = "wait_for_orchestrator",
                                    .core = CoreType::kAiv,
                                    .args = {scalar("resource", DType::kUint32)}};
  static inline RuntimeStatus* status = nullptr;
  template <class Block>
  static void run(Block&, const TaskArgs& args) {
    const UnitProgress& line = unit_lines(status)[0];
    while (line.state.load_acquire() != UnitState::kWaiting ||
           line.waits_for.load_relaxed() != static_cast<Resource>(args.scalar<std::uint32_t>(0))) {
      if (gates_given_up.load()) return;
      ::sched_yield();
    }
  }
};

struct Nop {
  static constexpr KernelInfo kInfo{.name = "nop", .core = CoreType::kAiv, .args = {}};
  template <class Block>
  static void run(Block&, const TaskArgs&) {}
};

// Waits at a gate, then writes a number everywhere.
struct FillBehindGate {
  static constexpr KernelInfo kInfo{
      .name = "fill_behind_gate",
      .core = CoreType::kAiv,
      .args = {inout("to", DType::kInt64), scalar("gate"), scalar("number")}};
  template <class Block>
  static void run(Block&, const TaskArgs& args) {
    gates[args.scalar<std::uint64_t>(0)].wait([] { return gates_given_up.load(); });
    const auto to = args.tensor<std::int64_t>(0);
    for (std::uint64_t i = 0; i < to.size(); ++i) to[i] = args.scalar<std::int64_t>(1);
  }
};

struct Fill {
  static constexpr KernelInfo kInfo{
      .name = "fill",
      .core = CoreType::kAiv,
      .args = {out("to", DType::kInt64), scalar("number", DType::kInt64)}};
  template <class Block>
  static void run(Block&, const TaskArgs& args) {
    const auto to = args.tensor<std::int64_t>(0);
    for (std::uint64_t i = 0; i < to.size(); ++i) to[i] = args.scalar<std::int64_t>(0);
  }
};

struct AddOne {
  static constexpr KernelInfo kInfo{
      .name = "add_one", .core = CoreType::kAiv, .args = {inout("to", DType::kInt64)}};
  template <class Block>
  static void run(Block&, const TaskArgs& args) {
    const auto to = args.tensor<std::int64_t>(0);
    for (std::uint64_t i = 0; i < to.size(); ++i) to[i] += 1;
  }
};

// to[0] becomes the sum of all of `from`.
struct Sum {
  static constexpr KernelInfo kInfo{.name = "sum",
                                    .core = CoreType::kAiv,
                                    .args = {in("from", DType::kInt64), out("to", DType::kInt64)}};
  template <class Block>
  static void run(Block&, const TaskArgs& args) {
    const auto from = args.tensor<std::int64_t>(0);
    std::int64_t sum = 0;
    for (std::uint64_t i = 0; i < from.size(); ++i) sum += from[i];
    args.tensor<std::int64_t>(1)[0] = sum;
  }
};

inline WorkloadSetup small_setup(std::uint32_t clusters = 1) {
  WorkloadSetup setup;
  setup.config.cluster_count = clusters;
  setup.config.tensormap_entries = 4096;
  for (RingSizes& ring : setup.config.rings) ring = {256, 1024, 1 << 20};
  return setup;
}

}  // namespace tidemark::small
