// SPDX-License-Identifier: Apache-2.0
// Captures that are damaged or lie: a tile set of what is left, or an error, and every blob of it
// is well-formed. tests/hostile_capture_test.cpp does the same with lies whose checksums are right.
#include <filesystem>

#include <gtest/gtest.h>

#include "tidemark/analyze/testing/hand_capture.h"
#include "tidemark/base/testing/seed_range.h"
#include "tidemark/session/testing/sample_run.h"
#include "tidemark/tiles/testing/sound_tiles.h"
#include "tidemark/tiles/tile_set.h"

namespace tidemark {
namespace {

using samples::kLaunchTicks;
using samples::TemporaryDirectory;

// Blobs of whatever tile set comes of it.
std::size_t tiles_of(const std::string& directory) {
  std::size_t blobs = 0;
  auto run = RunCapture::open(directory);
  if (!run) return 0;
  for (const bool whole : {false, true}) {
    samples::SoundTiles tiles;
    if (whole ? make_tile_set(*run, {}, tiles) : sketch_tile_set(*run, tiles)) {
      EXPECT_TRUE(tiles.has_index());
    }
    blobs += tiles.count();
  }
  return blobs;
}

TEST(HostileTiles, TheCorpusOfTheFuzzerGivesSoundTilesOrNone) {
  std::size_t blobs = 0, inputs = 0;
  const TemporaryDirectory directory;
  for (const auto& file :
       std::filesystem::directory_iterator(TIDEMARK_SOURCE_DIR "/fuzz/corpus/capture_fuzz")) {
    samples::write_bytes(directory.file("capture.tide"), samples::read_bytes(file.path().string()));
    blobs += tiles_of(directory.path());
    ++inputs;
  }
  EXPECT_GE(inputs, 5u);
  EXPECT_GT(blobs, 10u);
}

TEST(HostileTiles, FlippedBitsGiveSoundTilesOrNone) {
  const TemporaryDirectory directory;
  (void)samples::write_sample_run(directory.path(), {.spans = 300, .frames = 6});
  const auto sound = samples::read_bytes(directory.file("capture.tide"));
  std::size_t blobs = 0;
  const std::uint64_t seeds = fewer_under_sanitizer(400);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    auto bytes = sound;
    for (std::uint64_t i = 0; i < 1 + mix(seed) % 20; ++i) {
      auto& byte = bytes[mix(seed * 64 + i) % bytes.size()];
      byte = static_cast<unsigned char>(byte ^ 1u << mix(seed * 65 + i) % 8);
    }
    if (seed % 4 == 0) bytes.resize(mix(seed) % bytes.size());
    samples::write_bytes(directory.file("capture.tide"), bytes);
    blobs += tiles_of(directory.path());
  }
  EXPECT_GT(blobs, seeds / 2);
}

// Every word of a record is anything: times from all of 48 bits, kernels and names without end.
TEST(HostileTiles, RecordsOfRandomBitsGiveSoundTiles) {
  RuntimeConfig config;
  config.streams[StreamId::kSwimlane] = 4;
  config.streams[StreamId::kScopes] = 1;
  for (std::uint64_t seed = 1; seed <= fewer_under_sanitizer(12); ++seed) {
    samples::HandCapture capture(config);
    std::uint64_t at = seed << 32;
    const auto word = [&] { return mix(++at); };
    for (std::uint64_t i = 0; i < 3000; ++i) {
      capture.write(capture.lanes().spans(0), TaskSpan{.task_id = word(),
                                                       .begin_ticks = word(),
                                                       .end_ticks = word(),
                                                       .block = static_cast<std::uint32_t>(word()),
                                                       .kernel = static_cast<std::uint16_t>(word()),
                                                       .core = static_cast<std::uint16_t>(word())});
      capture.write(capture.lanes().submits(),
                    SubmitSpan{.task_id = word(),
                               .begin_ticks = word(),
                               .end_ticks = word(),
                               .index = word(),
                               .heap_bytes = word(),
                               .live_tasks = static_cast<std::uint32_t>(word())});
      capture.write(capture.lanes().events(0),
                    UserEvent{.name_hash = word(),
                              .time_ticks = word(),
                              .value = static_cast<std::int64_t>(word()),
                              .kind = i % 4 == 0 ? EventKind::kCounter : EventKind::kMark});
      ScopeBoundary boundary{.file = word(),
                             .time_ticks = word(),
                             .line = static_cast<std::uint32_t>(word()),
                             .serial = static_cast<std::uint32_t>(word() % 40)};
      boundary.depth = static_cast<std::uint16_t>(word());
      boundary.phase = static_cast<ScopeBoundary::Phase>(word() % 4);
      capture.write(capture.lanes().scopes(), boundary);
    }
    capture.finish_at(word());
    const TemporaryDirectory directory;
    RunCapture run = capture.open(directory);
    samples::SoundTiles tiles;
    const auto made = make_tile_set(run, {}, tiles);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_TRUE(tiles.has_index());
    samples::SoundTiles sketch;
    EXPECT_TRUE(sketch_tile_set(run, sketch));
  }
}

// As wide as a run gets: 2,000 lanes of a program, 10,000 kernels, names that want to be markup.
TEST(HostileTiles, ManyLanesKernelsAndWildNamesAreShownAsText) {
  const TemporaryDirectory directory;
  auto writer = CaptureWriter::create(directory.file("capture.tide"), samples::kRunId).value();
  CaptureDescription description{.page_bytes = 1024, .lanes = {}, .kernels = {}};
  description.run.run_id = samples::kRunId;
  description.run.workload = "</script><b>\"'\x01\x1b[31m";
  for (int i = 0; i < 10'000; ++i) description.kernels.push_back(fmt::format("<img {}>\"\\", i));
  for (int i = 0; i < 2000; ++i)
    description.lanes.push_back(samples::record_lane(i % 2 == 0 ? "same" : fmt::format("p{}", i)));
  ASSERT_TRUE(writer->append_text(ChunkType::kDescription, describe_capture(description)));
  for (std::uint32_t lane = 0; lane < 2000; ++lane)
    ASSERT_TRUE(writer->append(samples::make_page(lane, 1, 20).delivery()));
  ASSERT_TRUE(writer->finish());
  auto run = RunCapture::open(directory.path()).value();
  samples::SoundTiles tiles;
  const auto made = make_tile_set(run, {}, tiles);
  ASSERT_TRUE(made) << made.error().message;
  const auto& index = tiles.index();
  ASSERT_EQ(index["tracks"].Size(), 2000u);
  EXPECT_EQ(index["tracks"][4]["name"].GetString(), std::string("same (lane 4)"));
  EXPECT_EQ(index["tracks"][5]["name"].GetString(), std::string("p5"));
  EXPECT_EQ(index["names"][9999].GetString(), std::string("<img 9999>\"\\"));
  EXPECT_EQ(std::string(index["title"].GetString()).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace tidemark
