// SPDX-License-Identifier: Apache-2.0
// tidemark bench runtime -p cuda --graph same_kernels: an iteration of a graph that the host has
// built, run again and again (--repeat), beside a CUDA graph of the same kernels with the same
// edges. Both results are compared with the workload's own.

#include <filesystem>

#include "tidemark/bench/figure_launch.h"
#include "tidemark/bench/kernel_graph.h"
#include "tidemark/bench/rounds.h"
#include "tidemark/device/supervisor.h"

namespace tidemark::bench {
namespace {

constexpr std::uint32_t kIterations = 100;

struct SameKernels {
  const char* workload;
  const char* case_name;
  KernelGraphOf graph;
  double first_us = 0, next_us = 0;              // of the runtime
  double graph_first_us = 0, graph_next_us = 0;  // of the CUDA graph
  std::uint64_t nodes = 0, edges = 0;
  bool graph_right = false;
  [[nodiscard]] double ratio() const { return next_us / graph_next_us; }
};

Expected<void> measure_graph(Device& device, SameKernels& one) {
  TM_TRY(auto launch, FigureLaunch::create(device.ticks_per_second()));
  const KernelGraphArgs args{.workload = one.graph, .repeat = kIterations};
  TM_TRY_DO(launch.run(device, {.program = kKernelGraphProgram,
                                .args = std::as_bytes(std::span(&args, 1)),
                                .region = nullptr}));
  one.graph_first_us = launch.figure(kGraphFirstNs) / 1e3;
  one.graph_next_us = launch.figure(kGraphNextNs) / 1e3;
  one.nodes = static_cast<std::uint64_t>(launch.figure(kGraphNodes));
  one.edges = static_cast<std::uint64_t>(launch.figure(kGraphEdges));
  one.graph_right = launch.figure(kGraphRight) == 1;
  return {};
}

// Rounds of both by turns; of each figure the median.
Expected<void> measure(const RuntimeBenchOptions& options, Device& device, SameKernels& result) {
  TM_TRY(const auto scratch, ScratchDirectory::create("/dev/shm"));
  std::vector<SameKernels> rounds;
  for (std::uint32_t round = 0; round < options.rounds; ++round) {
    SameKernels one = result;
    // A wrong result is an error here.
    TM_TRY(const auto ran,
           sample_run({one.workload, "--case", one.case_name, "-p", options.platform, "--runtime",
                       "host_build_graph", "--repeat", std::to_string(kIterations), "--no-sync"},
                      scratch.path() + "/run"));
    if (!ran.report.iterations || ran.report.iterations->completed != kIterations)
      return failure(ErrorKind::kDevice, "{} did not run {} times", one.workload, kIterations);
    one.first_us = static_cast<double>(ran.report.iterations->first_ns) / 1e3;
    one.next_us = static_cast<double>(ran.report.iterations->next_ns) / 1e3;
    TM_TRY_DO(measure_graph(device, one));
    rounds.push_back(one);
  }
  result = rounds.front();
  for (double SameKernels::*figure : {&SameKernels::first_us, &SameKernels::next_us,
                                      &SameKernels::graph_first_us, &SameKernels::graph_next_us})
    result.*figure = median(rounds, figure);
  for (const SameKernels& one : rounds) result.graph_right &= one.graph_right;
  return {};
}

void fields(auto& v, const SameKernels& one) {
  v("workload", one.workload);
  v("case", one.case_name);
  v("iterations", kIterations);
  v("first_us", one.first_us);
  v("next_us", one.next_us);
  v.object("cuda_graph", [&](auto& graph) {
    graph("nodes", one.nodes);
    graph("edges", one.edges);
    graph("first_us", one.graph_first_us);
    graph("next_us", one.graph_next_us);
    graph("right", one.graph_right);
  });
  v("ratio", one.ratio());
}

}  // namespace

Expected<int> bench_same_kernels(const RuntimeBenchOptions& options, const BenchOutput& out) {
  TM_TRY_DO(Supervisor::start());
  TM_TRY(auto device,
         open_device(*find_platform(options.platform), options.device, Isolation::kProcess));
  std::vector<SameKernels> all{
      {.workload = "paged_attention",
       .case_name = "Small2",
       .graph = KernelGraphOf::kPagedAttention},
      {.workload = "bgemm", .case_name = "Small", .graph = KernelGraphOf::kBgemm}};
  bool right = true;
  for (SameKernels& one : all) {
    TM_TRY_DO(measure(options, *device, one));
    right &= one.graph_right;
  }
  if (options.json) {
    print_json(out, "runtime", [&](BenchFields& v) {
      TM_FIELDS(v, options, platform, rounds);
      v("same_kernels", all);
    });
    return right ? 0 : 1;
  }
  for (const SameKernels& one : all)
    out.print(
        "{} {}, {} iterations: first {:.1f} us, others {:.1f} us; a CUDA graph of the same kernels "
        "({} nodes, {} edges, result {}): first {:.1f} us, others {:.1f} us; ratio {:.2f}\n",
        one.workload, one.case_name, kIterations, one.first_us, one.next_us, one.nodes, one.edges,
        one.graph_right ? "right" : "WRONG", one.graph_first_us, one.graph_next_us, one.ratio());
  return right ? 0 : 1;
}

}  // namespace tidemark::bench
