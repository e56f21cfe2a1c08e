// SPDX-License-Identifier: Apache-2.0
// One fuzzer input over a region: honest producers first, then a device that lies about everything,
// while the host drains; at the end the leftovers are read, once by the plan the host made and once
// by the plan the region claims. Whatever the bytes say, the host must neither crash nor believe a
// page that contradicts what it knows. Called by region_fuzz.cpp and tests/hostile_region_test.cpp.
#pragma once

#include <array>
#include <set>
#include <span>
#include <vector>

#include "fuzz/hostile_region.h"
#include "tidemark/capture/chunk.h"
#include "tidemark/capture/streaming_copy.h"
#include "tidemark/collect/drain_thread.h"
#include "tidemark/collect/leftover_pages.h"
#include "tidemark/record/event_recorder.h"
#include "tidemark/record/frame_writer.h"
#include "tidemark/run/description.h"
#include "tidemark/run/report_lanes.h"
#include "tidemark/schema/task_span.h"
#include "tidemark/session/region_words.h"

namespace tidemark::fuzz {

// Time moves with every look at it, and waiting lets the host have a pass.
struct InputEnv {
  static inline std::uint64_t ticks = 0;
  static inline DrainThread* drain = nullptr;
  static std::uint64_t now_ticks() { return ticks += 1000; }
  static void pause(std::uint32_t) { drain->pass(); }
};

// Takes pages as the capture does, checks what the host has promised about them, and now and then
// lets the device write in between.
class InputSink : public PageSink {
 public:
  InputSink(HostileRegion& region, const RegionPlan& plan, ByteSource& input)
      : region_(region), plan_(plan), input_(input), last_sequence_(plan.lanes.size(), 0) {}

  bool append(const PageDelivery& page) override {
    ++pages_;
    TM_CHECK(page.header.run_id == plan_.identity.run_id);
    TM_CHECK(page.header.lane < plan_.lanes.size());
    TM_CHECK(page.payload_bytes == page.header.used_bytes);
    TM_CHECK(page.payload_bytes <= plan_.layout.payload_bytes());
    TM_CHECK(page.header.sequence > last_sequence_[page.header.lane]);
    last_sequence_[page.header.lane] = page.header.sequence;
    // As in CaptureWriter::append.
    std::vector<unsigned char> chunk(kPageHeaderBytes + page.payload_bytes);
    if (page.payload != nullptr) {
      (void)copy_with_checksum(chunk.data(), &page.header, kPageHeaderBytes, page.payload,
                               page.payload_bytes);
    } else {
      std::memcpy(chunk.data(), &page.header, kPageHeaderBytes);
      page.port->read(page.payload_offset, chunk.data() + kPageHeaderBytes, page.payload_bytes);
    }
    if (!lies_) return true;
    const std::uint32_t choice = input_.below(8);
    for (std::uint32_t i = 0; i < choice; ++i) region_.tell_lie(input_);
    return choice != 7;  // now and then the disk is full
  }

  void begin_lies() { lies_ = true; }
  void forget_sequences() { last_sequence_.assign(last_sequence_.size(), 0); }
  [[nodiscard]] std::uint64_t pages() const { return pages_; }

 private:
  HostileRegion& region_;
  const RegionPlan& plan_;
  ByteSource& input_;
  std::vector<std::uint64_t> last_sequence_;
  std::uint64_t pages_ = 0;
  bool lies_ = false;
};

// What the honest producers do: records, frames and events into every planned lane.
inline void produce_honestly(RegionView& view, ByteSource& input) {
  Recorder<TaskSpan, InputEnv> waits(&view, 0), drops(&view, 1), keeps(&view, 5);
  FrameWriter<InputEnv> frames(&view, 2), dropping_frames(&view, 3);
  EventRecorder<InputEnv> events(&view, 4);
  std::array<unsigned char, 3000> bytes{};
  const std::uint32_t steps = input.below(32);
  for (std::uint32_t step = 0; step < steps; ++step) {
    const std::uint32_t count = input.below(64);
    const TaskSpan span{.task_id = step, .begin_ticks = step, .end_ticks = step + count};
    switch (input.below(8)) {
      case 0:
        for (std::uint32_t i = 0; i < count; ++i) waits.write(span);
        break;
      case 1:
        for (std::uint32_t i = 0; i < count; ++i) drops.write(span);
        break;
      case 2:
        for (std::uint32_t i = 0; i < count; ++i) keeps.write(span);
        break;
      case 3:
        frames.write_frame(bytes.data(), count * 45);
        break;
      case 4:
        dropping_frames.write_frame(bytes.data(), count * 45);
        break;
      case 5:
        events.counter("input.counter", count);
        break;
      case 6:
        waits.flush();
        break;
      default:
        InputEnv::drain->pass();
    }
  }
  if (input.below(2) == 0) waits.close();
  if (input.below(2) == 0) frames.close();
}

// The ends of a run: leftovers, ledgers, names, report.
inline void read_what_is_left(const RegionPort& port, const RegionPlan& plan, InputSink& sink,
                              std::vector<LaneLedger>& ledgers) {
  const auto is_captured = [&](const PageHeaderImage& page) {
    return page.sequence <= ledgers[page.lane].last_sequence();
  };
  const Leftovers left = collect_leftovers(port, plan, is_captured, sink, ledgers);
  TM_CHECK(left.words.size() == plan.lanes.size());
  RunReport report;
  for (LaneIndex lane = 0; lane < plan.lanes.size(); ++lane) {
    ledgers[lane].finish(left.words[lane]);
    report.lanes.push_back(report_lane(lane, read_lane_plan(port, plan.layout, lane),
                                       left.words[lane], ledgers[lane].counts()));
  }
  report_faults(left.faults, report.recorder);
  TM_CHECK(!to_json(report).empty());
  for (const auto& [hash, text] : read_names(port, plan.layout))
    TM_CHECK(hash != 0 && !text.empty() && text.size() <= kNameTextBytes);
}

// Returns how many pages the host took.
inline std::uint64_t run_region_input(std::span<const unsigned char> bytes) {
  ByteSource input(bytes);
  const auto transport = input.below(2) == 0 ? Transport::kMapped : Transport::kCopied;
  const RegionPlan plan = plan_hostile_region();
  HostileRegion region(plan, transport);
  InputSink sink(region, plan, input);
  Drainer drainer(&region.port(), &plan, &sink);
  DrainThread drain(&drainer, 0, {.first = 0, .last = plan.layout.shape.max_lanes});
  drain.hand_first_pages();
  InputEnv::ticks = 0;
  InputEnv::drain = &drain;

  RegionView view(region.base());
  produce_honestly(view, input);
  TM_CHECK(drain.stats().faults.total() == 0);
  sink.begin_lies();
  while (!input.done()) {
    for (std::uint32_t lies = input.below(4); lies > 0; --lies) region.tell_lie(input);
    drain.pass();
  }
  read_what_is_left(region.port(), plan, sink, drainer.ledgers());

  // A recovery has only the region's own word for its plan.
  if (const auto claimed = read_plan(region.port(), "region")) {
    InputSink recovered(region, *claimed, input);
    std::vector<LaneLedger> ledgers(claimed->lanes.size());
    read_what_is_left(region.port(), *claimed, recovered, ledgers);
  }
  return sink.pages();
}

}  // namespace tidemark::fuzz
