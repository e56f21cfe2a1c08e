// SPDX-License-Identifier: Apache-2.0
// The graphs of 'bench runtime', as programs for the runtime and as lists of edges for others.
// Kernels are empty: what is measured is the runtime.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/base/mix.h"
#include "tidemark/device/sim/sim_units.h"
#include "tidemark/runtime/graph/orchestrator.h"

namespace tidemark::bench {

enum class GraphShape : std::uint32_t { kIndependent, kChain, kFan, kRandom };
inline constexpr const char* kGraphNames[] = {"independent", "chain", "fan_out_fan_in",
                                              "random_dag"};

struct GraphRequest {
  GraphShape shape = GraphShape::kIndependent;
  bool automatic = true;  // edges from access tags; otherwise explicit ones only
  std::uint64_t tasks = 0;

  [[nodiscard]] const char* name() const { return kGraphNames[static_cast<std::size_t>(shape)]; }
  [[nodiscard]] const char* dependencies() const { return automatic ? "automatic" : "explicit"; }
};

inline constexpr std::uint64_t kFanWidth = 16;
inline constexpr std::uint64_t kGroup = 64;        // tasks of one scope of the random graph
inline constexpr std::uint64_t kScopeTasks = 256;  // of the others
inline constexpr std::uint32_t kPredecessorsMax = 4;

// Predecessor k of task i in its group of the random graph; i itself: none.
TM_DEVICE inline std::uint64_t random_predecessor(std::uint64_t i, std::uint32_t k) {
  const std::uint64_t in_group = i % kGroup;
  if (in_group == 0) return i;
  const std::uint64_t word = mix(i * 8 + k);
  if (word % (kPredecessorsMax + 1) <= k) return i;  // 0 to 4 of them
  return i - 1 - (word >> 8) % in_group;
}

// All edges, for whoever builds the graph in another way.
std::vector<std::vector<std::uint32_t>> predecessors_of(const GraphRequest& request);

struct EmptyTask {
  static constexpr KernelInfo kInfo{.name = "empty", .core = CoreType::kAiv, .args = {}};
  template <class Block>
  TM_DEVICE static void run(Block&, const TaskArgs&) {}
};

// The arguments of the empty kernel are checked by nobody: the graphs differ in them.
struct BenchGraph {
  static constexpr const char* kName = "bench_graph";
  using Kernels = KernelList<EmptyTask>;

  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs& entry) {
    const auto tasks = static_cast<std::uint64_t>(entry.number(1));
    Scope root(orch);
    switch (static_cast<GraphShape>(entry.number(0))) {
      case GraphShape::kIndependent:
        return independent(orch, entry.tensor(0), tasks);
      case GraphShape::kChain:
        return chain(orch, entry.tensor(0), tasks);
      case GraphShape::kFan:
        return fan(orch, tasks);
      case GraphShape::kRandom:
        return random(orch, tasks);
    }
  }

 private:
  static constexpr TensorShape kOne{1, {1}};

  template <class Orch>
  TM_DEVICE static Submitted task(Orch& orch, Args& args) {
    return orch.template submit_undeclared<EmptyTask>(args);
  }

  template <class Orch>
  TM_DEVICE static void independent(Orch& orch, const TensorRef& input, std::uint64_t tasks) {
    for (std::uint64_t i = 0; i < tasks;) {
      Scope scope(orch);
      for (std::uint64_t k = 0; k < kScopeTasks && i < tasks; ++k, ++i) {
        Args args;
        task(orch, args.in(input).out(kOne, DType::kUint8));
      }
    }
  }
  template <class Orch>
  TM_DEVICE static void chain(Orch& orch, const TensorRef& link, std::uint64_t tasks) {
    TaskHandle before{};
    for (std::uint64_t i = 0; i < tasks;) {
      Scope scope(orch);
      for (std::uint64_t k = 0; k < kScopeTasks && i < tasks; ++k, ++i) {
        Args args;
        args.inout(link);
        if (k > 0) args.after(before);
        before = task(orch, args);
      }
    }
  }
  template <class Orch>
  TM_DEVICE static void fan(Orch& orch, std::uint64_t tasks) {
    for (std::uint64_t i = 0; i + kFanWidth + 2 <= tasks; i += kFanWidth + 2) {
      Scope scope(orch);
      Args first;
      const Submitted source = task(orch, first.out(kOne, DType::kUint8));
      Args last;
      for (std::uint64_t k = 0; k < kFanWidth; ++k) {
        Args args;
        const Submitted middle =
            task(orch, args.in(source.output(0)).out(kOne, DType::kUint8).after(source));
        last.in(middle.output(0)).after(middle);
      }
      task(orch, last);
    }
  }
  template <class Orch>
  TM_DEVICE static void random(Orch& orch, std::uint64_t tasks) {
    for (std::uint64_t i = 0; i < tasks;) {
      Scope scope(orch);
      Submitted group[kGroup];
      for (std::uint64_t k = 0; k < kGroup && i < tasks; ++k, ++i) {
        Args args;
        for (std::uint32_t p = 0; p < kPredecessorsMax; ++p) {
          const std::uint64_t before = random_predecessor(i, p);
          if (before == i) continue;
          args.in(group[before % kGroup].output(0)).after(group[before % kGroup]);
        }
        group[k] = task(orch, args.out(kOne, DType::kUint8));
      }
    }
  }
};

}  // namespace tidemark::bench
