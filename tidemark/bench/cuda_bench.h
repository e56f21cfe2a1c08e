// SPDX-License-Identifier: Apache-2.0
// The producer bench on a GPU: the arguments of its device program, and the figures it leaves.
#pragma once

#include <cstdint>

namespace tidemark::bench {

inline constexpr const char* kCudaBenchProgram = "bench_producer";
// The link alone: kFigureMappedGb and kFigureCopyGb, with lanes and link_bytes of the arguments.
inline constexpr const char* kCudaLinkProgram = "bench_link";

enum class CudaBenchBy : std::uint32_t {
  kWriteMany,
  kPen,       // record by record
  kRecorder,  // the same without a pen
};

struct CudaBenchArgs {
  std::uint32_t lanes;
  std::uint32_t record_bytes;
  std::uint32_t one_thread;  // a lane is written by one thread, not by a warp
  CudaBenchBy by;            // how one thread writes
  std::uint32_t stamped;     // one thread: two readings of the clock per record
  std::uint32_t reserved = 0;
  std::uint64_t records;       // per lane
  std::uint64_t link_bytes;    // to measure the link with; 0: not
  std::uint64_t plain_events;  // for the plain alternative; 0: not
};

// Indices of the region's figures.
enum CudaBenchFigure : std::uint32_t {
  kFigureLaunchNs,       // host clock just before the kernel was launched
  kFigureKernelNs,       // first record of any lane to last lane closed
  kFigureMappedGb,       // GB/s of plain stores of a warp per lane into mapped memory
  kFigureCopyGb,         // GB/s of plain copies to the host while a kernel runs
  kFigurePlainKernelNs,  // plain alternative: time of the kernel
  kFigurePlainReadNs,    // and of reading its array afterwards
};

void register_cuda_bench();

}  // namespace tidemark::bench
