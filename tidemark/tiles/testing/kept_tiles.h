// SPDX-License-Identifier: Apache-2.0
// Test support: a tile set in memory, and a reader of it that goes by docs/tiles.md alone: which
// tiles it takes for a stretch of time, and what it then knows of it.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <rapidjson/document.h>

#include "tidemark/base/check.h"
#include "tidemark/tiles/raw_deflate.h"
#include "tidemark/tiles/tile_codec.h"
#include "tidemark/tiles/tile_sink.h"

namespace tidemark::samples {

struct KeptTiles final : TileSink {
  std::map<std::string, std::vector<unsigned char>, std::less<>> blobs;

  Expected<void> put(std::string_view name, std::span<const unsigned char> bytes) override {
    TM_CHECK(!blobs.contains("index.json"));  // it comes last
    blobs[std::string(name)].assign(bytes.begin(), bytes.end());
    return {};
  }
  [[nodiscard]] bool has(const std::string& name) const { return blobs.contains(name); }
  [[nodiscard]] std::vector<unsigned char> blob(const std::string& name) const {
    return inflate_raw(blobs.at(name), 64 << 20).value();
  }
  [[nodiscard]] rapidjson::Document index() const {
    rapidjson::Document json;
    const auto& text = blobs.at("index.json");
    json.Parse(reinterpret_cast<const char*>(text.data()), text.size());
    TM_CHECK(!json.HasParseError() && json.IsObject());
    return json;
  }
};

// What is known of a stretch of time. Busy ticks are those of all spans, overlaps counted once.
struct Stretch {
  std::uint64_t count = 0;
  std::uint64_t busy = 0;
  std::uint64_t longest = 0;
  std::uint16_t flags = 0;
  bool operator==(const Stretch&) const = default;
};

// Of spans sorted by begin; all that reach into [from, to).
inline Stretch stretch_of(const std::vector<TileSpan>& spans, std::uint64_t from,
                          std::uint64_t to) {
  Stretch sum;
  std::uint64_t covered_until = from;
  for (const TileSpan& span : spans) {
    if (span.begin >= from && span.begin < to) {
      ++sum.count;
      sum.longest = std::max(sum.longest, span.length);
      sum.flags |= span.flags;
    }
    const std::uint64_t begin = std::max(span.begin, covered_until);
    const std::uint64_t end = std::min(span.end(), to);
    if (begin >= end) continue;
    sum.busy += end - begin;
    covered_until = end;
  }
  return sum;
}

class TrackReader {
 public:
  TrackReader(const KeptTiles& tiles, std::uint32_t track, std::uint32_t shift)
      : tiles_(tiles), track_(track), shift_(shift) {
    directory_ = decode_directory(tiles.blob("dir/" + std::to_string(track))).value();
  }

  [[nodiscard]] const TileDirectory& directory() const { return directory_; }
  [[nodiscard]] std::string name(std::uint32_t level, std::uint64_t tile) const {
    return "t/" + std::to_string(track_) + "/" + std::to_string(level) + "/" + std::to_string(tile);
  }
  [[nodiscard]] std::uint32_t bits(std::uint32_t level) const { return shift_ + 2 * (level - 1); }
  [[nodiscard]] bool has(std::uint32_t level, std::uint64_t tile) const {
    const auto& tiles = directory_.levels.at(level - 1);
    return std::binary_search(tiles.begin(), tiles.end(), tile);
  }
  [[nodiscard]] std::vector<TileSpan> leaf(std::size_t number) const {
    return decode_spans(tiles_.blob(name(0, number))).value();
  }
  [[nodiscard]] std::vector<TileBucket> buckets(std::uint32_t level, std::uint64_t tile) const {
    return decode_buckets(tiles_.blob(name(level, tile))).value();
  }

  // The stretch is of whole buckets of the level.
  [[nodiscard]] Stretch look(std::uint32_t level, std::uint64_t first_bucket,
                             std::uint64_t last_bucket) const {
    Stretch sum;
    for (std::uint64_t tile = first_bucket >> kTileBucketBits;
         tile <= last_bucket >> kTileBucketBits; ++tile) {
      const std::uint64_t first = std::max(first_bucket, tile << kTileBucketBits);
      const std::uint64_t last =
          std::min(last_bucket, (tile << kTileBucketBits) + kTileBuckets - 1);
      const Stretch part = has(level, tile)
                               ? of_buckets(level, tile, first, last)
                               : of_leaves(first << bits(level), (last + 1) << bits(level));
      sum.count += part.count;
      sum.busy += part.busy;
      sum.longest = std::max(sum.longest, part.longest);
      sum.flags |= part.flags;
    }
    return sum;
  }
  // How many leaves the last look took.
  [[nodiscard]] std::size_t leaves_taken() const { return leaves_taken_; }

 private:
  [[nodiscard]] Stretch of_buckets(std::uint32_t level, std::uint64_t tile, std::uint64_t first,
                                   std::uint64_t last) const {
    Stretch sum;
    for (const TileBucket& bucket : buckets(level, tile)) {
      if (bucket.number < first || bucket.number > last) continue;
      sum.count += bucket.count;
      sum.busy += bucket.busy;
      sum.longest = std::max(sum.longest, bucket.longest);
      sum.flags |= bucket.flags;
    }
    return sum;
  }
  [[nodiscard]] Stretch of_leaves(std::uint64_t from, std::uint64_t to) const {
    std::vector<TileSpan> spans;
    leaves_taken_ = 0;
    for (std::size_t i = 0; i < directory_.leaves.size(); ++i) {
      const auto& known = directory_.leaves[i];
      if (known.begin >= to || (known.end < from)) continue;
      const auto rows = leaf(i);
      spans.insert(spans.end(), rows.begin(), rows.end());
      ++leaves_taken_;
    }
    return stretch_of(spans, from, to);
  }

  const KeptTiles& tiles_;
  std::uint32_t track_;
  std::uint32_t shift_;
  TileDirectory directory_;
  mutable std::size_t leaves_taken_ = 0;
};

}  // namespace tidemark::samples
