// SPDX-License-Identifier: Apache-2.0
// tidemark bench runtime -p cuda: what a task costs on a GPU by the shape of the graph, beside a
// bare loop over mailboxes and a CUDA graph of empty kernels, by turns in the same process.

#include "tidemark/bench/cuda_runtime_bench.h"

#include <algorithm>

#include "tidemark/base/human_text.h"
#include "tidemark/bench/figure_launch.h"
#include "tidemark/bench/rounds.h"
#include "tidemark/device/device.h"
#include "tidemark/device/supervisor.h"

namespace tidemark::bench {
namespace {

constexpr std::uint64_t kBlockCount = 128;
constexpr std::uint64_t kWriterCounts[] = {64, 4096};
constexpr std::uint64_t kTileTasks = 16'384;
constexpr std::uint64_t kBlockTasks = 1000;
constexpr std::uint64_t kRepeatedTasks = 1000;
constexpr std::uint32_t kIterationCount = 20;
constexpr std::uint32_t kSecondsMost = 4;  // of one graph, but a whole round

struct WorkMeasured {
  WorkRequest work;
  double figures[kFiguresMax] = {};

  [[nodiscard]] double ns_per_task() const { return figures[kFigureTaskNs]; }
  [[nodiscard]] bool has_references() const { return figures[kFigureMailboxNs] > 0; }
};

Expected<WorkMeasured> measure(const WorkRequest& work, const RuntimeBenchOptions& options,
                               Device& device) {
  TM_TRY(auto launch, FigureLaunch::create(device.ticks_per_second()));
  const CudaRuntimeArgs args{.work = work, .rounds = options.rounds, .seconds_most = kSecondsMost};
  TM_TRY_DO(launch.run(device, {.program = kCudaRuntimeBench,
                                .args = std::as_bytes(std::span(&args, 1)),
                                .region = nullptr}));
  WorkMeasured measured{.work = work};
  for (std::uint32_t i = 0; i < kFiguresMax; ++i) measured.figures[i] = launch.figure(i);
  return measured;
}

std::vector<WorkRequest> works_of(const RuntimeBenchOptions& options) {
  std::vector<WorkRequest> works;
  for (const BuildKind build : {BuildKind::kHostBuild, BuildKind::kTensorMap}) {
    for (const std::uint64_t tasks : {options.tasks / 10, options.tasks, options.tasks * 10})
      works.push_back({WorkShape::kIndependent, build, tasks, 0});
    works.push_back({WorkShape::kChain, build, options.tasks / 10, 0});
    works.push_back({WorkShape::kBlocks, build, kBlockTasks, kBlockCount});
    if (build == BuildKind::kHostBuild) {
      for (const WorkShape shape : {WorkShape::kIndependent, WorkShape::kChain})
        works.push_back({shape, build, kRepeatedTasks, 0, kIterationCount});
      continue;  // what is submitted there costs the host's time
    }
    for (const std::uint64_t writers : kWriterCounts)
      works.push_back({WorkShape::kTiles, build, kTileTasks, writers});
  }
  std::erase_if(works, [&](const WorkRequest& work) {
    const bool other_graph = options.graph != "all" && options.graph != work.name();
    const bool other_runtime =
        options.runtime != "all" && find_build(options.runtime)->kind != work.build;
    return other_graph || other_runtime;
  });
  return works;
}

std::string_view runtime_of(const WorkRequest& work) {
  return std::ranges::find(kBuilds, work.build, &BuildInfo::kind)->name;
}

void fields(auto& v, const WorkMeasured& one) {
  v("graph", one.work.name());
  v("runtime", runtime_of(one.work));
  v("tasks", one.work.all_tasks());
  if (one.work.shape == WorkShape::kBlocks) v("blocks", one.work.width);
  if (one.work.shape == WorkShape::kTiles) v("writers", one.work.width);
  if (one.work.repeat > 1) {
    v("iterations", one.work.repeat);
    v("ns_per_task_first", one.figures[kFigureFirstNs]);
  }
  v("rounds", static_cast<std::uint64_t>(one.figures[kFigureRounds]));
  v("ns_per_task", one.ns_per_task());
  v("ns_least", one.figures[kFigureTaskNsLeast]);
  v("ns_most", one.figures[kFigureTaskNsMost]);
  v("ns_per_task_near_lines", one.figures[kFigureNearLinesNs]);
  v("device_bytes", static_cast<std::uint64_t>(one.figures[kFigureDeviceBytes]));
  if (!one.has_references()) return v("references", nullptr);
  const auto reference = [&](const char* name, const char* what, std::uint32_t figure) {
    v.object(name, [&](auto& other) {
      other("what", what);
      other("ns_per_task", one.figures[figure]);
      other("ratio_ns", one.ns_per_task() / one.figures[figure]);
      if (figure == kFigureGraphNs)
        other("nodes", static_cast<std::uint64_t>(one.figures[kFigureGraphNodes]));
    });
  };
  reference("mailbox", "bare loop over mailboxes, one thread per scheduler", kFigureMailboxNs);
  reference("mailbox_by_lanes", "the same, one thread per core", kFigureLanesNs);
  reference("cuda_graph", "CUDA graph of empty kernels, same edges", kFigureGraphNs);
}

// The independent tasks of one runtime: how far apart their costs are, from few to many.
struct Flatness {
  std::string_view runtime;
  std::uint64_t least_tasks = ~std::uint64_t{0}, most_tasks = 0;
  double least_ns = 0, most_ns = 0;
  [[nodiscard]] double ratio() const { return most_ns / least_ns; }
};
void fields(auto& v, const Flatness& flat) {
  v("runtime", flat.runtime);
  v("tasks_least", flat.least_tasks);
  v("tasks_most", flat.most_tasks);
  v("ratio", flat.ratio());
}

std::vector<Flatness> flatness_of(const std::vector<WorkMeasured>& all) {
  std::vector<Flatness> found;
  for (const WorkMeasured& one : all) {
    if (one.work.shape != WorkShape::kIndependent || one.work.repeat > 1) continue;
    const double ns = one.ns_per_task();
    auto flat = std::ranges::find(found, runtime_of(one.work), &Flatness::runtime);
    if (flat == found.end())
      flat = found.insert(found.end(), {.runtime = runtime_of(one.work), .least_ns = ns});
    flat->least_tasks = std::min(flat->least_tasks, one.work.tasks);
    flat->most_tasks = std::max(flat->most_tasks, one.work.tasks);
    flat->least_ns = std::min(flat->least_ns, ns);
    flat->most_ns = std::max(flat->most_ns, ns);
  }
  return found;
}

void print_row(const WorkMeasured& one, const BenchOutput& out) {
  std::string width;
  if (one.work.repeat > 1)
    width = fmt::format(", {} times, first {:.3f} us", one.work.repeat,
                        one.figures[kFigureFirstNs] / 1e3);
  if (one.work.shape == WorkShape::kBlocks) width = fmt::format(" of {} blocks", one.work.width);
  if (one.work.shape == WorkShape::kTiles)
    width = fmt::format(", {} writers", with_commas(one.work.width));
  out.print("{:<24} {:<12} {:>9} tasks{:<14} {:>8.3f} us ({:.3f} to {:.3f})  {:>9}",
            runtime_of(one.work), one.work.name(), with_commas(one.work.all_tasks()), width,
            one.ns_per_task() / 1e3, one.figures[kFigureTaskNsLeast] / 1e3,
            one.figures[kFigureTaskNsMost] / 1e3,
            human_bytes(static_cast<std::uint64_t>(one.figures[kFigureDeviceBytes])));
  out.print("  lines on the GPU {:.3f} us", one.figures[kFigureNearLinesNs] / 1e3);
  if (one.has_references())
    for (const auto& [name, figure] : {std::pair{"mailbox", kFigureMailboxNs},
                                       {"by lanes", kFigureLanesNs},
                                       {"CUDA graph", kFigureGraphNs}})
      out.print("  {} {:.3f} us, ratio {:.2f}", name, one.figures[figure] / 1e3,
                one.ns_per_task() / one.figures[figure]);
  out.print("\n");
}

}  // namespace

Expected<int> bench_runtime_on_cuda(const RuntimeBenchOptions& options, const BenchOutput& out) {
  const std::vector<WorkRequest> works = works_of(options);
  if (works.empty())
    return failure(ErrorKind::kUsage, "--graph {}: not on a GPU with --runtime {}", options.graph,
                   options.runtime);
  TM_TRY_DO(Supervisor::start());
  TM_TRY(auto device,
         open_device(*find_platform(options.platform), options.device, Isolation::kProcess));
  std::vector<WorkMeasured> all;
  for (const WorkRequest& work : works) {
    TM_TRY(const WorkMeasured measured, measure(work, options, *device));
    all.push_back(measured);
    if (!options.json) print_row(measured, out);
  }
  const std::vector<Flatness> flat = flatness_of(all);
  if (options.json) {
    print_json(out, "runtime", [&](BenchFields& v) {
      TM_FIELDS(v, options, platform, rounds);
      v("cores", static_cast<std::uint64_t>(all[0].figures[kFigureCores]));
      v("schedulers", static_cast<std::uint64_t>(all[0].figures[kFigureSchedulers]));
      v("graphs", all);
      v("flat", flat);
    });
    return 0;
  }
  for (const Flatness& one : flat)
    out.print("{}: cost per independent task from {} to {}: within {:.2f} x\n", one.runtime,
              with_commas(one.least_tasks), with_commas(one.most_tasks), one.ratio());
  return 0;
}

}  // namespace tidemark::bench
