// SPDX-License-Identifier: Apache-2.0
// The leaf of the simulated device: its clock and how its threads wait. The clock is the
// time stamp counter where it runs at a constant rate, else the monotonic clock in nanoseconds.
#pragma once

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

#include "tidemark/base/monotonic_clock.h"
#include "tidemark/base/spin_once.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace tidemark {

#if defined(__x86_64__)
inline bool tsc_is_invariant() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) != 0 && (edx >> 8 & 1) != 0;
}
inline const bool kTscIsClock = tsc_is_invariant();
#else
inline constexpr bool kTscIsClock = false;
#endif

struct SimEnv {
  static std::uint64_t now_ticks() {
#if defined(__x86_64__)
    if (kTscIsClock) return __rdtsc();
#endif
    return monotonic_ns();
  }

  // Spins, then yields, then sleeps for longer and longer, at most 1 ms: more simulated cores than
  // real ones must make progress, and a copied host cannot wake anybody. Sleep comes late: a thread
  // that slept often wakes on the core of the drainer it waits for.
  static void pause(std::uint32_t round) {
    if (round < kSpinRounds) return spin_once();
    if (round < kSleepRound) {
      ::sched_yield();
      return;
    }
    const std::uint32_t doubled = round - kSleepRound < 6 ? round - kSleepRound : 6;
    const long sleep_ns = doubled == 6 ? 1'000'000 : 16'000L << doubled;
    const timespec time{.tv_sec = 0, .tv_nsec = sleep_ns};
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
  }

  // Until somebody wakes the word, it is not `heard` any more, or twenty milliseconds are over.
  template <class Word>
  static void sleep(Word& word, std::uint32_t heard) {
    static_assert(sizeof(Word) == 4);
    const timespec time{.tv_sec = 0, .tv_nsec = kSleepNs};
    ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, heard, &time, nullptr, 0);
  }
  template <class Word>
  static void wake(Word& word) {
    ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }

  static constexpr long kSleepNs = 20'000'000;
  static constexpr std::uint32_t kSpinRounds = 32;
  static constexpr std::uint32_t kSleepRound = 256;
};

}  // namespace tidemark
