// SPDX-License-Identifier: Apache-2.0
// The device side of the runtime bench on a GPU: in one process and by turns, the runtime, a bare
// loop over mailboxes, and a CUDA graph of empty kernels with the same edges.

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "tidemark/base/mapped_memory.h"
#include "tidemark/base/monotonic_clock.h"
#include "tidemark/bench/bare_mailbox.cuh"
#include "tidemark/bench/cuda_runtime_bench.h"
#include "tidemark/bench/empty_graph.cuh"
#include "tidemark/bench/rounds.h"
#include "tidemark/device/cuda/cuda_launch.cuh"
#include "tidemark/device/cuda/cuda_program.h"
#include "tidemark/device/cuda/cuda_tasks.cuh"
#include "tidemark/runtime/units/unit_line.h"

namespace tidemark::bench {
namespace {

constexpr std::uint64_t kGraphNodesMost = 10'000;
constexpr std::uint32_t kBareLanes = 16;  // of 8 warps: one thread for each worker

// Where the units' progress lines are: where the host sees them, as in a run, or beside the units.
enum class Lines { kMapped, kNear };

// The runtime's memory on the GPU: as it is before a launch, and the one that is used.
class BenchedRuntime {
 public:
  BenchedRuntime(CudaLaunch& launch, const TaskKernel& kernel, const WorkRequest& work,
                 const DeviceShape& shape, Lines lines)
      : launch_(launch),
        lines_(lines),
        kernel_(kernel),
        work_(work),
        layout_(lay_out(config_of(work, shape.cluster_count, shape.scheduler_count))) {}
  ~BenchedRuntime() {
    cudaFree(before_);
    cudaFree(memory_);
    cudaFree(near_status_);
    cudaFreeHost(status_);
  }
  BenchedRuntime(const BenchedRuntime&) = delete;
  BenchedRuntime& operator=(const BenchedRuntime&) = delete;

  bool open() {
    const std::uint64_t bytes = status_bytes(layout_.config.units());
    status_before_.resize(bytes / 8 + sizeof(UnitProgress) / 8);
    return launch_.check(cudaMalloc(&before_, layout_.total_bytes), "cudaMalloc for a graph") &&
           launch_.check(cudaMalloc(&memory_, layout_.total_bytes), "cudaMalloc for a graph") &&
           launch_.check(cudaMemset(before_, 0, layout_.total_bytes), "cudaMemset for a graph") &&
           launch_.check(cudaHostAlloc(&status_, bytes, cudaHostAllocMapped),
                         "cudaHostAlloc of the status") &&
           launch_.check(cudaMalloc(&near_status_, bytes), "cudaMalloc of the status") && upload();
  }

  // Nanoseconds per task, from the first submit, or the first scheduler, to the last completion.
  bool run(double& ns_per_task) {
    const std::uint64_t bytes = status_bytes(layout_.config.units());
    std::memcpy(status_, status_before(), bytes);
    void* on_device = near_status_;
    if (!restore() ||
        (lines_ == Lines::kMapped &&
         !launch_.check(cudaHostGetDevicePointer(&on_device, status_, 0),
                        "cudaHostGetDevicePointer of the status")) ||
        !launch_.check(
            cudaMemcpyAsync(near_status_, status_, bytes, cudaMemcpyHostToDevice, launch_.stream()),
            "copy of the status") ||
        !launch_units(launch_.checks(), kernel_, memory_, layout_,
                      static_cast<RuntimeStatus*>(on_device), launch_.region(), launch_.stream()))
      return false;
    if (!launch_.check(cudaStreamSynchronize(launch_.stream()), "the graph's kernel")) return false;
    if (lines_ == Lines::kNear &&
        !launch_.check(cudaMemcpy(status_, near_status_, bytes, cudaMemcpyDeviceToHost),
                       "copy of the status"))
      return false;
    return time_of(ns_per_task);
  }

  [[nodiscard]] std::uint64_t device_bytes() const { return own_bytes(layout_); }
  // Of a graph that runs again: nanoseconds per task of its first iteration; 0: it does not.
  [[nodiscard]] double first_ns() const { return median(first_, std::identity()); }

