// SPDX-License-Identifier: Apache-2.0
// The CUDA side of the benches, in a build without CUDA.
#include "tidemark/cli/bench/cuda_bench.h"

namespace tidemark::cli {

void register_cuda_bench() {}

}  // namespace tidemark::cli
