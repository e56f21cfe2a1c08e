// SPDX-License-Identifier: Apache-2.0
// How large a task can be, and the numbers that mean "none".
#pragma once

#include <cstdint>

namespace tidemark {

inline constexpr std::uint32_t kRingCount = 4;   // a task lives in one of them
inline constexpr std::uint32_t kKernelsMax = 3;  // of a mix: AIC, AIV0, AIV1
// Kernels of a program that rules of the dump and the status can name.
inline constexpr std::uint32_t kKernelNumbersMax = 64;
inline constexpr std::uint32_t kTensorsMax = 32;
inline constexpr std::uint32_t kScalarsMax = 16;
inline constexpr std::uint64_t kTaskArgsBytesMax = 4352;  // with as many of both
inline constexpr std::uint32_t kRankMax = 5;              // dimensions
inline constexpr std::uint64_t kHeapAlign = 1024;         // where an output begins

inline constexpr std::uint16_t kNoKernel = 0xFFFF;
inline constexpr std::uint32_t kNoArg = 0xFFFF;               // also in the 16 bits of a record
inline constexpr std::uint64_t kNoOwner = ~std::uint64_t{0};  // memory of the program's caller

}  // namespace tidemark
