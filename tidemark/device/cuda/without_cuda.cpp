// SPDX-License-Identifier: Apache-2.0
// The CUDA functions of a build without CUDA.
#include "tidemark/device/cuda/cuda_program.h"
#include "tidemark/device/cuda/task_kernel.h"

namespace tidemark {
namespace {

constexpr const char* kWhy =
    "this tidemark was built without CUDA: no nvcc was found when it was configured";

}  // namespace

bool has_cuda_program(std::string_view) { return false; }

bool run_cuda_program(const ProgramRun&) { return false; }

DeviceShape shape_of_cuda_device(const TaskKernel&, std::uint32_t) { return {}; }

Expected<std::vector<CudaDeviceInfo>> cuda_devices() {
  return failure(ErrorKind::kDevice, "{}", kWhy);
}

std::string why_no_cuda() { return kWhy; }

}  // namespace tidemark
