// SPDX-License-Identifier: Apache-2.0
// Where everything is in a region, as a pure function of its shape. Both sides compute the
// layout; nobody follows an offset that the other side could have changed.
//
//   header │ lane table │ published counters │ free rings │ full rings │ names │ status │ pages …
#pragma once

#include <cstdint>

#include "tidemark/base/align.h"
#include "tidemark/transport/lane.h"
#include "tidemark/transport/name_table.h"
#include "tidemark/transport/page.h"

namespace tidemark {

struct RegionShape {
  std::uint32_t max_lanes = 1;
  std::uint32_t ring_slots = 8;  // power of two; the most pages one lane may hold
  std::uint32_t page_bytes = kPageBytesDefault;
  std::uint32_t page_count = 8;    // pool and reserved pages together
  std::uint32_t name_slots = 256;  // power of two
  std::uint32_t status_bytes = 0;  // of the runtime: counts, progress, its error
};

inline constexpr std::uint32_t kMaxLanesLimit = 1u << 16;
inline constexpr std::uint32_t kRingSlotsLimit = 1u << 16;
inline constexpr std::uint32_t kNameSlotsLimit = 1u << 16;
inline constexpr std::uint32_t kRegionHeaderBytes = 4096;
inline constexpr std::uint32_t kStatusBytesLimit = 1u << 26;
inline constexpr std::uint64_t kRegionBytesLimit = std::uint64_t{1} << 42;

struct RegionLayout {
  RegionShape shape;
  std::uint64_t lanes_offset = 0;
  std::uint64_t published_offset = 0;
  std::uint64_t free_rings_offset = 0;
  std::uint64_t full_rings_offset = 0;
  std::uint64_t names_offset = 0;
  std::uint64_t status_offset = 0;
  std::uint64_t pages_offset = 0;
  std::uint64_t total_bytes = 0;

  TM_DEVICE constexpr std::uint64_t lane_offset(LaneIndex lane) const {
    return lanes_offset + std::uint64_t{lane} * sizeof(LaneEntry);
  }
  TM_DEVICE constexpr std::uint64_t published_word_offset(LaneIndex lane) const {
    return published_offset + std::uint64_t{lane} * 8;
  }
  TM_DEVICE constexpr std::uint64_t free_ring_offset(LaneIndex lane) const {
    return free_rings_offset + std::uint64_t{lane} * shape.ring_slots * 8;
  }
  TM_DEVICE constexpr std::uint64_t full_ring_offset(LaneIndex lane) const {
    return full_rings_offset + std::uint64_t{lane} * shape.ring_slots * 8;
  }
  TM_DEVICE constexpr std::uint64_t page_offset(PageIndex page) const {
    return pages_offset + std::uint64_t{page} * shape.page_bytes;
  }
  TM_DEVICE constexpr std::uint32_t payload_bytes() const {
    return shape.page_bytes - kPageHeaderBytes;
  }
};

// True if every number of the shape is one that a region can have.
TM_DEVICE constexpr bool is_possible(const RegionShape& shape) {
  return shape.max_lanes >= 1 && shape.max_lanes <= kMaxLanesLimit &&
         is_power_of_two(shape.ring_slots) && shape.ring_slots <= kRingSlotsLimit &&
         shape.page_bytes >= kPageBytesMin && shape.page_bytes <= kPageBytesMax &&
         shape.page_bytes % kPageHeaderBytes == 0 && shape.page_count >= 1 &&
         std::uint64_t{shape.page_count} * shape.page_bytes <= kRegionBytesLimit &&
         is_power_of_two(shape.name_slots) && shape.name_slots <= kNameSlotsLimit &&
         shape.status_bytes <= kStatusBytesLimit;
}

TM_DEVICE constexpr RegionLayout lay_out(const RegionShape& shape) {
  const std::uint64_t ring_bytes = std::uint64_t{shape.max_lanes} * shape.ring_slots * 8;
  RegionLayout layout{.shape = shape};
  layout.lanes_offset = kRegionHeaderBytes;
  layout.published_offset =
      round_up(layout.lanes_offset + shape.max_lanes * sizeof(LaneEntry), 4096);
  layout.free_rings_offset = round_up(layout.published_offset + shape.max_lanes * 8ull, 4096);
  layout.full_rings_offset = round_up(layout.free_rings_offset + ring_bytes, 4096);
  layout.names_offset = round_up(layout.full_rings_offset + ring_bytes, 4096);
  layout.status_offset = round_up(layout.names_offset + shape.name_slots * sizeof(NameSlot), 4096);
  layout.pages_offset = round_up(layout.status_offset + shape.status_bytes, 4096);
  layout.total_bytes =
      round_up(layout.pages_offset + std::uint64_t{shape.page_count} * shape.page_bytes, 4096);
  return layout;
}

}  // namespace tidemark
