// SPDX-License-Identifier: Apache-2.0
// The levels of a pyramid of buckets over one track, of which only the dense tiles are made: those
// in whose range more than kSparseRows rows begin. A reader draws the rows themselves elsewhere. So
// neither a sparse stretch nor a row that lasts for hours costs more than the rows do.
//
//   level 2  │ . . . . . . . . . . . . . . . . │                    one tile, 1,024 buckets
//   level 1  │ . . . . │ sparse │ . . . . │ sparse │                 four tiles below it
//
// Rows come in the order of their begins. If a tile is dense, so is the one above it: a closed
// bucket is merged into its parent there, and what is in a sparse tile goes into the buckets of the
// lowest dense tile above it. One bucket per level is open at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tidemark/base/check.h"
#include "tidemark/tiles/tile_codec.h"

namespace tidemark {

inline constexpr std::uint32_t kSparseRows = 1024;

// The widths of the buckets: level 1 has 2^shift ticks, each further one four times as many.
struct TileGrid {
  std::uint32_t shift = 0;
  std::uint32_t level_count = 1;

  [[nodiscard]] std::uint32_t bucket_bits(std::uint32_t level) const {
    return shift + 2 * (level - 1);
  }
  [[nodiscard]] std::uint32_t tile_bits(std::uint32_t level) const {
    return bucket_bits(level) + kTileBucketBits;
  }
  bool operator==(const TileGrid&) const = default;
};

inline constexpr std::uint64_t kNoTime = ~std::uint64_t{0};

// Bucket: clear(), merge(const Bucket&) of a child, and row(number) of type Bucket::Row.
template <class Bucket>
class DenseTiles {
 public:
  using Row = typename Bucket::Row;
  using Put = std::function<void(std::uint32_t level, std::uint64_t tile, std::span<const Row>)>;

  DenseTiles(const TileGrid& grid, Put put)
      : grid_(grid), put_(std::move(put)), levels_(grid.level_count + 1) {
    TM_CHECK(grid.level_count >= 1 && grid.level_count <= kLevelMost);
    TM_CHECK(grid.tile_bits(grid.level_count) < 64);
    lowest_ = grid.level_count + 1;
  }

  // The lowest level with buckets here; level_count + 1: none.
  [[nodiscard]] std::uint32_t lowest() const { return lowest_; }

  // Goes on to the next row. `later`: the begin of the row kSparseRows after it; kNoTime: there is
  // none. cover(until, level) is called for each stretch on the way, in order: what covers it
  // belongs into buckets of that level.
  template <class Cover>
  void move_to(std::uint64_t time, std::uint64_t later, const Cover& cover) {
    if (tile_of(1, time) == levels_[1].tile) return cover(time, lowest_);
    std::uint32_t level = 1;
    for (; level <= grid_.level_count && tile_of(level, time) != levels_[level].tile; ++level)
      if (level >= lowest_) leave(level, cover);
    while (--level >= 1) {
      levels_[level].tile = tile_of(level, time);
      if (later == kNoTime || tile_of(level, later) != levels_[level].tile) continue;
      cover(levels_[level].tile << grid_.tile_bits(level), lowest_);
      lowest_ = level;
    }
    cover(time, lowest_);
  }
  template <class Cover>
  void finish(const Cover& cover) {
    for (std::uint32_t level = lowest_; level <= grid_.level_count; ++level) leave(level, cover);
    cover(kNoTime, lowest_);
  }

  // The bucket of this time. Times of one level never decrease.
  Bucket& at(std::uint32_t level, std::uint64_t time) {
    return bucket(level, time >> grid_.bucket_bits(level));
  }
  [[nodiscard]] std::uint64_t end_of_bucket(std::uint32_t level, std::uint64_t time) const {
    const std::uint32_t bits = grid_.bucket_bits(level);
    return ((time >> bits) + 1) << bits;
  }
  [[nodiscard]] bool has(std::uint32_t level) const { return level <= grid_.level_count; }

 private:
  struct Level {
    std::uint64_t tile = kNoTime;    // the one that the last row is in
    std::uint64_t number = kNoTime;  // of the open bucket
    Bucket open;
    std::vector<Row> rows;  // the closed buckets of the tile
  };

  [[nodiscard]] std::uint64_t tile_of(std::uint32_t level, std::uint64_t time) const {
    return time >> grid_.tile_bits(level);
  }
  template <class Cover>
  void leave(std::uint32_t level, const Cover& cover) {
    Level& left = levels_[level];
    cover((left.tile + 1) << grid_.tile_bits(level), level);
    close_bucket(level);
    put_(level, left.tile, left.rows);
    left.rows.clear();
    lowest_ = level + 1;
  }
  Bucket& bucket(std::uint32_t level, std::uint64_t number) {
    Level& of = levels_[level];
    if (of.number != number) {
      close_bucket(level);
      of.number = number;
    }
    return of.open;
  }
  void close_bucket(std::uint32_t level) {
    Level& of = levels_[level];
    if (of.number == kNoTime) return;
    of.rows.push_back(of.open.row(of.number));
    if (has(level + 1)) bucket(level + 1, of.number >> 2).merge(of.open);
    of.open.clear();
    of.number = kNoTime;
  }

  TileGrid grid_;
  Put put_;
  std::vector<Level> levels_;  // by level; the first one is not used
  std::uint32_t lowest_;
};

}  // namespace tidemark
