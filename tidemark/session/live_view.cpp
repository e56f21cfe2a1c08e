// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/live_view.h"

#include <filesystem>

#include "tidemark/base/monotonic_clock.h"
#include "tidemark/capture/capture_writer.h"
#include "tidemark/device/sim/sim_env.h"
#include "tidemark/run/output_directory.h"
#include "tidemark/schema/stream_registry.h"
#include "tidemark/session/read_hang_state.h"
#include "tidemark/session/read_producers.h"
#include "tidemark/session/region_words.h"
#include "tidemark/session/status_image.h"

namespace tidemark {
namespace {

constexpr std::uint32_t kLiveUnitsMax = 1u << 16;

// The configuration as far as the region has it; sizes that no runtime has are cut.
RuntimeConfig config_of(const RuntimeShapeOf<PlainWord>& shape) {
  RuntimeConfig config;
  const auto small = [](std::uint64_t value) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, kLiveUnitsMax));
  };
  config.scheduler_count = small(shape.scheduler_count);
  config.cluster_count = small(shape.core_count) / kCoresPerCluster;
  config.tensormap_entries = static_cast<std::uint32_t>(shape.tensormap_entries);
  config.task_timeout_ms = shape.timeout_ms;
  for (std::uint32_t i = 0; i < kRingCount; ++i)
    config.rings[i] = {.task_window = static_cast<std::uint32_t>(shape.task_window[i]),
                       .dep_pool = static_cast<std::uint32_t>(shape.dep_pool[i]),
                       .heap_bytes = shape.heap_bytes[i]};
  return config;
}

// The device's clock now: its own where this machine can read it, else its newest anchor.
std::uint64_t device_now(const RegionPort& port, const RunReport& report,
                         std::uint64_t ticks_per_second) {
  const Platform* platform = find_platform(report.platform);
  if (platform != nullptr && platform->device == DeviceKind::kSimulated) return SimEnv::now_ticks();
  const auto anchors = read_device_anchors(port);
  if (anchors.empty()) return 0;
  const double since_ns = static_cast<double>(monotonic_ns() - anchors.back().host_ns);
  return anchors.back().device_ticks +
         static_cast<std::uint64_t>(since_ns * static_cast<double>(ticks_per_second) / 1e9);
}

void add_lane(LiveStream& stream, const LaneWordsImage& words) {
  ++stream.lanes;
  stream.attempted += words.attempted;
  stream.pages += words.opened_pages;
  stream.dropped += words.dropped_total;
  stream.stall_ticks += words.stall_ticks;
  stream.waiting += words.waiting == 1 ? 1 : 0;
}

}  // namespace

Expected<LiveRun> LiveRun::attach(const std::string& directory) {
  LiveRun run;
  TM_TRY(run.report_, read_run_report(directory));
  run.directory_ = directory;
  if (run.report_.status != RunStatus::kRunning)
    return failure(ErrorKind::kUsage, "{}: the run is over (status '{}')", directory,
                   to_text(run.report_.status));
  auto file = open_region_file(region_path(run.report_.run_id), RegionLock::kNone);
  if (!file && file.error().kind == ErrorKind::kUsage) return tl::unexpected(file.error());
  if (!file)
    return failure(ErrorKind::kUsage,
                   "{}: the run has no region (any more); if its host was killed, 'tidemark "
                   "recover {}' finishes it",
                   directory, directory);
  run.file_ = std::move(*file);
  TM_TRY(run.port_, RegionPort::open(run.file_, Transport::kCopied));
  TM_TRY(run.plan_, read_plan(run.port_, run.file_.path));
  return run;
}

std::optional<LiveView> LiveRun::look() {
  std::error_code code;
  if (!std::filesystem::exists(file_.path, code)) return std::nullopt;
  LiveView view;
  view.taken_ns = monotonic_ns();
  const RegionLayout& layout = plan_.layout;
  for (std::uint32_t i = 0; i < std::min(plan_.identity.drain_threads, kDrainThreadsMax); ++i)
    view.drained_pages += port_.load(offsetof(RegionHeader, host.drained_pages) + i * 8);
  std::map<StreamId, LiveStream> streams;
  for (LaneIndex lane = 0; lane < layout.shape.max_lanes; ++lane) {
    const LanePlan plan = read_lane_plan(port_, layout, lane);
    const StreamInfo* stream = find_stream(plan.stream);
    if (stream == nullptr) continue;
    LiveStream& sum = streams[plan.stream];
    sum.name = stream->name;
    add_lane(sum, read_lane_words(port_, layout, lane));
  }
  for (auto& [id, stream] : streams) view.streams.push_back(std::move(stream));
  // Pids of another namespace mean nothing here; the lock of the capture does.
  const bool same_pids = report_.pid_namespace == 0 || report_.pid_namespace == pid_namespace();
  view.host_alive = same_pids ? is_alive({plan_.identity.host_pid, plan_.identity.host_start_time})
                              : is_being_written(directory_ + "/" + kCaptureFile);
  view.device_alive = !same_pids || is_alive(device_of(port_));
  if (layout.shape.status_bytes >= sizeof(RuntimeStatus)) {
    const StatusImage image = read_status(port_, layout);
    const RuntimeShapeOf<PlainWord>& shape = image.shape;
    view.has_runtime = shape.core_count > 0;
    view.error_code = static_cast<std::uint32_t>(image.error.code);
    view.state = read_hang_state(port_, layout, config_of(shape), nullptr);
    const std::uint64_t kernels = std::min<std::uint64_t>(shape.kernel_count, kKernelNumbersMax);
    for (std::uint64_t i = 0; i < kernels; ++i)
      view.state.kernels.push_back(status_text(shape.kernels[i]));
  }
  if (!view.has_runtime)
    view.state.producers = read_producers(port_, plan_, view.state.producers_ended);
  view.state.ticks_per_second = plan_.identity.ticks_per_second;
  view.state.launch_ticks = port_.load(offsetof(RegionHeader, device.launch_ticks));
  view.state.detected_ticks = device_now(port_, report_, plan_.identity.ticks_per_second);
  return view;
}

}  // namespace tidemark
