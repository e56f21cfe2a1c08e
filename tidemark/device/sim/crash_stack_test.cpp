// SPDX-License-Identifier: Apache-2.0
// A thread that has used up its stack still reports its crash.
#include "tidemark/device/sim/crash_stack.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

constexpr int kTold = 42;

// As good as without end; the sum keeps the compiler from making a loop of it.
[[gnu::noinline]] int recurse(int depth, const char* before) {
  char room[4096];
  room[depth % 4096] = static_cast<char>(depth);
  if (depth == 1 << 30) return room[0];
  return recurse(depth + 1, room) + room[depth % 4096] + (before == nullptr ? 0 : before[0]);
}

int overflow_in_a_child(bool with_crash_stack) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit small{.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
    ::setrlimit(RLIMIT_STACK, &small);
    const rlimit none{};
    ::setrlimit(RLIMIT_CORE, &none);
    const stack_t no_stack{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
    ::sigaltstack(&no_stack, nullptr);  // a sanitizer has given it one
    struct sigaction action {};
    action.sa_handler = [](int) { ::_exit(kTold); };
    action.sa_flags = SA_ONSTACK;
    ::sigaction(SIGSEGV, &action, nullptr);
    if (with_crash_stack) {
      const CrashStack stack;
      ::_exit(recurse(0, nullptr));
    }
    ::_exit(recurse(0, nullptr));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(CrashStack, LetsAHandlerRunWhenTheStackIsUsedUp) {
  EXPECT_EQ(overflow_in_a_child(true), kTold);
  EXPECT_EQ(overflow_in_a_child(false), -SIGSEGV);
}

}  // namespace
}  // namespace tidemark
