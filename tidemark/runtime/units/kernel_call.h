// SPDX-License-Identifier: Apache-2.0
// One kernel on all threads of a core, or one capture: thread 0, which is the worker, says which;
// the others follow it until it leaves.
#pragma once

#include <cstdint>

#include "tidemark/runtime/kernel_block.h"
#include "tidemark/runtime/kernel_list.h"

namespace tidemark {

struct KernelCall {
  std::uint16_t kernel = kNoKernel;  // none: the core leaves
  TaskArgs args{nullptr, nullptr, 0, nullptr, 0};
};

// A task's arguments are captured before its kernel and after it, by all threads, too.
enum class CoreJob : std::uint8_t { kNothing, kCaptureBefore, kRun, kCaptureAfter };

template <class Dumper>
struct CoreCall : KernelCall {
  CoreJob job = CoreJob::kRun;
  Dumper* dumper = nullptr;  // of thread 0; for captures
  TaskSlot* slot = nullptr;
};

// Called from two places, and kernels are large.
template <class Kernels, KernelBlock B>
TM_DEVICE TM_NOINLINE void run_call(B& block, const KernelCall& call) {
  Kernels::run(call.kernel, block, call.args);
}

template <KernelBlock B, class Dumper>
TM_DEVICE void capture_together(B& block, const CoreCall<Dumper>& call) {
  if (call.job == CoreJob::kCaptureBefore)
    call.dumper->before(block, *call.slot);
  else
    call.dumper->after(block, *call.slot);
}

// What thread 0 says, by all threads; the others wait here until it does. Before it returns to
// thread 0, all of them have left the kernel. False: there will be no more.
template <class Kernels, KernelBlock B, class Dumper>
TM_DEVICE TM_INLINE bool run_together(B& block, const CoreCall<Dumper>& said) {
  if constexpr (B::kThreads == 1) {
    if (said.kernel == kNoKernel) return false;
    if (said.job == CoreJob::kRun) [[likely]]
      Kernels::run(said.kernel, block, said.args);
    else
      capture_together(block, said);
    return true;
  } else {
    const CoreCall<Dumper> call = block.broadcast(said);
    if (call.kernel == kNoKernel) return false;
    if (call.job == CoreJob::kRun)
      run_call<Kernels>(block, call);
    else
      capture_together(block, call);
    block.sync();
    return true;
  }
}

// Thread 0 says that there will be no more.
template <class Dumper, KernelBlock B>
TM_DEVICE void send_followers_home(B& block) {
  if constexpr (B::kThreads != 1) block.broadcast(CoreCall<Dumper>{});
}

// Every thread of a core but the first.
template <class Kernels, class Dumper, KernelBlock B>
TM_DEVICE void follow(B& block) {
  while (run_together<Kernels>(block, CoreCall<Dumper>{})) {
  }
}

}  // namespace tidemark
