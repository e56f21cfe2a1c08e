// SPDX-License-Identifier: Apache-2.0
#include "tidemark/bench/recorder_rig.h"

#include <unistd.h>

#include <atomic>
#include <bit>
#include <thread>

#include "tidemark/base/monotonic_clock.h"
#include "tidemark/base/nearest_name.h"
#include "tidemark/bench/bench_span.h"
#include "tidemark/bench/cuda_bench.h"
#include "tidemark/bench/thread_places.h"
#include "tidemark/device/platform_table.h"
#include "tidemark/device/sim/sim_env.h"
#include "tidemark/record/recorder.h"
#include "tidemark/session/active_run.h"
#include "workloads/record_widths.h"

namespace tidemark::bench {

constexpr std::uint32_t kBurstPages = 8;
constexpr std::uint32_t kBursts = 150;

namespace {

template <std::uint32_t kBytes>
__attribute__((noinline)) std::uint64_t write_records(Recorder<BenchSpan<kBytes>, SimEnv>& recorder,
                                                      std::uint64_t number, std::uint64_t count) {
  std::uint64_t refused = 0;
  Pen pen(recorder);
  for (const std::uint64_t stop = number + count; number < stop; ++number)
    refused += !pen.write({bench_span(number, number, number + 1)});
  return refused;
}

}  // namespace

Expected<std::unique_ptr<RecorderRig>> RecorderRig::create(const BenchOptions& options,
                                                           PageSink* sink,
                                                           std::uint64_t ticks_per_second) {
  const Platform* platform = find_platform(options.platform);
  if (platform == nullptr)
    return failure(ErrorKind::kUsage, "--platform {}: no such platform; see 'tidemark list'{}",
                   options.platform, did_you_mean(options.platform, platforms(), &Platform::name));
  std::unique_ptr<RecorderRig> rig(new RecorderRig);
  rig->options_ = options;
  RegionRequest request;
  request.lanes.assign(options.lanes, {.record_bytes = options.record_bytes, .producer = "bench"});
  request.recorder = options.recorder;
  request.keeps_pages = platform->transport == Transport::kPulled;
  if (request.keeps_pages) request.pages_per_lane = kPagesPerLanePulled;
  request.ticks_per_second = ticks_per_second;
  request.run_id = make_run_id();
  TM_TRY(rig->plan_, plan_region(request));
  TM_TRY(rig->file_, create_region_file(rig->plan_));
  TM_TRY(rig->port_, RegionPort::open(rig->file_, platform->transport));
  TM_TRY(rig->mapping_, map_region(rig->file_.fd.get(), rig->file_.path, rig->file_.bytes));
  ::unlink(rig->file_.path.c_str());
  rig->region_ = RegionView(rig->mapping_.base());
  rig->drainer_ = std::make_unique<Drainer>(&rig->port_, &rig->plan_, sink);
  return rig;
}

EndToEnd RecorderRig::run(std::uint64_t records) {
  std::atomic<bool> go{false};
  std::atomic<std::uint64_t> refused{0};
  std::vector<std::thread> producers;
  for (LaneIndex lane = 0; lane < options_.lanes; ++lane)
    producers.emplace_back([&, lane] {
      const ThreadPlace place = ThreadPlace::producer(options_, lane);
      with_record_bytes(options_.record_bytes, [&](auto bytes) {
        Recorder<BenchSpan<bytes()>, SimEnv> recorder(&region_, lane);
        while (!go.load(std::memory_order_acquire)) ::sched_yield();
        refused += write_records<bytes()>(recorder, 0, records);
        recorder.close();
      });
    });
  start_drainer();
  const std::uint64_t begin_ns = monotonic_ns();
  go.store(true, std::memory_order_release);
  for (auto& producer : producers) producer.join();
  drainer_->finish();
  EndToEnd result = sum_up(records, static_cast<double>(monotonic_ns() - begin_ns));
  result.lost += refused;
  return result;
}

Expected<EndToEnd> RecorderRig::run_on(Device& device, LaunchRequest launch,
                                       std::uint64_t records) {
  drainer_->start();
  launch.region = &file_;
  TM_TRY_DO(device.launch(launch));
  std::uint64_t drained_ns = 0;
  std::optional<DeviceExit> exit;
  while (!exit) {
    // Not through wait_fd alone: the moment of the last record is what is measured.
    if (drained_ns == 0 && drainer_->drained_records() >= records * options_.lanes)
      drained_ns = monotonic_ns();
    if (drained_ns == 0) sleep_ns(50'000);
    exit = device.wait(drained_ns == 0 ? 0 : 100);
  }
  drainer_->finish();
  if (drained_ns == 0) drained_ns = monotonic_ns();
  RegionHeader& header = region_.header();
  if (exit->kind != DeviceExit::Kind::kFinished || exit->code != 0) {
    const std::uint32_t bytes = header.device.fault_bytes.load_acquire();
    return failure(ErrorKind::kDevice, "the bench ended on the device: {}",
                   bytes > 0 ? std::string(header.fault_text, std::min(bytes, kFaultTextBytes))
                             : fmt::format("exit {}", exit->code));
  }
  const double wall_ns = static_cast<double>(drained_ns) - figure(kFigureLaunchNs);
  return sum_up(records, wall_ns);
}

double RecorderRig::figure(std::uint32_t index) const {
  return std::bit_cast<double>(region_.header().device.figures[index].load_acquire());
}

EndToEnd RecorderRig::sum_up(std::uint64_t records, double wall_ns) {
  EndToEnd result;
  LaneCounts total;
  for (LaneIndex lane = 0; lane < options_.lanes; ++lane) {
    LaneLedger& ledger = drainer_->ledgers()[lane];
    ledger.finish(read_lane_words(port_, plan_.layout, lane));
    total.add(ledger.counts());
    const std::uint64_t delivered = ledger.counts().delivered;  // exact for every lane
    result.lost += delivered > records ? delivered - records : records - delivered;
  }
  const DrainStats stats = drainer_->stats();
  result.records = records * options_.lanes;
  result.lost += total.unaccounted() + total.dropped;
  result.seconds = wall_ns / 1e9;
  result.stall_share = static_cast<double>(total.stall_ticks) /
                       static_cast<double>(plan_.identity.ticks_per_second) * 1e9 / wall_ns /
                       options_.lanes;
  result.host_cpu_share = static_cast<double>(stats.cpu_ns) / wall_ns;
  result.drain_busy_share =
      static_cast<double>(stats.busy_ns) / wall_ns / plan_.identity.drain_threads;
  result.sink_share = stats.busy_ns > 0
                          ? static_cast<double>(stats.sink_ns) / static_cast<double>(stats.busy_ns)
                          : 0;
  return result;
}

void RecorderRig::start_drainer() {
  const ThreadPlace place = ThreadPlace::drainers(options_);
  drainer_->start();
}

double RecorderRig::burst_ns_per_record() {
  start_drainer();
  const ThreadPlace place = ThreadPlace::producer(options_, 0);
  std::vector<double> costs;
  with_record_bytes(options_.record_bytes, [&](auto bytes) {
    Recorder<BenchSpan<bytes()>, SimEnv> recorder(&region_, 0);
    const std::uint64_t per_page = plan_.layout.payload_bytes() / bytes();
    const std::uint64_t pages = std::min<std::uint64_t>(kBurstPages, plan_.pool_page_count() / 2);
    std::uint64_t number = 0;
    for (std::uint32_t burst = 0; burst < kBursts; ++burst) {
      // The page before last was drained and handed back: the burst will not have to wait.
      while (drainer_->drained_pages() + 1 < number / per_page) ::sched_yield();
      const std::uint64_t begin_ticks = SimEnv::now_ticks();
      write_records<bytes()>(recorder, number, pages * per_page);
      const auto ticks = static_cast<double>(SimEnv::now_ticks() - begin_ticks);
      number += pages * per_page;
      if (burst >= kBursts / 4) costs.push_back(ticks / static_cast<double>(pages * per_page));
    }
    recorder.close();
  });
  drainer_->finish();
  return median(costs) * 1e9 / static_cast<double>(plan_.identity.ticks_per_second);
}

RecorderRig::Moved RecorderRig::drain_full_pages(std::uint32_t fills) {
  Moved moved;
  std::vector<Recorder<BenchSpan<32>, SimEnv>> recorders;
  const std::uint64_t per_page = plan_.layout.payload_bytes() / 32;
  TM_CHECK(options_.record_bytes == 32);
  for (LaneIndex lane = 0; lane < options_.lanes; ++lane) recorders.emplace_back(&region_, lane);
  std::uint64_t number = 0;
  for (std::uint32_t fill = 0; fill < fills; ++fill) {
    std::uint64_t pages = 0;
    for (LaneIndex lane = 0; lane < options_.lanes; ++lane) {
      const std::uint64_t held = drainer_->held_pages(lane);
      for (std::uint64_t page = 0; page < held; ++page) {
        write_records<32>(recorders[lane], number, per_page);
        recorders[lane].flush();
      }
      pages += held;
    }
    number += per_page;
    const std::uint64_t begin_ns = monotonic_ns();
    drainer_->drain_now();
    moved.seconds += static_cast<double>(monotonic_ns() - begin_ns) / 1e9;
    moved.bytes += static_cast<double>(pages * per_page * 32);
  }
  return moved;
}

}  // namespace tidemark::bench
