// SPDX-License-Identifier: Apache-2.0
#include "tidemark/tiles/bucket_pyramid.h"

#include <map>

#include <gtest/gtest.h>

#include "tidemark/tiles/sample_pyramid.h"

namespace tidemark {
namespace {

using Tiles = std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<TileBucket>>;

Tiles tiles_of(const std::vector<TileSpan>& spans, const TileGrid& grid) {
  Tiles tiles;
  BucketPyramid pyramid(grid, [&](std::uint32_t level, std::uint64_t tile, auto rows) {
    EXPECT_TRUE(tiles.try_emplace({level, tile}, rows.begin(), rows.end()).second);
  });
  for (const TileSpan& span : spans) pyramid.add(span);
  pyramid.finish();
  return tiles;
}

std::vector<TileSpan> spans_from(std::uint64_t begin, std::size_t count, std::uint64_t apart) {
  std::vector<TileSpan> spans;
  for (std::size_t i = 0; i < count; ++i) spans.push_back({.begin = begin + i * apart});
  return spans;
}

TEST(BucketPyramid, MakesATileWhereMoreThan1024SpansBegin) {
  const TileGrid grid{.shift = 4, .level_count = 2};
  EXPECT_TRUE(tiles_of({}, grid).empty());
  EXPECT_TRUE(tiles_of(spans_from(0, 1024, 1), grid).empty());
  EXPECT_EQ(tiles_of(spans_from(0, 1025, 1), grid).size(), 2u);
  // The same number in two tiles of level 1 is one of level 2.
  const std::uint64_t tile_ticks = 1024 << 4;
  const auto tiles = tiles_of(spans_from(tile_ticks - 600, 1025, 1), grid);
  ASSERT_EQ(tiles.size(), 1u);
  EXPECT_EQ(tiles.begin()->first, std::pair(2u, std::uint64_t{0}));
  EXPECT_EQ(tiles.begin()->second.size(), 17u);  // 1,025 ticks in buckets of 64
}

TEST(BucketPyramid, ATickThatManyCoverBelongsToTheSpanThatBeganFirst) {
  auto spans = spans_from(0, 2000, 8);
  for (TileSpan& span : spans) span.name = 1;
  spans.insert(spans.begin(), {.begin = 0, .length = 100'000, .name = 2});
  const auto tiles = tiles_of(spans, {.shift = 4, .level_count = 1});
  const auto& first = tiles.at({1, 0});
  ASSERT_EQ(first.size(), 1024u);  // also those in which nothing begins
  std::uint64_t count = 0;
  for (const TileBucket& bucket : first) {
    EXPECT_EQ(bucket.busy, 16u);
    EXPECT_EQ(bucket.name, 2u);
    count += bucket.count;
  }
  EXPECT_EQ(count, 2001u);
  EXPECT_EQ(first.front().longest, 100'000u);
  EXPECT_EQ(first.at(1).longest, 0u);
}

TEST(BucketPyramid, SpansWithoutLengthAreNamedByTheirNumber) {
  auto spans = spans_from(0, 1500, 1);
  for (std::size_t i = 0; i < spans.size(); ++i)
    spans[i].name = i % 16 < 7 ? 5 : i % 16 < 14 ? 4 : 9;
  const auto tiles = tiles_of(spans, {.shift = 4, .level_count = 1});
  for (const TileBucket& bucket : tiles.at({1, 0}))
    if (bucket.count == 16) {
      EXPECT_EQ(bucket.name, 4u);  // as many as of 5
    }
}

// Every span ends after all before it, so that ever more covered stretches wait.
TEST(BucketPyramid, KeepsTheTicksOfMoreStretchesThanItRemembers) {
  std::vector<TileSpan> spans;
  const std::uint64_t count = BucketPyramid::kStretchesMost + 5000;
  for (std::uint64_t i = 0; i < count; ++i)
    spans.push_back(
        {.begin = i, .length = 1'000'000 + i, .name = static_cast<std::uint32_t>(i % 3)});
  for (std::uint64_t i = 0; i < 2000; ++i) spans.push_back({.begin = 2'000'000 + i});
  const auto tiles = tiles_of(spans, {.shift = 12, .level_count = 1});
  std::uint64_t busy = 0, begun = 0;
  for (const TileBucket& bucket : tiles.at({1, 0})) {
    busy += bucket.busy;
    begun += bucket.count;
  }
  EXPECT_EQ(busy, count - 1 + 1'000'000 + count - 1);
  EXPECT_EQ(begun, spans.size());
}

TEST(SamplePyramid, HasLeastMostAndLastOfEachBucket) {
  std::vector<std::vector<TileSampleBucket>> tiles;
  SamplePyramid pyramid({.shift = 10, .level_count = 1},
                        [&](std::uint32_t, std::uint64_t, auto rows) {
                          tiles.emplace_back(rows.begin(), rows.end());
                        });
  for (std::uint64_t i = 0; i < 2048; ++i)
    pyramid.add({.begin = i, .value = i == 5 ? -9 : i == 6 ? INT64_MAX : 1});
  pyramid.finish();
  ASSERT_EQ(tiles.size(), 1u);
  const std::vector<TileSampleBucket> expected{{0, 1024, -9, INT64_MAX, 1}, {1, 1024, 1, 1, 1}};
  EXPECT_EQ(tiles.front(), expected);
}

}  // namespace
}  // namespace tidemark
