// SPDX-License-Identifier: Apache-2.0
// Everything that reads a capture, over thousands of seeded inputs of capture_fuzz: damaged files,
// and files whose checksums are right but whose content is not.
#include <set>

#include <gtest/gtest.h>

#include "fuzz/capture_bytes.h"
#include "fuzz/capture_input.h"
#include "tests/sample_task_run.h"
#include "tidemark/analyze/dump_index.h"
#include "tidemark/base/testing/seed_range.h"

namespace tidemark::fuzz {
namespace {

std::vector<unsigned char> sample_capture(const samples::SampleRecording::Options& options) {
  const samples::TemporaryDirectory directory("/dev/shm");
  (void)samples::write_sample_run(directory.path(), options);
  return samples::read_bytes(directory.file("capture.tide"));
}

// Scopes, a graph, spans, phases.
std::vector<unsigned char> task_capture() {
  const samples::TemporaryDirectory directory("/dev/shm");
  (void)samples::write_task_run(directory.path());
  return samples::read_bytes(directory.file("capture.tide"));
}

ChunkBytes chunk_of(ChunkType type, const void* bytes, std::size_t size) {
  ChunkBytes chunk;
  chunk.header = {.magic = kChunkMagic, .type = type, .version_major = kFormatMajor};
  const auto* begin = static_cast<const unsigned char*>(bytes);
  chunk.payload.assign(begin, begin + size);
  return chunk;
}

// A run that was stopped in a kernel: with the state of the runtime and what a task had written.
std::vector<unsigned char> hung_capture() {
  CaptureBytes capture = parse_capture(sample_capture({.spans = 20, .frames = 0}));
  HangState state;
  state.hang = HangClass::kRunningStalled;
  state.error_class = "running stalled";
  state.name = "SCHEDULER_TIMEOUT";
  state.message = "core 0 has been in kernel `add` of task t2";
  state.code = 100;
  state.has_unit = true;
  state.unit = 2;
  state.ticks_per_second = state.detected_ticks = 1'000'000'000;
  state.lines.resize(state.units.total());
  state.lines[2].state = UnitState::kBusy;
  state.lines[2].task_id = 2;
  state.kernels = {"add", "mul"};
  state.last_site = "program.h:12";
  state.submitted = 5;
  state.tasks = {{.id = 2, .site = "program.h:9", .waiters = {3, 4}}, {.id = 3, .pending = 1}};
  const std::string json = to_json(state);
  struct {
    DumpHeader header{.stage = DumpStage::kAtHang,
                      .kind = DumpKind::kTensor,
                      .task_id = 2,
                      .payload_bytes = 64,
                      .logical_bytes = 64,
                      .rank = 1,
                      .flags = kDumpHasStats,
                      .extent = {16}};
    float values[16] = {};
    DumpStats stats;
  } frame;
  ChunkBytes hang = chunk_of(ChunkType::kHang, json.data(), json.size());
  ChunkBytes snapshot = chunk_of(ChunkType::kSnapshot, &frame, sizeof(frame));
  hang.header.run_id = snapshot.header.run_id = capture.chunks.front().header.run_id;
  capture.chunks.push_back(std::move(hang));
  capture.chunks.push_back(std::move(snapshot));
  return lay_out_capture(capture);
}

std::vector<std::vector<unsigned char>> sample_captures() {
  return {task_capture(),
          hung_capture(),
          sample_capture({.spans = 100, .frames = 6}),
          sample_capture({.spans = 20, .frames = 2, .closed = false}),
          sample_capture({.spans = 20, .frames = 2, .late_lanes = true}),
          sample_capture({.spans = 0, .frames = 0})};
}

TEST(HostileCapture, SoundOnesAreReadWhole) {
  for (const auto& bytes : sample_captures()) {
    EXPECT_EQ(lay_out_capture(parse_capture(bytes)), bytes) << "FORMAT.md, done once more";
    const auto result = run_capture_input(bytes);
    EXPECT_TRUE(result.opened && result.described);
    EXPECT_GE(result.chunks, parse_capture(bytes).chunks.size());
  }
}

// A type that is added is in no sample yet, and this fails until it is in one.
TEST(HostileCapture, SamplesHaveEveryTypeOfChunk) {
  std::set<std::uint16_t> types;
  for (const auto& bytes : sample_captures())
    for (std::size_t at = 0; at + sizeof(ChunkHeader) <= bytes.size();) {
      ChunkHeader header;
      std::memcpy(&header, bytes.data() + at, sizeof(header));
      ASSERT_EQ(header.magic, kChunkMagic);
      types.insert(static_cast<std::uint16_t>(header.type));
      at += chunk_span(header.payload_bytes);
    }
  for (std::uint16_t type = 1; type < kChunkTypes; ++type)
    EXPECT_TRUE(types.contains(type)) << type;
  EXPECT_EQ(types.size(), kChunkTypes - 1);
}

TEST(HostileCapture, AHungRunShowsItsStateAndItsSnapshot) {
  const auto printed = run_capture_input(hung_capture(), std::size(kTextCommands)).printed;
  for (const char* words : {"running stalled", "program.h:9", "hang   "})
    EXPECT_NE(printed.find(words), std::string::npos) << words << " is not in\n" << printed;
}

// A frame that says of itself that it is 2^64 bytes long, and a snapshot of a lane there is not.
TEST(HostileCapture, ADumpFrameOfImpossibleLengthIsNotBelieved) {
  for (const std::uint64_t bytes :
       {~std::uint64_t{0} - 63, ~std::uint64_t{0} - 127, ~std::uint64_t{0}, std::uint64_t{1} << 63})
    for (const bool has_stats : {false, true})
      for (const std::size_t size : {sizeof(DumpHeader) - 64, sizeof(DumpHeader),
                                     sizeof(DumpHeader) + 64, sizeof(DumpHeader) + 128}) {
        CaptureBytes capture = parse_capture(hung_capture());
        auto& frame = capture.chunks.back().payload;
        DumpHeader header;
        std::memcpy(&header, frame.data(), sizeof(header));
        header.dtype = DType::kUint8;
        header.extent[0] = header.logical_bytes = header.payload_bytes = bytes;
        header.flags = has_stats ? kDumpHasStats : 0;
        std::memcpy(frame.data(), &header, sizeof(header));
        frame.resize(size);
        const samples::TemporaryDirectory directory("/dev/shm");
        samples::write_bytes(directory.file("capture.tide"), lay_out_capture(capture));
        auto run = RunCapture::open(directory.path());
        ASSERT_TRUE(run) << run.error().message;
        const auto index = read_dump(*run);
        ASSERT_TRUE(index) << index.error().message;
        EXPECT_EQ(index->malformed, 1u);
        for (const DumpEntry& entry : index->entries) EXPECT_NE(entry.header.payload_bytes, bytes);
        if (size == sizeof(DumpHeader) + 64)
          (void)run_capture_input(lay_out_capture(capture), std::size(kTextCommands));
      }
}

TEST(HostileCapture, AFrameThatIsLongerThanItSaysIsNoDump) {
  for (const std::size_t more : {1u, 63u, 64u, 65u, 4096u, 100'000u}) {
    CaptureBytes capture = parse_capture(hung_capture());
    auto& frame = capture.chunks.back().payload;
    frame.resize(frame.size() + more, 0xEE);
    const samples::TemporaryDirectory directory("/dev/shm");
    samples::write_bytes(directory.file("capture.tide"), lay_out_capture(capture));
    auto run = RunCapture::open(directory.path());
    ASSERT_TRUE(run) << run.error().message;
    const auto index = read_dump(*run);
    ASSERT_TRUE(index) << index.error().message;
    EXPECT_EQ(index->malformed, 1u) << more;
    EXPECT_TRUE(index->entries.empty()) << more;
  }
}

TEST(HostileCapture, ASnapshotOfALaneThatIsNotThereIsStillRead) {
  for (const std::uint32_t lane : {0u, 1000u, ~0u}) {
    CaptureBytes capture = parse_capture(hung_capture());
    capture.chunks.back().header.lane = lane;
    const samples::TemporaryDirectory directory("/dev/shm");
    samples::write_bytes(directory.file("capture.tide"), lay_out_capture(capture));
    auto run = RunCapture::open(directory.path());
    ASSERT_TRUE(run) << run.error().message;
    const auto index = read_dump(*run);
    ASSERT_TRUE(index) << index.error().message;
    std::size_t found = 0;
    for (const DumpEntry& entry : index->entries) {
      const auto bytes = load_payload(*run, entry);
      ASSERT_TRUE(entry.header.stage != DumpStage::kAtHang || bytes) << bytes.error().message;
      found += entry.header.stage == DumpStage::kAtHang && bytes->size() == 64;
    }
    EXPECT_EQ(found, 1u) << "lane " << lane;
    EXPECT_FALSE(run->read_chunk(~0u));
  }
}

// Of an output whose place in memory is made by a frame that says it is small, `replay` would read
// as many bytes as the frame after it has.
TEST(HostileCapture, AnArgumentOfAnotherSizeBeforeAndAfterIsNotReplayed) {
  for (const std::uint32_t blocks : {1u, 0u, ~0u}) {
    CaptureBytes capture = parse_capture(task_capture());
    const auto good = lay_out_capture(capture);
    struct {
      DumpHeader header{.kind = DumpKind::kTensor,
                        .payload_bytes = 4,
                        .logical_bytes = 4,
                        .kernels = {0, kNoKernel, kNoKernel},
                        .access = Access::kOutput,
                        .rank = 1,
                        .arg_index = 2,
                        .extent = {1}};
      float value = 1;
    } frame;
    frame.header.block_count = blocks;
    ChunkBytes added =
        chunk_of(ChunkType::kSnapshot, &frame, sizeof(DumpHeader) + sizeof(frame.value));
    added.header.run_id = capture.chunks.front().header.run_id;
    if (blocks != 1)  // then it is all there is of the task
      std::erase_if(capture.chunks,
                    [](const ChunkBytes& chunk) { return chunk.header.type == ChunkType::kPage; });
    capture.chunks.push_back(std::move(added));
    static InputDirectory directory;
    directory.put(lay_out_capture(capture));
    std::string printed;
    const cli::PrintedText sink(printed);
    EXPECT_EQ(run_command("replay RUN --task t0", directory.path()), 4);
    EXPECT_NE(printed.find(blocks == 1 ? "argument 2 (c) has another size" : " blocks"),
              std::string::npos)
        << printed;
    directory.put(good);
    EXPECT_EQ(run_command("replay RUN --task t0", directory.path()), 0) << printed;
  }
}

TEST(HostileCapture, WithRightChecksumsItReachesEveryReaderAndCrashesNone) {
  const auto captures = sample_captures();
  std::uint64_t described = 0, pages = 0, arguments = 0, hangs = 0;
  const SeedRange seeds = seed_range(1500, 100);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    SeededBits bits(seed);
    CaptureBytes capture = parse_capture(captures[seed % captures.size()]);
    for (std::uint64_t changes = 1 + bits.below(6); changes > 0; --changes)
      change_capture(capture, bits);
    const auto result = run_capture_input(lay_out_capture(capture), 1);
    described += result.described;
    pages += result.pages;
    arguments += result.arguments;
    hangs += result.hangs;
  }
  EXPECT_GT(described, seeds.count() / 2);
  EXPECT_GT(pages, seeds.count() * 2);
  EXPECT_GT(arguments, seeds.count());
  EXPECT_GT(hangs, seeds.count() / 20);
}

// What is printed is checked by run_capture_input; here, that the orders come that far.
TEST(HostileCapture, OrdersToATerminalReachEveryCommandAndNoTerminal) {
  const auto captures = sample_captures();
  std::uint64_t shown = 0;
  const SeedRange seeds = seed_range(200, 30);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    SeededBits bits(seed);
    CaptureBytes capture = parse_capture(captures[1 + seed % (captures.size() - 1)]);
    insert_orders(capture, bits);
    const auto printed =
        run_capture_input(lay_out_capture(capture), std::size(kTextCommands)).printed;
    shown += printed.find("?]0;owned?") != std::string::npos ||
             printed.find("?[31m") != std::string::npos;
  }
  EXPECT_GT(shown, seeds.count() / 15);
}

TEST(HostileCapture, WithDamageItCrashesNoReader) {
  const auto captures = sample_captures();
  const SeedRange seeds = seed_range(750, 50);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    SeededBits bits(seed);
    auto bytes = captures[seed % captures.size()];
    for (std::uint64_t flips = 1 + bits.below(20); flips > 0; --flips) flip_bit(bytes, bits);
    if (bits.below(4) == 0) bytes.resize(bits.below(bytes.size()));
    (void)run_capture_input(bytes, 1);
  }
}

