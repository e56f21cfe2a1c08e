// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/active_run.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "tidemark/base/check.h"
#include "tidemark/base/monotonic_clock.h"
#include "tidemark/schema/stream_registry.h"
#include "tidemark/session/calibrate.h"
#include "tidemark/session/hang_state.h"
#include "tidemark/session/output_directory.h"
#include "tidemark/session/report_lanes.h"

namespace tidemark {
namespace {

RegionRequest region_request(const RunRequest& request, std::uint64_t run_id,
                             std::uint32_t spare_lanes) {
  RegionRequest region;
  region.lanes = request.launch.lanes;
  for (auto& lane : region.lanes) {
    if (request.lanes_have_policies) continue;
    const auto own = request.stream_policy.find(lane.stream);
    lane.overflow = own == request.stream_policy.end() ? request.policy : own->second;
  }
  region.spare_lanes = spare_lanes;
  region.keeps_pages = request.platform->transport == Transport::kPulled;
  region.page_bytes = request.page_bytes;
  region.pool_bytes = request.pool_bytes;
  if (region.lanes.empty() && spare_lanes == 0) {  // nothing is recorded: one lane nobody opens
    region.spare_lanes = 1;
    region.pool_bytes = region.page_bytes;
  }
  if (request.launch.runtime)
    region.status_bytes = status_bytes(request.launch.runtime->config.units());
  if (request.platform->transport == Transport::kPulled)
    region.pages_per_lane = kPagesPerLanePulled;
  else if (request.launch.runtime && request.launch.runtime->config.streams.dump == 0) {
    region.pages_per_lane = kPagesPerLaneOfTasks;
    region.pool_pages_min = kPoolPagesMinOfTasks;
  }
  region.keep_pages = request.keep_pages;
  region.drain_threads = request.drain_threads;
  region.drain_timeout_ms = request.drain_timeout_ms;
  region.run_id = run_id;
  region.device = request.device;
  return region;
}

std::optional<RuntimeConfig> runtime_of(const RunRequest& request) {
  if (!request.launch.runtime) return std::nullopt;
  return request.launch.runtime->config;
}

}  // namespace

std::uint64_t make_run_id() {
  std::uint64_t id = 0;
  while (id == 0)
    if (::getrandom(&id, sizeof(id), 0) != sizeof(id)) id = monotonic_ns();
  return id;
}

Expected<std::unique_ptr<ActiveRun>> ActiveRun::prepare(
    const RunRequest& request, const std::function<std::uint64_t()>& ticks_per_second,
    std::uint32_t spare_lanes) {
  std::unique_ptr<ActiveRun> run(new ActiveRun);
  run->begin_ns_ = monotonic_ns();
  const std::uint64_t run_id = make_run_id();
  auto plan = plan_region(region_request(request, run_id, spare_lanes));
  if (!plan) return tl::unexpected(plan.error());
  run->plan_ = std::move(*plan);

  RunReport& report = run->report_;
  report.run_id = run_id;
  report.workload = request.workload;
  report.case_name = request.case_name;
  report.platform = std::string(request.platform->name);
  report.runtime = request.runtime;
  report.transport = std::string(to_text(request.platform->transport));
  report.seed = request.seed;
  report.device = request.device;
  report.host_id = host_id();
  report.boot_id = boot_id();
  report.host = this_process();
  report.region_path = region_path(run_id);
  report.region_bytes = run->plan_.layout.total_bytes;
  run->directory_ = request.output_dir;
  run->on_simulated_device_ = request.platform->device == DeviceKind::kSimulated;
  run->keeps_pages_ = request.platform->transport == Transport::kPulled;
  if (auto made = make_output_directory(run->directory_, request.force); !made)
    return tl::unexpected(made.error());
  if (auto written = write_run_report(run->directory_, report); !written)
    return tl::unexpected(written.error());
  run->begun_ = true;
  std::error_code code;
  run->plan_.run_directory = std::filesystem::absolute(run->directory_, code).string();

  auto region = allocate_region_file(run->plan_);
  if (!region) return tl::unexpected(region.error());
  report.ticks_per_second = run->clock_.ticks_per_second = ticks_per_second();
  set_clock_rate(run->plan_, report.ticks_per_second, request.drain_timeout_ms);
  if (auto named = name_region_file(*region, run->plan_); !named)
    return tl::unexpected(named.error());
  run->region_ = std::move(*region);
  auto port = RegionPort::open(run->region_, request.platform->transport);
  if (!port) return tl::unexpected(port.error());
  run->port_ = std::move(*port);
  if (request.launch.runtime)
    run->describe_runtime(request.launch.runtime->config, request.launch.kernels);

  run->records_ = !request.launch.lanes.empty() || spare_lanes > 0;
  if (!run->records_) return run;
  auto capture = CaptureWriter::create(run->directory_ + "/" + kCaptureFile, run_id);
  if (!capture) return tl::unexpected(capture.error());
  run->capture_ = std::move(*capture);
  const CaptureDescription description{.run = report,
                                       .page_bytes = request.page_bytes,
                                       .lanes = run->plan_.lanes,
                                       .kernels = request.launch.kernels,
                                       .runtime = runtime_of(request)};
  if (auto described =
          run->capture_->append_text(ChunkType::kDescription, describe_capture(description));
      !described)
    return tl::unexpected(described.error());
  run->drainer_ =
      std::make_unique<Drainer>(&run->port_, &run->plan_, run->capture_.get(), request.inject);
  return run;
}

// A run that did not come to its report (it never began) leaves nothing behind.
ActiveRun::~ActiveRun() {
  if (reported_ || !begun_) return;
  drainer_.reset();
  capture_.reset();
  ::unlink(region_.path.c_str());
  ::unlink((directory_ + "/" + kCaptureFile).c_str());
  ::unlink((directory_ + "/run.json").c_str());
}

void ActiveRun::start_drainer() {
  if (records()) drainer_->start();
}

std::uint64_t ActiveRun::drained_records() const {
  return records() ? drainer_->drained_records() : 0;
}

std::uint64_t ActiveRun::drained_pages() const { return records() ? drainer_->drained_pages() : 0; }

void ActiveRun::write_status(std::span<const std::byte> bytes) {
  CHECK(bytes.size() <= plan_.layout.shape.status_bytes);
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, 8);
    if (word != 0) port_.store(plan_.layout.status_offset + at, word);
  }
}

