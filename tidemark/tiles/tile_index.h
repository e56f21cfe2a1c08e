// SPDX-License-Identifier: Apache-2.0
// index.json of a tile set.
#pragma once

#include <string>
#include <vector>

#include "tidemark/run/lane_losses.h"
#include "tidemark/tiles/name_table.h"
#include "tidemark/tiles/tile_set.h"
#include "tidemark/tiles/track_maker.h"

namespace tidemark {

struct TileIndex {
  TileGrid grid;
  std::uint64_t end = 0;
  const std::vector<NameTable::Entry>& names;
  const TrackList& list;
  const std::vector<TrackTotals>& totals;  // by track
  TileDocuments documents = {};
  bool sketch_only = false;
  std::uint64_t records_done = 0;
  std::uint64_t records = 0;
  LaneCounts counts = {};  // of all streams
};

std::string index_json(const RunCapture& run, const TileIndex& index);

}  // namespace tidemark
