// SPDX-License-Identifier: Apache-2.0
// The buckets of a track of spans. A tick that several spans cover belongs to the one that began
// first, so that no bucket is busier than it is wide; the dominating name of every level is that of
// the spans themselves, not of the winners below.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "tidemark/tiles/dense_tiles.h"

namespace tidemark {

// What each name has in one bucket. Of names that are small numbers.
class NameSums {
 public:
  void add(std::uint32_t name, std::uint64_t busy, std::uint64_t count);
  void add(const NameSums& other);
  void clear();
  // Most ticks, then most begins, then the smallest number.
  [[nodiscard]] std::uint32_t winner() const;

 private:
  struct Sum {
    std::uint64_t busy = 0;
    std::uint64_t count = 0;
  };
  std::vector<Sum> sums_;             // by name
  std::vector<std::uint32_t> names_;  // that have a sum
};

struct SpanBucket {
  using Row = TileBucket;
  std::uint64_t count = 0;
  std::uint64_t busy = 0;
  std::uint64_t longest = 0;
  std::uint16_t flags = 0;
  NameSums names;

  void begin(std::uint64_t length, std::uint32_t name, std::uint16_t span_flags);
  void cover(std::uint64_t ticks, std::uint32_t name);
  void merge(const SpanBucket& child);
  void clear();
  [[nodiscard]] TileBucket row(std::uint64_t number) const;
};

class BucketPyramid {
 public:
  using Put = DenseTiles<SpanBucket>::Put;
  BucketPyramid(const TileGrid& grid, Put put) : tiles_(grid, std::move(put)) {}

  // In the order of their begins.
  void add(const TileSpan& span);
  void finish();

  // Covered stretches that begin after the last span. Where more wait, because ever more spans
  // overlap, the last ones become one: its ticks stay right, their names become that of the first.
  static constexpr std::size_t kStretchesMost = 65536;

 private:
  struct Begin {
    std::uint64_t begin;
    std::uint64_t length;
    std::uint32_t name;
    std::uint16_t flags;
  };
  struct Stretch {
    std::uint64_t from;
    std::uint64_t to;
    std::uint32_t name;
  };
  void take(const Begin& span, std::uint64_t later);
  void put_cover(std::uint64_t until, std::uint32_t level);
  void put_stretch(Stretch stretch, std::uint32_t level);
  void cover(std::uint64_t begin, std::uint64_t end, std::uint32_t name);

  DenseTiles<SpanBucket> tiles_;
  std::vector<Begin> ahead_;  // a ring of the last kSparseRows
  std::uint64_t added_ = 0;
  std::deque<Stretch> stretches_;  // covered, and not in a bucket yet; apart, in order
  std::uint64_t covered_until_ = 0;
};

}  // namespace tidemark
