// SPDX-License-Identifier: Apache-2.0
// One kernel on all threads of a core: thread 0, which is the worker, says which; the others follow
// it until it leaves.
#pragma once

#include <cstdint>

#include "tidemark/runtime/kernel_block.h"
#include "tidemark/runtime/kernel_list.h"

namespace tidemark {

struct KernelCall {
  std::uint16_t kernel = kNoKernel;  // none: the core leaves
  TaskArgs args{nullptr, nullptr, 0, nullptr, 0};
};

// What thread 0 says, by all threads; the others wait here until it does. Before it returns to
// thread 0, all of them have left the kernel. False: there will be no more.
template <class Kernels, KernelBlock B>
TM_DEVICE TM_INLINE bool run_together(B& block, const KernelCall& said) {
  if constexpr (B::kThreads == 1) {
    if (said.kernel != kNoKernel) Kernels::run(said.kernel, block, said.args);
    return said.kernel != kNoKernel;
  } else {
    const KernelCall call = block.broadcast(said);
    if (call.kernel == kNoKernel) return false;
    Kernels::run(call.kernel, block, call.args);
    block.sync();
    return true;
  }
}

// Every thread of a core but the first.
template <class Kernels, KernelBlock B>
TM_DEVICE void follow(B& block) {
  while (run_together<Kernels>(block, KernelCall{})) {
  }
}

}  // namespace tidemark
