// SPDX-License-Identifier: Apache-2.0
#include "workloads/synthetic_producer.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "tidemark/base/command.h"
#include "tidemark/base/mapped_memory.h"
#include "tidemark/base/monotonic_clock.h"
#include "tidemark/device/program.h"
#include "tidemark/device/sim/sim_env.h"
#include "tidemark/record/event_recorder.h"
#include "tidemark/record/frame_writer.h"
#include "tidemark/record/recorder.h"
#include "tidemark/session/run_request.h"
#include "tidemark/session/workload_entry.h"
#include "workloads/record_widths.h"
#include "workloads/synthetic_content.h"
#include "workloads/workload_table.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kLookEvery = 64;  // records between two looks at the stop words
constexpr double kSleepMaxNs = 5e6;

// The test's own counters; a run without them counts into a dummy.
class AcceptedCounts {
 public:
  explicit AcceptedCounts(const char* path) {
    if (path[0] == 0) return;
    const UniqueFd fd(::open(path, O_RDWR | O_CLOEXEC));
    struct stat info {};
    TM_CHECK(fd.valid() && ::fstat(fd.get(), &info) == 0);
    counts_ = MappedMemory(static_cast<std::uint64_t>(info.st_size), MAP_SHARED, fd.get());
    TM_CHECK(counts_.valid());
  }
  SharedWord<std::uint64_t>* of_lane(std::uint32_t lane) {
    if (!counts_.valid()) return nullptr;
    TM_CHECK((lane + 1) * 16ull <= counts_.bytes());
    return static_cast<SharedWord<std::uint64_t>*>(counts_.base()) + lane * 2;
  }

 private:
  MappedMemory counts_;
};

class FrameSide {
 public:
  FrameSide(DeviceContext& context, const SyntheticArgs& args, std::uint32_t lane)
      : lane_(lane), max_bytes_(args.frame_bytes) {
    if (args.frame_bytes == 0) return;
    writer_ = FrameWriter<SimEnv>(&context.region(), args.lanes + lane);
    bytes_.resize(args.frame_bytes);
  }
  bool write_next() {
    const std::uint64_t size = synthetic_frame_bytes(lane_, frame_, max_bytes_);
    SyntheticFrame(lane_, frame_++).read(bytes_.data(), size);
    return writer_.write_frame(bytes_.data(), size);
  }
  void close() { writer_.close(); }
  [[nodiscard]] bool enabled() const { return writer_.enabled(); }

 private:
  std::uint32_t lane_;
  std::uint64_t max_bytes_;
  std::uint64_t frame_ = 0;
  FrameWriter<SimEnv> writer_;
  std::vector<unsigned char> bytes_;
};

// Holds a lane back to its rate, or to the rhythm of bursts.
class Pace {
 public:
  Pace(const SyntheticArgs& args, std::uint64_t ticks_per_second, std::uint64_t begin_ticks)
      : ticks_per_record_(args.rate > 0 ? static_cast<double>(ticks_per_second) / args.rate : 0),
        begin_ticks_(begin_ticks),
        burst_(args.burst) {}

  // Ticks until record `number` may be written; 0: now.
  std::uint64_t wait_ticks(std::uint64_t number, std::uint64_t now_ticks) {
    if (burst_ && number % kBurstRecords == 0 && number != last_burst_) {
      last_burst_ = number;
      sleep_ns(kBurstSilenceNs);
    }
    if (ticks_per_record_ == 0) return 0;
    const std::uint64_t due = burst_ ? number / kBurstRecords * kBurstRecords : number;
    const std::uint64_t due_ticks =
        begin_ticks_ + static_cast<std::uint64_t>(static_cast<double>(due) * ticks_per_record_);
    return due_ticks > now_ticks ? due_ticks - now_ticks : 0;
  }

 private:
  double ticks_per_record_;
  std::uint64_t begin_ticks_;
  bool burst_;
  std::uint64_t last_burst_ = 0;
};

// Short enough that a lane notices soon when it is to stop.
void sleep_up_to(std::uint64_t ticks, std::uint64_t ticks_per_second) {
  const double ns = static_cast<double>(ticks) * 1e9 / static_cast<double>(ticks_per_second);
  sleep_ns(static_cast<std::uint64_t>(std::min(ns, kSleepMaxNs)));
}

