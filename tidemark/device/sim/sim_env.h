// SPDX-License-Identifier: Apache-2.0
// The leaf of the simulated device: its clock and how its threads wait. The clock is the
// time stamp counter where it runs at a constant rate, else the monotonic clock in nanoseconds.
#pragma once

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>

#include <cstdint>

#include "tidemark/base/fault_plan.h"
#include "tidemark/base/monotonic_clock.h"
#include "tidemark/base/spin_once.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace tidemark {

// The time stamp counter runs at a constant rate. Not inline: a test may answer in its place.
bool tsc_is_invariant();
inline bool tsc_is_clock = tsc_is_invariant();
// What a host adds to the monotonic clock that builds a graph for a device with a clock of its own.
inline std::uint64_t clock_offset_ns = 0;

// Two threads that wait for each other by turns may share a processor for ever while another one
// idles: they look too busy to be moved. A thread that may move goes away when its turns have long
// been slow.
class SimPlace {
 public:
  void let_move() { may_move_ = true; }
  void took_turn(std::uint64_t ns) {
    slow_turns_ = ns > kSlowTurnNs ? slow_turns_ + 1 : 0;
    if (!may_move_ || slow_turns_ < kSlowTurns) return;
    slow_turns_ = 0;
    const std::uint64_t now_ns = monotonic_ns();
    if (now_ns - moved_ns_ < kStayNs) return;
    moved_ns_ = now_ns;
    cpu_set_t allowed, others;
    if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
    others = allowed;
    CPU_CLR(static_cast<unsigned>(::sched_getcpu()), &others);
    if (::sched_setaffinity(0, sizeof(others), &others) == 0)
      ::sched_setaffinity(0, sizeof(allowed), &allowed);
  }

 private:
  static constexpr std::uint64_t kSlowTurnNs = 900;  // another thread has run meanwhile
  static constexpr std::uint32_t kSlowTurns = 64;
  static constexpr std::uint64_t kStayNs = 5'000'000;
  bool may_move_ = false;
  std::uint32_t slow_turns_ = 0;
  std::uint64_t moved_ns_ = 0;
};
inline thread_local SimPlace sim_place;

// The unit that this thread is, + 1, for whoever finds it crashed; 0: none.
inline thread_local std::uint32_t sim_unit = 0;

struct SimEnv {
  static std::uint64_t now_ticks() {
#if defined(__x86_64__)
    if (tsc_is_clock) return __rdtsc();
#endif
    return monotonic_ns() + clock_offset_ns;
  }

  // A reading that is not earlier than anything this thread has seen.
  static std::uint64_t ordered_ticks() {
#if defined(__x86_64__)
    _mm_lfence();
#endif
    return now_ticks();
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

  // How a unit waits for another one of its device, at first: there may be more units than
  // processors, and the other one may want this very processor.
  static void take_turn(std::uint32_t round) {
    if (round < 2) return spin_once();
    const std::uint64_t before_ns = monotonic_ns();
    ::sched_yield();
    sim_place.took_turn(monotonic_ns() - before_ns);
  }
  // How the orchestrator waits for space: nobody wakes it, so that nobody pays for it.
  static void wait_for_space(std::uint32_t round) {
    if (round < kTurnsForSpace) return take_turn(round);
    const std::uint32_t doubled = round - kTurnsForSpace < 5 ? round - kTurnsForSpace : 5;
    const timespec time{.tv_sec = 0, .tv_nsec = 30'000L << doubled};
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
  static void wake(Word& word, int sleepers = 1) {
    ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, sleepers, nullptr, nullptr, 0);
  }

  static void fault_point(FaultPoint point) { tidemark::fault_point(point); }

  static constexpr long kSleepNs = 20'000'000;
  static constexpr std::uint32_t kTurnsForSpace = 4;
  static constexpr std::uint32_t kSpinRounds = 32;
  static constexpr std::uint32_t kSleepRound = 256;
};

}  // namespace tidemark
