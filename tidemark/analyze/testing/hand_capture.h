// SPDX-License-Identifier: Apache-2.0
// Test support: a run directory whose records and frames are given one by one, without a device.
// Records may be lost on purpose; the capture then shows the loss as a recorder does.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/capture/testing/sample_pages.h"
#include "tidemark/run/run_capture.h"
#include "tidemark/session/runtime_lanes.h"
#include "tidemark/transport/fragment.h"

namespace tidemark::samples {

// What a capture says of its run at the end.
struct CaptureEnd {
  std::vector<std::string> kernels = {"add", "mul", "exp"};
  NameTexts names = {};
  std::optional<RunReport> outcome = {};
  std::optional<HangState> hang = {};
};

class HandCapture {
 public:
  explicit HandCapture(const RuntimeConfig& config, std::uint32_t page_bytes = 1024)
      : config_(config),
        plan_(plan_region({.lanes = runtime_lanes(config),
                           .recorder = {.page_bytes = page_bytes},
                           .run_id = kRunId})
                  .value()),
        records_(plan_.lanes.size()),
        frames_(plan_.lanes.size()) {}

  [[nodiscard]] const RuntimeConfig& config() const { return config_; }
  [[nodiscard]] StreamLanes lanes() const { return config_.lanes(); }

  template <class R>
  void write(std::uint32_t lane, const R& record) {
    TM_CHECK(lane < records_.size());
    TM_CHECK(plan_.lanes[lane].record_bytes == R::kBytes);
    Stored stored(R::kBytes / 8);
    record.pack(stored.data());
    for (std::size_t i = 1; i < stored.size(); i += 2) stored[i] |= std::uint64_t{1} << 48;
    records_[lane].push_back(std::move(stored));
  }
  // The lane's next record was refused.
  void lose(std::uint32_t lane) { records_.at(lane).emplace_back(); }
  template <class R>
  void write_or_lose(std::uint32_t lane, const R& record, bool lost) {
    if (lost)
      lose(lane);
    else
      write(lane, record);
  }

  // Of a framed lane.
  void write_frame(std::uint32_t lane, std::vector<unsigned char> bytes) {
    TM_CHECK(plan_.lanes.at(lane).record_bytes == 0);
    frames_[lane].push_back(std::move(bytes));
  }
  void finish_at(std::uint64_t ticks) { finish_ticks_ = ticks; }

  // Of the run as it was written so far.
  [[nodiscard]] RunCapture open(const TemporaryDirectory& directory,
                                const CaptureEnd& end = {}) const {
    auto writer = CaptureWriter::create(directory.file("capture.tide"), kRunId).value();
    CaptureDescription description{.page_bytes = page_bytes(),
                                   .lanes = plan_.lanes,
                                   .kernels = end.kernels,
                                   .runtime = config_};
    description.run.run_id = kRunId;
    description.run.platform = "sim";
    TM_CHECK(writer->append_text(ChunkType::kDescription, describe_capture(description)));
    std::vector<unsigned char> lane_bytes;
    for (LaneIndex lane = 0; lane < records_.size(); ++lane) {
      const bool framed = plan_.lanes[lane].record_bytes == 0;
      const LaneRecord record = framed ? append_frames(*writer, lane) : append_lane(*writer, lane);
      const auto* begin = reinterpret_cast<const unsigned char*>(&record);
      lane_bytes.insert(lane_bytes.end(), begin, begin + sizeof(record));
    }
    const RunClock clock{.launch_ticks = kLaunchTicks,
                         .finish_ticks = finish_ticks_,
                         .ticks_per_second = 1'000'000'000,
                         .anchors = {}};
    TM_CHECK(writer->append_text(ChunkType::kClock, describe_clock(clock)));
    TM_CHECK(writer->append_text(ChunkType::kNames, describe_names(end.names)));
    if (end.hang) TM_CHECK(writer->append_text(ChunkType::kHang, to_json(*end.hang)));
    if (end.outcome)
      TM_CHECK(writer->append_text(ChunkType::kOutcome, describe_outcome(*end.outcome)));
    TM_CHECK(writer->append_lanes(lane_bytes, false));
    TM_CHECK(writer->finish());
    return RunCapture::open(directory.path()).value();
  }

 private:
  using Stored = std::vector<std::uint64_t>;  // empty: lost

