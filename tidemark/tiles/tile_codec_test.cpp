// SPDX-License-Identifier: Apache-2.0
#include "tidemark/tiles/tile_codec.h"

#include <gtest/gtest.h>

#include "tidemark/base/mix.h"
#include "tidemark/base/testing/seed_range.h"
#include "tidemark/tiles/raw_deflate.h"

namespace tidemark {
namespace {

std::uint64_t number(std::uint64_t seed, std::uint64_t i) {
  return mix(seed * 131 + i) >> mix(seed + i * 7) % 64;
}

std::vector<TileSpan> random_spans(std::uint64_t seed, std::size_t count) {
  std::vector<TileSpan> rows(count);
  std::uint64_t begin = number(seed, 1) >> 12;
  for (std::uint64_t i = 0; i < count; ++i)
    rows[i] = {.begin = begin += number(seed, 10 * i) >> 20,
               .length = number(seed, 10 * i + 1),
               .task = i % 5 == 0 ? kNoTileTask : number(seed, 10 * i + 2),
               .aux = number(seed, 10 * i + 3),
               .name = static_cast<std::uint32_t>(number(seed, 10 * i + 4)),
               .row = static_cast<std::uint16_t>(number(seed, 10 * i + 5)),
               .flags = static_cast<std::uint16_t>(i % 2)};
  return rows;
}

TEST(TileCodec, SpansComeBackAsTheyWere) {
  BlobEncoder encoder;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto rows = random_spans(seed, seed % 7 == 0 ? 0 : seed * 20);
    const auto back = decode_spans(encoder.spans(rows));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, rows);
  }
}

TEST(TileCodec, BucketsSamplesDirectoriesAndSketchesComeBackAsTheyWere) {
  BlobEncoder encoder;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    std::vector<TileBucket> buckets;
    std::vector<TileSample> samples;
    std::vector<TileSampleBucket> sample_buckets;
    std::vector<SketchPage> pages;
    TileDirectory directory;
    for (std::uint64_t i = 0, at = 0; i < seed * 3; ++i) {
      at += 1 + number(seed, i) % 1000;
      const auto value = static_cast<std::int64_t>(number(seed, i + 1)) * (i % 2 == 0 ? 1 : -1);
      buckets.push_back({at, i, number(seed, i + 2), number(seed, i + 3), 3, 1});
      samples.push_back({at, value});
      sample_buckets.push_back({at, i, value, INT64_MAX, INT64_MIN});
      pages.push_back({at, at + i, i});
      directory.leaves.push_back({at, at + number(seed, i) / 2, 4096});
    }
    directory.levels = {{1, 2, 5}, {}, {std::uint64_t{1} << 40}};
    EXPECT_EQ(decode_buckets(encoder.buckets(buckets)).value(), buckets);
    EXPECT_EQ(decode_samples(encoder.samples(samples)).value(), samples);
    EXPECT_EQ(decode_sample_buckets(encoder.sample_buckets(sample_buckets)).value(),
              sample_buckets);
    EXPECT_EQ(decode_sketch(encoder.sketch(pages)).value(), pages);
    EXPECT_EQ(decode_directory(encoder.directory(directory)).value(), directory);
  }
}

// Byte by byte, as docs/tiles.md has it: other viewers read these.
TEST(TileCodec, TheBytesAreTheOnesOfTheDocument) {
  BlobEncoder encoder;
  const std::vector<TileSpan> rows{
      {.begin = 300, .length = 5, .task = 7, .aux = 1, .name = 2},
      {.begin = 310, .length = 200, .task = 6 | std::uint64_t{1} << 32, .name = 2, .row = 1}};
  const std::vector<unsigned char> expected{'T', 'M', 'T', '1', 1,  0,    0, 0,  // kind 1
                                            2,   0,   0,   0,                    // rows
                                            44,  1,   0,   0,   0,  0,    0, 0,  // base: 300
                                            2,   0,   0,   0,   0,  10,          // begin
                                            3,   0,   0,   0,   5,  0xC8, 1,     // length
                                            2,   0,   0,   0,   2,  2,           // name
                                            2,   0,   0,   0,   14, 1,           // task, low
                                            2,   0,   0,   0,   0,  1,           // task, high
                                            2,   0,   0,   0,   1,  0,           // aux
                                            2,   0,   0,   0,   0,  1,           // row
                                            2,   0,   0,   0,   0,  0};          // flags
  const auto bytes = encoder.spans(rows);
  EXPECT_EQ(std::vector<unsigned char>(bytes.begin(), bytes.end()), expected);
}

TEST(TileCodec, DamageIsAnErrorOrOtherRowsAndNeverMore) {
  BlobEncoder encoder;
  const std::uint64_t seeds = fewer_under_sanitizer(4000);
  const auto rows = random_spans(3, 200);
  TileDirectory directory;
  for (std::uint64_t i = 0; i < 40; ++i) directory.leaves.push_back({i * 100, i * 150, 4096});
  directory.levels = {{1, 2}, {0}};
  std::uint64_t refused = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto sound = seed % 2 == 0 ? encoder.spans(rows) : encoder.directory(directory);
    std::vector<unsigned char> bytes(sound.begin(), sound.end());
    for (std::uint64_t i = 0; i < 1 + mix(seed) % 4; ++i)
      bytes[mix(seed * 8 + i) % (seed % 3 == 0 ? 60 : bytes.size())] =
          static_cast<unsigned char>(mix(seed * 16 + i));
    if (seed % 5 == 0) bytes.resize(mix(seed) % bytes.size());
    refused += seed % 2 == 0 ? !decode_spans(bytes) : !decode_directory(bytes);
    (void)decode_buckets(bytes);
    (void)decode_samples(bytes);
    (void)decode_sample_buckets(bytes);
    (void)decode_sketch(bytes);
  }
  EXPECT_GT(refused, seeds / 4);
  EXPECT_FALSE(decode_spans({}));
}

TEST(TileCodec, EveryPrefixIsRefused) {
  BlobEncoder encoder;
  const auto sound = encoder.spans(random_spans(5, 30));
  const std::vector<unsigned char> bytes(sound.begin(), sound.end());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode_spans(std::span(bytes).first(size))) << size;
}

TEST(RawDeflate, InflatesToWhatItWas) {
  RawDeflate deflate;
  for (const std::size_t size : {0u, 1u, 1000u, 100'000u, 3'000'000u}) {
    std::vector<unsigned char> bytes(size);
    for (std::size_t i = 0; i < size; ++i)
      bytes[i] = static_cast<unsigned char>(i % 100 < 50 ? mix(i) : i / 1000);
    const auto small = deflate.compress(bytes);
    const std::vector<unsigned char> compressed(small.begin(), small.end());
    EXPECT_EQ(inflate_raw(compressed, size).value(), bytes);
    if (size > 0) {
      EXPECT_FALSE(inflate_raw(compressed, size - 1));
    }
    if (size == 1000) {
      for (std::size_t cut = 0; cut < compressed.size(); ++cut)
        EXPECT_FALSE(inflate_raw(std::span(compressed).first(cut), size)) << cut;
    }
  }
  EXPECT_FALSE(inflate_raw(std::vector<unsigned char>(100, 0xFF), 1000));
}

}  // namespace
}  // namespace tidemark
