// SPDX-License-Identifier: Apache-2.0
#include "tidemark/tiles/tile_writer.h"

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "tidemark/base/monotonic_clock.h"

namespace tidemark {
namespace {

// What comes, in the order in which it comes; at most one call at a time.
struct OrderedSink : TileSink {
  std::vector<std::pair<std::string, std::vector<unsigned char>>> blobs;
  std::atomic<std::size_t> count{0};
  std::atomic<bool> holds{false};
  std::atomic<bool> is_called{false};
  std::size_t fails_after = ~std::size_t{0};

  Expected<void> put(std::string_view name, std::span<const unsigned char> bytes) override {
    EXPECT_FALSE(is_called.exchange(true)) << "two threads at once";
    while (holds) sleep_ms(1);
    const bool fails = blobs.size() >= fails_after;
    if (!fails) blobs.emplace_back(name, std::vector<unsigned char>(bytes.begin(), bytes.end()));
    count = blobs.size();
    is_called = false;
    if (fails) return failure(ErrorKind::kFile, "the sink is full");
    return {};
  }
};

// Blobs of very different sizes, so that a later one is ready before an earlier one.
std::vector<std::vector<unsigned char>> make_blobs(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<unsigned char>> blobs(count);
  for (auto& blob : blobs) {
    blob.resize(random() % (random() % 8 == 0 ? 200'000 : 300));
    for (auto& byte : blob) byte = static_cast<unsigned char>(random() % 40);
  }
  return blobs;
}

void put_all(TileWriter& writer, const std::vector<std::vector<unsigned char>>& blobs) {
  for (std::size_t i = 0; i < blobs.size(); ++i) writer.put_tile(3, 1, i, blobs[i]);
  writer.put_directory(3, blobs.front());
}

TEST(TileWriter, WhateverTheNumberOfThreadsTheSameComesInTheSameOrder) {
  const auto blobs = make_blobs(1, 300);
  OrderedSink one;
  {
    TileWriter writer(one);
    put_all(writer, blobs);
    ASSERT_TRUE(writer.finish());
  }
  ASSERT_EQ(one.blobs.size(), 301u);
  EXPECT_EQ(one.blobs[7].first, "t/3/1/7");
  EXPECT_EQ(inflate_raw(one.blobs[7].second, 1 << 20).value(), blobs[7]);
  for (const std::uint32_t threads : {2u, 3u, 8u}) {
    OrderedSink more;
    TileWriter writer(more, threads);
    put_all(writer, blobs);
    ASSERT_TRUE(writer.finish());
    EXPECT_EQ(more.blobs, one.blobs) << threads << " threads";
  }
}

TEST(TileWriter, ASinkThatIsSlowStopsWhoeverPuts) {
  OrderedSink sink;
  sink.holds = true;
  constexpr std::uint32_t kThreads = 3;
  TileWriter writer(sink, kThreads);
  const std::vector<unsigned char> blob(1000, 7);
  std::atomic<std::size_t> put{0};
  std::jthread putting([&] {
    for (; put < 200; ++put) writer.put_tile(0, 0, put, blob);
  });
  // It goes as far as there is room, and no further.
  while (put < kThreads * 2) sleep_ms(1);
  sleep_ms(100);
  EXPECT_LE(put, 8 * kThreads) << "all of it is kept in memory";
  EXPECT_TRUE(writer.result()) << "who asks meanwhile is answered";
  sink.holds = false;
  putting.join();
  ASSERT_TRUE(writer.finish());
  EXPECT_EQ(sink.blobs.size(), 200u);
}

TEST(TileWriter, AfterAnErrorNothingIsPutAndTheErrorStays) {
  for (const std::uint32_t threads : {1u, 4u}) {
    OrderedSink sink;
    sink.fails_after = 5;
    TileWriter writer(sink, threads);
    put_all(writer, make_blobs(2, 100));
    const auto done = writer.finish();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message, "the sink is full");
    EXPECT_EQ(sink.blobs.size(), 5u);
  }
}

TEST(TileWriter, OneThatIsGivenUpEnds) {
  OrderedSink sink;
  TileWriter writer(sink, 4);
  put_all(writer, make_blobs(3, 50));
  // No finish: somebody told the making to end.
}

}  // namespace
}  // namespace tidemark
