// SPDX-License-Identifier: Apache-2.0
// One task with its arguments, for a kernel to run again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tidemark/runtime/task_args.h"
#include "tidemark/runtime/task_slot.h"

namespace tidemark {

// One task, to be run again on memory of the host: its arguments are in `memory` at the offsets
// their views name.
struct ReplayTask {
  TaskId task;
  std::uint16_t kernels[kKernelsMax] = {kNoKernel, kNoKernel, kNoKernel};
  std::uint32_t block_count = 1;
  std::vector<StoredTensor> tensors;
  std::vector<StoredScalar> scalars;
  std::vector<std::byte> memory;
};

}  // namespace tidemark
