// SPDX-License-Identifier: Apache-2.0
// spmd_blocks: tasks of many blocks. Every block writes its number, plus an offset of its task,
// into its own element and counts that it was there: a block that ran twice, not at all or with
// another block's number shows. One, two, three and four times as many blocks as there are cores,
// on AIV and on AIC; then blocks of a mix, blocks that start together, and a task that waits for
// them all. Kernels and orchestration also leave marks and counters in the events stream.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/runtime/graph/orchestrator.h"
#include "tidemark/session/entry_data.h"
#include "tidemark/session/workload_entry.h"

namespace tidemark {

namespace spmd_detail {

inline constexpr ArgInfos kMarkArgs = {out("marks", DType::kInt32), inout("visits", DType::kInt32),
                                       scalar("offset", DType::kInt32)};

// Each block of each kernel has one element: those of kernel kPart follow those of kPart - 1.
template <std::uint32_t kPart>
struct Marks {
  template <class Block>
  TM_DEVICE static void run(Block& block, const TaskArgs& args) {
    const auto marks = args.tensor<std::int32_t>(0), visits = args.tensor<std::int32_t>(1);
    const std::uint32_t element = kPart * args.block_count + args.block;
    if (block.thread() != 0) return;
    marks[element] = args.scalar<std::int32_t>(0) + static_cast<std::int32_t>(element);
    ++visits[element];
    block.recorder().mark("spmd.block", element);
  }
};

}  // namespace spmd_detail

struct MarkAic : spmd_detail::Marks<0> {
  static constexpr KernelInfo kInfo{
      .name = "mark_aic", .core = CoreType::kAic, .args = spmd_detail::kMarkArgs};
};

// kPart: 0 alone; 1 and 2 are the two AIV kernels of a mix.
template <std::uint32_t kPart>
struct MarkAiv : spmd_detail::Marks<kPart> {
  static constexpr const char* kNames[3] = {"mark_aiv", "mark_mix_aiv0", "mark_mix_aiv1"};
  static constexpr KernelInfo kInfo{
      .name = kNames[kPart], .core = CoreType::kAiv, .args = spmd_detail::kMarkArgs};
};

struct CountVisits {
  static constexpr KernelInfo kInfo{
      .name = "count_visits",
      .core = CoreType::kAiv,
      .args = {in("visits", DType::kInt32), out("total", DType::kInt32)}};
  template <class Block>
  TM_DEVICE static void run(Block& block, const TaskArgs& args) {
    const auto visits = args.tensor<std::int32_t>(0), total = args.tensor<std::int32_t>(1);
    std::int32_t mine = 0;
    for (std::uint64_t i = block.thread(); i < visits.size(); i += block.threads())
      mine += visits[i];
    const std::int32_t sum =
        block.reduce(mine, [](std::int32_t left, std::int32_t right) { return left + right; });
    if (block.thread() == 0) total[0] = sum;
    block.recorder().counter("spmd.visits", sum);
  }
};

struct SpmdBlocks {
  static constexpr const char* kName = "spmd_blocks";
  static constexpr const char* kDescription =
      "tasks of one to four times as many blocks as cores; every block must run exactly once";
  static constexpr std::uint32_t kWavesMax = 4;
  static constexpr std::uint32_t kMixWaves = 2;
  static constexpr std::uint32_t kMarkingTasks = 2 * kWavesMax + 2;
  static constexpr std::int32_t kOffsetStep = 100'000;  // task n marks from n * kOffsetStep
  using Kernels = KernelList<MarkAic, MarkAiv<0>, MarkAiv<1>, MarkAiv<2>, CountVisits>;

