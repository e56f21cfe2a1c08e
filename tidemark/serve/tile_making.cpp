// SPDX-License-Identifier: Apache-2.0
#include "tidemark/serve/tile_making.h"

#include <algorithm>
#include <thread>

#include "tidemark/tiles/documents.h"
#include "tidemark/tiles/tile_set.h"

namespace tidemark {
namespace {

constexpr std::uint32_t kThreadsMost = 8;  // reading the records is the work of one

Expected<void> make_whole(RunCapture& run, TileSink& sink, MakingProgress& progress,
                          std::uint32_t threads) {
  const auto goes_on = [&](std::uint64_t records_done, std::uint64_t records) -> Expected<void> {
    progress.records = records;
    progress.records_done = records_done;
    if (!progress.stops) return {};
    return failure(ErrorKind::kUsage, "the making of tiles was stopped");
  };
  const auto documents = [](RunCapture& of, const TrackList& tracks, TileSink& to) {
    return make_documents(of, tracks, {}, to);
  };
  return make_tile_set(run, {.documents = documents, .threads = progress.is_aside ? 1 : threads},
                       sink, goes_on);
}

}  // namespace

TileMaking capture_tiles(std::uint32_t threads) {
  if (threads == 0) threads = std::clamp(std::thread::hardware_concurrency(), 1u, kThreadsMost);
  return {.sketch = sketch_tile_set,
          .whole = [threads](RunCapture& run, TileSink& sink, MakingProgress& progress) {
            return make_whole(run, sink, progress, threads);
          }};
}

}  // namespace tidemark
