// SPDX-License-Identifier: Apache-2.0
// A lane as the capture remembers it at the end of a run: what it was planned as, its last words,
// and what the host itself could not keep. The payload of a kLanes chunk is an array of these.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "tidemark/transport/lane.h"

namespace tidemark {

struct LaneRecord {
  LanePlan plan;
  LaneWordsImage words;
  std::uint64_t file_error_dropped;
  std::uint64_t device_lost_dropped;  // in pages that were never pulled from the device
  std::uint64_t reserved[6];
};
static_assert(sizeof(LaneRecord) == 256 && std::is_trivially_copyable_v<LaneRecord>);

// The payload of the chunk.
inline std::span<const unsigned char> bytes_of(std::span<const LaneRecord> lanes) {
  return {reinterpret_cast<const unsigned char*>(lanes.data()), lanes.size_bytes()};
}

}  // namespace tidemark
