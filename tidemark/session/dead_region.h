// SPDX-License-Identifier: Apache-2.0
// The region that a killed run left in shared memory, taken over by a recovery: its device process
// is ended, and its lock is held.
#pragma once

#include <string>

#include "tidemark/base/monotonic_clock.h"
#include "tidemark/collect/leftover_pages.h"
#include "tidemark/run/run_report.h"

namespace tidemark {

struct DeadRegion {
  RegionFile file;
  RegionPort port;
  RegionPlan plan;
};

// `here`: the run's pids are pids of this process's namespace too.
Expected<DeadRegion> take_region(const std::string& path, const RunReport& report, bool here);

// An error if the system refused a read: what came instead is not what the region holds.
Expected<void> expect_read(const RegionPort& port, const std::string& path);

// Waits (bounded) until no process of the run holds the region.
Expected<RegionFile> lock_region(const std::string& path);

// What a recovery says of a run that is alive; names its owner.
tl::unexpected<Error> still_going_on(const RunReport& report);

// True where the device has the pages in memory of its own.
bool keeps_its_pages(const RunReport& report);

inline constexpr int kLockTries = 400;
inline constexpr std::uint32_t kTryPauseMs = 10;

// Processes that are on their way out hold the lock for a moment longer, and so does a recovery
// that was started beside this one.
template <class Lock>
auto lock_when_free(const Lock& lock, int tries) {
  for (int attempt = 1;; ++attempt) {
    auto locked = lock();
    if (locked || locked.error().kind != ErrorKind::kUsage || attempt == tries) return locked;
    sleep_ms(kTryPauseMs);
  }
}

}  // namespace tidemark
