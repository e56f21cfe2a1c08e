// SPDX-License-Identifier: Apache-2.0
// The persistent kernel of a workload of tasks, by its name. Host code without CUDA.
#pragma once

#include <cstdint>
#include <string_view>

#include "tidemark/base/expected.h"
#include "tidemark/device/device_shape.h"
#include "tidemark/device/program_table.h"

namespace tidemark {

struct TaskKernel {
  const void* function = nullptr;  // run_cuda_units of the workload
  std::uint32_t shared_bytes = 0;  // that its kernels declare at most
};

inline void register_task_kernel(std::string_view name, const TaskKernel* kernel) {
  ProgramTable<const TaskKernel*>::add(name, kernel);
}
inline const TaskKernel* find_task_kernel(std::string_view name) {
  return ProgramTable<const TaskKernel*>::find(name);
}

// How many units of the kernel a GPU holds. Opens the context of this process, which stays open for
// the launch.
DeviceShape shape_of_cuda_device(const TaskKernel& kernel, std::uint32_t device);

}  // namespace tidemark
