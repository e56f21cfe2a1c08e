// SPDX-License-Identifier: Apache-2.0
// The block that runs a kernel of the task runtime on a GPU: a CTA of a number of threads that is
// known when compiling.
#pragma once

#include <cstdint>
#include <cstring>

#include "tidemark/device/cuda/cuda_env.cuh"
#include "tidemark/runtime/kernel_block.h"
#include "tidemark/runtime/shared_arena.h"
#include "tidemark/runtime/units/unit_recorder.h"

namespace tidemark {

extern __shared__ __align__(1024) unsigned char cta_shared_memory[];  // as much as the launch gives

template <std::uint32_t kThreadCount>
class CtaUnitBlock : public CtaBlock {
  static_assert(kThreadCount % kWarpThreads == 0 && kThreadCount <= 1024, "whole warps");

 public:
  static constexpr std::uint32_t kThreads = kThreadCount;

  // Thread 0 has the lane; without one nothing is recorded.
  __device__ CtaUnitBlock(const RegionView* region, std::uint32_t lane)
      : events_(recorder_of<EventRecorder<CudaUnitEnv>>(thread() == 0 ? region : nullptr, lane)) {
    // The others see it behind the barrier of their first broadcast.
    if (thread() == 0) common_word().store_relaxed(0);
  }

  __device__ static constexpr std::uint32_t threads() { return kThreads; }
  __device__ static std::uint32_t warp() { return thread() / kWarpThreads; }
  __device__ static std::uint32_t lane() { return thread() % kWarpThreads; }
  __device__ static DeviceWord<std::uint32_t>& common_word() {
    __shared__ alignas(8) unsigned char word[sizeof(DeviceWord<std::uint32_t>)];
    return *reinterpret_cast<DeviceWord<std::uint32_t>*>(word);
  }

  // The lanes of each warp, then the warps; always in this order.
  template <class T, class Op>
  __device__ static T reduce(const T& value, const Op& op) {
    constexpr std::uint32_t kWarps = kThreads / kWarpThreads;
    __shared__ alignas(T) unsigned char partial[kWarps * sizeof(T)];
    T* const of_warps = reinterpret_cast<T*>(partial);
    T mine = value;
    for (std::uint32_t step = 1; step < kWarpThreads; step *= 2) {
      WarpWords<T> right(mine);
      for (std::uint32_t& word : right.words) word = __shfl_down_sync(~0u, word, step);
      if (lane() % (2 * step) == 0) mine = op(mine, right.value);
    }
    __syncthreads();  // the last result was read
    if (lane() == 0) memcpy(&of_warps[warp()], &mine, sizeof(T));
    __syncthreads();
    T all = of_warps[0];
    for (std::uint32_t i = 1; i < kWarps; ++i) all = op(all, of_warps[i]);
    return all;
  }

  // In quanta of 16 bytes where both sides allow it.
  __device__ static void copy(void* to, const void* from, std::uint64_t bytes) {
    std::uint64_t done = 0;
    if ((reinterpret_cast<std::uint64_t>(to) | reinterpret_cast<std::uint64_t>(from)) % 16 == 0) {
      for (std::uint64_t i = thread(); i < bytes / 16; i += kThreads)
        static_cast<uint4*>(to)[i] = static_cast<const uint4*>(from)[i];
      done = bytes / 16 * 16;
    }
    for (std::uint64_t i = done + thread(); i < bytes; i += kThreads)
      static_cast<unsigned char*>(to)[i] = static_cast<const unsigned char*>(from)[i];
  }
  template <class Left, class Right>
  __device__ void multiply_tile(const TileShape& shape, const Left* left, const Right* right,
                                float* out) const {
    multiply_tile_plainly(*this, shape, left, right, out);
  }

  // A kernel that asks for more than it declared gets what others use: it comes to its end and is
  // named. For more than the launch has there is no memory at all.
  template <class T>
  __device__ T* shared(std::uint64_t count) {
    T* piece = arena_.take<T>(count);
    if (piece != nullptr || arena_.overrun() == 0) return piece;
    TM_CHECK(count * sizeof(T) <= launched_bytes());
    return reinterpret_cast<T*>(cta_shared_memory);
  }
  __device__ void open_shared(std::uint32_t bytes) { arena_.open(cta_shared_memory, bytes); }
  __device__ void close_shared() { arena_.close(); }
  __device__ std::uint64_t shared_overrun() const { return arena_.overrun(); }

  __device__ EventRecorder<CudaUnitEnv>& recorder() { return events_; }
  __device__ static void wait_ns(std::uint64_t ns) {
    const std::uint64_t end_ticks = CudaEnv::now_ticks() + ns;
    while (CudaEnv::now_ticks() < end_ticks) __nanosleep(1000);
  }

 private:
  __device__ static std::uint32_t launched_bytes() {
    std::uint32_t bytes = 0;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    return bytes;
  }

  EventRecorder<CudaUnitEnv> events_;
  SharedArena arena_;
};
static_assert(KernelBlock<CtaUnitBlock<256>>);

}  // namespace tidemark
