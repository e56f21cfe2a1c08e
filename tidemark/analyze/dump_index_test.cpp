// SPDX-License-Identifier: Apache-2.0
// Dump frames that were cut into pages by hand: what is whole is found with its bytes, in order;
// what is not whole or no dump is left out and, where it can be told, counted.
#include "tidemark/analyze/dump_index.h"

#include <random>

#include <gtest/gtest.h>

#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/capture/testing/sample_pages.h"
#include "tidemark/schema/dtype.h"
#include "tidemark/session/runtime_lanes.h"
#include "tidemark/transport/fragment.h"

namespace tidemark {
namespace {

using Bytes = std::vector<unsigned char>;
using samples::kRunId;

struct Frame {
  DumpHeader header;
  Bytes payload;
  DumpStats stats;

  [[nodiscard]] Bytes bytes() const {
    Bytes all(sizeof(header));
    std::memcpy(all.data(), &header, sizeof(header));
    all.insert(all.end(), payload.begin(), payload.end());
    if ((header.flags & kDumpHasStats) == 0) return all;
    const auto* tail = reinterpret_cast<const unsigned char*>(&stats);
    all.insert(all.end(), tail, tail + sizeof(stats));
    return all;
  }
};

Frame tensor(std::uint64_t task, DumpStage stage, std::uint8_t arg, const Bytes& payload) {
  Frame frame{.header = {}, .payload = payload, .stats = {}};
  frame.header.kind = DumpKind::kTensor;
  frame.header.task_id = task;
  frame.header.stage = static_cast<DumpStage>(stage);
  frame.header.arg_index = arg;
  frame.header.dtype = DType::kUint8;
  frame.header.rank = 1;
  frame.header.extent[0] = payload.size();
  frame.header.stride[0] = 1;
  frame.header.payload_bytes = frame.header.logical_bytes = payload.size();
  frame.header.flags = kDumpHasStats;
  frame.header.kernels[0] = 0;
  frame.header.kernels[1] = frame.header.kernels[2] = 0xFFFF;
  frame.stats.hash = task * 100 + arg;
  return frame;
}

// One lane of frames; each fragment is a page of its own.
class FrameCapture {
 public:
  FrameCapture() {
    config_.cluster_count = 1;
    config_.scheduler_count = 1;
    config_.streams[StreamId::kDump] = 1;
    plan_ =
        plan_region(
            {.lanes = runtime_lanes(config_), .recorder = {.page_bytes = 1024}, .run_id = kRunId})
            .value();
    for (LaneIndex lane = 0; lane < plan_.lanes.size(); ++lane)
      if (plan_.lanes[lane].stream == StreamId::kDump) lane_ = lane;
    writer_ = CaptureWriter::create(directory_.file("capture.tide"), kRunId).value();
    CaptureDescription description{
        .page_bytes = 1024, .lanes = plan_.lanes, .kernels = {"add", "mul"}, .runtime = config_};
    description.run.run_id = kRunId;
    TM_CHECK(writer_->append_text(ChunkType::kDescription, describe_capture(description)));
  }

  // Cut into pieces of at most so many bytes; piece `without` is not written.
  void write(const Bytes& frame, std::size_t piece = 700, std::size_t without = ~std::size_t{0}) {
    std::size_t number = 0;
    for (std::size_t at = 0; at < frame.size(); at += piece, ++number) {
      const std::size_t length = std::min(piece, frame.size() - at);
      const bool first = at == 0, last = at + length == frame.size();
      const FragmentImage head{
          .frame_number = frames_,
          .total_bytes = frame.size(),
          .offset = at,
          .commit = encode_commit({.length = static_cast<std::uint32_t>(length),
                                   .first = first,
                                   .last = last,
                                   .generation = 1})};
      samples::SamplePage page;
      page.payload.resize(fragment_span(length));
      std::memcpy(page.payload.data(), &head, sizeof(head));
      std::memcpy(page.payload.data() + sizeof(head), frame.data() + at, length);
      page.header = {.sequence = ++pages_,
                     .run_id = kRunId,
                     .lane = lane_,
                     .epoch = 1,
                     .generation = 1,
                     .record_bytes = 0,
                     .first_number = frames_,
                     .record_count = last ? 1u : 0u,
                     .used_bytes = static_cast<std::uint32_t>(page.payload.size()),
                     .open_ticks = samples::kLaunchTicks,
                     .close_ticks = samples::kLaunchTicks + 1,
                     .first_frame_offset = first ? 0 : kNoFrame};
      if (number != without) TM_CHECK(writer_->append(page.delivery()));
    }
    ++frames_;
  }
  RunCapture open() {
    TM_CHECK(writer_->append_text(ChunkType::kClock,
                                  describe_clock({.launch_ticks = 1, .ticks_per_second = 1000})));
    TM_CHECK(writer_->finish());
    return RunCapture::open(directory_.path()).value();
  }

