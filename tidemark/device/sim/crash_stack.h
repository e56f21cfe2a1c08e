// SPDX-License-Identifier: Apache-2.0
// A second stack for the signal handler of a thread, so that a crash for want of stack is told too.
#pragma once

#include <signal.h>
#include <sys/mman.h>

#include <cstddef>

namespace tidemark {

class CrashStack {
 public:
  CrashStack()
      : base_(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (base_ == MAP_FAILED) return;
    const stack_t stack{.ss_sp = base_, .ss_flags = 0, .ss_size = kBytes};
    ::sigaltstack(&stack, &old_);
  }
  ~CrashStack() {
    if (base_ == MAP_FAILED) return;
    ::sigaltstack(&old_, nullptr);
    ::munmap(base_, kBytes);
  }
  CrashStack(const CrashStack&) = delete;
  CrashStack& operator=(const CrashStack&) = delete;

 private:
  static constexpr std::size_t kBytes = 64 * 1024;
  void* base_;
  stack_t old_{};
};

}  // namespace tidemark