void ActiveRun::describe_runtime(const RuntimeConfig& config,
                                 const std::vector<std::string>& kernels) {
  const std::uint64_t shape = plan_.layout.status_offset + offsetof(RuntimeStatus, shape);
  for (std::uint32_t i = 0; i < kRingCount; ++i) {
    port_.store(shape + offsetof(RuntimeShape, task_window) + i * 8, config.rings[i].task_window);
    port_.store(shape + offsetof(RuntimeShape, heap_bytes) + i * 8, config.rings[i].heap_bytes);
    port_.store(shape + offsetof(RuntimeShape, dep_pool) + i * 8, config.rings[i].dep_pool);
  }
  port_.store(shape + offsetof(RuntimeShape, tensormap_entries), config.tensormap_entries);
  port_.store(shape + offsetof(RuntimeShape, scheduler_count), config.scheduler_count);
  port_.store(shape + offsetof(RuntimeShape, core_count), config.core_count());
  port_.store(shape + offsetof(RuntimeShape, timeout_ms), config.task_timeout_ms);
  const std::size_t count = std::min<std::size_t>(kernels.size(), kStatusKernelsMax);
  for (std::size_t i = 0; i < count; ++i) {
    char text[kStatusKernelBytes] = {};
    kernels[i].copy(text, sizeof(text) - 1);
    for (std::size_t at = 0; at < sizeof(text); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, text + at, 8);
      port_.store(shape + offsetof(RuntimeShape, kernels) + i * sizeof(text) + at, word);
    }
  }
  port_.store(shape + offsetof(RuntimeShape, kernel_count), count);
}

void ActiveRun::note_file_error(const Error& error) {
  if (file_error_.empty()) file_error_ = error.message;
}

void ActiveRun::read_device_words() {
  const std::uint64_t device = offsetof(RegionHeader, device);
  clock_.launch_ticks = port_.load(device + offsetof(RegionDeviceWords, launch_ticks));
  clock_.finish_ticks = port_.load(device + offsetof(RegionDeviceWords, finish_ticks));
}

void ActiveRun::note_clock(const ClockSample& sample) {
  clock_.anchors.push_back(sample);
  report_.anchors.push_back(sample);
  read_device_words();
  if (!records()) return;
  RunClock news = clock_;
  news.anchors = {sample};
  if (auto put = capture_->append_text(ChunkType::kClock, describe_clock(news)); !put)
    note_file_error(put.error());
}

