// SPDX-License-Identifier: Apache-2.0
// How a tile set is made of a capture: by the room `tiles`, or by a test.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "tidemark/run/run_capture.h"
#include "tidemark/tiles/tile_sink.h"

namespace tidemark {

// How far the making is, read by other threads; and what they ask of it.
struct MakingProgress {
  std::atomic<std::uint64_t> records_done{0};
  std::atomic<std::uint64_t> records{0};
  std::atomic<bool> stops{false};     // the making is asked to end early
  std::atomic<bool> is_aside{false};  // a run goes on: no more than one thread
};

struct TileMaking {
  // From page headers alone, at once.
  std::function<Expected<void>(RunCapture&, TileSink&)> sketch;
  std::function<Expected<void>(RunCapture&, TileSink&, MakingProgress&)> whole;
};

// The room's own. Threads 0: one for each processor, up to eight. Their number changes no byte.
TileMaking capture_tiles(std::uint32_t threads = 0);

}  // namespace tidemark
