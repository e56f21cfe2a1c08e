// SPDX-License-Identifier: Apache-2.0
// Relates %globaltimer to the host's clocks: a kernel of one thread answers questions through
// mapped memory, and the quickest answer bounds the error.
#pragma once

#include <cuda_runtime_api.h>

#include "tidemark/device/cuda/cuda_check.cuh"
#include "tidemark/transport/clock_sample.h"

namespace tidemark {

// False if a call failed or the GPU did not answer in time.
bool sample_cuda_clock(CudaCheck& check, cudaStream_t stream, ClockSample& sample);

}  // namespace tidemark
