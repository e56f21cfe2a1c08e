// SPDX-License-Identifier: Apache-2.0
// The inner loops of the streaming copy, once per instruction set. Each copy_kernel_*.cpp is
// compiled with its own flags and includes copy_kernel_body.h; streaming_copy.cpp picks what the
// processor has. They call nothing that another source could share with them by name.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tidemark {

struct CopyKernel {
  void (*copy)(unsigned char* to, const unsigned char* from, std::size_t bytes);
  // XXH3 over head and body, both copied to `to`, in one pass.
  std::uint64_t (*copy_with_checksum)(unsigned char* to, const void* head, std::size_t head_bytes,
                                      const unsigned char* body, std::size_t body_bytes);
  // The same sum of both in a row, without a copy.
  std::uint64_t (*checksum)(const void* head, std::size_t head_bytes, const unsigned char* body,
                            std::size_t body_bytes);
  const char* name;
};

extern const CopyKernel kCopyKernelBase;
extern const CopyKernel kCopyKernelAvx2;
extern const CopyKernel kCopyKernelAvx512;

// The one for this processor.
const CopyKernel& best_copy_kernel();
bool processor_can_run(const CopyKernel& kernel);

}  // namespace tidemark
