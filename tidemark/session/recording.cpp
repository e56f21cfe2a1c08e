// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/recording.h"

#include <cstring>

#include "tidemark/base/monotonic_clock.h"
#include "tidemark/base/wait_until.h"
#include "tidemark/device/device_process.h"
#include "tidemark/device/sim/sim_clock.h"
#include "tidemark/run/output_directory.h"
#include "tidemark/run/report_lanes.h"
#include "tidemark/session/producer_watch.h"
#include "tidemark/session/read_producers.h"
#include "tidemark/session/run_ending.h"

namespace tidemark {

Expected<std::unique_ptr<Recording>> Recording::start(const RecordingOptions& options) {
  if (options.policy == Overflow::kKeepLast)
    return failure(ErrorKind::kUsage,
                   "keep-last lanes are planned before launch; a recording's "
                   "lanes are opened at run time and can wait or drop");
  RunRequest request;
  request.workload = options.name;
  request.platform = options.platform == nullptr ? &default_platform() : options.platform;
  request.launch.lanes = options.lanes;
  request.lanes_have_policies = true;
  request.isolation = Isolation::kThread;
  request.output_dir = options.output_dir;
  request.force = options.force;
  request.sync = options.sync;
  request.recorder = options.recorder;
  std::unique_ptr<Recording> recording(new Recording);
  recording->policy_ = options.policy;
  recording->planned_lanes_ = recording->next_lane_ = static_cast<LaneIndex>(options.lanes.size());
  recording->own_clock_ = options.ticks_per_second == 0;
  const auto tick_rate = [&] {
    return recording->own_clock_ ? sim_ticks_per_second() : options.ticks_per_second;
  };
  TM_TRY(recording->run_, ActiveRun::prepare(request, tick_rate, options.max_lanes));
  const RegionFile& file = recording->run_->region();
  TM_TRY(recording->mapping_, map_region(file.fd.get(), file.path, file.bytes));
  recording->region_ = RegionView(recording->mapping_.base());
  name_device(recording->region_);
  if (recording->own_clock_)
    recording->region_.header().device.launch_ticks.store_release(SimEnv::now_ticks());
  recording->run_->start_drainer();
  if (recording->own_clock_) recording->run_->note_clock(sample_sim_clock());
  recording->run_->started();
  return recording;
}

void Recording::note_clock(const ClockSample& sample) {
  RegionDeviceWords& words = region_.header().device;
  if (words.launch_ticks.load_own() == 0) words.launch_ticks.store_release(sample.device_ticks);
  words.finish_ticks.store_release(sample.device_ticks);
  // In the region too, for another process that looks.
  if (const std::uint32_t count = words.anchor_count.load_own(); count < kClockAnchorsMax) {
    ClockAnchorWords& anchor = words.anchors[count];
    anchor.device_ticks.store_relaxed(sample.device_ticks);
    anchor.host_ns.store_relaxed(sample.host_ns);
    anchor.real_ns.store_relaxed(sample.real_ns);
    anchor.uncertainty_ns.store_relaxed(sample.uncertainty_ns);
    words.anchor_count.store_release(count + 1);  // [anchor noted]
  }
  run_->note_clock(sample);
}

// In a child of a fork the run goes without a word: it is the parent's.
Recording::~Recording() {
  if (run_ && !finished_ && run_->is_owner()) (void)finish();
}

Expected<LaneIndex> Recording::claim_lane(StreamId stream, std::uint32_t record_bytes,
                                          std::string_view producer) {
  if (!own_clock_)
    return failure(ErrorKind::kUsage,
                   "the lanes of this recording run on another device's clock; record from threads "
                   "of this program into a recording of its own");
  const LaneIndex lane_count = region_.layout().shape.max_lanes;
  if (next_lane_ < lane_count) {
    LanePlan& plan = region_.lane(next_lane_).plan;
    plan.overflow = policy_;
    plan.record_bytes = record_bytes;
    plan.unit = next_lane_;
    const std::size_t kept = std::min<std::size_t>(producer.size(), kProducerTextBytes - 1);
    std::memcpy(plan.producer, producer.data(), kept);
    plan.stream = stream;
    return next_lane_++;
  }
  // A closed lane of the same kind goes on in a new epoch.
  for (LaneIndex lane = planned_lanes_; lane < lane_count; ++lane) {
    LaneEntry& entry = region_.lane(lane);
    if (entry.plan.stream != stream || entry.plan.record_bytes != record_bytes) continue;
    // pairs with [lane closed]
    if (entry.words.state.load_acquire() != LaneState::kClosed)
      continue;  // pairs with [lane closed]
    return lane;
  }
  return failure(ErrorKind::kUsage, "all {} lanes are open; raise max_lanes", lane_count);
}

void Recording::abandon() {
  finished_ = true;
  run_.reset();
}

Expected<void> Recording::begin_finish() {
  if (finished_) return failure(ErrorKind::kUsage, "the recording is finished already");
  if (!run_->is_owner())
    return failure(ErrorKind::kUsage, "the recording belongs to the process that started it");
  finished_ = true;
  if (own_clock_) {
    region_.header().device.finish_ticks.store_release(SimEnv::now_ticks());
    run_->note_clock(sample_sim_clock());
  }
  return {};
}

Expected<RunReport> Recording::finish(const std::string& fault_text) {
  TM_TRY_DO(begin_finish());
  run_->collect(false, Producers::kMayRun);  // a thread may have forgotten to close its lane
  run_->report().status = fault_text.empty() ? RunStatus::kOk : RunStatus::kDeviceFault;
  if (!fault_text.empty()) run_->report().error = device_fault({}, fault_text);
  return end_finish();
}

Expected<RunReport> Recording::end_finish() {
  run_->close_capture();
  run_->report().exit_code = decide_exit_code(run_->report(), run_->file_error());
  run_->end();
  if (run_->keeps_region()) return failure(ErrorKind::kFile, "{}", kept_region_text(*run_));
  if (!run_->file_error().empty()) return failure(ErrorKind::kFile, "{}", run_->file_error());
  return run_->report();
}

bool Recording::lanes_are_closed() const {
  for (LaneIndex lane = 0; lane < region_.layout().shape.max_lanes; ++lane) {
    const LaneEntry& entry = region_.lane(lane);
    // pairs with [lane opened] and [lane closed]
    const LaneState state = entry.words.state.load_acquire();
    const bool planned = lane < planned_lanes_ && state == LaneState::kUnopened;
    if (planned || state == LaneState::kOpen) return false;
  }
  return true;
}

std::shared_ptr<const HangState> Recording::wait_until_over(
    const FinishLimits& limits, const std::function<bool(std::uint32_t)>& over) {
  ProducerWatch watch(limits);
  while (!over(watch.pause_ms())) {
    const std::uint64_t now_ns = monotonic_ns();
    auto state = std::make_shared<HangState>(
        read_recording_state(run_->port(), run_->plan(), run_->report().anchors, now_ns));
    if (watch.look(*state, now_ns)) return state;
  }
  return nullptr;
}

Expected<RunReport> Recording::finish(const FinishLimits& limits) {
  if (finished_) return failure(ErrorKind::kUsage, "the recording is finished already");
  auto state = wait_until_over(limits, [this](std::uint32_t ms) {
    return wait_until([this] { return lanes_are_closed(); }, ms, 1);
  });
  return state ? finish_hung(std::move(state)) : finish();
}

Expected<RunReport> Recording::finish_hung(std::shared_ptr<const HangState> state) {
  TM_TRY_DO(begin_finish());
  run_->set_abort();  // who waits for a page need not wait for it any more
  RunReport& report = run_->report();
  report.status = RunStatus::kHang;
  report.error = RunError{.code = state->code,
                          .name = state->name,
                          .error_class = state->error_class,
                          .message = state->message,
                          .hint =
                              "'tidemark hang' shows every producer; if it is only slow, give "
                              "finish() larger limits"};
  report.hang = std::move(state);
  run_->collect(false, Producers::kMayRun);
  run_->note_hang(*report.hang);
  return end_finish();
}

}  // namespace tidemark
