// SPDX-License-Identifier: Apache-2.0
// The leaf of an NVIDIA GPU: its clock, how its threads wait, and the blocks of threads that write
// together. With recorder.h this is all a kernel needs to record.
#pragma once

#include <cstdint>

#include "tidemark/record/event_recorder.h"

namespace tidemark {

struct CudaEnv {
  // A look at the host's words is a round trip over the link, about a microsecond each.
  static constexpr std::uint32_t kLookEvery = 16;

  // Nanoseconds, in steps of 32 on an H200.
  __device__ static std::uint64_t now_ticks() {
    std::uint64_t ticks = 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ticks));
    return ticks;
  }

  // Doubles from 4 us to 256 us. Every look is a read over the link that the records need: 132
  // lanes that looked every 16 us held copies to the host at a tenth of their speed.
  __device__ static void pause(std::uint32_t round) {
    __nanosleep(4000u << (round < 6 ? round : 6));
  }
};

// For units of the runtime, which wait for words of their own device.
struct CudaUnitEnv : CudaEnv {
  // Instructions of one thread are issued in their order.
  __device__ static std::uint64_t ordered_ticks() { return now_ticks(); }
  template <class Word>
  __device__ static void sleep(Word&, std::uint32_t) {
    __nanosleep(1000);
  }
  template <class Word>
  __device__ static void wake(Word&) {}
  __device__ static void take_turn(std::uint32_t) { __nanosleep(100); }
  __device__ static void wait_for_space(std::uint32_t) { __nanosleep(1000); }
};

// One thread that writes a lane alone.
struct ThreadBlock : SoloBlock {
  static constexpr std::uint32_t kBurst = 8;  // records stored back to back by write_many
};

// A warp that writes one lane together.
struct WarpBlock {
  // By the hardware's number: in a CTA of several dimensions threadIdx.x alone does not say.
  __device__ std::uint32_t rank() const {
    std::uint32_t lane = 0;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
  }
  __device__ std::uint32_t size() const { return 32; }
  __device__ void barrier() const { __syncwarp(); }
  __device__ std::uint64_t broadcast(std::uint64_t value) const {
    return __shfl_sync(~0u, value, 0);
  }
};

// All threads of a CTA.
struct CtaBlock {
  __device__ std::uint32_t rank() const {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  __device__ std::uint32_t size() const { return blockDim.x * blockDim.y * blockDim.z; }
  __device__ void barrier() const { __syncthreads(); }
  __device__ static void wait_ns(std::uint64_t ns) {
    const std::uint64_t end_ticks = CudaEnv::now_ticks() + ns;
    while (CudaEnv::now_ticks() < end_ticks) __nanosleep(1000);
  }
  __device__ std::uint64_t broadcast(std::uint64_t value) const {
    __shared__ std::uint64_t first;
    __syncthreads();  // the last broadcast was read
    if (rank() == 0) first = value;
    __syncthreads();
    return first;
  }
};

// A CTA that is a core of the task runtime: kernels mark and count through its first thread.
class CtaUnitBlock : public CtaBlock {
 public:
  // Without a lane nothing is recorded.
  __device__ CtaUnitBlock(const RegionView* region, std::uint32_t lane) {
    if (region != nullptr && lane != kNoUnitLane && rank() == 0)
      events_ = EventRecorder<CudaUnitEnv>(region, lane);
  }
  __device__ EventRecorder<CudaUnitEnv>& recorder() { return events_; }

 private:
  static constexpr std::uint32_t kNoUnitLane = ~0u;
  EventRecorder<CudaUnitEnv> events_;
};

}  // namespace tidemark
