// SPDX-License-Identifier: Apache-2.0
// The device side of the producer bench on a GPU: the recorder at full speed, and beside it what
// the link gives to plain stores and copies, and the array with an atomic index that one would
// write without a recorder.

#include <algorithm>

#include "tidemark/base/mapped_memory.h"
#include "tidemark/base/monotonic_clock.h"
#include "tidemark/bench/bench_span.h"
#include "tidemark/bench/cuda_bench.h"
#include "tidemark/device/cuda/cuda_env.cuh"
#include "tidemark/device/cuda/cuda_launch.cuh"
#include "tidemark/device/cuda/cuda_program.h"
#include "workloads/record_widths.h"

namespace tidemark::bench {
namespace {

// Written by the lane's first thread, in mapped memory.
struct LaneTimes {
  std::uint64_t begin_ticks;
  std::uint64_t end_ticks;
};

template <std::uint32_t kBytes, bool kStamped>
__device__ TM_INLINE BenchSpan<kBytes> make_record(std::uint64_t number) {
  if constexpr (kStamped) {
    const std::uint64_t begin_ticks = CudaEnv::now_ticks();
    return {bench_span(number, begin_ticks, CudaEnv::now_ticks())};
  }
  return {bench_span(number, number, number + 1)};
}

// A block writes a lane together: a warp, or one thread.
template <class Block, std::uint32_t kBytes, CudaBenchBy kBy = CudaBenchBy::kWriteMany,
          bool kStamped = false>
__global__ void produce(const __grid_constant__ RegionView region, std::uint64_t records,
                        LaneTimes* times) {
  const Block block;
  LaneTimes time{};
  Recorder<BenchSpan<kBytes>, CudaEnv> recorder(&region, blockIdx.x, block);
  time.begin_ticks = CudaEnv::now_ticks();
  // Not unrolled: between two records of a user lies work, which no compiler writes down four
  // times.
  if constexpr (kBy == CudaBenchBy::kRecorder) {
#pragma unroll 1
    for (std::uint64_t number = 0; number < records; ++number)
      recorder.write(make_record<kBytes, kStamped>(number));
  } else {
    Pen<BenchSpan<kBytes>, CudaEnv, Block> pen(recorder, block);
    if constexpr (kBy == CudaBenchBy::kPen) {
#pragma unroll 1
      for (std::uint64_t number = 0; number < records; ++number)
        pen.write(make_record<kBytes, kStamped>(number));
    } else {
      pen.write_many(records, [](std::uint64_t i) { return make_record<kBytes, kStamped>(i); });
    }
  }
  if (block.thread() != 0) return;
  recorder.close();
  time.end_ticks = CudaEnv::now_ticks();
  times[blockIdx.x] = time;
}

// Stores of a warp per lane into that lane's part of the memory, over and over.
__global__ void store_plainly(ulonglong2* memory, std::uint64_t lane_quanta, std::uint32_t rounds) {
  ulonglong2* mine = memory + blockIdx.x * lane_quanta;
  for (std::uint32_t round = 0; round < rounds; ++round)
    for (std::uint64_t i = threadIdx.x; i < lane_quanta; i += 32)
      mine[i] = make_ulonglong2(i, round);
}

// What one writes without a recorder: an array, an atomic index, and a look at it afterwards.
struct PlainEvent {
  std::uint64_t time;
  std::uint64_t what;
};

__global__ void write_plain_events(PlainEvent* events, unsigned long long* next,
                                   std::uint64_t per_thread) {
  for (std::uint64_t i = 0; i < per_thread; ++i) events[atomicAdd(next, 1ull)] = {i, blockIdx.x};
}

__global__ void wait_for(const SharedWord<std::uint32_t>* stop) {
  while (stop->load_relaxed() == 0) __nanosleep(10'000);
}

// A piece of memory registered with the GPU, as the region is: a file that lives in memory.
class RegisteredMemory {
 public:
  explicit RegisteredMemory(std::uint64_t bytes)
      : memory_(map_memory_file("tidemark-link", bytes)) {}
  ~RegisteredMemory() {
    if (registered_) cudaHostUnregister(base());
  }
  bool open(CudaLaunch& launch) {
    registered_ = memory_.valid() &&
                  launch.check(cudaHostRegister(base(), memory_.bytes(), cudaHostRegisterMapped),
                               "cudaHostRegister for the link");
    return registered_ && launch.check(cudaHostGetDevicePointer(&mapped_, base(), 0),
                                       "cudaHostGetDevicePointer for the link");
  }
  void* base() { return memory_.base(); }
  void* mapped() { return mapped_; }

 private:
  MappedMemory memory_;
  void* mapped_ = nullptr;
  bool registered_ = false;
};

constexpr std::uint64_t kLinkMemoryBytes = 64ull << 20;

bool measure_stores(CudaLaunch& launch, const CudaBenchArgs& args, RegisteredMemory& memory) {
  const std::uint64_t lane_quanta = kLinkMemoryBytes / args.lanes / 1024 * 64;
  const auto rounds = static_cast<std::uint32_t>(
      std::max<std::uint64_t>(1, args.link_bytes / (lane_quanta * 16 * args.lanes)));
  double best = 0;
  for (int attempt = 0; attempt < 3; ++attempt) {
    const std::uint64_t begin_ns = monotonic_ns();
    store_plainly<<<args.lanes, 32, 0, launch.stream()>>>(static_cast<ulonglong2*>(memory.mapped()),
                                                          lane_quanta, rounds);
    if (!launch.launched("launch of plain stores") ||
        !launch.check(cudaStreamSynchronize(launch.stream()), "plain stores"))
      return false;
    best = std::max(best, static_cast<double>(lane_quanta * 16 * args.lanes * rounds) /
                              static_cast<double>(monotonic_ns() - begin_ns));
  }
  launch.note_figure(kFigureMappedGb, best);
  return true;
}

// Copies to the host on a second stream while a kernel runs on the first.
bool measure_copies(CudaLaunch& launch, const CudaBenchArgs& args, RegisteredMemory& memory) {
  void* source = nullptr;
  SharedWord<std::uint32_t>* stop = nullptr;
  cudaStream_t stream = nullptr;
  if (!launch.check(cudaMalloc(&source, kLinkMemoryBytes), "cudaMalloc for the link") ||
      !launch.check(
          cudaHostAlloc(reinterpret_cast<void**>(&stop), sizeof(*stop), cudaHostAllocMapped),
          "cudaHostAlloc for the link") ||
      !launch.check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate"))
    return false;
  stop->store_release(0);
  wait_for<<<1, 1, 0, launch.stream()>>>(stop);
  bool good = launch.launched("launch of a waiting kernel");
  const std::uint64_t copies = std::max<std::uint64_t>(1, args.link_bytes / kLinkMemoryBytes);
  double best = 0;
  for (int attempt = 0; good && attempt < 3; ++attempt) {
    const std::uint64_t begin_ns = monotonic_ns();
    for (std::uint64_t i = 0; good && i < copies; ++i)
      good = launch.check(
          cudaMemcpyAsync(memory.base(), source, kLinkMemoryBytes, cudaMemcpyDeviceToHost, stream),
          "copies to the host");
    good = good && launch.check(cudaStreamSynchronize(stream), "copies to the host");
    best = std::max(best, static_cast<double>(copies * kLinkMemoryBytes) /
                              static_cast<double>(monotonic_ns() - begin_ns));
  }
  stop->store_release(1);
  good = launch.check(cudaStreamSynchronize(launch.stream()), "a waiting kernel") && good;
  cudaStreamDestroy(stream);
  cudaFreeHost(stop);
  cudaFree(source);
  launch.note_figure(kFigureCopyGb, best);
  return good;
}

bool measure_plain_events(CudaLaunch& launch, const CudaBenchArgs& args) {
  const std::uint64_t per_thread = std::max<std::uint64_t>(1, args.plain_events / args.lanes / 32);
  const std::uint64_t count = per_thread * args.lanes * 32;
  PlainEvent* events = nullptr;
  unsigned long long* next = nullptr;
  if (!launch.check(cudaMalloc(reinterpret_cast<void**>(&events), count * sizeof(PlainEvent)),
                    "cudaMalloc of plain events") ||
      !launch.check(cudaMalloc(reinterpret_cast<void**>(&next), 8), "cudaMalloc of an index") ||
      !launch.check(cudaMemset(next, 0, 8), "cudaMemset of an index"))
    return false;
  const std::uint64_t begin_ns = monotonic_ns();
  write_plain_events<<<args.lanes, 32, 0, launch.stream()>>>(events, next, per_thread);
  bool good = launch.launched("launch of plain events") &&
              launch.check(cudaStreamSynchronize(launch.stream()), "plain events");
  const std::uint64_t kernel_ns = monotonic_ns() - begin_ns;
  // Into pinned memory, piece by piece: the fastest way there is.
  RegisteredMemory memory(kLinkMemoryBytes);
  good = good && memory.open(launch);
  const std::uint64_t read_begin_ns = monotonic_ns();
  for (std::uint64_t at = 0; good && at < count * sizeof(PlainEvent); at += kLinkMemoryBytes)
    good = launch.check(
        cudaMemcpyAsync(memory.base(), reinterpret_cast<char*>(events) + at,
                        std::min<std::uint64_t>(kLinkMemoryBytes, count * sizeof(PlainEvent) - at),
                        cudaMemcpyDeviceToHost, launch.stream()),
        "reading of plain events");
  good = good && launch.check(cudaStreamSynchronize(launch.stream()), "reading of plain events");
  const auto events_done = static_cast<double>(count);
  launch.note_figure(kFigurePlainKernelNs, static_cast<double>(kernel_ns) / events_done);
  launch.note_figure(kFigurePlainReadNs,
                     static_cast<double>(monotonic_ns() - read_begin_ns) / events_done);
  cudaFree(next);
  cudaFree(events);
  return good;
}

template <std::uint32_t kBytes, CudaBenchBy kBy>
void launch_thread(const CudaLaunch& launch, const CudaBenchArgs& args, LaneTimes* times) {
  const RegionView& region = launch.region();
  if (args.stamped == 0)
    produce<ThreadBlock, kBytes, kBy>
        <<<args.lanes, 1, 0, launch.stream()>>>(region, args.records, times);
  else
    produce<ThreadBlock, kBytes, kBy, true>
        <<<args.lanes, 1, 0, launch.stream()>>>(region, args.records, times);
}

template <std::uint32_t kBytes>
void launch_producer(const CudaLaunch& launch, const CudaBenchArgs& args, LaneTimes* times) {
  if (args.one_thread == 0)
    produce<WarpBlock, kBytes>
        <<<args.lanes, 32, 0, launch.stream()>>>(launch.region(), args.records, times);
  else if (args.by == CudaBenchBy::kWriteMany)
    launch_thread<kBytes, CudaBenchBy::kWriteMany>(launch, args, times);
  else if (args.by == CudaBenchBy::kPen)
    launch_thread<kBytes, CudaBenchBy::kPen>(launch, args, times);
  else
    launch_thread<kBytes, CudaBenchBy::kRecorder>(launch, args, times);
}

bool run_link(CudaLaunch& launch) {
  const auto args = launch.args<CudaBenchArgs>();
  RegisteredMemory memory(kLinkMemoryBytes);
  return memory.open(launch) && measure_stores(launch, args, memory) &&
         measure_copies(launch, args, memory);
}

bool run_bench(CudaLaunch& launch) {
  const auto args = launch.args<CudaBenchArgs>();
  if (args.link_bytes > 0 && !run_link(launch)) return false;
  if (args.plain_events > 0 && !measure_plain_events(launch, args)) return false;

  LaneTimes* times = nullptr;
  if (!launch.check(cudaHostAlloc(reinterpret_cast<void**>(&times), args.lanes * sizeof(LaneTimes),
                                  cudaHostAllocMapped),
                    "cudaHostAlloc of the times"))
    return false;
  launch.after([args, times](CudaLaunch& ended) {
    std::uint64_t begin_ticks = ~std::uint64_t{0}, end_ticks = 0;
    for (std::uint32_t lane = 0; lane < args.lanes; ++lane) {
      begin_ticks = std::min(begin_ticks, times[lane].begin_ticks);
      end_ticks = std::max(end_ticks, times[lane].end_ticks);
    }
    ended.note_figure(kFigureKernelNs, static_cast<double>(end_ticks - begin_ticks));
    cudaFreeHost(times);
  });
  launch.note_figure(kFigureLaunchNs, static_cast<double>(monotonic_ns()));
  with_record_bytes(args.record_bytes,
                    [&](auto bytes) { launch_producer<bytes()>(launch, args, times); });
  return launch.launched("launch of the producer bench");
}

}  // namespace

void register_cuda_bench() {
  register_cuda_program(kCudaBenchProgram, &run_bench);
  register_cuda_program(kCudaLinkProgram, &run_link);
}

}  // namespace tidemark::bench
