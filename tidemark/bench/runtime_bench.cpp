// SPDX-License-Identifier: Apache-2.0
// tidemark bench runtime: what a task costs, by the shape of the graph, beside oneTBB on the same
// graph in the same run.

#include <algorithm>

#include "tidemark/base/human_text.h"
#include "tidemark/base/nearest_name.h"
#include "tidemark/bench/bench_memory.h"
#include "tidemark/bench/cores_bench.h"
#include "tidemark/bench/cuda_runtime_bench.h"
#include "tidemark/bench/kernel_graph.h"
#include "tidemark/bench/rounds.h"
#include "tidemark/bench/runtime_graphs.h"
#include "tidemark/bench/tbb_graph.h"
#include "tidemark/bench/tiles_bench.h"
#include "tidemark/device/sim/sim_clock.h"

namespace tidemark::bench {
namespace {

struct Measured {
  GraphRequest graph;
  double ns_per_task = 0;
  double tbb_ns_per_task = 0;  // 0: not measured
};

RuntimeConfig config_of(const GraphRequest& graph, const Platform& platform) {
  RuntimeConfig config;
  config.build = graph.automatic ? BuildKind::kTensorMap : BuildKind::kExplicit;
  config.cluster_count = cluster_count_of(platform);
  config.scheduler_count = platform.scheduler_count;
  config.entry_bytes = kEntryAlign;
  return config;
}

// Nanoseconds from the first submit to the last completion, or nothing if the graph failed.
Expected<double> run_once(const GraphRequest& graph, const RuntimeConfig& config) {
  BenchMemory held(config);
  const RuntimeMemory memory = held.memory();
  EntryArgs& entry = memory.control().entry;
  entry.tensor_count = 1;
  entry.tensors[0] =
      TensorView::row_major(memory.layout().entry_offset, DType::kUint8, TensorShape{1, {1}});
  entry.number_count = 2;
  entry.numbers[0] = static_cast<std::int64_t>(graph.shape);
  entry.numbers[1] = static_cast<std::int64_t>(graph.tasks);
  RuntimeStatus* status = held.status();
  NoWatch watch;
  run_sim_units<BenchGraph>(memory, status, watch, [] { return false; });
  if (status->error.code.load_acquire() != ErrorCode::kNone ||
      memory.control().completed.load_acquire() != status->submitted.load_acquire())
    return failure(ErrorKind::kDevice, "the graph '{}' ended with error {}", graph.name(),
                   to_text(status->error.code.load_acquire()));
  // The last scheduler leaves when the last task is complete.
  std::uint64_t end_ticks = 0;
  for (std::uint32_t i = 0; i < config.scheduler_count; ++i)
    end_ticks = std::max(
        end_ticks, unit_lines(status)[config.units().scheduler(i)].since_ticks.load_acquire());
  const auto ticks = static_cast<double>(end_ticks - status->begin_ticks.load_acquire());
  return ticks * 1e9 / static_cast<double>(sim_ticks_per_second()) /
         static_cast<double>(status->submitted.load_acquire());
}

// One round of ours, then one of oneTBB's, and so on: both see the same machine.
Expected<Measured> measure(const GraphRequest& graph, const RuntimeBenchOptions& options) {
  const RuntimeConfig config = config_of(graph, *find_platform(options.platform));
  const auto predecessors = predecessors_of(graph);
  std::vector<double> ours, theirs;
  const std::uint32_t rounds = graph.tasks < options.tasks ? options.rounds * 5 : options.rounds;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    TM_TRY(const auto ns, run_once(graph, config));
    ours.push_back(ns);
    theirs.push_back(tbb_ns_per_task(predecessors));
  }
  return Measured{graph, median(ours), median(theirs)};
}

void fields(auto& v, const Measured& one) {
  v("graph", one.graph.name());
  v("dependencies", one.graph.dependencies());
  v("tasks", one.graph.tasks);
  v("ns_per_task", one.ns_per_task);
  v("tasks_per_s", std::round(1e9 / one.ns_per_task));
  if (one.tbb_ns_per_task <= 0) return v("reference", nullptr);
  v.object("reference", [&](auto& reference) {
    reference("what", "oneTBB flow graph, same edges");
    reference("ns_per_task", one.tbb_ns_per_task);
  });
  v("ratio_ns", one.ns_per_task / one.tbb_ns_per_task);
}

void print_result(const RuntimeBenchOptions& options, const std::vector<Measured>& all,
                  double flatness, const BenchOutput& out) {
  print_json(out, "runtime", [&](BenchFields& v) {
    TM_FIELDS(v, options, platform, rounds);
    v("graphs", all);
    v("ratio_flat", flatness);
  });
}

}  // namespace

