// SPDX-License-Identifier: Apache-2.0
// The program of 'bench runtime --graph tiles': one open scope in which tasks write the tiles of
// one buffer, again and again. Every tile has a live writer; who writes a tile again finds it and
// takes its place.
//
//   rows      tile i is row i: bytes without holes
//   columns   tile i is a column: all of them have almost the same byte range
//   mixed     every block of 16 x 16 is tiled three times: 8 row tiles, 4 column tiles, 4 squares.
//             None covers another, all have live writers, and each meets 7 to 11 of them.
#pragma once

#include <cstdint>

#include "tidemark/bench/runtime_graphs.h"

namespace tidemark::bench {

enum class TileShape : std::uint32_t { kRows, kColumns, kMixed };
inline constexpr const char* kTileNames[] = {"rows", "columns", "mixed"};

inline constexpr std::uint64_t kBlockEdge = 16;
inline constexpr std::uint64_t kBlockTiles = 16;

// A power of two of writers makes a whole number of blocks.
TM_DEVICE constexpr TensorShape tiled_buffer(TileShape shape, std::uint64_t writers) {
  if (shape == TileShape::kRows) return {2, {writers, 64}};
  if (shape == TileShape::kColumns) return {2, {64, 4 * writers}};
  std::uint64_t across = 1;
  while (across * across * kBlockTiles < writers) across *= 2;
  return {2, {writers / kBlockTiles / across * kBlockEdge, across * kBlockEdge}};
}

TM_DEVICE inline TensorRef tile_of(const TensorRef& buffer, TileShape shape, std::uint64_t tile) {
  if (shape == TileShape::kRows) return buffer.slice(0, tile, 1);
  if (shape == TileShape::kColumns) return buffer.slice(1, 4 * tile, 4);
  const std::uint64_t block = tile / kBlockTiles, part = tile % kBlockTiles;
  const std::uint64_t across = buffer.view.shape.extent[1] / kBlockEdge;
  const TensorRef square = buffer.slice(0, block / across * kBlockEdge, kBlockEdge)
                               .slice(1, block % across * kBlockEdge, kBlockEdge);
  if (part < 8) return square.slice(0, 2 * part, 2);
  if (part < 12) return square.slice(1, 4 * (part - 8), 4);
  return square.slice(0, (part - 12) / 2 * 8, 8).slice(1, part % 2 * 8, 8);
}

struct TileGraph {
  static constexpr const char* kName = "tile_graph";
  using Kernels = KernelList<EmptyTask>;

  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs& entry) {
    const auto shape = static_cast<TileShape>(entry.number(0));
    const auto writers = static_cast<std::uint64_t>(entry.number(1));
    const auto tasks = static_cast<std::uint64_t>(entry.number(2));
    Scope root(orch);
    for (std::uint64_t i = 0; i < tasks; ++i) {
      // A fixed order in which neighbours are not written one after the other.
      const std::uint64_t tile = i * 0x9E3779B1u % writers;
      Args args;
      orch.template submit_undeclared<EmptyTask>(args.inout(tile_of(entry.tensor(0), shape, tile)));
    }
  }
};

}  // namespace tidemark::bench
