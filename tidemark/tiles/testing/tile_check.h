// SPDX-License-Identifier: Apache-2.0
// Test support: compares every blob of a tile set with the records of its run.
#pragma once

#include <gtest/gtest.h>

#include "tidemark/base/mix.h"
#include "tidemark/tiles/testing/kept_tiles.h"
#include "tidemark/tiles/testing/naive_tracks.h"

namespace tidemark::samples {

struct CheckedTiles {
  std::uint64_t spans = 0;
  std::uint64_t samples = 0;
  std::uint64_t bucket_tiles = 0;
  std::uint64_t merged = 0;  // buckets that were compared with the four below them
  std::uint64_t most_levels = 0;
};

class TileCheck {
 public:
  TileCheck(RunCapture& run, const KeptTiles& tiles, std::uint64_t seed)
      : list_(list_tracks(run).value()), naive_(run, list_), tiles_(tiles), seed_(seed) {
    index_ = tiles.index();
    shift_ = index_["shift"].GetUint();
    level_count_ = index_["level_count"].GetUint();
  }
  NaiveTracks& naive() { return naive_; }

  CheckedTiles check() {
    std::set<std::string> named{"index.json"};
    std::size_t listed = 0;
    for (const auto& track : index_["tracks"].GetArray()) {
      const TrackNumber number = track["id"].GetUint();
      SCOPED_TRACE(std::string("track ") + track["name"].GetString());
      const Track& of = list_.tracks.at(number);
      EXPECT_EQ(to_text(of.kind), track["kind"].GetString());
      if (of.has_samples())
        check_samples(number, of, track["count"].GetUint64());
      else
        check_spans(number, of, track["count"].GetUint64(), track["rows"].GetUint());
      ++listed;
      if (testing::Test::HasFailure()) break;
    }
    EXPECT_LE(listed, list_.tracks.size());
    return sums_;
  }

 private:
  void check_spans(TrackNumber number, const Track& track, std::uint64_t count,
                   std::uint32_t rows) {
    const TrackReader reader(tiles_, number, shift_);
    const auto expected = naive_.spans(track);
    ASSERT_EQ(expected.size(), count);
    sums_.spans += count;
    std::vector<TileSpan> spans;
    for (std::size_t i = 0; i < reader.directory().leaves.size(); ++i) {
      const auto leaf = reader.leaf(i);
      const auto& known = reader.directory().leaves[i];
      ASSERT_EQ(known.count, leaf.size());
      ASSERT_EQ(known.begin, leaf.front().begin);
      std::uint64_t end = 0;
      for (const TileSpan& span : leaf) end = std::max(end, span.end());
      ASSERT_EQ(known.end, end);
      ASSERT_TRUE(leaf.size() == kLeafRows || i + 1 == reader.directory().leaves.size());
      spans.insert(spans.end(), leaf.begin(), leaf.end());
    }
    ASSERT_EQ(spans.size(), expected.size());
    std::uint32_t rows_seen = 1;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      ASSERT_EQ(index_["names"][spans[i].name].GetString(), expected[i].name) << "span " << i;
      TileSpan unnamed = spans[i];
      unnamed.name = 0;
      ASSERT_EQ(unnamed, expected[i].span) << "span " << i;
      rows_seen = std::max<std::uint32_t>(rows_seen, spans[i].row + 1u);
    }
    EXPECT_EQ(rows, rows_seen);
    ASSERT_EQ(reader.directory().levels.size(), level_count_);
    for (std::uint32_t level = 1; level <= level_count_; ++level) {
      check_level(reader, level, spans);
      if (testing::Test::HasFailure()) return;
    }
    look_around(reader, spans);
  }

