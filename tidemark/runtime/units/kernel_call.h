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

// Called from two places, and kernels are large.
template <class Kernels, KernelBlock B>
TM_DEVICE TM_NOINLINE void run_call(B& block, const KernelCall& call) {
  Kernels::run(call.kernel, block, call.args);
}

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
    run_call<Kernels>(block, call);
    block.sync();
    return true;
  }
}

// Thread 0 says that there will be no more.
template <KernelBlock B>
TM_DEVICE void send_followers_home(B& block) {
  if constexpr (B::kThreads != 1) block.broadcast(KernelCall{});
}

// Every thread of a core but the first.
template <class Kernels, KernelBlock B>
TM_DEVICE void follow(B& block) {
  while (run_together<Kernels>(block, KernelCall{})) {
  }
}

}  // namespace tidemark
