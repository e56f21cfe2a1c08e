// SPDX-License-Identifier: Apache-2.0
// The host's watchdog: looks at the progress lines in the region and finds a unit that does not go
// on although it should. The schedulers watch kernels themselves
// (runtime/units/scheduler_watchdog.h); this one finds what they cannot: an orchestration or a
// scheduler that does not move, and kernels whose scheduler does. Only change is judged, by the
// host's clock: nonsense in the region can delay a finding, never cause one while something moves.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tidemark/collect/region_port.h"
#include "tidemark/schema/hang_class.h"
#include "tidemark/schema/unit_counts.h"
#include "tidemark/schema/unit_image.h"

namespace tidemark {

struct HangFinding {
  HangClass hang = HangClass::kNone;
  std::uint32_t unit = 0;
  std::uint64_t idle_ms = 0;  // how long it has not moved
};

class HostWatchdog {
 public:
  // limit_ms 0: never finds anything.
  HostWatchdog(const RegionPort* port, const RegionLayout& layout, UnitCounts units,
               std::uint64_t limit_ms);

  std::optional<HangFinding> look(std::uint64_t now_ns);
  // While a driver writes the core dump of a crash, a GPU stands still as a whole and nobody says
  // so: for so long nothing is found as long as not even a scheduler moves.
  void allow_standstill(std::uint32_t ms) { standstill_ms_ = ms; }
  // The device has latched an error: how long ago the host saw it.
  [[nodiscard]] std::optional<std::uint64_t> latched_ms(std::uint64_t now_ns);

 private:
  struct Seen {
    UnitImage image{};
    std::uint64_t moved_ns = 0;
  };
  std::optional<HangFinding> find(std::uint64_t now_ns);
  void read_units(std::uint64_t now_ns);
  [[nodiscard]] std::uint64_t standstill_ms(std::uint64_t now_ns) const;
  [[nodiscard]] std::optional<std::uint32_t> stays_behind(std::uint64_t now_ns) const;
  [[nodiscard]] std::uint64_t still_ms(std::uint32_t unit, std::uint64_t now_ns) const;

  const RegionPort* port_;
  RegionLayout layout_;
  UnitCounts units_;
  std::uint64_t limit_ms_;
  std::uint32_t standstill_ms_ = 0;
  std::vector<Seen> seen_;
  std::uint64_t counts_[3] = {};  // submitted, scopes, completed at once
  std::uint64_t counts_moved_ns_ = 0;
  std::uint64_t latched_ns_ = 0;
};

// The lines of all units as they are now; as many as the region has room for.
std::vector<UnitImage> read_unit_lines(const RegionPort& port, const RegionLayout& layout,
                                       const UnitCounts& units);

}  // namespace tidemark