  // Every tile is there that has to be and no other, and every bucket is what the spans say.
  void check_level(const TrackReader& reader, std::uint32_t level,
                   const std::vector<TileSpan>& spans) {
    const std::uint32_t bits = reader.bits(level);
    std::map<std::uint64_t, std::uint64_t> begins;
    for (const TileSpan& span : spans) ++begins[span.begin >> bits >> kTileBucketBits];
    std::vector<std::uint64_t> dense;
    for (const auto& [tile, count] : begins)
      if (count > 1024) dense.push_back(tile);
    ASSERT_EQ(reader.directory().levels[level - 1], dense) << "level " << level;
    for (const std::uint64_t tile : dense) check_tile(reader, level, tile, spans);
    sums_.bucket_tiles += dense.size();
    if (!dense.empty()) sums_.most_levels = std::max<std::uint64_t>(sums_.most_levels, level);
  }

  struct NaiveBucket {
    TileBucket sum;
    std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> names;  // busy, begins
  };
  static std::map<std::uint64_t, NaiveBucket> naive_buckets(const std::vector<TileSpan>& spans,
                                                            std::uint32_t bits,
                                                            std::uint64_t tile) {
    const std::uint64_t from = tile << kTileBucketBits << bits;
    const std::uint64_t to = (tile + 1) << kTileBucketBits << bits;
    std::map<std::uint64_t, NaiveBucket> buckets;
    std::uint64_t covered_until = 0;
    for (const TileSpan& span : spans) {
      if (span.begin >= to) break;
      if (span.begin >= from) {
        NaiveBucket& in = buckets[span.begin >> bits];
        ++in.sum.count;
        in.sum.longest = std::max(in.sum.longest, span.length);
        in.sum.flags |= span.flags;
        ++in.names[span.name].second;
      }
      std::uint64_t at = std::max({span.begin, covered_until, from});
      for (; at < std::min(span.end(), to);) {
        const std::uint64_t end = std::min({((at >> bits) + 1) << bits, span.end(), to});
        NaiveBucket& in = buckets[at >> bits];
        in.sum.busy += end - at;
        in.names[span.name].first += end - at;
        at = end;
      }
      covered_until = std::max(covered_until, span.end());
    }
    return buckets;
  }

  void check_tile(const TrackReader& reader, std::uint32_t level, std::uint64_t tile,
                  const std::vector<TileSpan>& spans) {
    const auto rows = reader.buckets(level, tile);
    auto expected = naive_buckets(spans, reader.bits(level), tile);
    ASSERT_EQ(rows.size(), expected.size()) << "level " << level << " tile " << tile;
    auto next = expected.begin();
    for (const TileBucket& row : rows) {
      auto& [number, bucket] = *next++;
      bucket.sum.number = number;
      const auto* best = &*bucket.names.begin();
      for (const auto& name : bucket.names)
        if (name.second > best->second) best = &name;
      bucket.sum.name = best->first;
      ASSERT_EQ(row.number, number);
      ASSERT_EQ(row, bucket.sum) << "level " << level << " bucket " << number << " count "
                                 << row.count << "/" << bucket.sum.count << " busy " << row.busy
                                 << "/" << bucket.sum.busy << " name " << row.name << "/"
                                 << bucket.sum.name;
    }
    if (level > 1) compare_with_four(reader, level, rows);
  }

  void compare_with_four(const TrackReader& reader, std::uint32_t level,
                         const std::vector<TileBucket>& rows) {
    std::map<std::uint64_t, std::vector<TileBucket>> below;
    for (const TileBucket& row : rows) {
      const std::uint64_t tile = row.number * 4 >> kTileBucketBits;
      if (!reader.has(level - 1, tile)) continue;
      if (!below.contains(tile)) below[tile] = reader.buckets(level - 1, tile);
      TileBucket merged{.number = row.number, .name = row.name};
      for (const TileBucket& child : below[tile]) {
        if (child.number >> 2 != row.number) continue;
        merged.count += child.count;
        merged.busy += child.busy;
        merged.longest = std::max(merged.longest, child.longest);
        merged.flags |= child.flags;
      }
      ASSERT_EQ(merged, row);
      ++sums_.merged;
    }
  }