 private:
  samples::TemporaryDirectory directory_;
  RuntimeConfig config_;
  RegionPlan plan_;
  std::unique_ptr<CaptureWriter> writer_;
  LaneIndex lane_ = 0;
  std::uint64_t frames_ = 0, pages_ = 0;
};

Bytes random_bytes(std::size_t count) {
  std::mt19937_64 random(count);
  Bytes bytes(count);
  for (auto& byte : bytes) byte = static_cast<unsigned char>(random());
  return bytes;
}

TEST(DumpIndex, FindsFramesWhereverTheyAreCutInTheOrderOfTasks) {
  FrameCapture capture;
  const Bytes large = random_bytes(3000), small = random_bytes(5);
  capture.write(tensor(9, DumpStage::kAfterCompletion, 1, large).bytes());
  capture.write(tensor(9, DumpStage::kBeforeDispatch, 2, small).bytes(), 16);    // cuts the header
  capture.write(tensor(3, DumpStage::kAfterCompletion, 0, large).bytes(), 304);  // and statistics
  capture.write(tensor(9, DumpStage::kBeforeDispatch, 0, {}).bytes());
  RunCapture run = capture.open();
  const auto index = read_dump(run);
  ASSERT_TRUE(index) << index.error().message;
  EXPECT_EQ(index->malformed, 0u);
  ASSERT_EQ(index->entries.size(), 4u);
  const std::pair<std::uint64_t, int> order[] = {{3, 0}, {9, 0}, {9, 2}, {9, 1}};
  const Bytes* payloads[] = {&large, nullptr, &small, &large};
  for (std::size_t i = 0; i < 4; ++i) {
    const DumpEntry& entry = index->entries[i];
    EXPECT_EQ(entry.header.task_id, order[i].first);
    EXPECT_EQ(entry.header.arg_index, order[i].second);
    EXPECT_EQ(entry.stats.hash, order[i].first * 100 + static_cast<unsigned>(order[i].second));
    const auto bytes = load_payload(run, entry);
    ASSERT_TRUE(bytes) << bytes.error().message;
    EXPECT_EQ(*bytes, payloads[i] == nullptr ? Bytes() : *payloads[i]);
  }
  EXPECT_EQ(dump_kernel_name(run, index->entries[0].header), "add");
}

TEST(DumpIndex, LeavesOutAFrameOfWhichAPartIsMissingAndGoesOnBehindIt) {
  for (const std::size_t without : {0u, 1u, 4u}) {
    FrameCapture capture;
    capture.write(tensor(1, DumpStage::kAfterCompletion, 0, random_bytes(3000)).bytes(), 700,
                  without);
    capture.write(tensor(2, DumpStage::kAfterCompletion, 0, random_bytes(100)).bytes());
    RunCapture run = capture.open();
    const auto index = read_dump(run);
    ASSERT_TRUE(index) << index.error().message;
    ASSERT_EQ(index->entries.size(), 1u) << without;
    EXPECT_EQ(index->entries[0].header.task_id, 2u);
  }
}

TEST(DumpIndex, CountsFramesThatAreNoDump) {
  FrameCapture capture;
  const auto broken = [&](auto change) {
    Frame frame = tensor(1, DumpStage::kAfterCompletion, 0, random_bytes(64));
    change(frame.header);
    capture.write(frame.bytes());
  };
  broken([](DumpHeader& header) { header.magic = 1; });
  broken([](DumpHeader& header) { header.dtype = static_cast<DType>(kDTypeCount); });
  broken([](DumpHeader& header) { header.rank = kRankMax + 1; });
  broken([](DumpHeader& header) { header.stage = DumpStage{3}; });
  broken([](DumpHeader& header) { header.kind = DumpKind{0}; });
  broken([](DumpHeader& header) { header.extent[0] = 65; });
  broken([](DumpHeader& header) { header.payload_bytes = 65; });
  broken([](DumpHeader& header) { header.payload_bytes = 63; });
  capture.write(Bytes(40, 7));  // shorter than a header
  capture.write(tensor(2, DumpStage::kAfterCompletion, 0, random_bytes(64)).bytes());
  RunCapture run = capture.open();
  const auto index = read_dump(run);
  ASSERT_TRUE(index) << index.error().message;
  EXPECT_EQ(index->malformed, 9u);
  ASSERT_EQ(index->entries.size(), 1u);
  EXPECT_EQ(index->entries[0].header.task_id, 2u);
}

}  // namespace
}  // namespace tidemark
