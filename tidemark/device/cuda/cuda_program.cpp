// SPDX-License-Identifier: Apache-2.0
#include "tidemark/device/cuda/cuda_program.h"

#include <functional>
#include <map>

#include "tidemark/base/check.h"
#include "tidemark/device/program.h"

namespace tidemark {
namespace {

std::map<std::string, CudaProgram, std::less<>>& cuda_programs() {
  static std::map<std::string, CudaProgram, std::less<>> table;
  return table;
}

}  // namespace

void register_cuda_program(std::string_view name, CudaProgram program) {
  TM_CHECK(name.size() < kProgramNameBytes);
  cuda_programs()[std::string(name)] = program;
}

CudaProgram find_cuda_program(std::string_view name) {
  const auto found = cuda_programs().find(name);
  return found == cuda_programs().end() ? nullptr : found->second;
}

}  // namespace tidemark
