// SPDX-License-Identifier: Apache-2.0
// The host's clock: CLOCK_MONOTONIC in nanoseconds.
#pragma once

#include <time.h>

#include <cstdint>

namespace tidemark {

// Of one of the system's clocks, in nanoseconds.
inline std::uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}
inline std::uint64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }

// A signal ends it early.
inline void sleep_ns(std::uint64_t ns) {
  const timespec time{.tv_sec = static_cast<time_t>(ns / 1'000'000'000u),
                      .tv_nsec = static_cast<long>(ns % 1'000'000'000u)};
  ::nanosleep(&time, nullptr);
}

inline void sleep_ms(std::uint64_t ms) { sleep_ns(ms * 1'000'000u); }

}  // namespace tidemark