template <std::uint32_t kBytes>
void run_lane(DeviceContext& context, const SyntheticArgs& args, std::uint32_t lane,
              AcceptedCounts& counts) {
  Recorder<SyntheticSpan<kBytes>, SimEnv> recorder(&context.region(), lane);
  FrameSide frames(context, args, lane);
  SharedWord<std::uint64_t>* accepted_word = counts.of_lane(lane);
  const std::uint64_t ticks_per_second = context.region().header().identity.ticks_per_second;
  const std::uint64_t begin_ticks = SimEnv::now_ticks();
  const std::uint64_t limit = args.records > 0 ? args.records : ~std::uint64_t{0};
  const std::uint64_t deadline_ticks =
      args.seconds > 0
          ? begin_ticks +
                static_cast<std::uint64_t>(args.seconds * static_cast<double>(ticks_per_second))
          : ~std::uint64_t{0};
  const bool writes = args.writing_lanes == 0 || lane < args.writing_lanes;
  const auto stops = [&] { return !args.ignores_abort && context.stop_requested(); };
  Pace pace(args, ticks_per_second, begin_ticks);
  std::uint64_t accepted = 0, accepted_frames = 0, last_ticks = begin_ticks;
  for (std::uint64_t number = 0; writes && number < limit; ++number) {
    std::uint64_t now_ticks = SimEnv::now_ticks();
    bool stop = number % kLookEvery == 0 && (now_ticks >= deadline_ticks || stops());
    for (std::uint64_t wait = 0; !stop && (wait = pace.wait_ticks(number, now_ticks)) > 0;) {
      sleep_up_to(wait, ticks_per_second);
      now_ticks = SimEnv::now_ticks();
      stop = now_ticks >= deadline_ticks || stops();
    }
    if (stop) break;
    if (recorder.write({synthetic_span(lane, number, last_ticks, now_ticks)})) {
      ++accepted;
      if (accepted_word != nullptr) accepted_word[0].store_release(accepted);
    }
    if (frames.enabled() && number % kFrameEvery == 0 && frames.write_next()) {
      ++accepted_frames;
      if (accepted_word != nullptr) accepted_word[1].store_release(accepted_frames);
    }
    last_ticks = now_ticks;
    if (number + 1 == args.hang_after)
      for (;;) ::pause();  // never returns, and never looks
  }
  recorder.close();
  frames.close();
}

void run_synthetic_producer(DeviceContext& context) {
  const auto args = context.args<SyntheticArgs>();
  AcceptedCounts counts(args.accepted_counts);
  const std::uint32_t events_lane = args.lanes * (args.frame_bytes > 0 ? 2 : 1);
  EventRecorder<SimEnv> events(&context.region(), events_lane);
  events.mark("synthetic_producer.begin", args.lanes);
  context.run_units(args.lanes, [&](std::uint32_t lane) {
    with_record_bytes(args.record_bytes,
                      [&](auto bytes) { run_lane<bytes()>(context, args, lane, counts); });
  });
  events.mark("synthetic_producer.end", args.lanes);
  events.close();
}

Expected<double> parse_rate(const std::string& text) {
  if (text == "max") return 0.0;
  char* end = nullptr;
  const double rate = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != 0 || !(rate > 0))
    return failure(ErrorKind::kUsage, "--rate {}: a number of records per second and lane, or max",
                   text);
  return rate;
}

struct SyntheticFlags {
  SyntheticArgs args;
  std::string rate = "max";
  std::string accepted_counts;
};

Expected<WorkloadLaunch> plan_as_asked(const SyntheticFlags& flags, const Platform& platform) {
  SyntheticArgs args = flags.args;
  TM_TRY(args.rate, parse_rate(flags.rate));
  if (platform.device == DeviceKind::kCuda && !flags.accepted_counts.empty())
    return failure(ErrorKind::kUsage, "--accepted-counts is for simulated platforms, not for {}",
                   platform.name);
  if (flags.accepted_counts.size() >= kCountsPathBytes)
    return failure(ErrorKind::kUsage, "--accepted-counts: the path is too long");
  flags.accepted_counts.copy(args.accepted_counts, kCountsPathBytes);
  return plan_synthetic_producer(args);
}

