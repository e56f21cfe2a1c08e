// SPDX-License-Identifier: Apache-2.0
// Where the threads of a bench run. With a processor for each, producers and drain threads have
// their own, for the recorder and for the reference alike: otherwise the scheduler sometimes keeps
// two that wait for each other on one processor for a whole round, and the round measures that.
#pragma once

#include <sched.h>

#include <cstdint>

#include "tidemark/bench/bench_options.h"

namespace tidemark::bench {

// While it lives, threads that are started here run on the named processors of those allowed.
class ThreadPlace {
 public:
  ThreadPlace(const BenchOptions& options, std::uint32_t first, std::uint32_t count) {
    if (::sched_getaffinity(0, sizeof(before_), &before_) != 0) return;
    if (static_cast<std::uint32_t>(CPU_COUNT(&before_)) <
        options.lanes + options.recorder.drain_threads)
      return;
    cpu_set_t place;
    CPU_ZERO(&place);
    std::uint32_t number = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &before_)) continue;
      if (number >= first && number < first + count) CPU_SET(cpu, &place);
      ++number;
    }
    placed_ = ::sched_setaffinity(0, sizeof(place), &place) == 0;
  }
  ~ThreadPlace() {
    if (placed_) ::sched_setaffinity(0, sizeof(before_), &before_);
  }
  ThreadPlace(const ThreadPlace&) = delete;
  ThreadPlace& operator=(const ThreadPlace&) = delete;

  static ThreadPlace producer(const BenchOptions& options, std::uint32_t lane) {
    return {options, lane, 1};
  }
  static ThreadPlace drainers(const BenchOptions& options) {
    return {options, options.lanes, options.recorder.drain_threads};
  }

 private:
  cpu_set_t before_{};
  bool placed_ = false;
};

}  // namespace tidemark::bench
