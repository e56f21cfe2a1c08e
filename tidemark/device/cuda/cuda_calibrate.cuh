// SPDX-License-Identifier: Apache-2.0
// What a record costs one thread of this GPU, measured with the recorder itself.
#pragma once

#include <cuda_runtime_api.h>

#include "tidemark/device/cuda/cuda_check.cuh"

namespace tidemark {

// False if a call failed.
bool calibrate_cuda_recorder(CudaCheck& check, cudaStream_t stream, double& ns_per_record);

}  // namespace tidemark
