// SPDX-License-Identifier: Apache-2.0
// A small honest recording for tests: real writers on a region in memory, drained by hand into any
// sink. What it writes is known record by record. Uses rooms up to `capture` only.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "tidemark/base/mix.h"
#include "tidemark/capture/lane_record.h"
#include "tidemark/collect/drain_thread.h"
#include "tidemark/collect/leftover_pages.h"
#include "tidemark/record/event_recorder.h"
#include "tidemark/record/frame_writer.h"
#include "tidemark/schema/task_span.h"

namespace tidemark::samples {

inline constexpr std::uint64_t kRunId = 0x5A3D1E0000000001ull;
inline constexpr std::uint64_t kLaunchTicks = 1'000'000'000'000ull;

// Time that moves by one microsecond with every look; waiting lets the host have a pass.
struct SampleEnv {
  static inline std::uint64_t ticks = kLaunchTicks;
  static inline DrainThread* drain = nullptr;
  static std::uint64_t now_ticks() { return ticks += 1000; }
  static void pause(std::uint32_t) { drain->pass(); }
};

enum SampleLane : LaneIndex { kWaits, kDrops, kFrames, kEvents, kKeeps, kNeverOpened };

inline RegionPlan plan_sample(std::uint32_t page_bytes) {
  RegionRequest request{.lanes = {},
                        .recorder = {.page_bytes = page_bytes, .pool_bytes = 6ull * page_bytes}};
  request.lanes = {
      {.stream = StreamId::kSwimlane, .unit = 0, .producer = "worker 0"},
      {.stream = StreamId::kSwimlane,
       .overflow = Overflow::kDrop,
       .unit = 1,
       .producer = "worker 1"},
      {.stream = StreamId::kDump, .record_bytes = 0, .unit = 2, .producer = "dump"},
      {.stream = StreamId::kEvents, .unit = 3, .producer = "events"},
      {.stream = StreamId::kSwimlane,
       .overflow = Overflow::kKeepLast,
       .unit = 4,
       .producer = "flight recorder"},
      {.stream = StreamId::kSwimlane, .unit = 5, .producer = "never opened"},
  };
  request.keep_pages = 2;
  request.recorder.drain_timeout_ms = 1000;
  request.run_id = kRunId;
  RegionPlan plan = plan_region(request).value();
  plan.identity.shape.name_slots = 8;
  plan.layout = lay_out(plan.identity.shape);
  plan.identity.total_bytes = plan.layout.total_bytes;
  plan.identity.drain_threads = 0;
  return plan;
}

inline TaskSpan sample_span(std::uint32_t lane, std::uint64_t number) {
  return {.task_id = std::uint64_t{lane} << 32 | number,
          .begin_ticks = kLaunchTicks + number * 100,
          .end_ticks = kLaunchTicks + number * 100 + 50 + lane,
          .block = static_cast<std::uint32_t>(mix(number)),
          .kernel = static_cast<std::uint16_t>(number % 3),
          .core = static_cast<std::uint16_t>(lane)};
}

inline std::vector<unsigned char> sample_frame(std::uint64_t frame) {
  std::vector<unsigned char> bytes(mix(frame + 1) % 3000);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(mix(frame * 4096 + i));
  return bytes;
}

class SampleRecording {
 public:
  struct Options {
    std::uint32_t page_bytes = 1024;
    std::uint32_t spans = 100;  // attempts on every record lane
    std::uint32_t frames = 6;
    bool closed = true;       // false: the producers are left where they are
    bool late_lanes = false;  // the description does not know the lanes, only the lanes chunk
  };

