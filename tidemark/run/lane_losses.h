// SPDX-License-Identifier: Apache-2.0
// What is missing of each lane of a capture, and where: by a pass over all its pages.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tidemark/capture/capture_reader.h"
#include "tidemark/ledger/ledger.h"
#include "tidemark/run/description.h"

namespace tidemark {

// Something that is missing, or a wait of the recorder itself, on one lane.
struct LaneGap {
  LaneIndex lane = 0;
  std::uint64_t from_ticks = 0;
  std::uint64_t to_ticks = 0;
  std::uint64_t lost = 0;  // 0: nothing was lost, the producer waited for a page
  DropReason reason = DropReason::kNoPage;
};

// Records that were accepted and are in no page of the capture: between two pages, before the first
// or after the last.
struct LaneHole {
  LaneIndex lane = 0;
  std::uint64_t from_ticks = 0;
  std::uint64_t to_ticks = 0;
  std::uint64_t lost = 0;
  std::string_view why;  // kLossOverwritten, a drop reason, or kLossMissing
};
inline constexpr std::string_view kLossOverwritten = "overwritten";
inline constexpr std::string_view kLossMissing = "missing";

struct LaneLosses {
  std::vector<LaneGap> gaps;
  std::vector<LaneHole> holes;     // with the gaps they add up to what the counts say is not there
  std::vector<LaneCounts> counts;  // by lane
};

Expected<LaneLosses> read_lane_losses(CaptureReader& reader, const std::vector<LanePlan>& lanes,
                                      std::uint32_t page_bytes, const RunClock& clock);

}  // namespace tidemark
