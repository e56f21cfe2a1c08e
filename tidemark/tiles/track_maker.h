// SPDX-License-Identifier: Apache-2.0
// Makes the tiles of one track from its rows, which come in any order: leaves, buckets, and the
// directory. Knows nothing of records. Tracks do not know of each other.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tidemark/tiles/bucket_pyramid.h"
#include "tidemark/tiles/sample_pyramid.h"
#include "tidemark/tiles/tile_writer.h"
#include "tidemark/tiles/time_order.h"

namespace tidemark {

// Rows of a track whose spans overlap: the lowest one that is free when a span begins.
class RowPlaces {
 public:
  static constexpr std::size_t kRowsMost = 64;  // what is deeper shares the last one
  std::uint16_t place(std::uint64_t begin, std::uint64_t end);
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(ends_.size()); }

 private:
  std::vector<std::uint64_t> ends_;  // of the last span, by row
};

struct TrackTotals {
  std::uint64_t count = 0;
  std::uint64_t end = 0;  // of the last one to end
  std::uint32_t rows = 1;
};

class TrackMaker {
 public:
  virtual ~TrackMaker() = default;
  // After the rows of a pass. True: all of them have to come once more, in the same order.
  virtual bool end_pass() = 0;
  [[nodiscard]] virtual const TrackTotals& totals() const = 0;
};

template <class Row, class Pyramid>
class RowTrackMaker : public TrackMaker {
 public:
  RowTrackMaker(TrackNumber track, const TileGrid& grid, TileWriter& writer, std::size_t late_most)
      : track_(track), grid_(grid), writer_(writer), order_(late_most) {
    restart();
  }
  void add(const Row& row) {
    if (!done_) order_.add(row, [this](const Row& due) { take(due); });
  }
  bool end_pass() final;
  [[nodiscard]] const TrackTotals& totals() const final { return totals_; }

 private:
  void restart();
  void take(Row row);
  void put_leaf();

  TrackNumber track_;
  TileGrid grid_;
  TileWriter& writer_;
  TimeOrder<Row> order_;
  bool done_ = false;
  std::optional<Pyramid> pyramid_;
  RowPlaces places_;
  std::vector<Row> leaf_;
  std::uint64_t leaf_end_ = 0;
  TileDirectory directory_;
  TrackTotals totals_;
};

using SpanTrackMaker = RowTrackMaker<TileSpan, BucketPyramid>;
using SampleTrackMaker = RowTrackMaker<TileSample, SamplePyramid>;

}  // namespace tidemark