 private:
  [[nodiscard]] RuntimeStatus* status_before() {
    void* place = status_before_.data();
    std::size_t space = status_before_.size() * 8;
    return static_cast<RuntimeStatus*>(
        std::align(alignof(UnitProgress), status_bytes(layout_.config.units()), place, space));
  }

  // As the host of a run prepares it.
  bool upload() {
    const MappedMemory image(layout_.total_bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    if (!image.valid()) return launch_.fail("no memory for the image of a graph");
    const RuntimeMemory here(image.base(), layout_);
    here.control().entry = entry_of(work_, layout_);
    if (!layout_.config.reclaims()) {
      build_here(here, status_before());
      // pairs with [error latched]
      if (status_before()->error.code.load_acquire() != ErrorCode::kNone)
        return launch_.fail("the graph does not fit into what was planned for it");
    }
    return each_part([&](std::uint64_t begin, std::uint64_t bytes) {
      return launch_.check(
          cudaMemcpy(before_ + begin, image.data() + begin, bytes, cudaMemcpyHostToDevice),
          "upload of a graph");
    });
  }
  bool restore() {
    return each_part([&](std::uint64_t begin, std::uint64_t bytes) {
      return launch_.check(cudaMemcpyAsync(memory_ + begin, before_ + begin, bytes,
                                           cudaMemcpyDeviceToDevice, launch_.stream()),
                           "copy of a graph");
    });
  }
  // All but the heaps and the workload's buffers.
  bool each_part(const std::function<bool(std::uint64_t, std::uint64_t)>& call) const {
    std::uint64_t begin = 0;
    for (std::uint32_t i = 0; i < kRingCount; ++i) {
      const std::uint64_t heap = layout_.rings[i].heap_offset;
      if (heap > begin && !call(begin, heap - begin)) return false;
      begin = heap + layout_.config.rings[i].heap_bytes;
    }
    return true;
  }

  bool time_of(double& ns_per_task) {
    const UnitCounts units = layout_.config.units();
    std::uint64_t begin = status_->begin_ticks.load_relaxed(), end = 0, completed = 0;
    if (!layout_.config.reclaims()) begin = ~std::uint64_t{0};  // the host's, and long ago
    for (std::uint32_t i = 0; i < units.schedulers; ++i) {
      const UnitProgress& line = unit_lines(status_)[units.scheduler(i)];
      if (!layout_.config.reclaims()) begin = std::min(begin, line.left_since_ticks.load_relaxed());
      end = std::max(end, line.since_ticks.load_relaxed());
      completed += line.count.load_relaxed();
    }
    // pairs with [error latched]
    const ErrorCode code = status_->error.code.load_acquire();
    const std::uint64_t wanted = work_.all_tasks() * work_.repeat;
    if (code != ErrorCode::kNone || completed != wanted || end <= begin)
      return launch_.fail(fmt::format("the graph '{}' ended with error {} and {} of {} tasks",
                                      work_.name(), to_text(code), completed, wanted));
    const auto per_task = [&](std::uint64_t from, std::uint64_t to, std::uint64_t iterations) {
      return static_cast<double>(to - from) / static_cast<double>(work_.all_tasks() * iterations);
    };
    if (work_.repeat == 1) {
      ns_per_task = per_task(begin, end, 1);
      return true;
    }
    const std::uint64_t first = status_->first_iteration_ticks.load_relaxed();
    first_.push_back(per_task(status_->iterations_begin_ticks.load_relaxed(), first, 1));
    ns_per_task = per_task(first, status_->last_iteration_ticks.load_relaxed(), work_.repeat - 1);
    return true;
  }

  CudaLaunch& launch_;
  Lines lines_;
  const TaskKernel& kernel_;
  WorkRequest work_;
  RuntimeLayout layout_;
  unsigned char* before_ = nullptr;
  unsigned char* memory_ = nullptr;
  RuntimeStatus* status_ = nullptr;       // mapped
  RuntimeStatus* near_status_ = nullptr;  // on the GPU
  std::vector<std::uint64_t> status_before_;
  std::vector<double> first_;  // of each round
};

// One side of the comparison: measures a round.
using Side = std::function<bool(double&)>;

// The first round of each is not counted: code and memory are cold.
bool take_all(const std::vector<Side>& sides, const CudaRuntimeArgs& args,
              std::vector<std::vector<double>>& samples) {
  samples.assign(sides.size(), {});
  const std::uint64_t begin_ns = monotonic_ns();
  for (std::uint32_t round = 0; round <= args.rounds; ++round) {
    for (std::size_t turn = 0; turn < sides.size(); ++turn) {
      const std::size_t i = round % 2 == 0 ? turn : sides.size() - 1 - turn;
      double ns = 0;
      if (!sides[i](ns)) return false;
      if (round > 0) samples[i].push_back(ns);
    }
    if (round > 0 && monotonic_ns() - begin_ns > args.seconds_most * 1'000'000'000ull) break;
  }
  return true;
}

bool run_runtime_bench(CudaLaunch& launch) {
  const auto args = launch.args<CudaRuntimeArgs>();
  const TaskKernel* kernel = find_task_kernel(DeviceGraph::kName);
  if (kernel == nullptr) return launch.fail("the kernel of the graphs is not in this program");
  int device = 0;
  if (!launch.check(cudaGetDevice(&device), "cudaGetDevice")) return false;
  const DeviceShape shape = shape_of_cuda_device(*kernel, static_cast<std::uint32_t>(device));
  if (shape.error[0] != 0) return launch.fail(shape.error);
  BenchedRuntime runtime(launch, *kernel, args.work, shape, Lines::kMapped);
  BenchedRuntime near_lines(launch, *kernel, args.work, shape, Lines::kNear);
  const std::uint32_t cores = shape.cluster_count * kCoresPerCluster;
  BareMailbox mailbox(launch, args.work, cores, 1);
  BareMailbox by_lanes(launch, args.work, cores, kBareLanes);
  EmptyGraph graph(launch, args.work, std::min(args.work.tasks, kGraphNodesMost));
  std::vector<Side> sides{[&](double& ns) { return runtime.run(ns); }};
  sides.emplace_back([&](double& ns) { return near_lines.run(ns); });
  if (!runtime.open() || !near_lines.open()) return false;
  if (args.work.shape != WorkShape::kTiles) {
    if (!mailbox.open() || !by_lanes.open() || !graph.open()) return false;
    sides.emplace_back([&](double& ns) { return mailbox.run(ns); });
    sides.emplace_back([&](double& ns) { return by_lanes.run(ns); });
    sides.emplace_back([&](double& ns) { return graph.run(ns); });
  }
  std::vector<std::vector<double>> samples;
  if (!take_all(sides, args, samples)) return false;
  launch.note_figure(kFigureTaskNs, median(samples[0]));
  launch.note_figure(kFigureTaskNsLeast, std::ranges::min(samples[0]));
  launch.note_figure(kFigureTaskNsMost, std::ranges::max(samples[0]));
  launch.note_figure(kFigureRounds, static_cast<double>(samples[0].size()));
  launch.note_figure(kFigureCores, cores);
  launch.note_figure(kFigureSchedulers, shape.scheduler_count);
  launch.note_figure(kFigureDeviceBytes, static_cast<double>(runtime.device_bytes()));
  launch.note_figure(kFigureFirstNs, runtime.first_ns());
  launch.note_figure(kFigureNearLinesNs, median(samples[1]));
  if (sides.size() == 2) return true;
  launch.note_figure(kFigureMailboxNs, median(samples[2]));
  launch.note_figure(kFigureLanesNs, median(samples[3]));
  launch.note_figure(kFigureGraphNs, median(samples[4]));
  launch.note_figure(kFigureGraphNodes, static_cast<double>(graph.nodes()));
  return true;
}

}  // namespace

void register_cuda_runtime_bench() { register_cuda_program(kCudaRuntimeBench, &run_runtime_bench); }

}  // namespace tidemark::bench