void ActiveRun::note_device_anchors() {
  const std::vector<ClockSample> anchors = read_device_anchors(port_);
  for (; device_anchors_ < anchors.size(); ++device_anchors_) note_clock(anchors[device_anchors_]);
}

std::string ActiveRun::fault_text() const {
  const std::uint32_t bytes = std::min(
      port_.load32(offsetof(RegionHeader, device) + offsetof(RegionDeviceWords, fault_bytes)),
      kFaultTextBytes);
  char text[kFaultTextBytes] = {};
  port_.read(offsetof(RegionHeader, fault_text), text, sizeof(text));
  std::string clean(text, ::strnlen(text, bytes));
  std::replace_if(
      clean.begin(), clean.end(), [](char c) { return c < 0x20 || c > 0x7E; }, '?');
  return clean;
}

void ActiveRun::note_names() {
  if (!records()) return;
  NameTexts names = read_names(port_, plan_.layout);
  if (names.size() == names_.size()) return;
  if (auto put = capture_->append_text(ChunkType::kNames, describe_names(names)); !put)
    return note_file_error(put.error());
  names_ = std::move(names);
}

void ActiveRun::note_hang(const HangState& state) {
  if (auto put = capture_->append_text(ChunkType::kHang, to_json(state)); !put)
    note_file_error(put.error());
}

void ActiveRun::note_snapshot(std::span<const unsigned char> frame) {
  const std::string bytes(reinterpret_cast<const char*>(frame.data()), frame.size());
  if (auto put = capture_->append_text(ChunkType::kSnapshot, bytes); !put)
    note_file_error(put.error());
}

void ActiveRun::place_in_time(HangState& state) {
  read_device_words();
  state.launch_ticks = clock_.launch_ticks;
  state.ticks_per_second = clock_.ticks_per_second;
  // The newest anchor and the host's clock since; a crash leaves no other way to ask the device.
  if (clock_.anchors.empty()) {
    state.detected_ticks = state.launch_ticks;
    return;
  }
  const ClockSample& anchor = clock_.anchors.back();
  const double since_ns = static_cast<double>(monotonic_ns() - anchor.host_ns);
  state.detected_ticks =
      anchor.device_ticks +
      static_cast<std::uint64_t>(since_ns * static_cast<double>(clock_.ticks_per_second) / 1e9);
}

void ActiveRun::set_abort() {
  port_.store32(offsetof(RegionHeader, host) + offsetof(RegionHostWords, abort), 1);
}

void ActiveRun::collect(bool device_died, Producers producers) {
  if (!records()) return;
  drainer_->finish();
  auto& ledgers = drainer_->ledgers();
  const auto is_captured = [&](const PageHeaderImage& page) {
    return page.sequence <= ledgers[page.lane].last_sequence();
  };
  leftovers_ = collect_leftovers(port_, plan_, is_captured, *capture_, ledgers, producers);
  const DrainStats drained = drainer_->stats();
  for (LaneIndex lane = 0; lane < plan_.lanes.size(); ++lane) {
    if (plan_.lanes[lane].stream == 0) {
      plan_.lanes[lane] = read_lane_plan(port_, plan_.layout, lane);
      if (find_stream(static_cast<StreamId>(plan_.lanes[lane].stream)) == nullptr) continue;
    }
    ledgers[lane].finish(leftovers_.words[lane]);
    if (device_died && keeps_pages_)
      ledgers[lane].explain(DropReason::kDeviceLost, ledgers[lane].counts().missing);
    report_.lanes.push_back(
        report_lane(lane, plan_.lanes[lane], leftovers_.words[lane], ledgers[lane].counts()));
  }
  RecorderReport& recorder = report_.recorder;
  recorder.drain_threads = plan_.identity.drain_threads;
  recorder.host_cpu_ns = drained.cpu_ns;
  recorder.pool_bytes = std::uint64_t{plan_.pool_page_count()} * plan_.layout.shape.page_bytes;
  recorder.min_free_pages = drained.min_free_pages;
  recorder.max_full_pages = drained.max_full_pages;
  report_faults(drained.faults, recorder);
  report_faults(leftovers_.faults, recorder);
  recorder.ns_per_record = std::round(ns_per_record() * 100) / 100;
}