LaunchPlan bind_flags(Command& command) {
  const auto flags = std::make_shared<SyntheticFlags>();
  SyntheticArgs& args = flags->args;
  command.group = kSyntheticProducer;
  command.option("--lanes", &args.lanes, "Producers, one lane each", kShowsDefault);
  command.option("--record-bytes", &args.record_bytes, "32, 64 or 128", kShowsDefault);
  command.option("--rate", &flags->rate, "Records per second and lane, or max", kShowsDefault);
  command.option("--seconds", &args.seconds, "How long to write");
  command.option("--records", &args.records,
                 "How many to write per lane (default 1000000 without --seconds)");
  command.flag("--burst", &args.burst, "Eight pages at full speed, then silence");
  command.option("--writing-lanes", &args.writing_lanes,
                 "Only the first N lanes write; the others stay empty");
  command.option("--frame-bytes", &args.frame_bytes,
                 "Each lane also writes frames of up to so many bytes");
  command.flag("--one-thread", &args.one_thread,
               "CUDA: a lane is written by one thread instead of a warp");
  command.option("--hang-after", &args.hang_after,
                 "Each lane writes so many records, then never returns (use --op-timeout-ms)");
  command.flag("--ignore-abort", &args.ignores_abort,
               "The lanes go on when the run is to end, as a kernel in a loop does");
  command.option("--accepted-counts", &flags->accepted_counts,
                 "A file in which each lane counts what was accepted (16 bytes per lane)");
  return [flags](const Platform& platform) { return plan_as_asked(*flags, platform); };
}

}  // namespace

void register_synthetic_producer() {
  register_device_program(kSyntheticProducer, &run_synthetic_producer);
  register_synthetic_producer_cuda();
  add_workload({.name = kSyntheticProducer,
                .description =
                    "writes task spans at a chosen rate from a chosen number of lanes; no compute, "
                    "so it shows the recorder alone",
                .cases = {{"default", ""}},
                .bind_flags = &bind_flags,
                .verify_page = &verify_synthetic_page,
                .exports_on_request = true});
}

Expected<WorkloadLaunch> plan_synthetic_producer(SyntheticArgs args) {
  if (args.lanes < 1 || args.lanes > 4096)
    return failure(ErrorKind::kUsage, "--lanes {}: must be from 1 to 4096", args.lanes);
  if (!is_record_width(args.record_bytes))
    return failure(ErrorKind::kUsage, "--record-bytes {}: must be 32, 64 or 128",
                   args.record_bytes);
  if (args.seconds < 0 || args.rate < 0)
    return failure(ErrorKind::kUsage, "--seconds and --rate must not be negative");
  if (args.seconds == 0 && args.records == 0) args.records = 1'000'000;
  WorkloadLaunch launch;
  launch.program = kSyntheticProducer;
  launch.args.resize(sizeof(args));
  std::memcpy(launch.args.data(), &args, sizeof(args));
  for (std::uint32_t lane = 0; lane < args.lanes; ++lane)
    launch.lanes.push_back({.stream = StreamId::kSwimlane,
                            .record_bytes = args.record_bytes,
                            .unit = lane,
                            .producer = fmt::format("producer {}", lane)});
  for (std::uint32_t lane = 0; args.frame_bytes > 0 && lane < args.lanes; ++lane)
    launch.lanes.push_back({.stream = StreamId::kDump,
                            .record_bytes = 0,
                            .unit = lane,
                            .producer = fmt::format("producer {} frames", lane)});
  launch.lanes.push_back({.stream = StreamId::kEvents,
                          .record_bytes = UserEvent::kBytes,
                          .unit = args.lanes,
                          .producer = "driver"});
  for (std::uint32_t kernel = 0; kernel < kSyntheticKernels; ++kernel)
    launch.kernels.push_back(fmt::format("synthetic_{}", kernel));
  return launch;
}

}  // namespace tidemark