std::vector<std::vector<std::uint32_t>> predecessors_of(const GraphRequest& request) {
  std::vector<std::vector<std::uint32_t>> all(request.tasks);
  const auto n = static_cast<std::uint32_t>(request.tasks);
  switch (request.shape) {
    case GraphShape::kIndependent:
      break;
    case GraphShape::kChain:
      for (std::uint32_t i = 1; i < n; ++i)
        if (request.automatic || i % kScopeTasks != 0) all[i] = {i - 1};
      break;
    case GraphShape::kFan:
      for (std::uint32_t i = 0; i + kFanWidth + 2 <= n; i += kFanWidth + 2)
        for (std::uint32_t k = 1; k <= kFanWidth; ++k) {
          all[i + k] = {i};
          all[i + kFanWidth + 1].push_back(i + k);
        }
      break;
    case GraphShape::kRandom:
      for (std::uint32_t i = 0; i < n; ++i) {
        for (std::uint32_t k = 0; k < kPredecessorsMax; ++k)
          if (const auto before = static_cast<std::uint32_t>(random_predecessor(i, k)); before != i)
            all[i].push_back(before);
        std::sort(all[i].begin(), all[i].end());
        all[i].erase(std::unique(all[i].begin(), all[i].end()), all[i].end());
      }
  }
  return all;
}

Expected<int> bench_runtime(const RuntimeBenchOptions& options, const BenchOutput& out) {
  const Platform* platform = find_platform(options.platform);
  if (platform == nullptr || platform->name == "cuda-copy")
    return failure(
        ErrorKind::kUsage, "--platform {}: a simulated one or cuda{}", options.platform,
        platform == nullptr ? did_you_mean(options.platform, platforms(), &Platform::name) : "");
  if (platform->device == DeviceKind::kCuda)
    return options.graph == kSameKernels ? bench_same_kernels(options, out)
                                         : bench_runtime_on_cuda(options, out);
  if (options.graph == "blocks" || options.graph == "live_writers" || options.graph == kSameKernels)
    return failure(ErrorKind::kUsage, "--graph {}: on a GPU only (-p cuda)", options.graph);
  if (options.runtime != "all")
    return failure(ErrorKind::kUsage, "--runtime {}: on a GPU only (-p cuda)", options.runtime);
  if (options.graph == "tiles") return bench_tiles(options, out);
  if (options.graph == "cores") return bench_cores(options, out);
  std::vector<GraphRequest> graphs;
  for (const std::uint64_t tasks : {options.tasks / 10, options.tasks, options.tasks * 10})
    graphs.push_back({GraphShape::kIndependent, true, tasks});
  for (const auto shape : {GraphShape::kChain, GraphShape::kFan, GraphShape::kRandom})
    graphs.push_back({shape, true, options.tasks});
  for (const auto shape :
       {GraphShape::kIndependent, GraphShape::kChain, GraphShape::kFan, GraphShape::kRandom})
    graphs.push_back({shape, false, options.tasks});
  if (options.graph != "all")
    std::erase_if(graphs, [&](const GraphRequest& one) { return options.graph != one.name(); });
  std::vector<Measured> all;
  for (const auto& graph : graphs) {
    TM_TRY(const Measured measured, measure(graph, options));
    all.push_back(measured);
    if (options.json) continue;
    out.print("{:<15} {:<10} {:>9} tasks  {:>7.0f} ns per task", graph.name(), graph.dependencies(),
              with_commas(graph.tasks), measured.ns_per_task);
    if (measured.tbb_ns_per_task > 0)
      out.print("  oneTBB {:>7.0f} ns  ratio {:.2f}", measured.tbb_ns_per_task,
                measured.ns_per_task / measured.tbb_ns_per_task);
    out.print("\n");
  }
  // Of the independent tasks, which come first.
  double least = all[0].ns_per_task, most = least;
  for (const Measured& one : all) {
    if (one.graph.shape != GraphShape::kIndependent || !one.graph.automatic) continue;
    least = std::min(least, one.ns_per_task);
    most = std::max(most, one.ns_per_task);
  }
  if (options.json)
    print_result(options, all, most / least, out);
  else if (all[0].graph.shape == GraphShape::kIndependent)
    out.print("cost per independent task from {} to {}: within {:.2f} x\n",
              with_commas(options.tasks / 10), with_commas(options.tasks * 10), most / least);
  return 0;
}

}  // namespace tidemark::bench
