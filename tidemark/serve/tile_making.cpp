// SPDX-License-Identifier: Apache-2.0
#include "tidemark/serve/tile_making.h"

#include "tidemark/tiles/documents.h"
#include "tidemark/tiles/tile_set.h"

namespace tidemark {
namespace {

Expected<void> make_whole(RunCapture& run, TileSink& sink, MakingProgress& progress) {
  const auto goes_on = [&](std::uint64_t records_done, std::uint64_t records) -> Expected<void> {
    progress.records = records;
    progress.records_done = records_done;
    if (!progress.stops) return {};
    return failure(ErrorKind::kUsage, "the making of tiles was stopped");
  };
  const auto documents = [](RunCapture& of, const TrackList& tracks, TileSink& to) {
    return make_documents(of, tracks, {}, to);
  };
  return make_tile_set(run, {.documents = documents}, sink, goes_on);
}

}  // namespace

TileMaking capture_tiles() { return {.sketch = sketch_tile_set, .whole = make_whole}; }

}  // namespace tidemark
