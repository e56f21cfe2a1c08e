// SPDX-License-Identifier: Apache-2.0
#include "workloads/synthetic_producer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "tidemark/base/command.h"
#include "tidemark/base/unique_fd.h"
#include "tidemark/device/program.h"
#include "tidemark/device/sim/sim_env.h"
#include "tidemark/record/event_recorder.h"
#include "tidemark/record/frame_writer.h"
#include "tidemark/record/recorder.h"
#include "tidemark/session/run_request.h"
#include "tidemark/session/workload_entry.h"
#include "workloads/synthetic_args.h"
#include "workloads/synthetic_content.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kLookEvery = 64;  // records between two looks at the stop words
constexpr double kSleepMaxNs = 5e6;

// The test's own counters; a run without them counts into a dummy.
class AcceptedCounts {
 public:
  explicit AcceptedCounts(const char* path) {
    if (path[0] == 0) return;
    UniqueFd fd(::open(path, O_RDWR | O_CLOEXEC));
    struct stat info {};
    TM_CHECK(fd.valid() && ::fstat(fd.get(), &info) == 0);
    bytes_ = static_cast<std::size_t>(info.st_size);
    base_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    TM_CHECK(base_ != MAP_FAILED);
  }
  ~AcceptedCounts() {
    if (base_ != nullptr) ::munmap(base_, bytes_);
  }
  SharedWord<std::uint64_t>* of_lane(std::uint32_t lane) {
    TM_CHECK(base_ == nullptr || (lane + 1) * 16ull <= bytes_);
    return base_ == nullptr ? nullptr : static_cast<SharedWord<std::uint64_t>*>(base_) + lane * 2;
  }

 private:
  void* base_ = nullptr;
  std::size_t bytes_ = 0;
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
    fill_synthetic_frame(lane_, frame_, std::span(bytes_).first(size));
    ++frame_;
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
        burst_(args.burst != 0) {}

  // Ticks until record `number` may be written; 0: now.
  std::uint64_t wait_ticks(std::uint64_t number, std::uint64_t now_ticks) {
    if (burst_ && number % kBurstRecords == 0 && number != last_burst_) {
      last_burst_ = number;
      const timespec silence{.tv_sec = 0, .tv_nsec = static_cast<long>(kBurstSilenceNs)};
      ::clock_nanosleep(CLOCK_MONOTONIC, 0, &silence, nullptr);
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
  const timespec pause{.tv_sec = 0, .tv_nsec = static_cast<long>(std::min(ns, kSleepMaxNs))};
  ::clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
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
  const auto stops = [&] { return args.ignores_abort == 0 && context.stop_requested(); };
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
    switch (args.record_bytes) {
      case 64:
        return run_lane<64>(context, args, lane, counts);
      case 128:
        return run_lane<128>(context, args, lane, counts);
      default:
        return run_lane<32>(context, args, lane, counts);
    }
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
  SyntheticOptions options;
  std::string rate = "max";
};

Expected<WorkloadLaunch> plan_as_asked(const SyntheticFlags& flags, const Platform& platform) {
  TM_TRY(const auto rate, parse_rate(flags.rate));
  if (platform.device == DeviceKind::kCuda && !flags.options.accepted_counts.empty())
    return failure(ErrorKind::kUsage, "--accepted-counts is for simulated platforms, not for {}",
                   platform.name);
  SyntheticOptions options = flags.options;
  options.rate = rate;
  return plan_synthetic_producer(options);
}

LaunchPlan bind_flags(Command& command) {
  const auto flags = std::make_shared<SyntheticFlags>();
  SyntheticOptions& options = flags->options;
  command.group = kSyntheticProducer;
  command.option("--lanes", &options.lanes, "Producers, one lane each", kShowsDefault);
  command.option("--record-bytes", &options.record_bytes, "32, 64 or 128", kShowsDefault);
  command.option("--rate", &flags->rate, "Records per second and lane, or max", kShowsDefault);
  command.option("--seconds", &options.seconds, "How long to write");
  command.option("--records", &options.records,
                 "How many to write per lane (default 1000000 without --seconds)");
  command.flag("--burst", &options.burst, "Eight pages at full speed, then silence");
  command.option("--writing-lanes", &options.writing_lanes,
                 "Only the first N lanes write; the others stay empty");
  command.option("--frame-bytes", &options.frame_bytes,
                 "Each lane also writes frames of up to so many bytes");
  command.flag("--one-thread", &options.one_thread,
               "CUDA: a lane is written by one thread instead of a warp");
  command.option("--hang-after", &options.hang_after,
                 "Each lane writes so many records, then never returns (use --op-timeout-ms)");
  command.flag("--ignore-abort", &options.ignore_abort,
               "The lanes go on when the run is to end, as a kernel in a loop does");
  command.option("--accepted-counts", &options.accepted_counts,
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

Expected<WorkloadLaunch> plan_synthetic_producer(const SyntheticOptions& options) {
  if (options.lanes < 1 || options.lanes > 4096)
    return failure(ErrorKind::kUsage, "--lanes {}: must be from 1 to 4096", options.lanes);
  if (options.record_bytes != 32 && options.record_bytes != 64 && options.record_bytes != 128)
    return failure(ErrorKind::kUsage, "--record-bytes {}: must be 32, 64 or 128",
                   options.record_bytes);
  if (options.seconds < 0 || options.rate < 0)
    return failure(ErrorKind::kUsage, "--seconds and --rate must not be negative");
  if (options.accepted_counts.size() >= kCountsPathBytes)
    return failure(ErrorKind::kUsage, "--accepted-counts: the path is too long");
  SyntheticArgs args{};
  args.lanes = options.lanes;
  args.record_bytes = options.record_bytes;
  args.writing_lanes = options.writing_lanes;
  args.burst = options.burst;
  args.rate = options.rate;
  args.seconds = options.seconds;
  args.records = options.records;
  if (options.seconds == 0 && options.records == 0) args.records = 1'000'000;
  args.frame_bytes = options.frame_bytes;
  args.one_thread = options.one_thread;
  args.hang_after = options.hang_after;
  args.ignores_abort = options.ignore_abort;
  std::memcpy(args.accepted_counts, options.accepted_counts.data(), options.accepted_counts.size());

  WorkloadLaunch launch;
  launch.program = kSyntheticProducer;
  launch.args.resize(sizeof(args));
  std::memcpy(launch.args.data(), &args, sizeof(args));
  for (std::uint32_t lane = 0; lane < options.lanes; ++lane)
    launch.lanes.push_back({.stream = StreamId::kSwimlane,
                            .record_bytes = options.record_bytes,
                            .unit = lane,
                            .producer = fmt::format("producer {}", lane)});
  for (std::uint32_t lane = 0; options.frame_bytes > 0 && lane < options.lanes; ++lane)
    launch.lanes.push_back({.stream = StreamId::kDump,
                            .record_bytes = 0,
                            .unit = lane,
                            .producer = fmt::format("producer {} frames", lane)});
  launch.lanes.push_back({.stream = StreamId::kEvents,
                          .record_bytes = UserEvent::kBytes,
                          .unit = options.lanes,
                          .producer = "driver"});
  for (std::uint32_t kernel = 0; kernel < kSyntheticKernels; ++kernel)
    launch.kernels.push_back(fmt::format("synthetic_{}", kernel));
  return launch;
}

}  // namespace tidemark
