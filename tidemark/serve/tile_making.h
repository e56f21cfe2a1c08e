// SPDX-License-Identifier: Apache-2.0
// How a tile set is made of a capture: by the room `tiles`, or by a test.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "tidemark/run/run_capture.h"
#include "tidemark/tiles/tile_sink.h"

namespace tidemark {

// How far the making is; read by other threads.
struct MakingProgress {
  std::atomic<std::uint64_t> records_done{0};
  std::atomic<std::uint64_t> records{0};
  std::atomic<bool> stops{false};  // the making is asked to end early
};

struct TileMaking {
  // From page headers alone, at once.
  std::function<Expected<void>(RunCapture&, TileSink&)> sketch;
  std::function<Expected<void>(RunCapture&, TileSink&, MakingProgress&)> whole;
};

// The room's own.
TileMaking capture_tiles();

}  // namespace tidemark
