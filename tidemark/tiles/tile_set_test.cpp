// SPDX-License-Identifier: Apache-2.0
#include "tidemark/tiles/tile_set.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "tidemark/base/testing/seed_range.h"
#include "tidemark/session/testing/sample_run.h"
#include "tidemark/tiles/testing/random_capture.h"
#include "tidemark/tiles/testing/tile_check.h"
#include "tidemark/transport/fragment.h"

namespace tidemark {
namespace {

using samples::every_stream;
using samples::HandCapture;
using samples::KeptTiles;
using samples::kLaunchTicks;
using samples::Random;
using samples::TemporaryDirectory;
using samples::TileCheck;
using samples::write_random;

KeptTiles make_tiles(RunCapture& run) {
  KeptTiles tiles;
  const auto made = make_tile_set(run, {}, tiles);
  EXPECT_TRUE(made) << made.error().message;
  return tiles;
}

constexpr SeedCounts kSeeds{.campaign = 2000, .quick = 200, .under_sanitizer = 6};

TEST(TileSet, ShowsOfRandomRunsWhatTheirRecordsSay) {
  samples::CheckedTiles all;
  for (std::uint64_t seed = 1; seed <= seed_count(kSeeds) && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    HandCapture capture(every_stream(1, static_cast<std::uint32_t>(1 + random.below(2))));
    write_random(capture, random);
    capture.finish_at(kLaunchTicks + random.size(50));
    const TemporaryDirectory directory;
    RunCapture run = capture.open(directory);
    const KeptTiles tiles = make_tiles(run);
    const auto checked = TileCheck(run, tiles, seed).check();
    all.spans += checked.spans;
    all.samples += checked.samples;
    all.bucket_tiles += checked.bucket_tiles;
    all.merged += checked.merged;
    all.most_levels = std::max(all.most_levels, checked.most_levels);
  }
  // The check has seen something.
  EXPECT_GT(all.spans, 10'000u);
  EXPECT_GT(all.samples, 5'000u);
  EXPECT_GT(all.bucket_tiles, 50u);
  EXPECT_GT(all.merged, 1000u);
  EXPECT_GT(all.most_levels, 8u);
}

// Lanes that wait, drop and keep the last; killed in the middle; cut off; with lanes that only the
// end of the capture describes.
TEST(TileSet, ShowsOfDamagedRunsWhatIsLeft) {
  std::uint64_t spans = 0, dropped = 0, overwritten = 0, recovered = 0;
  for (std::uint64_t seed = 1; seed <= seed_count(kSeeds) && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed + 1000);
    const TemporaryDirectory directory;
    (void)samples::write_sample_run(directory.path(),
                                    {.page_bytes = random.one_in(2) ? 1024u : 4096u,
                                     .spans = static_cast<std::uint32_t>(random.below(5000)),
                                     .frames = static_cast<std::uint32_t>(random.below(20)),
                                     .closed = random.one_in(2),
                                     .late_lanes = random.one_in(4)});
    const std::string path = directory.file("capture.tide");
    if (random.one_in(3)) {
      auto bytes = samples::read_bytes(path);
      bytes.resize(bytes.size() / 3 + random.below(bytes.size() - bytes.size() / 3));
      samples::write_bytes(path, bytes);
    }
    auto run = RunCapture::open(directory.path());
    if (!run) continue;
    const KeptTiles tiles = make_tiles(*run);
    spans += TileCheck(*run, tiles, seed).check().spans;
    const LaneLosses& losses = run->lane_losses().value();
    for (const LaneCounts& counts : losses.counts) {
      dropped += counts.dropped;
      overwritten += counts.overwritten;
      recovered += counts.recovered;
    }
  }
  EXPECT_GT(spans, 1000u);
  EXPECT_GT(dropped, 50u);
  EXPECT_GT(overwritten, 50u);
  EXPECT_GT(recovered, 50u);
}

// What is lost adds up, lane by lane: gaps and holes are all that the ledger misses.
TEST(TileSet, LossTracksAddUpToWhatTheLedgerMisses) {
  const TemporaryDirectory directory;
  (void)samples::write_sample_run(directory.path(), {.spans = 3000});
  auto run = RunCapture::open(directory.path()).value();
  const KeptTiles tiles = make_tiles(run);
  const TrackList list = list_tracks(run).value();
  const LaneLosses& losses = run.lane_losses().value();
  std::map<LaneIndex, std::uint64_t> shown;
  std::set<std::string> names;
  const auto first_page = run.page_header(run.page_chunks_of(samples::kKeeps).front());
  ASSERT_TRUE(first_page);
  const auto index = tiles.index();
  for (TrackNumber i = 0; i < list.tracks.size(); ++i) {
    if (list.tracks[i].kind != TrackKind::kLoss) continue;
    const samples::TrackReader reader(tiles, i, index["shift"].GetUint());
    for (std::size_t leaf = 0; leaf < reader.directory().leaves.size(); ++leaf)
      for (const TileSpan& span : reader.leaf(leaf)) {
        shown[list.tracks[i].lanes.front()] += span.aux;
        const std::string name = index["names"][span.name].GetString();
        names.insert(name);
        // What was overwritten is what came before all that is left.
        if (name != "overwritten") continue;
        EXPECT_EQ(span.begin, 0u);
        EXPECT_EQ(span.end(), list.time_of(first_page->open_ticks));
      }
  }
  for (LaneIndex lane = 0; lane < losses.counts.size(); ++lane) {
    const LaneCounts& counts = losses.counts[lane];
    EXPECT_EQ(shown[lane], counts.dropped + counts.overwritten + counts.unaccounted()) << lane;
  }
  EXPECT_GT(shown[samples::kDrops], 0u);
  EXPECT_GT(shown[samples::kKeeps], 0u);
  EXPECT_TRUE(names.contains("overwritten"));
  EXPECT_TRUE(names.contains("no_page"));
  const auto missing = index["missing"].GetObject();
  EXPECT_EQ(missing["produced"].GetUint64(),
            missing["delivered"].GetUint64() + missing["recovered"].GetUint64() +
                missing["dropped"].GetUint64() + missing["overwritten"].GetUint64());
}

// One span of hours beside many of microseconds: no tile is full of its buckets alone.
TEST(TileSet, ASpanOfHoursCostsNoMoreThanOneOfATick) {
  const std::uint64_t hours = 4 * 3600 * 1'000'000'000ull;
  HandCapture capture(every_stream(1, 1));
  const std::uint32_t lane = capture.lanes().spans(0);
  std::uint64_t now = kLaunchTicks;
  const auto burst = [&] {
    for (int i = 0; i < 3000; ++i, now += 1000)
      capture.write(lane, TaskSpan{.begin_ticks = now, .end_ticks = now + 500});
  };
  burst();
  now += hours;
  burst();
  capture.write(lane, TaskSpan{.begin_ticks = kLaunchTicks, .end_ticks = now + hours});
  const TemporaryDirectory directory;
  RunCapture run = capture.open(directory);
  const KeptTiles tiles = make_tiles(run);
  (void)TileCheck(run, tiles, 1).check();
  EXPECT_LT(tiles.blobs.size(), 120u);
  std::size_t bytes = 0;
  for (const auto& [name, blob] : tiles.blobs) bytes += blob.size();
  EXPECT_LT(bytes, 200'000u);
}

// A page of frames, each in one fragment: what was dumped of tasks.
samples::SamplePage dump_page(const std::vector<std::pair<DumpHeader, DumpStats>>& arguments) {
  samples::SamplePage page;
  for (const auto& [header, stats] : arguments) {
    const std::uint64_t bytes = sizeof(header) + header.payload_bytes + sizeof(stats);
    const auto length = static_cast<std::uint32_t>(bytes);
    const FragmentImage image{
        .frame_number = page.header.record_count++,
        .total_bytes = bytes,
        .commit = encode_commit({.length = length, .first = true, .last = true, .generation = 1})};
    const std::size_t at = page.payload.size();
    page.payload.resize(at + fragment_span(length));
    std::memcpy(page.payload.data() + at, &image, sizeof(image));
    std::memcpy(page.payload.data() + at + kFragmentHeaderBytes, &header, sizeof(header));
    std::memcpy(page.payload.data() + at + kFragmentHeaderBytes + bytes - sizeof(stats), &stats,
                sizeof(stats));
  }
  page.header.sequence = page.header.epoch = page.header.generation = 1;
  page.header.run_id = samples::kRunId;
  page.header.lane = samples::kFrames;
  page.header.used_bytes = static_cast<std::uint32_t>(page.payload.size());
  page.header.open_ticks = page.header.close_ticks = kLaunchTicks;
  return page;
}

DumpHeader dumped(std::uint64_t task, std::uint64_t bytes, std::uint8_t flags,
                  DumpStage stage = DumpStage::kBeforeDispatch) {
  return {.stage = stage,
          .kind = DumpKind::kTensor,
          .task_id = task,
          .payload_bytes = bytes,
          .logical_bytes = bytes,
          .rank = 1,
          .flags = flags,
          .extent = {bytes}};
}

TEST(TileSet, FlagsTheTasksThatHadANaNAndThoseThatMadeIt) {
  const TemporaryDirectory directory;
  auto writer = CaptureWriter::create(directory.file("capture.tide"), samples::kRunId).value();
  const RegionPlan plan = samples::plan_sample(4096);
  ASSERT_TRUE(writer->append_text(ChunkType::kDescription,
                                  describe_capture(samples::sample_description(plan))));
  // Tasks of lane 0 are the numbers of their spans.
  for (std::uint64_t sequence = 1; sequence <= 50; ++sequence)
    ASSERT_TRUE(writer->append(samples::make_page(0, sequence, 100).delivery()));
  ASSERT_TRUE(writer->append(
      dump_page({{dumped(10, 4, kDumpHasStats), {.nan = 0}},
                 {dumped(11, 640, kDumpHasStats), {.nan = 1}},
                 {dumped(12, 0, kDumpHasStats), {.inf = 3}},
                 {dumped(13, 8, 0), {.nan = 1}},  // no statistics: these bytes are something else
                 {dumped(14, 1, kDumpHasStats, DumpStage::kAfterCompletion), {.nan = 1}},
                 {dumped(15, 1, kDumpHasStats), {.nan = 1}},
                 {dumped(15, 1, kDumpHasStats, DumpStage::kAfterCompletion), {.nan = 1}},
                 {dumped(16, 1, kDumpHasStats, DumpStage::kAfterCompletion), {.inf = 2}},
                 {dumped(16, 1, kDumpHasStats), {.nan = 1}},
                 {dumped(2345, 1, kDumpHasStats), {.nan = 9, .inf = 9}}})
          .delivery()));
  ASSERT_TRUE(writer->finish());
  auto run = RunCapture::open(directory.path()).value();
  const KeptTiles tiles = make_tiles(run);
  TileCheck check(run, tiles, 1);
  constexpr std::uint16_t kMade = kTileNotFinite | kTileMadeNotFinite;
  check.naive().not_finite = {{11, kTileNotFinite}, {12, kTileNotFinite}, {14, kMade},
                              {15, kTileNotFinite}, {16, kMade},          {2345, kTileNotFinite}};
  EXPECT_GT(check.check().bucket_tiles, 0u);
}

// Every blob, and that index.json comes last.
TEST(TileSet, IsTheSameByteByByteWhateverTheNumberOfThreads) {
  for (std::uint64_t seed = 1;
       seed <= seed_count({.campaign = 50, .quick = 8, .under_sanitizer = 3}); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed + 2000);
    HandCapture capture(every_stream(1, 2));
    write_random(capture, random);
    const TemporaryDirectory directory;
    RunCapture run = capture.open(directory);
    const KeptTiles one = make_tiles(run);
    for (const std::uint32_t threads : {2u, 5u}) {
      KeptTiles more;
      ASSERT_TRUE(make_tile_set(run, {.threads = threads}, more));
      EXPECT_TRUE(more.blobs == one.blobs) << threads << " threads";
    }
  }
}

TEST(TileSet, TellsHowFarItIsAndEndsWhereItIsTold) {
  HandCapture capture(every_stream(1, 1));
  for (std::uint64_t i = 0; i < 200'000; ++i)
    capture.write(capture.lanes().spans(0),
                  TaskSpan{.begin_ticks = kLaunchTicks + i, .end_ticks = kLaunchTicks + i});
  const TemporaryDirectory directory;
  RunCapture run = capture.open(directory);
  std::vector<std::uint64_t> done;
  KeptTiles tiles;
  const auto note = [&](std::uint64_t records_done, std::uint64_t records) -> Expected<void> {
    EXPECT_EQ(records, 200'000u);
    done.push_back(records_done);
    return {};
  };
  ASSERT_TRUE(make_tile_set(run, {}, tiles, note));
  EXPECT_GE(done.size(), 4u);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.back(), 200'000u);
  KeptTiles ended;
  const auto stop = [](std::uint64_t, std::uint64_t) -> Expected<void> {
    return failure(ErrorKind::kUsage, "stopped");
  };
  const auto made = make_tile_set(run, {}, ended, stop);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "stopped");
  EXPECT_FALSE(ended.has("index.json"));
}

TEST(TileSet, ASketchHasTheSameTracksAndAllRecords) {
  HandCapture capture(every_stream(1, 1));
  Random random(7);
  write_random(capture, random);
  const TemporaryDirectory directory;
  RunCapture run = capture.open(directory);
  KeptTiles sketch;
  ASSERT_TRUE(sketch_tile_set(run, sketch));
  const auto index = sketch.index();
  EXPECT_TRUE(index["progress"]["sketch_only"].GetBool());
  const KeptTiles whole = make_tiles(run);
  const auto whole_index = whole.index();
  EXPECT_EQ(index["launch"].GetUint64(), whole_index["launch"].GetUint64());
  std::map<unsigned, std::string> names;
  for (const auto& track : whole_index["tracks"].GetArray())
    names[track["id"].GetUint()] = track["name"].GetString();
  EXPECT_GE(index["tracks"].Size(), 5u);
  for (const auto& track : index["tracks"].GetArray()) {
    const unsigned id = track["id"].GetUint();
    EXPECT_EQ(names[id], track["name"].GetString());
    const auto pages = decode_sketch(sketch.blob(fmt::format("dir/{}", id))).value();
    std::uint64_t records = 0;
    for (const SketchPage& page : pages) records += page.records;
    EXPECT_EQ(records, track["count"].GetUint64());
    const Track of = list_tracks(run).value().tracks[id];
    EXPECT_EQ(records, [&] {
      std::uint64_t counted = 0;
      RecordCursor cursor = run.records(of.lanes.front());
      while (cursor.next()) ++counted;
      return counted;
    }()) << track["name"].GetString();
  }
}

}  // namespace
}  // namespace tidemark