  // What a page shows of random stretches of time.
  void look_around(const TrackReader& reader, const std::vector<TileSpan>& spans) {
    if (spans.empty()) return;
    const std::uint64_t end = spans.back().begin + 1;
    for (std::uint64_t i = 0; i < 50; ++i) {
      const auto draw = [&](std::uint64_t j) { return mix(seed_ * 7919 + i * 8 + j); };
      const auto level = static_cast<std::uint32_t>(1 + draw(0) % level_count_);
      const std::uint32_t bits = reader.bits(level);
      const std::uint64_t first = (draw(1) % end) >> bits;
      const std::uint64_t last = first + draw(2) % (draw(3) % 2 == 0 ? 4 : 3000);
      if ((last >> kTileBucketBits) - (first >> kTileBucketBits) > 4) continue;
      ASSERT_EQ(reader.look(level, first, last),
                stretch_of(spans, first << bits, (last + 1) << bits))
          << "level " << level << " buckets " << first << " to " << last;
    }
  }

  void check_samples(TrackNumber number, const Track& track, std::uint64_t count) {
    const TrackReader reader(tiles_, number, shift_);
    auto expected = naive_.samples(track);
    ASSERT_EQ(expected.size(), count);
    sums_.samples += count;
    std::vector<TileSample> samples;
    for (std::size_t i = 0; i < reader.directory().leaves.size(); ++i) {
      const auto leaf = decode_samples(tiles_.blob(reader.name(0, i))).value();
      ASSERT_EQ(reader.directory().leaves[i].count, leaf.size());
      ASSERT_EQ(reader.directory().leaves[i].begin, leaf.front().begin);
      ASSERT_EQ(reader.directory().leaves[i].end, leaf.back().begin);
      samples.insert(samples.end(), leaf.begin(), leaf.end());
    }
    ASSERT_TRUE(std::is_sorted(samples.begin(), samples.end(), comes_first));
    if (track.lanes.size() == 1) {
      ASSERT_EQ(samples, expected);
    } else {  // samples of one tick come in the order of their lanes' records
      auto sorted = samples;
      std::sort(sorted.begin(), sorted.end(), by_value);
      std::sort(expected.begin(), expected.end(), by_value);
      ASSERT_EQ(sorted, expected);
    }
    for (std::uint32_t level = 1; level <= level_count_; ++level)
      check_sample_level(reader, level, samples);
  }
  static bool comes_first(const TileSample& a, const TileSample& b) { return a.begin < b.begin; }
  static bool by_value(const TileSample& a, const TileSample& b) {
    return std::pair(a.begin, a.value) < std::pair(b.begin, b.value);
  }

  void check_sample_level(const TrackReader& reader, std::uint32_t level,
                          const std::vector<TileSample>& samples) {
    const std::uint32_t bits = reader.bits(level);
    std::map<std::uint64_t, std::map<std::uint64_t, TileSampleBucket>> expected;  // by tile
    std::map<std::uint64_t, std::uint64_t> begins;
    for (const TileSample& sample : samples) {
      const std::uint64_t number = sample.begin >> bits;
      ++begins[number >> kTileBucketBits];
      auto [found, fresh] = expected[number >> kTileBucketBits].try_emplace(
          number, TileSampleBucket{number, 0, sample.value, sample.value, 0});
      TileSampleBucket& in = found->second;
      ++in.count;
      in.least = std::min(in.least, sample.value);
      in.most = std::max(in.most, sample.value);
      in.last = sample.value;
    }
    std::vector<std::uint64_t> dense;
    for (const auto& [tile, count] : begins)
      if (count > 1024) dense.push_back(tile);
    ASSERT_EQ(reader.directory().levels[level - 1], dense);
    for (const std::uint64_t tile : dense) {
      std::vector<TileSampleBucket> rows;
      for (const auto& [number, bucket] : expected[tile]) rows.push_back(bucket);
      ASSERT_EQ(decode_sample_buckets(tiles_.blob(reader.name(level, tile))).value(), rows);
    }
    sums_.bucket_tiles += dense.size();
  }

  TrackList list_;
  NaiveTracks naive_;
  const KeptTiles& tiles_;
  std::uint64_t seed_;
  rapidjson::Document index_;
  std::uint32_t shift_ = 0;
  std::uint32_t level_count_ = 0;
  CheckedTiles sums_;
};

}  // namespace tidemark::samples
