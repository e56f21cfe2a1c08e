// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/active_run.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "tidemark/base/check.h"
#include "tidemark/base/file_size_signal.h"
#include "tidemark/base/monotonic_clock.h"
#include "tidemark/base/plain_text.h"
#include "tidemark/capture/lane_record.h"
#include "tidemark/run/hang_state.h"
#include "tidemark/run/report_lanes.h"
#include "tidemark/runtime/runtime_status.h"
#include "tidemark/schema/stream_registry.h"
#include "tidemark/session/region_words.h"

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
  region.recorder = request.recorder;
  if (region.lanes.empty() && spare_lanes == 0) {  // nothing is recorded: one lane nobody opens
    region.spare_lanes = 1;
    region.recorder.pool_bytes = region.recorder.page_bytes;
  }
  if (request.launch.runtime)
    region.status_bytes = status_bytes(request.launch.runtime->config.units());
  if (request.platform->transport == Transport::kPulled)
    region.pages_per_lane = kPagesPerLanePulled;
  else if (request.launch.runtime && request.launch.runtime->config.streams[StreamId::kDump] == 0) {
    region.pages_per_lane = kPagesPerLaneOfTasks;
    region.pool_pages_min = kPoolPagesMinOfTasks;
  }
  region.keep_pages = request.keep_pages;
  region.run_id = run_id;
  region.device = request.device;
  return region;
}

// What the closing chunks may need at most: the lanes' words, names, clock, outcome, and the state
// of a runtime that was stopped.
std::uint64_t closing_bytes(const RegionLayout& layout, std::size_t lanes,
                            const std::optional<RuntimeConfig>& runtime) {
  constexpr std::uint64_t kTexts = 64ull << 10;  // clock, outcome, end
  constexpr std::uint64_t kNameBytes = 2 * kNameTextBytes + 32;
  return kTexts + lanes * sizeof(LaneRecord) + layout.shape.name_slots * kNameBytes +
         (runtime ? hang_state_bytes(runtime->units(), lanes) : recording_state_bytes(lanes));
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
  TM_TRY(run->plan_, plan_region(region_request(request, run_id, spare_lanes)));

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
  report.host_name = host_name();
  report.pid_namespace = pid_namespace();
  report.region_path = region_path(run_id);
  report.region_bytes = run->plan_.layout.total_bytes;
  run->owner_pid_ = ::getpid();
  run->syncs_ = request.sync;
  run->on_simulated_device_ = request.platform->device == DeviceKind::kSimulated;
  run->records_ = !request.launch.lanes.empty() || spare_lanes > 0;
  make_file_size_limit_an_error();
  TM_TRY(run->claim_,
         DirectoryClaim::make({.path = request.output_dir, .force = request.force}, report));
  TM_TRY(run->report_file_, ReportFile::reserve(run->directory(), run_id, run->plan_.lanes.size()));
  TM_TRY_DO(run->make_region(request, ticks_per_second));
  if (!run->records_) return run;
  TM_TRY_DO(run->make_capture(request));
  run->drainer_ =
      std::make_unique<Drainer>(&run->port_, &run->plan_, run->capture_.get(), request.inject);
  return run;
}

Expected<void> ActiveRun::make_region(const RunRequest& request,
                                      const std::function<std::uint64_t()>& ticks_per_second) {
  std::error_code code;
  plan_.run_directory = std::filesystem::absolute(directory(), code).string();
  TM_TRY(auto region, allocate_region_file(plan_));
  report_.ticks_per_second = clock_.ticks_per_second = ticks_per_second();
  set_clock_rate(plan_, report_.ticks_per_second, request.recorder.drain_timeout_ms);
  TM_TRY_DO(name_region_file(region, plan_));
  region_ = std::move(region);
  region_closed_ = ForkClosed(region_.fd.get());
  made_region_ = true;
  TM_TRY(port_, RegionPort::open(region_, request.platform->transport));
  if (request.launch.runtime)
    describe_runtime(request.launch.runtime->config, request.launch.kernels);
  return {};
}

Expected<void> ActiveRun::make_capture(const RunRequest& request) {
  CaptureSpace::Options space;
  space.reserve_bytes = closing_bytes(plan_.layout, plan_.lanes.size(), runtime_of(request));
  if (request.capture_limit != 0) space.mapping_bytes = request.capture_limit;
  TM_TRY(capture_, CaptureWriter::create(directory() + "/" + kCaptureFile, report_.run_id, space));
  made_capture_ = true;
  const CaptureDescription description{.run = report_,
                                       .page_bytes = request.recorder.page_bytes,
                                       .lanes = plan_.lanes,
                                       .kernels = request.launch.kernels,
                                       .runtime = runtime_of(request)};
  return capture_->append_text(ChunkType::kDescription, describe_capture(description));
}

