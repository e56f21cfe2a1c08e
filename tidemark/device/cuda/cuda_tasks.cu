// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "tidemark/device/cuda/cuda_tasks.cuh"
#include "tidemark/device/cuda/task_snapshot.h"
#include "tidemark/device/cuda/unit_placement.h"
#include "tidemark/runtime/units/unit_line.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kStagingBytes = 8 << 20;
constexpr std::uint64_t kOutputBytesMax = 64 << 20;  // that running tasks have written

RuntimeConfig config_of(const ProgramRun& run) {
  auto config = args_from<RuntimeConfig>(run.args);
  const RegionView region(run.region);
  config.task_timeout_ticks =
      region.header().identity.ticks_per_second / 1000 * config.task_timeout_ms;
  return config;
}

}  // namespace

CudaTasks::CudaTasks(CudaCheck* check, const TaskKernel& kernel, const ProgramRun& run,
                     const RegionView& region)
    : check_(*check),
      kernel_(kernel),
      run_(run),
      region_(region),
      layout_(lay_out(config_of(run))) {}

CudaTasks::~CudaTasks() {
  if (copies_ != nullptr) cudaStreamDestroy(copies_);
  if (staging_ != nullptr) cudaFreeHost(staging_);
  if (memory_ != nullptr) cudaFree(memory_);
}

bool CudaTasks::open() {
  if (run_.memory == nullptr || run_.memory_bytes < layout_.total_bytes)
    return check_.fail("the memory of the task runtime is missing");
  if (!check_(cudaMalloc(reinterpret_cast<void**>(&memory_), layout_.total_bytes),
              "cudaMalloc of the task runtime's memory") ||
      !check_(cudaMemset(memory_, 0, layout_.total_bytes), "cudaMemset of it") ||
      !check_(
          cudaHostAlloc(reinterpret_cast<void**>(&staging_), kStagingBytes, cudaHostAllocDefault),
          "cudaHostAlloc for copies") ||
      !check_(cudaStreamCreateWithFlags(&copies_, cudaStreamNonBlocking), "cudaStreamCreate"))
    return false;
  // The first copy to the host takes milliseconds, and the kernel would be there by then.
  return upload() && check_(cudaDeviceSynchronize(), "upload of the task runtime's memory") &&
         bring({0, sizeof(RuntimeControl)});
}

// What was ever written of the image.
bool CudaTasks::upload() {
  const auto* image = static_cast<const unsigned char*>(run_.memory);
  const auto end = static_cast<off_t>(layout_.total_bytes);
  for (off_t at = 0; at < end;) {
    const off_t begin = ::lseek(run_.memory_fd, at, SEEK_DATA);
    if (begin < 0 || begin >= end) break;  // nothing but holes after it
    at = ::lseek(run_.memory_fd, begin, SEEK_HOLE);
    if (at < 0 || at > end) at = end;
    if (!check_(cudaMemcpy(memory_ + begin, image + begin, static_cast<std::size_t>(at - begin),
                           cudaMemcpyHostToDevice),
                "upload of the task runtime's memory"))
      return false;
  }
  return true;
}

bool launch_units(CudaCheck& check, const TaskKernel& kernel, void* memory,
                  const RuntimeLayout& layout, RuntimeStatus* status, const RegionView& for_kernels,
                  cudaStream_t stream) {
  if (!check(cudaFuncSetAttribute(kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(kernel.shared_bytes)),
             "cudaFuncSetAttribute of the shared memory"))
    return false;
  RuntimeLayout laid_out = layout;
  RegionView region = for_kernels;
  void* arguments[] = {&memory, &laid_out, &status, &region};
  return check(cudaLaunchCooperativeKernel(kernel.function, ctas_of(layout.config.units()),
                                           kUnitThreads, arguments, kernel.shared_bytes, stream),
               "launch of the task runtime");
}

bool CudaTasks::launch(const RegionView& for_kernels, cudaStream_t stream) {
  return launch_units(check_, kernel_, memory_, layout_,
                      static_cast<RuntimeStatus*>(for_kernels.status()), for_kernels, stream);
}

bool CudaTasks::bring(const MemoryExtent& extent) {
  auto* image = static_cast<unsigned char*>(run_.memory);
  for (std::uint64_t at = extent.begin; at < extent.end;) {
    const std::uint64_t bytes = std::min(kStagingBytes, extent.end - at);
    if (!check_(cudaMemcpyAsync(staging_, memory_ + at, bytes, cudaMemcpyDeviceToHost, copies_),
                "copy of the task runtime's memory") ||
        !check_(cudaStreamSynchronize(copies_), "copy of the task runtime's memory"))
      return false;
    std::memcpy(image + at, staging_, bytes);
    at += bytes;
  }
  return true;
}

bool CudaTasks::bring_results(std::uint64_t now_ticks) {
  const RuntimeConfig& config = layout_.config;
  // alone: one word. Nobody on the device is left to say when a graph of the host was over.
  if (!config.reclaims()) status().end_ticks.store_release(now_ticks);
  // pairs with [error latched]
  const bool failed = status().error.code.load_acquire() != ErrorCode::kNone;
  if (failed && !snapshot()) return false;
  return bring({layout_.entry_offset, layout_.entry_offset + config.entry_bytes});
}

bool CudaTasks::snapshot() {
  for (const MemoryExtent& extent : task_extents(layout_, status()))
    if (!bring(extent)) return false;
  const auto* image = static_cast<const unsigned char*>(run_.memory);
  for (const MemoryExtent& extent :
       running_output_extents(layout_, status(), image, kOutputBytesMax))
    if (!bring(extent)) return false;
  region_.header().device.snapped.store_release(1);  // [snapped]
  return true;
}

// The others go on for a quarter of a second, so they have come to the end of their kernels, unless
// these are long.
void CudaTasks::name_crashed_unit() {
  const UnitCounts units = layout_.config.units();
  std::uint32_t found = 0, busy = 0;
  for (std::uint32_t core = 0; core < units.cores; ++core) {
    // pairs with [unit state]
    if (unit_lines(&status())[units.core(core)].state.load_acquire() != UnitState::kBusy) continue;
    found = units.core(core);
    ++busy;
  }
  if (busy == 1) status().fault_unit.store_release(found + 1);  // [crash noted]
}

}  // namespace tidemark
