// SPDX-License-Identifier: Apache-2.0
// A second stack for the signal handler of a thread, so that a stack overflow is reported too.
#pragma once

#include <signal.h>

#include <cstddef>

#include "tidemark/base/mapped_memory.h"

namespace tidemark {

class CrashStack {
 public:
  CrashStack() {
    if (!memory_.valid()) return;
    const stack_t stack{.ss_sp = memory_.base(), .ss_flags = 0, .ss_size = kBytes};
    ::sigaltstack(&stack, &old_);
  }
  ~CrashStack() {
    if (memory_.valid()) ::sigaltstack(&old_, nullptr);
  }
  CrashStack(const CrashStack&) = delete;
  CrashStack& operator=(const CrashStack&) = delete;

 private:
  static constexpr std::size_t kBytes = 64 * 1024;
  MappedMemory memory_{kBytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE};
  stack_t old_{};
};

}  // namespace tidemark
