// SPDX-License-Identifier: Apache-2.0
#include "tidemark/run/lane_losses.h"

#include <algorithm>

#include "tidemark/capture/capture_ledger.h"

namespace tidemark {
namespace {

// How far the pages of a lane have come.
struct Reach {
  std::uint64_t number = 0;
  std::uint64_t ticks = 0;
  std::uint64_t in_gaps = 0;
  std::uint64_t in_holes = 0;
};

void take_gaps(const PageHeaderImage& header, std::vector<LaneGap>& gaps) {
  if (header.dropped_before > 0)
    gaps.push_back({header.lane, header.gap_begin_ticks, header.gap_end_ticks,
                    header.dropped_before,
                    static_cast<DropReason>(header.gap_reason % kDropReasonCount)});
  if (header.stall_ticks > 0 && header.stall_ticks < header.open_ticks)
    gaps.push_back({.lane = header.lane,
                    .from_ticks = header.open_ticks - header.stall_ticks,
                    .to_ticks = header.open_ticks});
}

void take_hole(const CapturedPage& page, Reach& reach, std::vector<LaneHole>& holes) {
  const PageHeaderImage& header = page.header;
  const std::uint64_t expected = reach.number + header.dropped_before;
  if (header.first_number > expected) {
    const std::uint64_t lost = header.first_number - expected;
    holes.push_back({.lane = header.lane,
                     .from_ticks = std::min(reach.ticks, header.open_ticks),
                     .to_ticks = header.open_ticks,
                     .lost = lost});
    reach.in_holes += lost;
  }
  reach.in_gaps += header.dropped_before;
  const bool open = header.record_count == kPageOpen;
  reach.number =
      header.first_number + (open ? count_page(header, page.payload).whole : header.record_count);
  reach.ticks = open ? header.open_ticks : header.close_ticks;
}

std::string_view why_not_there(const CapturedLane& lane) {
  const LaneCounts& counts = lane.ledger.counts();
  if (lane.plan.overflow == Overflow::kKeepLast) return kLossOverwritten;
  for (const DropReason reason : {DropReason::kFileError, DropReason::kDeviceLost})
    if (counts.dropped_by[static_cast<std::size_t>(reason)] > 0) return to_text(reason);
  return kLossMissing;
}

}  // namespace

Expected<LaneLosses> read_lane_losses(CaptureReader& reader, const std::vector<LanePlan>& lanes,
                                      std::uint32_t page_bytes, const RunClock& clock) {
  LaneLosses losses;
  std::vector<Reach> reached(lanes.size(), {.ticks = clock.launch_ticks});
  const auto visit = [&](const CapturedPage& page) {
    take_gaps(page.header, losses.gaps);
    take_hole(page, reached[page.header.lane], losses.holes);
  };
  TM_TRY(auto ledger, read_ledger(reader, lanes, page_bytes, visit));
  std::vector<std::uint64_t> lost_in_pages;
  for (const auto& lane : ledger.lanes) lost_in_pages.push_back(lane.ledger.counts().gap_lost);
  finish_lanes(ledger);
  for (LaneIndex i = 0; i < ledger.lanes.size(); ++i) {
    const CapturedLane& lane = ledger.lanes[i];
    const LaneCounts& counts = lane.ledger.counts();
    const LaneWordsImage& words = lane.words;
    Reach& reach = reached[i];
    if (lane.has_words && counts.gap_lost > lost_in_pages[i]) {
      const std::uint64_t lost = counts.gap_lost - lost_in_pages[i];
      losses.gaps.push_back({i, words.tail_gap_begin_ticks, words.tail_gap_end_ticks, lost,
                             static_cast<DropReason>(words.tail_gap_reason % kDropReasonCount)});
      reach.in_gaps += lost;
    }
    const std::uint64_t lost = counts.dropped + counts.overwritten + counts.unaccounted();
    const std::uint64_t placed = reach.in_gaps + reach.in_holes;
    if (lost > placed)
      losses.holes.push_back({.lane = i,
                              .from_ticks = reach.ticks,
                              .to_ticks = std::max(reach.ticks, clock.finish_ticks),
                              .lost = lost - placed});
    losses.counts.push_back(counts);
  }
  for (LaneHole& hole : losses.holes) hole.why = why_not_there(ledger.lanes[hole.lane]);
  return losses;
}

}  // namespace tidemark
