// SPDX-License-Identifier: Apache-2.0
// Linked into a `tidemark` of the tests' own: the linker brings the calls by which the simulated
// device reads the time and waits to here (--wrap in tests/CMakeLists.txt). In the device's process
// they are answered by Turns; everywhere else by the system, but for these:
//   - the monotonic clock of a host process begins at kEpochNs;
//   - the machine has two processors, so that the platform `sim` has one cluster and one scheduler;
//   - the simulated device has no time stamp counter, so that it asks clock_gettime;
//   - its clock and the host's agree exactly, so that its rate is exactly one tick per nanosecond;
//   - time() is one fixed second, so that the name of an output directory is fixed.
#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <thread>

#include "tests/approved/turns.h"
#include "tidemark/device/sim/sim_clock.h"
#include "tidemark/device/sim/sim_env.h"

namespace tidemark::approved {
namespace {

constexpr std::uint32_t kNoUnit = ~0u;
constexpr time_t kFixedSecond = 1'700'000'000;

Turns turns;
bool in_device = false;

// Leaves with its thread.
struct Seat {
  std::uint32_t unit = kNoUnit;
  ~Seat() {
    if (unit != kNoUnit) turns.leave(unit);
  }
};
thread_local Seat seat;

// The unit that this thread is, in its turn.
std::uint32_t unit_here() {
  if (!in_device || sim_unit == 0) return kNoUnit;
  if (seat.unit == kNoUnit) {
    seat.unit = sim_unit - 1;
    turns.enter(seat.unit);
  }
  return seat.unit;
}

std::uint64_t ns_of(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

void put_ns(timespec* time, std::uint64_t ns) {
  time->tv_sec = static_cast<time_t>(ns / 1'000'000'000u);
  time->tv_nsec = static_cast<long>(ns % 1'000'000'000u);
}

}  // namespace
}  // namespace tidemark::approved

using namespace tidemark::approved;

extern "C" {

int __real_clock_gettime(clockid_t clock, timespec* time);
int __real_clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left);
int __real_sched_yield();
long __real_syscall(long number, ...);
int __real_prctl(int option, ...);

int __wrap_clock_gettime(clockid_t clock, timespec* time) {
  if (clock != CLOCK_MONOTONIC) return __real_clock_gettime(clock, time);
  if (in_device) {
    const std::uint32_t unit = unit_here();
    put_ns(time, unit == kNoUnit ? turns.now_ns() : turns.tick());
    return 0;
  }
  static const std::uint64_t begin_ns = [] {
    timespec now{};
    __real_clock_gettime(CLOCK_MONOTONIC, &now);
    return ns_of(now);
  }();
  const int answer = __real_clock_gettime(clock, time);
  put_ns(time, ns_of(*time) - begin_ns + kEpochNs);
  return answer;
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  const std::uint32_t unit = unit_here();
  if (unit == kNoUnit) return __real_clock_nanosleep(clock, flags, time, left);
  turns.sleep(unit, ns_of(*time));
  return 0;
}

int __wrap_sched_yield() {
  const std::uint32_t unit = unit_here();
  if (unit == kNoUnit) return __real_sched_yield();
  turns.yield(unit);
  return 0;
}

long __wrap_syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long args[6];
  for (long& arg : args) arg = va_arg(list, long);
  va_end(list);
  const std::uint32_t unit = number == SYS_futex ? unit_here() : kNoUnit;
  if (unit == kNoUnit)
    return __real_syscall(number, args[0], args[1], args[2], args[3], args[4], args[5]);
  const auto* word = reinterpret_cast<const std::uint32_t*>(args[0]);
  if (static_cast<int>(args[1]) == FUTEX_WAKE_PRIVATE) {
    turns.wake(word);
    return 0;
  }
  if (__atomic_load_n(word, __ATOMIC_ACQUIRE) != static_cast<std::uint32_t>(args[2])) return 0;
  turns.sleep_on(unit, word, ns_of(*reinterpret_cast<const timespec*>(args[3])));
  return 0;
}

// A device process gives itself a name before it does anything else.
int __wrap_prctl(int option, ...) {
  va_list list;
  va_start(list, option);
  unsigned long args[4];
  for (unsigned long& arg : args) arg = va_arg(list, unsigned long);
  va_end(list);
  if (option == PR_SET_NAME &&
      std::strcmp(reinterpret_cast<const char*>(args[0]), "tidemark-device") == 0)
    in_device = true;
  return __real_prctl(option, args[0], args[1], args[2], args[3]);
}

time_t __wrap_time(time_t* to) {
  if (to != nullptr) *to = kFixedSecond;
  return kFixedSecond;
}

bool __wrap__ZN8tidemark16tsc_is_invariantEv() { return false; }

tidemark::ClockSample __wrap__ZN8tidemark16sample_sim_clockEv() {
  const std::uint64_t now_ns = tidemark::monotonic_ns();
  return {.device_ticks = now_ns, .host_ns = now_ns, .real_ns = now_ns, .uncertainty_ns = 1};
}

unsigned __wrap__ZNSt6thread20hardware_concurrencyEv() { return 2; }

// The orchestrator is done when its thread waits for the others.
void __real__ZNSt6thread4joinEv(std::thread* thread);
void __wrap__ZNSt6thread4joinEv(std::thread* thread) {
  if (in_device) turns.leave(0);
  __real__ZNSt6thread4joinEv(thread);
}

}  // extern "C"
