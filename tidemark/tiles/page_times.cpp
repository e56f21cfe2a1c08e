// SPDX-License-Identifier: Apache-2.0
#include "tidemark/tiles/page_times.h"

#include <algorithm>
#include <bit>

namespace tidemark {
namespace {

constexpr std::uint32_t kShiftMost = 42;
constexpr std::uint32_t kShiftUnknown = 10;
constexpr double kRecordsInBucket = 4;
constexpr double kDenseShare = 0.1;  // of all records are denser than the chosen density

std::uint64_t records_in(const IndexEntry& chunk, const LanePlan& plan) {
  if (plan.record_bytes == 0 || chunk.payload_bytes < kPageHeaderBytes) return 0;
  return (chunk.payload_bytes - kPageHeaderBytes) / plan.record_bytes;
}

// The pages of one lane, `step` of them as one. Each reaches to the next one whose header is read.
std::vector<SketchPage> read_lane(RunCapture& run, const TrackList& list, LaneIndex lane,
                                  std::size_t step) {
  const auto& chunks = run.page_chunks_of(lane);
  std::vector<SketchPage> pages;
  for (std::size_t first = 0; first < chunks.size(); first += step) {
    const std::size_t last = std::min(first + step, chunks.size()) - 1;
    const auto header = run.page_header(chunks[first]);
    const auto at_end = last == first ? header : run.page_header(chunks[last]);
    if (!header || !at_end) continue;
    const bool open = at_end->record_count == kPageOpen;
    SketchPage page;
    page.begin = list.time_of(header->open_ticks);
    page.end = std::max(page.begin, list.time_of(open ? at_end->open_ticks : at_end->close_ticks));
    for (std::size_t i = first; i <= last; ++i)
      page.records += records_in(chunks[i], run.lanes()[lane]);
    if (page.records > 0) pages.push_back(page);
  }
  return pages;
}

}  // namespace

PageTimes read_page_times(RunCapture& run, const TrackList& list, std::size_t headers_most) {
  std::size_t all = 0;
  for (LaneIndex lane = 0; lane < run.lanes().size(); ++lane)
    all += run.page_chunks_of(lane).size();
  // Two headers are read of pages that are taken as one.
  const std::size_t step = all <= headers_most ? 1 : (2 * all + headers_most - 1) / headers_most;
  PageTimes times(run.lanes().size());
  for (LaneIndex lane = 0; lane < run.lanes().size(); ++lane)
    if (run.lanes()[lane].record_bytes > 0) times[lane] = read_lane(run, list, lane, step);
  return times;
}

std::uint64_t records_in_pages(const RunCapture& run, LaneIndex lane) {
  std::uint64_t records = 0;
  for (const IndexEntry& chunk : run.page_chunks_of(lane))
    records += records_in(chunk, run.lanes()[lane]);
  return records;
}

TileGrid choose_grid(const PageTimes& pages, std::uint64_t end) {
  struct Density {
    double ticks_per_record;
    std::uint64_t records;
  };
  std::vector<Density> densities;
  std::uint64_t records = 0;
  for (const auto& lane : pages)
    for (const SketchPage& page : lane) {
      end = std::max(end, page.end);
      if (page.end == page.begin) continue;
      densities.push_back(
          {static_cast<double>(page.end - page.begin) / static_cast<double>(page.records),
           page.records});
      records += page.records;
    }
  std::sort(densities.begin(), densities.end(), [](const Density& a, const Density& b) {
    return a.ticks_per_record < b.ticks_per_record;
  });
  TileGrid grid{.shift = kShiftUnknown};
  std::uint64_t denser = 0;
  for (const Density& density : densities) {
    denser += density.records;
    if (static_cast<double>(denser) < kDenseShare * static_cast<double>(records)) continue;
    const auto width = static_cast<std::uint64_t>(density.ticks_per_record * kRecordsInBucket);
    grid.shift = std::min(kShiftMost,
                          width == 0 ? 0u : static_cast<std::uint32_t>(std::bit_width(width) - 1));
    break;
  }
  while (end >> grid.tile_bits(grid.level_count) != 0 && grid.level_count < kLevelMost)
    ++grid.level_count;
  return grid;
}

}  // namespace tidemark
