// SPDX-License-Identifier: Apache-2.0
// Makes a tile set of a run: what a page needs to show it, as docs/tiles.md describes. Streams over
// the capture: memory holds one track's open buckets and a few bytes per leaf, however long the run
// was.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tidemark/run/run_capture.h"
#include "tidemark/tiles/tile_sink.h"
#include "tidemark/tiles/track_list.h"

namespace tidemark {

// What index.json says of the documents.
struct TileDocuments {
  std::vector<std::string> names;  // of doc/NAME
  std::uint64_t tasks = 0;         // rows in graph/
  std::uint64_t tensors = 0;       // rows in tensors/
  std::uint64_t kept_payloads = 0;
  std::string payload_note;
};

struct TileOptions {
  // Makes the documents, before the tracks; null: there are none.
  std::function<Expected<TileDocuments>(RunCapture&, const TrackList&, TileSink&)> documents = {};
  // That compress; whatever the number, the same blobs come to the sink in the same order.
  std::uint32_t threads = 1;
};

// records_done of records, about: lanes may be read more than once. An error ends the making and is
// its result.
using TileProgress =
    std::function<Expected<void>(std::uint64_t records_done, std::uint64_t records)>;

Expected<void> make_tile_set(RunCapture& run, const TileOptions& options, TileSink& sink,
                             const TileProgress& progress = {});

// The coarsest picture, from the headers of some pages: its cost does not depend on the number of
// records. The tracks in it have the same numbers in the whole set.
Expected<void> sketch_tile_set(RunCapture& run, TileSink& sink);

}  // namespace tidemark
