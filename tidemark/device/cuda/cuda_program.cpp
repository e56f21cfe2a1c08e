// SPDX-License-Identifier: Apache-2.0
#include "tidemark/device/cuda/cuda_program.h"

#include "tidemark/device/program_table.h"

namespace tidemark {

static ProgramTable<CudaProgram>& cuda_programs() {
  static ProgramTable<CudaProgram> table;
  return table;
}

void register_cuda_program(std::string_view name, CudaProgram program) {
  cuda_programs().add(name, program);
}

CudaProgram find_cuda_program(std::string_view name) { return cuda_programs().find(name); }

}  // namespace tidemark
