// SPDX-License-Identifier: Apache-2.0
// Everything that reads a capture, over thousands of seeded inputs of capture_fuzz: damaged files,
// and files whose checksums are right but whose content is not.
#include <gtest/gtest.h>

#include "fuzz/capture_bytes.h"
#include "fuzz/capture_input.h"
#include "tests/sample_task_run.h"

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

std::vector<std::vector<unsigned char>> sample_captures() {
  return {task_capture(), sample_capture({.spans = 100, .frames = 6}),
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

TEST(HostileCapture, WithRightChecksumsItReachesEveryReaderAndCrashesNone) {
  const auto captures = sample_captures();
  std::uint64_t described = 0, pages = 0;
  for (std::uint64_t seed = 1; seed <= 6000; ++seed) {
    SeededBits bits(seed);
    CaptureBytes capture = parse_capture(captures[seed % captures.size()]);
    for (std::uint64_t changes = 1 + bits.below(6); changes > 0; --changes)
      change_capture(capture, bits);
    const auto result = run_capture_input(lay_out_capture(capture));
    described += result.described;
    pages += result.pages;
  }
  EXPECT_GT(described, 3000u);
  EXPECT_GT(pages, 10'000u);
}

TEST(HostileCapture, WithDamageItCrashesNoReader) {
  const auto captures = sample_captures();
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    SeededBits bits(seed);
    auto bytes = captures[seed % captures.size()];
    for (std::uint64_t flips = 1 + bits.below(20); flips > 0; --flips) flip_bit(bytes, bits);
    if (bits.below(4) == 0) bytes.resize(bits.below(bytes.size()));
    (void)run_capture_input(bytes);
  }
}

// JSON chunks that nest without end, or whose members have other types, in every place.
TEST(HostileCapture, HostileJsonInEveryTextChunkCrashesNoReader) {
  const auto bytes = sample_capture({.spans = 20, .frames = 2});
  std::string objects;
  for (int i = 0; i < 50'000; ++i) objects += "{\"lanes\":[";
  const std::string texts[] = {
      std::string(100'000, '['),
      std::string(100'000, '[') + std::string(100'000, ']'),
      objects,
      "{\"lanes\":" + std::string(50'000, '[') + std::string(50'000, ']') + "}",
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

}  // namespace
}  // namespace tidemark::fuzz
