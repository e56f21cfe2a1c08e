// SPDX-License-Identifier: Apache-2.0
// A look at a run from another process, through its region and nothing else: read-only, without a
// lock, by copies. What it reads is a moment's figures; nothing of it is trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tidemark/collect/leftover_pages.h"
#include "tidemark/run/hang_state.h"

namespace tidemark {

struct LiveStream {
  std::string name;
  std::uint32_t lanes = 0;
  std::uint64_t attempted = 0;  // as of the last page each lane gave away
  std::uint64_t pages = 0;
  std::uint64_t dropped = 0;
  std::uint64_t stall_ticks = 0;
  std::uint32_t waiting = 0;  // lanes whose producer waits for a page now
};

struct LiveView {
  std::uint64_t taken_ns = 0;  // the host's clock
  bool has_runtime = false;
  HangState state;  // units, rings, counts; no tasks
  std::uint64_t drained_pages = 0;
  std::vector<LiveStream> streams;
  std::uint32_t error_code = 0;  // latched by the device
  bool host_alive = false;
  bool device_alive = false;
};

class LiveRun {
 public:
  static Expected<LiveRun> attach(const std::string& directory);
  [[nodiscard]] const RunReport& report() const { return report_; }
  // Nothing: the run has ended, its region is gone.
  [[nodiscard]] std::optional<LiveView> look();

 private:
  std::string directory_;
  RunReport report_;
  RegionFile file_;
  RegionPort port_;
  RegionPlan plan_;
};

}  // namespace tidemark
