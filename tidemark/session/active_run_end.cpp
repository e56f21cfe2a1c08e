// SPDX-License-Identifier: Apache-2.0
// How the files of a run are closed, and what is kept if the disk refuses.
#include <unistd.h>

#include <bit>
#include <cmath>
#include <utility>

#include "tidemark/base/monotonic_clock.h"
#include "tidemark/capture/lane_record.h"
#include "tidemark/session/active_run.h"
#include "tidemark/session/calibrate.h"
#include "tidemark/session/region_words.h"

namespace tidemark {

std::string space_text(std::uint64_t missing_bytes) {
  constexpr std::uint64_t kMore = 512ull << 10;  // report, index, a step of allocation
  return fmt::format("{:.1f} MiB",
                     std::ceil(static_cast<double>(missing_bytes + kMore) / (1u << 20) * 10) / 10);
}

std::string kept_region_text(const ActiveRun& run) {
  // Space does not help where the region could not be read.
  const std::string first = run.region_unread()
                                ? std::string()
                                : fmt::format("free {} and ", space_text(run.kept_bytes()));
  return fmt::format("{}; what is missing is kept in {}: {}run 'tidemark recover {}'",
                     run.file_error(), run.region().path, first, run.directory());
}

// A device that the host cannot imitate has measured for itself; nonsense counts as not measured.
double ActiveRun::ns_per_record() const {
  if (on_simulated_device_) return calibrate_ns_per_record();
  const auto measured =
      std::bit_cast<double>(port_.load(offsetof(RegionHeader, device.figures[kFigureNsPerRecord])));
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

// A closing chunk that is refused would take the lanes' words or the hang state with it.
void ActiveRun::note_closing(const Expected<void>& put) {
  if (put) return;
  note_file_error(put.error());
  keeps_region_ = true;
}

void ActiveRun::close_capture() {
  settle_clock();
  if (!records()) return;
  if (const std::string lost = capture_->error(); !lost.empty() && file_error_.empty())
    file_error_ = lost;
  if (kept_bytes_ > 0) return;  // a recovery closes it
  if (const NameTexts names = read_names(port_, plan_.layout); names.size() != names_.size())
    note_closing(capture_->append_closing_text(ChunkType::kNames, describe_names(names)));
  settle_shares();
  RunClock closing = clock_;
  closing.anchors.clear();
  note_closing(capture_->append_closing_text(ChunkType::kClock, describe_clock(closing)));
  std::vector<LaneRecord> lane_records;
  for (LaneIndex lane = 0; lane < plan_.lanes.size(); ++lane) {
    const LaneCounts& counts = drainer_->ledgers()[lane].counts();
    lane_records.push_back(
        {.plan = plan_.lanes[lane],
         .words = leftovers_.words[lane],
         .file_error_dropped = counts.dropped_by[static_cast<std::size_t>(DropReason::kFileError)],
         .device_lost_dropped =
             counts.dropped_by[static_cast<std::size_t>(DropReason::kDeviceLost)]});
  }
  note_closing(capture_->append_closing_text(ChunkType::kOutcome, describe_outcome(report_)));
  note_closing(capture_->append_lanes(bytes_of(lane_records), false));
  note_closing(capture_->finish());
  if (syncs_) note_closing(capture_->sync());
}

void ActiveRun::end() {
  ended_ = true;
  claim_.keep();
  if (!keeps_region_) {
    report_.host_ns = monotonic_ns() - begin_ns_;
    const std::string region_path = std::exchange(report_.region_path, {});
    if (auto written = report_file_.replace(report_, syncs_); !written) {
      note_file_error(written.error());
      report_.region_path = region_path;
      keeps_region_ = true;
    }
  }
  if (!keeps_region_) ::unlink(region_.path.c_str());
}

}  // namespace tidemark