// A run that did not come to its end (it never began) leaves nothing behind, and takes nothing that
// it did not make.
ActiveRun::~ActiveRun() {
  if (!is_owner()) {
    static_cast<void>(drainer_.release());
    static_cast<void>(capture_.release());
    static_cast<void>(region_.fd.release());
    claim_.keep();
    report_file_.abandon();
    return;
  }
  if (ended_) return;
  drainer_.reset();
  capture_.reset();
  if (made_region_) ::unlink(region_.path.c_str());
  if (made_capture_) ::unlink((directory() + "/" + kCaptureFile).c_str());
  report_file_ = ReportFile();  // before the directory goes
}

bool ActiveRun::is_owner() const { return ::getpid() == owner_pid_; }

void ActiveRun::start_drainer() {
  if (records()) drainer_->start();
}

std::uint64_t ActiveRun::drained_records() const {
  return records() ? drainer_->drained_records() : 0;
}

std::uint64_t ActiveRun::drained_pages() const { return records() ? drainer_->drained_pages() : 0; }

void ActiveRun::write_status(std::span<const std::byte> bytes) {
  TM_CHECK(bytes.size() <= plan_.layout.shape.status_bytes);
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, 8);
    if (word != 0) port_.store(plan_.layout.status_offset + at, word);
  }
}

void ActiveRun::describe_runtime(const RuntimeConfig& config,
                                 const std::vector<std::string>& kernels) {
  RuntimeShapeOf<PlainWord> shape{
      .tensormap_entries = config.tensormap_entries,
      .scheduler_count = config.scheduler_count,
      .core_count = config.core_count(),
      .timeout_ms = config.task_timeout_ms,
      .kernel_count = std::min<std::uint64_t>(kernels.size(), kKernelNumbersMax)};
  for (std::uint32_t i = 0; i < kRingCount; ++i) {
    shape.task_window[i] = config.rings[i].task_window;
    shape.heap_bytes[i] = config.rings[i].heap_bytes;
    shape.dep_pool[i] = config.rings[i].dep_pool;
  }
  for (std::size_t i = 0; i < shape.kernel_count; ++i)
    kernels[i].copy(shape.kernels[i], kStatusKernelBytes - 1);
  // Backwards: whoever sees the count of the kernels sees their names.
  for (std::size_t at = sizeof(shape); at > 0; at -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const char*>(&shape) + at - 8, 8);
    port_.store(plan_.layout.status_offset + offsetof(RuntimeStatus, shape) + at - 8, word);
  }
}

void ActiveRun::note_file_error(const Error& error) {
  if (file_error_.empty()) file_error_ = error.message;
}

void ActiveRun::read_device_words() {
  clock_.launch_ticks = port_.load(offsetof(RegionHeader, device.launch_ticks));
  clock_.finish_ticks = port_.load(offsetof(RegionHeader, device.finish_ticks));
}

void ActiveRun::note_clock(const ClockSample& sample) {
  clock_.anchors.push_back(sample);
  thin_anchors(clock_.anchors);
  report_.anchors = clock_.anchors;
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
  const std::uint32_t bytes =  // pairs with [fault written]
      std::min(port_.load32(offsetof(RegionHeader, device.fault_bytes)), kFaultTextBytes);
  char text[kFaultTextBytes] = {};
  port_.read(offsetof(RegionHeader, fault_text), text, sizeof(text));
  return plain_text({text, ::strnlen(text, bytes)});
}

void ActiveRun::note_names() {
  if (!records()) return;
  NameTexts names = read_names(port_, plan_.layout);
  if (names.size() == names_.size()) return;
  if (auto put = capture_->append_text(ChunkType::kNames, describe_names(names)); !put)
    return note_file_error(put.error());
  names_ = std::move(names);
}

// On a full disk, a part of it in the space that is kept for that. After collect, because nobody
// else may append then.
void ActiveRun::note_hang(const HangState& state) {
  if (capture_->append_text(ChunkType::kHang, to_json(state))) return;
  note_closing(capture_->append_closing_text(ChunkType::kHang, to_json(cut_hang_state(state))));
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
  // [run aborted]
  port_.store32(offsetof(RegionHeader, host.abort), 1);
}

void ActiveRun::collect(bool device_died, Producers producers) {
  if (!records()) return;
  drainer_->finish();
  auto& ledgers = drainer_->ledgers();
  const auto is_captured = [&](const PageHeaderImage& page) {
    return page.sequence <= ledgers[page.lane].last_sequence();
  };
  leftovers_ = collect_leftovers(port_, plan_, is_captured, *capture_, ledgers, producers);
  kept_bytes_ = leftovers_.refused_bytes;
  if (const int code = port_.read_error(); code != 0 && file_error_.empty())
    file_error_ = fmt::format("read {}: {}", region_.path, std::strerror(code));
  keeps_region_ = kept_bytes_ > 0;
  const DrainStats drained = drainer_->stats();
  for (LaneIndex lane = 0; lane < plan_.lanes.size(); ++lane) {
    if (plan_.lanes[lane].stream == StreamId::kNone) {
      plan_.lanes[lane] = read_lane_plan(port_, plan_.layout, lane);
      if (find_stream(plan_.lanes[lane].stream) == nullptr) continue;
    }
    ledgers[lane].finish(leftovers_.words[lane]);
    if (device_died && plan_.identity.keeps_pages != 0)
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

}  // namespace tidemark
