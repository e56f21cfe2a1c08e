// SPDX-License-Identifier: Apache-2.0
// The task runtime's memory on a GPU, with the host's image beside it. The image is the anonymous
// file that a simulated device would run in: the host fills it before launch and reads it
// afterwards, and what is between is copied here.
//
//   image ──what was written──▶ GPU memory ──buffers of the workload──▶ image, when the kernel
//   ended
//                                    └───────state of the tasks───────▶ image, when it is stopped
//
// Nothing that waits for a kernel is called while the kernel runs.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "tidemark/device/cuda/cuda_check.cuh"
#include "tidemark/device/cuda/task_kernel.h"
#include "tidemark/device/cuda/task_snapshot.h"
#include "tidemark/device/device_process.h"
#include "tidemark/runtime/runtime_layout.h"
#include "tidemark/runtime/runtime_status.h"
#include "tidemark/transport/region.h"

namespace tidemark {

// Launches the units of a workload on the GPU's memory, which has that layout. `for_kernels` and
// `status`: as the GPU sees them.
bool launch_units(CudaCheck& check, const TaskKernel& kernel, void* memory,
                  const RuntimeLayout& layout, RuntimeStatus* status, const RegionView& for_kernels,
                  cudaStream_t stream);

class CudaTasks {
 public:
  CudaTasks(CudaCheck* check, const TaskKernel& kernel, const ProgramRun& run,
            const RegionView& region);
  ~CudaTasks();
  CudaTasks(const CudaTasks&) = delete;
  CudaTasks& operator=(const CudaTasks&) = delete;

  // False if a call failed, as with everything here.
  bool open();
  bool launch(const RegionView& for_kernels, cudaStream_t stream);
  // Once the kernel ended: the workload's buffers, and the state of the tasks if the run failed.
  bool bring_results(std::uint64_t now_ticks);
  // The state of all tasks and what the running ones have written, while the kernel may go on.
  bool snapshot();
  // After a fault: says which core was in its kernel, if it was only one.
  void name_crashed_unit();

 private:
  bool upload();
  bool bring(const MemoryExtent& extent);
  [[nodiscard]] RuntimeStatus& status() const {
    return *static_cast<RuntimeStatus*>(region_.status());
  }

  CudaCheck& check_;
  const TaskKernel& kernel_;
  const ProgramRun& run_;
  RegionView region_;  // as this process sees it
  RuntimeLayout layout_;
  unsigned char* memory_ = nullptr;   // on the GPU
  unsigned char* staging_ = nullptr;  // pinned
  cudaStream_t copies_ = nullptr;
};

}  // namespace tidemark