  SampleRecording(PageSink& sink, const Options& options)
      : plan_(plan_sample(options.page_bytes)),
        memory_(static_cast<unsigned char*>(std::aligned_alloc(4096, plan_.layout.total_bytes)),
                &std::free),
        port_(RegionPort::over_memory({memory_.get(), plan_.layout.total_bytes})) {
    std::memset(memory_.get(), 0, plan_.layout.total_bytes);
    std::memcpy(memory_.get(), &plan_.identity, sizeof(plan_.identity));
    for (LaneIndex lane = 0; lane < plan_.lanes.size(); ++lane)
      std::memcpy(memory_.get() + plan_.layout.lane_offset(lane), &plan_.lanes[lane],
                  sizeof(LanePlan));
    drainer_ = std::make_unique<Drainer>(&port_, &plan_, &sink);
    drain_ = std::make_unique<DrainThread>(drainer_.get(), 0,
                                           DrainThread::LaneRange{0, plan_.layout.shape.max_lanes});
    drain_->hand_first_pages();
    SampleEnv::ticks = kLaunchTicks;
    SampleEnv::drain = drain_.get();
    produce(options);
    while (drain_->pass() > 0) {
    }
    finish(sink);
  }

  [[nodiscard]] const RegionPlan& plan() const { return plan_; }
  [[nodiscard]] RegionPort& port() { return port_; }
  // The live ledgers, finished.
  [[nodiscard]] const std::vector<LaneLedger>& ledgers() const { return drainer_->ledgers(); }
  [[nodiscard]] const FaultCounts& faults() const { return drain_->stats().faults; }
  // Of the lane that drops: which numbers were accepted.
  [[nodiscard]] const std::vector<bool>& accepted() const { return accepted_; }

  [[nodiscard]] std::vector<unsigned char> lane_records() const {
    std::vector<unsigned char> bytes;
    for (LaneIndex lane = 0; lane < plan_.lanes.size(); ++lane) {
      const LaneRecord record{.plan = plan_.lanes[lane],
                              .words = left_.words[lane],
                              .file_error_dropped = 0,
                              .reserved = {}};
      const auto* begin = reinterpret_cast<const unsigned char*>(&record);
      bytes.insert(bytes.end(), begin, begin + sizeof(record));
    }
    return bytes;
  }
  [[nodiscard]] const Leftovers& leftovers() const { return left_; }

 private:
  // The dropping lane gets a pass only now and then, so that it loses some.
  void produce(const Options& options) {
    RegionView view(memory_.get());
    Recorder<TaskSpan, SampleEnv> waits(&view, kWaits), drops(&view, kDrops), keeps(&view, kKeeps);
    FrameWriter<SampleEnv> frames(&view, kFrames);
    EventRecorder<SampleEnv> events(&view, kEvents);
    events.mark("sample.begin", 7);
    for (std::uint64_t number = 0; number < options.spans; ++number) {
      waits.write(sample_span(kWaits, number));
      accepted_.push_back(drops.write(sample_span(kDrops, number)));
      keeps.write(sample_span(kKeeps, number));
      if (number % 90 == 89) drain_->pass();
    }
    for (std::uint64_t frame = 0; frame < options.frames; ++frame) {
      const auto bytes = sample_frame(frame);
      frames.write_frame(bytes.data(), bytes.size());
      events.counter("sample.frames", static_cast<std::int64_t>(frame) - 2);
    }
    events.mark("sample.end");
    if (!options.closed) return;
    waits.close();
    drops.close();
    keeps.close();
    frames.close();
    events.close();
  }

  void finish(PageSink& sink) {
    auto& ledgers = drainer_->ledgers();
    const auto is_captured = [&](const PageHeaderImage& page) {
      return page.sequence <= ledgers[page.lane].last_sequence();
    };
    left_ = collect_leftovers(port_, plan_, is_captured, sink, ledgers);
    for (LaneIndex lane = 0; lane < plan_.lanes.size(); ++lane)
      ledgers[lane].finish(left_.words[lane]);
  }

  RegionPlan plan_;
  std::unique_ptr<unsigned char, decltype(&std::free)> memory_;
  RegionPort port_;
  std::unique_ptr<Drainer> drainer_;
  std::unique_ptr<DrainThread> drain_;
  Leftovers left_;
  std::vector<bool> accepted_;
};

}  // namespace tidemark::samples
