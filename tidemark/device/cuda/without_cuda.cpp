// SPDX-License-Identifier: Apache-2.0
// The CUDA functions of a build without CUDA.
#include "tidemark/device/cuda/cuda_program.h"

namespace tidemark {
namespace {

constexpr const char* kWhy =
    "this tidemark was built without CUDA: no nvcc was found when it was configured";

}  // namespace

bool run_cuda_program(CudaProgram, const ProgramRun&) { return false; }

Expected<std::vector<CudaDeviceInfo>> cuda_devices() {
  return failure(ErrorKind::kDevice, "{}", kWhy);
}

std::string why_no_cuda() { return kWhy; }

}  // namespace tidemark
