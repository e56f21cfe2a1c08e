// SPDX-License-Identifier: Apache-2.0
// The binary blobs of a tile set, before compression; docs/tiles.md describes them for other
// viewers. A blob is a header and columns of LEB128 numbers:
//
//   0       4      5       8       12                  20
//   │ TMT1  │ kind │ 0 0 0 │ count │ base              │ u32 bytes, numbers │ u32 bytes, numbers │
//   …
//
// Encoders trust their rows. Decoders trust nothing: what they return is well-formed, or an error.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tidemark/base/expected.h"

namespace tidemark {

enum class BlobKind : std::uint8_t {
  kSpans = 1,
  kBuckets = 2,
  kSamples = 3,
  kSampleBuckets = 4,
  kDirectory = 5,
  kSketch = 6,
};
inline constexpr std::uint32_t kBlobHeaderBytes = 20;
inline constexpr std::uint32_t kLeafRows = 4096;
inline constexpr std::uint32_t kTileBucketBits = 10;
inline constexpr std::uint32_t kTileBuckets = 1u << kTileBucketBits;
inline constexpr std::uint32_t kLevelMost = 26;  // 2^53 ticks in buckets of one tick
inline constexpr std::uint64_t kNoTileTask = ~std::uint64_t{0};
// Of spans and buckets: its task has a NaN or an infinity in its dump; it wrote one, and what was
// dumped of what it read had none.
inline constexpr std::uint16_t kTileNotFinite = 1;
inline constexpr std::uint16_t kTileMadeNotFinite = 2;

constexpr std::uint64_t zigzag(std::int64_t value) {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1 ^ (0 - (value & 1)));
}

// Times are ticks since the epoch.
struct TileSpan {
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  std::uint64_t task = kNoTileTask;
  std::uint64_t aux = 0;
  std::uint32_t name = 0;
  std::uint16_t row = 0;
  std::uint16_t flags = 0;

  [[nodiscard]] std::uint64_t end() const { return begin + length; }
  bool operator==(const TileSpan&) const = default;
};

struct TileBucket {
  std::uint64_t number = 0;
  std::uint64_t count = 0;    // spans that begin in it
  std::uint64_t busy = 0;     // its ticks that a span covers
  std::uint64_t longest = 0;  // of the spans that begin in it
  std::uint32_t name = 0;
  std::uint16_t flags = 0;
  bool operator==(const TileBucket&) const = default;
};

struct TileSample {
  std::uint64_t begin = 0;
  std::int64_t value = 0;
  bool operator==(const TileSample&) const = default;
};

struct TileSampleBucket {
  std::uint64_t number = 0;
  std::uint64_t count = 0;
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::int64_t last = 0;
  bool operator==(const TileSampleBucket&) const = default;
};

struct TileDirectory {
  struct Leaf {
    std::uint64_t begin = 0;  // of its first row
    std::uint64_t end = 0;    // largest of its rows
    std::uint64_t count = 0;
    bool operator==(const Leaf&) const = default;
  };
  std::vector<Leaf> leaves;
  std::vector<std::vector<std::uint64_t>> levels;  // numbers of the tiles of level 1, 2, …
  bool operator==(const TileDirectory&) const = default;
};

struct SketchPage {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t records = 0;
  bool operator==(const SketchPage&) const = default;
};

// Reused: what an encoder returns is valid until its next call.
class BlobEncoder {
 public:
  using Bytes = std::span<const unsigned char>;
  Bytes spans(std::span<const TileSpan> rows);
  Bytes buckets(std::span<const TileBucket> rows);
  Bytes samples(std::span<const TileSample> rows);
  Bytes sample_buckets(std::span<const TileSampleBucket> rows);
  Bytes directory(const TileDirectory& directory);
  Bytes sketch(std::span<const SketchPage> pages);

 private:
  void begin(BlobKind kind, std::size_t count, std::uint64_t base);
  template <class Rows, class Number>
  void column(const Rows& rows, Number number_of);
  void put_u32(std::size_t at, std::uint64_t value);
  [[nodiscard]] Bytes done() const { return {bytes_.data(), size_}; }

  std::vector<unsigned char> bytes_;  // only grows: resizing would fill it with zeros each time
  std::size_t size_ = 0;
};

Expected<std::vector<TileSpan>> decode_spans(std::span<const unsigned char> blob);
Expected<std::vector<TileBucket>> decode_buckets(std::span<const unsigned char> blob);
Expected<std::vector<TileSample>> decode_samples(std::span<const unsigned char> blob);
Expected<std::vector<TileSampleBucket>> decode_sample_buckets(std::span<const unsigned char> blob);
Expected<TileDirectory> decode_directory(std::span<const unsigned char> blob);
Expected<std::vector<SketchPage>> decode_sketch(std::span<const unsigned char> blob);

}  // namespace tidemark
