// SPDX-License-Identifier: Apache-2.0
#include "tidemark/capture/streaming_copy.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "tidemark/capture/chunk.h"
#include "tidemark/capture/copy_kernel.h"

namespace tidemark {

bool processor_can_run(const CopyKernel& kernel) {
#if defined(__x86_64__)
  if (&kernel == &kCopyKernelAvx512) return __builtin_cpu_supports("avx512f") != 0;
  if (&kernel == &kCopyKernelAvx2) return __builtin_cpu_supports("avx2") != 0;
#endif
  return &kernel == &kCopyKernelBase;
}

const CopyKernel& best_copy_kernel() {
  static const CopyKernel& best = processor_can_run(kCopyKernelAvx512) ? kCopyKernelAvx512
                                  : processor_can_run(kCopyKernelAvx2) ? kCopyKernelAvx2
                                                                       : kCopyKernelBase;
  return best;
}

std::uint64_t checksum(const void* data, std::size_t bytes) { return XXH3_64bits(data, bytes); }

std::uint64_t checksum(std::span<const unsigned char> first,
                       std::span<const unsigned char> second) {
  return best_copy_kernel().checksum(first.data(), first.size(), second.data(), second.size());
}

std::uint64_t checksum_of_header(const ChunkHeader& header) {
  return XXH3_64bits(&header, offsetof(ChunkHeader, header_checksum));
}

void streaming_copy(unsigned char* to, const unsigned char* from, std::size_t bytes) {
  best_copy_kernel().copy(to, from, bytes);
}

void streaming_copy_done() {
#if defined(__SSE2__)
  _mm_sfence();  // streaming stores are not ordered by the release that follows
#endif
}

std::uint64_t copy_with_checksum(unsigned char* to, const void* head, std::size_t head_bytes,
                                 const unsigned char* body, std::size_t body_bytes) {
  const std::uint64_t sum =
      best_copy_kernel().copy_with_checksum(to, head, head_bytes, body, body_bytes);
  streaming_copy_done();
  return sum;
}

}  // namespace tidemark
