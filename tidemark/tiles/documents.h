// SPDX-License-Identifier: Apache-2.0
// The JSON documents of a tile set: one for each panel of the page, and the pages of the task graph
// and of the dumped arguments. What was not recorded has no document, and the overview says why.
#pragma once

#include <cstdint>

#include "tidemark/tiles/tile_set.h"
#include "tidemark/tiles/track_list.h"

namespace tidemark {

struct DocumentOptions {
  // Bytes of dumped arguments that the tile set keeps, before compression: in all, and of one.
  std::uint64_t payload_bytes = 16ull << 20;
  std::uint64_t payload_bytes_each = 1ull << 20;
  // Bytes that are read for statistics which the device did not take.
  std::uint64_t stats_bytes = 256ull << 20;
  // Of the edges stream; the graph of a longer one does not fit into memory.
  std::uint64_t graph_records_max = 40'000'000;
};

using DocumentList = TileDocuments;

// Errors are those of the sink, and of a capture whose pages cannot be read at all.
Expected<DocumentList> make_documents(RunCapture& run, const TrackList& tracks,
                                      const DocumentOptions& options, TileSink& sink);

}  // namespace tidemark
