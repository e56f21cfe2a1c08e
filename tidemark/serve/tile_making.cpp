// SPDX-License-Identifier: Apache-2.0
#include "tidemark/serve/tile_making.h"

#include "tidemark/tiles/tile_set.h"

namespace tidemark {

TileMaking capture_tiles() {
  return {.sketch = sketch_tile_set,
          .whole = [](RunCapture& run, TileSink& sink, MakingProgress& progress) {
            return make_tile_set(
                run, {}, sink,
                [&](std::uint64_t records_done, std::uint64_t records) -> Expected<void> {
                  progress.records = records;
                  progress.records_done = records_done;
                  if (!progress.stops) return {};
                  return failure(ErrorKind::kUsage, "the making of tiles was stopped");
                });
          }};
}

}  // namespace tidemark
