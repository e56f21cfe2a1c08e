// SPDX-License-Identifier: Apache-2.0
// The buckets of a track of samples: least, most and last value. Between two samples the value is
// that of the earlier one; a bucket without a sample is not stored.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/tiles/dense_tiles.h"

namespace tidemark {

struct SampleBucket {
  using Row = TileSampleBucket;
  std::uint64_t count = 0;
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::int64_t last = 0;

  void add(std::int64_t value);
  void merge(const SampleBucket& child);
  void clear() { *this = {}; }
  [[nodiscard]] TileSampleBucket row(std::uint64_t number) const {
    return {.number = number, .count = count, .least = least, .most = most, .last = last};
  }
};

class SamplePyramid {
 public:
  using Put = DenseTiles<SampleBucket>::Put;
  SamplePyramid(const TileGrid& grid, Put put) : tiles_(grid, std::move(put)) {}

  // In the order of their times.
  void add(const TileSample& sample);
  void finish();

 private:
  void take(const TileSample& sample, std::uint64_t later);

  DenseTiles<SampleBucket> tiles_;
  std::vector<TileSample> ahead_;  // a ring of the last kSparseRows
  std::uint64_t added_ = 0;
};

}  // namespace tidemark
