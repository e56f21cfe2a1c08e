// SPDX-License-Identifier: Apache-2.0
#include "tidemark/capture/copy_kernel_body.h"

namespace tidemark {

const CopyKernel kCopyKernelAvx512{&copy_bytes, &sum_and_copy, &sum_of, "avx512"};

}  // namespace tidemark
