// SPDX-License-Identifier: Apache-2.0
// The CUDA sides of the workloads, in a build without CUDA.
#include "workloads/synthetic_args.h"

namespace tidemark {

void register_synthetic_producer_cuda() {}

}  // namespace tidemark
