// SPDX-License-Identifier: Apache-2.0
// When the pages of lanes were filled and how many records they have, by their headers alone. Of a
// large capture only some headers are read, so that it takes no longer than that of a small one.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/tiles/dense_tiles.h"
#include "tidemark/tiles/track_list.h"

namespace tidemark {

// Headers that are read of a capture, about.
inline constexpr std::size_t kPageHeadersMost = 16384;

// By lane, those with records only. A SketchPage is one page, or some in a row.
using PageTimes = std::vector<std::vector<SketchPage>>;
PageTimes read_page_times(RunCapture& run, const TrackList& list,
                          std::size_t headers_most = kPageHeadersMost);

// Records in the pages of a lane, by their sizes.
std::uint64_t records_in_pages(const RunCapture& run, LaneIndex lane);

// Level 1 has about four records in a bucket where they are dense; the highest level has the run in
// one tile.
TileGrid choose_grid(const PageTimes& pages, std::uint64_t end);

}  // namespace tidemark