  [[nodiscard]] std::uint32_t page_bytes() const { return plan_.layout.shape.page_bytes; }

  // A page ends where it is full and where something was lost.
  LaneRecord append_lane(CaptureWriter& writer, LaneIndex lane) const {
    const auto& records = records_[lane];
    const std::uint32_t record_bytes = plan_.lanes[lane].record_bytes;
    const std::size_t per_page = (page_bytes() - kPageHeaderBytes) / record_bytes;
    std::uint64_t sequence = 0, dropped_total = 0, dropped = 0;
    for (std::size_t at = 0; at < records.size();) {
      if (records[at].empty()) {
        ++at, ++dropped, ++dropped_total;
        continue;
      }
      SamplePage page;
      page.header = {.sequence = ++sequence,
                     .run_id = kRunId,
                     .lane = lane,
                     .epoch = 1,
                     .generation = 1,
                     .record_bytes = record_bytes,
                     .first_number = at,
                     .open_ticks = kLaunchTicks,
                     .close_ticks = kLaunchTicks + 1,
                     .dropped_before = dropped,
                     .first_frame_offset = kNoFrame,
                     .dropped_total = dropped_total};
      dropped = 0;
      for (; at < records.size() && !records[at].empty() && page.header.record_count < per_page;
           ++at, ++page.header.record_count) {
        const auto* begin = reinterpret_cast<const unsigned char*>(records[at].data());
        page.payload.insert(page.payload.end(), begin, begin + record_bytes);
      }
      page.header.used_bytes = static_cast<std::uint32_t>(page.payload.size());
      TM_CHECK(writer.append(page.delivery()));
    }
    LaneRecord record{.plan = plan_.lanes[lane]};
    record.words.state = LaneState::kClosed;
    record.words.epoch = 1;
    record.words.attempted = records.size();
    record.words.opened_pages = sequence;
    record.words.tail_dropped = dropped;
    record.words.dropped_by[0] = dropped_total;
    record.words.dropped_total = dropped_total;
    return record;
  }

  // A page for each piece of a frame.
  LaneRecord append_frames(CaptureWriter& writer, LaneIndex lane) const {
    const std::size_t piece = page_bytes() - kPageHeaderBytes - sizeof(FragmentImage) - 16;
    std::uint64_t pages = 0;
    for (std::size_t number = 0; number < frames_[lane].size(); ++number) {
      const auto& frame = frames_[lane][number];
      for (std::size_t at = 0; at < frame.size(); at += piece) {
        const std::size_t length = std::min(piece, frame.size() - at);
        const bool last = at + length == frame.size();
        const FragmentImage head{
            .frame_number = number,
            .total_bytes = frame.size(),
            .offset = at,
            .commit = encode_commit({.length = static_cast<std::uint32_t>(length),
                                     .first = at == 0,
                                     .last = last,
                                     .generation = 1})};
        SamplePage page;
        page.payload.resize(fragment_span(length));
        std::memcpy(page.payload.data(), &head, sizeof(head));
        std::memcpy(page.payload.data() + sizeof(head), frame.data() + at, length);
        page.header = {.sequence = ++pages,
                       .run_id = kRunId,
                       .lane = lane,
                       .epoch = 1,
                       .generation = 1,
                       .record_bytes = 0,
                       .first_number = number,
                       .record_count = last ? 1u : 0u,
                       .used_bytes = static_cast<std::uint32_t>(page.payload.size()),
                       .open_ticks = kLaunchTicks,
                       .close_ticks = kLaunchTicks + 1,
                       .first_frame_offset = at == 0 ? 0 : kNoFrame};
        TM_CHECK(writer.append(page.delivery()));
      }
    }
    LaneRecord record{.plan = plan_.lanes[lane]};
    record.words.state = LaneState::kClosed;
    record.words.epoch = 1;
    record.words.attempted = frames_[lane].size();
    record.words.opened_pages = pages;
    return record;
  }

  RuntimeConfig config_;
  std::uint64_t finish_ticks_ = kLaunchTicks + 1'000'000;
  RegionPlan plan_;
  std::vector<std::vector<Stored>> records_;                     // by lane
  std::vector<std::vector<std::vector<unsigned char>>> frames_;  // by lane
};

}  // namespace tidemark::samples
