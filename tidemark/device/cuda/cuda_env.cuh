// SPDX-License-Identifier: Apache-2.0
// The leaf of an NVIDIA GPU: its clock, how its threads wait, and the blocks of threads that write
// together. With recorder.h this is all a kernel needs to record. The block of a core of the task
// runtime is in cuda_block.cuh.
#pragma once

#include <cstdint>
#include <cstring>

#include "tidemark/record/event_recorder.h"

namespace tidemark {

struct CudaEnv {
  // A look at the host's words is a round trip over the link, about a microsecond each.
  static constexpr std::uint32_t kLookEvery = 16;
  static constexpr bool kLooksLate = true;

  // Nanoseconds, in steps of 32 on an H200.
  __device__ static std::uint64_t now_ticks() {
    std::uint64_t ticks = 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ticks));
    return ticks;
  }

  __device__ static std::uint64_t place() {
    std::uint32_t multiprocessor = 0;
    asm("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
    const std::uint32_t thread =
        threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const std::uint32_t here = __activemask();
    return encode_place(
        {.multiprocessor = multiprocessor,
         .block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z),
         // The same for all that are here; the compiler knows it then.
         .warp = __shfl_sync(here, thread / 32, __ffs(static_cast<int>(here)) - 1)});
  }

  // Doubles from 4 us to 256 us. Every look is a read over the link that the records need: 132
  // lanes that looked every 16 us held copies to the host at a tenth of their speed.
  __device__ static void pause(std::uint32_t round) {
    __nanosleep(4000u << (round < 6 ? round : 6));
  }
};

// A scheduler's (runtime/units/lanes.h).
struct WarpLanes {
  static constexpr std::uint32_t kCount = 32;
  __device__ static std::uint32_t lane() {
    std::uint32_t lane = 0;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
  }
  __device__ static void meet() { __syncwarp(); }
  __device__ static std::uint32_t ballot(bool says) { return __ballot_sync(~0u, says); }
  __device__ static std::uint64_t of_first(std::uint64_t value) {
    return __shfl_sync(~0u, value, 0);
  }
  __device__ static std::uint64_t of_lane(std::uint64_t value, std::uint32_t lane) {
    return __shfl_sync(~0u, value, lane);
  }
  __device__ static std::uint32_t least(std::uint32_t value) {
    return __reduce_min_sync(~0u, value);
  }
  __device__ static std::uint32_t sum(std::uint32_t value) { return __reduce_add_sync(~0u, value); }
  __device__ static std::uint32_t common(std::uint32_t bits) {
    return __reduce_and_sync(~0u, bits);
  }
  __device__ static std::uint64_t united(std::uint64_t bits) {
    const std::uint64_t high = __reduce_or_sync(~0u, static_cast<std::uint32_t>(bits >> 32));
    return high << 32 | __reduce_or_sync(~0u, static_cast<std::uint32_t>(bits));
  }
};

// For units of the runtime, which wait for words of their own device.
struct CudaUnitEnv : CudaEnv {
  using Lanes = WarpLanes;
  static constexpr bool kLooksLate = false;  // they have no pens
  // Only a host does that: what it takes is not compiled.
  static constexpr bool kBuildsNoGraphAhead = true;
  static constexpr bool kNeverSleeps = true;
  static constexpr std::uint32_t kLoadsTogether = 16;
  // Instructions of one thread are issued in their order.
  __device__ static std::uint64_t ordered_ticks() { return now_ticks(); }
  template <class Word>
  __device__ static void sleep(Word&, std::uint32_t) {
    __nanosleep(1000);
  }
  template <class Word>
  __device__ static void wake(Word&) {}
  __device__ static void take_turn(std::uint32_t) { __nanosleep(20); }
  __device__ static void wait_for_space(std::uint32_t) { __nanosleep(1000); }
};

// One thread that writes a lane alone.
struct ThreadBlock : SoloBlock {
  static constexpr std::uint32_t kBurst = 8;  // records stored back to back by write_many
};

// The 32-bit words of a value, which is what threads of a warp can hand each other.
template <class T>
union WarpWords {
  static constexpr std::uint32_t kCount = (sizeof(T) + 3) / 4;
  __device__ explicit WarpWords(const T& value) : words{} { memcpy(words, &value, sizeof(T)); }
  std::uint32_t words[kCount];
  T value;
};

// A warp that writes one lane together.
struct WarpBlock {
  static constexpr std::uint32_t kThreads = 32;
  // By the hardware's number: in a CTA of several dimensions threadIdx.x alone does not say.
  __device__ static std::uint32_t thread() {
    std::uint32_t lane = 0;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
  }
  __device__ static constexpr std::uint32_t threads() { return 32; }
  __device__ static void sync() { __syncwarp(); }
  template <class T>
  __device__ static T broadcast(const T& value) {
    WarpWords<T> handed(value);
    for (std::uint32_t& word : handed.words) word = __shfl_sync(~0u, word, 0);
    return handed.value;
  }
};

// All threads of a CTA.
struct CtaBlock {
  static constexpr std::uint32_t kThreads = 0;  // threads() knows
  static constexpr std::uint32_t kWarpThreads = 32;
  __device__ static std::uint32_t thread() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  __device__ static std::uint32_t threads() { return blockDim.x * blockDim.y * blockDim.z; }
  __device__ static void sync() { __syncthreads(); }
  template <class T>
  __device__ static T broadcast(const T& value) {
    // In bytes: shared memory has no constructor.
    __shared__ alignas(T) unsigned char first[sizeof(T)];
    __syncthreads();  // the last broadcast was read
    if (thread() == 0) memcpy(first, &value, sizeof(T));
    __syncthreads();
    return *reinterpret_cast<const T*>(first);
  }
};

}  // namespace tidemark