// A device that the host cannot imitate has measured for itself; nonsense counts as not measured.
double ActiveRun::ns_per_record() const {
  if (on_simulated_device_) return calibrate_ns_per_record();
  const auto measured = std::bit_cast<double>(
      port_.load(offsetof(RegionHeader, device) + offsetof(RegionDeviceWords, figures) +
                 kFigureNsPerRecord * sizeof(std::uint64_t)));
  return measured > 0 && measured < 1e9 ? measured : 0;
}

void ActiveRun::settle_clock() {
  read_device_words();
  if (clock_.anchors.size() >= 2) {
    const ClockSample& first = clock_.anchors.front();
    const ClockSample& last = clock_.anchors.back();
    // Over a longer time the rate is known better than from the calibration at the start. Anchors
    // may come from the device: only what is close to the planned rate is believed.
    if (last.host_ns > first.host_ns && last.host_ns - first.host_ns > 100'000'000 &&
        last.device_ticks > first.device_ticks) {
      const double rate = static_cast<double>(last.device_ticks - first.device_ticks) * 1e9 /
                          static_cast<double>(last.host_ns - first.host_ns);
      const auto planned = static_cast<double>(clock_.ticks_per_second);
      if (rate > planned * 0.9 && rate < planned * 1.1)
        clock_.ticks_per_second = static_cast<std::uint64_t>(std::llround(rate));
    }
    report_.ticks_per_second = clock_.ticks_per_second;
  }
  if (clock_.finish_ticks > clock_.launch_ticks)
    report_.device_ns = report_.ticks_to_ns(clock_.finish_ticks - clock_.launch_ticks);
}

void ActiveRun::settle_shares() {
  const LaneCounts total = report_.total();
  std::uint64_t producers = 0;
  for (const auto& lane : report_.lanes) producers += lane.counts.produced > 0;
  if (report_.device_ns > 0 && producers > 0)
    report_.recorder.device_stall_share =
        static_cast<double>(report_.ticks_to_ns(total.stall_ticks)) /
        static_cast<double>(report_.device_ns) / static_cast<double>(producers);
}

void ActiveRun::close_capture() {
  settle_clock();
  if (!records()) return;
  if (const std::string lost = capture_->error(); !lost.empty() && file_error_.empty())
    file_error_ = lost;
  if (const NameTexts names = read_names(port_, plan_.layout); names.size() != names_.size())
    if (auto put = capture_->append_closing_text(ChunkType::kNames, describe_names(names)); !put)
      note_file_error(put.error());
  settle_shares();
  RunClock closing = clock_;
  closing.anchors.clear();
  if (auto put = capture_->append_closing_text(ChunkType::kClock, describe_clock(closing)); !put)
    note_file_error(put.error());
  std::vector<unsigned char> lane_records(plan_.lanes.size() * sizeof(LaneRecord), 0);
  for (LaneIndex lane = 0; lane < plan_.lanes.size(); ++lane) {
    const LaneCounts& counts = drainer_->ledgers()[lane].counts();
    LaneRecord record{
        .plan = plan_.lanes[lane],
        .words = leftovers_.words[lane],
        .file_error_dropped = counts.dropped_by[static_cast<std::size_t>(DropReason::kFileError)],
        .device_lost_dropped = counts.dropped_by[static_cast<std::size_t>(DropReason::kDeviceLost)],
        .reserved = {}};
    std::memcpy(lane_records.data() + lane * sizeof(record), &record, sizeof(record));
  }
  if (auto put = capture_->append_closing_text(ChunkType::kOutcome, describe_outcome(report_));
      !put)
    note_file_error(put.error());
  if (auto put = capture_->append_lanes(lane_records, false); !put) note_file_error(put.error());
  if (auto closed = capture_->finish(); !closed) note_file_error(closed.error());
}

void ActiveRun::write_report() {
  RunReport final_report = report_;
  final_report.host_ns = monotonic_ns() - begin_ns_;
  final_report.region_path.clear();
  report_ = final_report;
  reported_ = true;
  if (auto written = write_run_report(directory_, final_report); !written)
    note_file_error(written.error());
}

void ActiveRun::remove_region() {
  ::unlink(region_.path.c_str());
  region_.path.clear();
}

}  // namespace tidemark