  struct Cores {
    std::uint32_t aic, aiv;
  };
  // Tasks 0 .. 3 are of AIV, 4 .. 7 of AIC, 8 is the mix, 9 the one that starts together.
  TM_DEVICE static constexpr std::uint32_t blocks_of(std::uint32_t task, Cores cores) {
    if (task < kWavesMax) return (task + 1) * cores.aiv;
    if (task < 2 * kWavesMax) return (task - kWavesMax + 1) * cores.aic;
    return task == 2 * kWavesMax ? kMixWaves * cores.aic : cores.aiv;
  }
  TM_DEVICE static constexpr std::uint32_t elements_of(std::uint32_t task, Cores cores) {
    return blocks_of(task, cores) * (task == 2 * kWavesMax ? 3 : 1);
  }

  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs& entry) {
    const TensorRef marks = entry.tensor(0), visits = entry.tensor(1), total = entry.tensor(2);
    const Cores cores{orch.core_count(CoreType::kAic), orch.core_count(CoreType::kAiv)};
    Scope root(orch);
    TaskHandle marking[kMarkingTasks];
    std::uint64_t first = 0;
    for (std::uint32_t task = 0; task < kMarkingTasks && !orch.failed(); ++task) {
      const std::uint64_t count = elements_of(task, cores);
      orch.recorder().counter("spmd.elements", static_cast<std::int64_t>(first + count));
      Args args;
      args.out_existing(marks.slice(0, first, count))
          .inout(visits.slice(0, first, count))
          .scalar(static_cast<std::int32_t>(task) * kOffsetStep)
          .blocks(blocks_of(task, cores));
      if (task < kWavesMax)
        marking[task] = orch.template submit<MarkAiv<0>>(args);
      else if (task < 2 * kWavesMax)
        marking[task] = orch.template submit<MarkAic>(args);
      else if (task == 2 * kWavesMax)
        marking[task] = orch.template submit_mix<MarkAic, MarkAiv<1>, MarkAiv<2>>(args);
      else
        marking[task] = orch.template submit<MarkAiv<0>>(args.start_together());
      first += count;
    }
    orch.template submit<CountVisits>(
        Args().in(visits).out_existing(total).after(marking, kMarkingTasks));
  }

  static std::vector<WorkloadCase> cases() {
    return {{"default", "1 to 4 times the AIV and the AIC cores, a mix, a common start"}};
  }
  static Cores cores_of(const WorkloadSetup& setup) {
    return {setup.config.core_count(CoreType::kAic), setup.config.core_count(CoreType::kAiv)};
  }
  static void prepare(const WorkloadSetup& setup, EntryData& data) {
    std::uint64_t elements = 0;
    for (std::uint32_t task = 0; task < kMarkingTasks; ++task)
      elements += elements_of(task, cores_of(setup));
    data.add<std::int32_t>({1, {elements}}, [](std::uint64_t) { return -1; });
    data.add<std::int32_t>({1, {elements}}, [](std::uint64_t) { return 0; });
    data.add<std::int32_t>({1, {1}}, [](std::uint64_t) { return -1; });
  }

  static ResultCheck check(const WorkloadSetup& setup, const EntryData& data) {
    const auto marks = data.values<std::int32_t>(0), visits = data.values<std::int32_t>(1);
    const auto times = static_cast<std::int32_t>(setup.config.repeat);
    std::uint64_t at = 0;
    for (std::uint32_t task = 0; task < kMarkingTasks; ++task) {
      const std::int32_t offset = static_cast<std::int32_t>(task) * kOffsetStep;
      const auto count = static_cast<std::int32_t>(elements_of(task, cores_of(setup)));
      for (std::int32_t element = 0; element < count; ++element, ++at)
        if (marks[at] != offset + element || visits[at] != times)
          return {false,
                  fmt::format("element {} of task {} was visited {} times and holds {}, "
                              "expected {} and {}",
                              element, task, visits[at], marks[at], times, offset + element)};
    }
    const auto total = static_cast<std::uint64_t>(data.values<std::int32_t>(2)[0]);
    const std::uint64_t visited = at * setup.config.repeat;
    if (total != visited)
      return {false,
              fmt::format("count_visits saw {} of {} blocks: it ran too early", total, visited)};
    return {true, times == 1 ? fmt::format("{} blocks ran once each", at)
                             : fmt::format("{} blocks ran {} times each", at, times)};
  }
};

}  // namespace tidemark
