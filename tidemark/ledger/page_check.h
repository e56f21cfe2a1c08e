// SPDX-License-Identifier: Apache-2.0
// Decides whether a page header that came from device memory or from a file can be believed. Every
// number is checked against what the host itself knows; nonsense gets a name and is counted.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "tidemark/transport/lane.h"
#include "tidemark/transport/page.h"

namespace tidemark {

enum class PageFault : std::uint8_t {
  kNone,
  kEmpty,          // never opened, or being reopened
  kForeignRun,     // carries another run's id
  kUnknownLane,    // a lane the run does not have
  kWrongLane,      // not the lane it was received from
  kWrongSequence,  // not the page that comes next
  kBadGeneration,
  kWrongRecordSize,
  kBadCount,  // counts and bytes that cannot be
  kBadFrameOffset,
  kNotSealed,     // published without a count
  kBadPageIndex,  // the ring names a page that does not exist or that the lane does not hold
  kChanging,      // rewritten while it was read
};
inline constexpr std::size_t kPageFaultCount = 13;

std::string_view to_text(PageFault fault);

// What the host knows about the page without asking the device.
struct PageExpectation {
  std::uint64_t run_id = 0;
  std::uint32_t lane_count = 0;
  std::uint32_t payload_bytes = 0;
};

// Checks everything but the lane's own facts; those come with the lane's plan.
PageFault check_page(const PageHeaderImage& header, const PageExpectation& expected);
PageFault check_page_of_lane(const PageHeaderImage& header, const LanePlan& plan);

// True if the registry has such a lane and its records fit into a page. For plans that come from
// the region or from a file.
bool is_known_lane(const LanePlan& plan, std::uint32_t payload_bytes);

// How often each fault was seen.
class FaultCounts {
 public:
  void add(PageFault fault) { ++counts_[static_cast<std::size_t>(fault)]; }
  void add(const FaultCounts& other) {
    for (std::size_t i = 0; i < kPageFaultCount; ++i) counts_[i] += other.counts_[i];
  }
  [[nodiscard]] std::uint64_t of(PageFault fault) const {
    return counts_[static_cast<std::size_t>(fault)];
  }
  [[nodiscard]] std::uint64_t total() const;

 private:
  std::array<std::uint64_t, kPageFaultCount> counts_{};
};

}  // namespace tidemark
