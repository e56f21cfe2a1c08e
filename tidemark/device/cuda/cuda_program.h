// SPDX-License-Identifier: Apache-2.0
// What runs on an NVIDIA GPU: a function registered by name that launches kernels, and the way a
// device process runs it. Builds without CUDA have the same functions, which say so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/base/expected.h"
#include "tidemark/device/program_table.h"

namespace tidemark {

class CudaLaunch;
struct ProgramRun;

// Enqueues its kernels and returns; false if a call failed (the CudaLaunch keeps which).
using CudaProgram = bool (*)(CudaLaunch&);

inline void register_cuda_program(std::string_view name, CudaProgram program) {
  ProgramTable<CudaProgram>::add(name, program);
}
inline CudaProgram find_cuda_program(std::string_view name) {
  return ProgramTable<CudaProgram>::find(name);
}

// A program that launches kernels itself, or the kernel of a workload of tasks.
bool has_cuda_program(std::string_view name);

// Runs the program to its end in this process, which must not have forked with a CUDA context.
// False: the region says what failed.
bool run_cuda_program(const ProgramRun& run);

struct CudaDeviceInfo {
  int number = 0;
  std::string name;
  std::uint32_t multiprocessors = 0;
  std::uint64_t memory_bytes = 0;
  int compute_major = 0;
  int compute_minor = 0;
};

// The GPUs of this machine; why there are none, if there are none.
Expected<std::vector<CudaDeviceInfo>> cuda_devices();
// Why no CUDA program can run here, as far as one can know without a CUDA call; empty: nothing
// known. The host of a run makes no CUDA calls: its device process does.
std::string why_no_cuda();

}  // namespace tidemark
