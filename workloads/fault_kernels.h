// SPDX-License-Identifier: Apache-2.0
// Kernels that the fault workloads share. None of them computes anything.
#pragma once

#include "tidemark/runtime/graph/orchestrator.h"
#include "tidemark/session/entry_data.h"
#include "tidemark/session/workload_entry.h"

namespace tidemark {

// What a kernel does that only has arguments.
struct DoesNothing {
  template <class Block>
  TM_DEVICE static void run(Block&, const TaskArgs&) {}
};

// Makes one tensor and leaves it alone.
struct Touch : DoesNothing {
  static constexpr KernelInfo kInfo{.name = "touch", .core = CoreType::kAiv, .args = {out("made")}};
};

// Nothing in, nothing out.
struct Nothing : DoesNothing {
  static constexpr KernelInfo kInfo{.name = "nothing", .core = CoreType::kAiv, .args = {}};
};

// Runs for as many nanoseconds as its scalar says.
struct Linger {
  static constexpr KernelInfo kInfo{
      .name = "linger", .core = CoreType::kAiv, .args = {scalar("ns", DType::kUint64)}};
  template <class Block>
  TM_DEVICE static void run(Block& block, const TaskArgs& args) {
    if (block.thread() == 0) block.wait_ns(args.scalar<std::uint64_t>(0));
    block.sync();
  }
};

// For workloads whose end is all that matters.
struct WithoutData {
  static std::vector<WorkloadCase> cases() { return {{"default", ""}}; }
  static void prepare(const WorkloadSetup&, EntryData&) {}
  static ResultCheck check(const WorkloadSetup&, const EntryData&) {
    return {true, "nothing to compare"};
  }
};

}  // namespace tidemark
