// SPDX-License-Identifier: Apache-2.0
#include "tidemark/capture/copy_kernel_body.h"

namespace tidemark {

const CopyKernel kCopyKernelBase{&copy_bytes, &sum_and_copy, &sum_of, "base"};

}  // namespace tidemark
