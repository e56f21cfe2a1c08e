// SPDX-License-Identifier: Apache-2.0
// The one host/device annotation. Everything a kernel may call is marked TM_DEVICE and compiles
// with g++ for the simulated device and with nvcc for CUDA. Only this file and
// transport/shared_word.h may ask which compiler is running.
#pragma once

#include "tidemark/base/needs_cpp20.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#if defined(__CUDACC__)
#define TM_DEVICE __host__ __device__
#else
#define TM_DEVICE
#endif

// Whether this is what a GPU will run.
#if defined(__CUDA_ARCH__)
#define TM_ON_GPU 1
#else
#define TM_ON_GPU 0
#endif

#define TM_INLINE inline __attribute__((always_inline))
// What is called seldom and is large: inlined into a kernel it would cost its compiler minutes.
#define TM_NOINLINE __attribute__((noinline))
// What a GPU's compiler would make once for each list of kernels, and a host's is faster inlined.
#if TM_ON_GPU
#define TM_NOINLINE_ON_GPU TM_NOINLINE
#else
#define TM_NOINLINE_ON_GPU
#endif

// TM_WIDE marks a function that is compiled for the widest registers; TM_HAS_WIDE says whether this
// compiler can, and the caller asks the processor.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define TM_HAS_WIDE 1
#define TM_WIDE \
  __attribute__((noinline, target("avx512f,avx512dq,avx512vl,avx512bw,prefer-vector-width=512")))
#else
#define TM_HAS_WIDE 0
#endif

// Before a loop whose iterations a GPU should overlap (by four, or all of them): one thread of it
// waits for every instruction.
#if defined(__CUDA_ARCH__)
#define TM_UNROLL_4 _Pragma("unroll 4")
#define TM_UNROLL _Pragma("unroll")
// ... and one of few iterations, whose code a GPU would have to fetch for each of them.
#define TM_UNROLL_NEVER _Pragma("unroll 1")
#else
#define TM_UNROLL_4
#define TM_UNROLL
#define TM_UNROLL_NEVER
#endif

// The zeros above the highest bit of a number that is not 0, and its ones.
#if defined(__CUDA_ARCH__)
#define TM_LEADING_ZEROS(number) static_cast<std::uint32_t>(__clzll(static_cast<long long>(number)))
#define TM_COUNT_BITS(number) static_cast<std::uint32_t>(__popcll(number))
#else
#define TM_LEADING_ZEROS(number) static_cast<std::uint32_t>(__builtin_clzll(number))
#define TM_COUNT_BITS(number) static_cast<std::uint32_t>(__builtin_popcountll(number))
#endif

namespace tidemark {

// The lowest and the highest bit of a number that is not 0, and how many it has.
TM_DEVICE constexpr std::uint32_t lowest_bit(std::uint64_t number) {
  return 63 - TM_LEADING_ZEROS(number & (~number + 1));
}

TM_DEVICE constexpr std::uint32_t highest_bit(std::uint64_t number) {
  return 63 - TM_LEADING_ZEROS(number);
}
TM_DEVICE inline std::uint32_t count_bits(std::uint64_t number) { return TM_COUNT_BITS(number); }

// Ends the device without a word.
[[noreturn]] TM_DEVICE inline void end_here() {
#if defined(__CUDA_ARCH__)
  __trap();
#else
  std::abort();
#endif
}

// Ends the device: a kernel traps, a process aborts after saying why.
[[noreturn]] TM_DEVICE TM_NOINLINE inline void stop_here(const char* what, const char* file,
                                                         int line) {
#if defined(__CUDA_ARCH__)
  printf("tidemark: CHECK failed: %s at %s:%d\n", what, file, line);
  __trap();
#else
  std::fprintf(stderr, "tidemark: CHECK failed: %s at %s:%d\n", what, file, line);
  std::abort();
#endif
}

}  // namespace tidemark