// JSON chunks that nest without end, or whose members have other types, in every place.
TEST(HostileCapture, HostileJsonInEveryTextChunkCrashesNoReader) {
  const auto bytes = sample_capture({.spans = 20, .frames = 2});
  const std::size_t deep = seed_range(100'000, 10'000).count();
  std::string objects;
  for (std::size_t i = 0; i < deep / 2; ++i) objects += "{\"lanes\":[";
  const std::string texts[] = {
      std::string(deep, '['),
      std::string(deep, '[') + std::string(deep, ']'),
      objects,
      "{\"lanes\":" + std::string(deep / 2, '[') + std::string(deep / 2, ']') + "}",
      "{\"anchors\":[{\"host_ns\":{}},1,null],\"ticks_per_second\":\"x\"}",
      "{\"page_bytes\":1024,\"lanes\":[[],{\"stream\":1}],\"kernels\":{}}",
      "{\"\":\"\",\"ffffffffffffffffffff\":\"\xff\"}",
      ""};
  for (std::size_t chunk = 0; chunk < parse_capture(bytes).chunks.size(); ++chunk)
    for (const auto& text : texts) {
      CaptureBytes capture = parse_capture(bytes);
      capture.chunks[chunk].payload.assign(text.begin(), text.end());
      (void)run_capture_input(lay_out_capture(capture));
    }
}

// The seeds of the fuzzer, also where there is no clang.
TEST(HostileCapture, TheCorpusOfTheFuzzerCrashesNoReader) {
  std::size_t inputs = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(TIDEMARK_SOURCE_DIR "/fuzz/corpus/capture_fuzz")) {
    const auto result =
        run_capture_input(samples::read_bytes(file.path().string()), std::size(kTextCommands));
    EXPECT_FALSE(result.printed.empty());
    ++inputs;
  }
  EXPECT_GE(inputs, 5u);
}

}  // namespace
}  // namespace tidemark::fuzz
