// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/recover.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>

#include "tidemark/base/fault_point.h"
#include "tidemark/capture/capture_ledger.h"
#include "tidemark/capture/capture_writer.h"
#include "tidemark/collect/leftover_pages.h"
#include "tidemark/schema/stream_registry.h"
#include "tidemark/session/description.h"
#include "tidemark/session/output_directory.h"
#include "tidemark/session/report_lanes.h"
#include "tidemark/session/runtime_report.h"

namespace tidemark {
namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t kEndDeviceMs = 5000;
constexpr int kLockTries = 400;
constexpr int kHostGoneTries = 50;
constexpr int kDeviceLeavesTries = 350;  // a little longer than the supervisor's patience
constexpr long kTryPauseNs = 10'000'000;

ProcessIdentity device_of(const RegionPort& port) {
  const std::uint64_t device = offsetof(RegionHeader, device);
  return {.pid = port.load32(device + offsetof(RegionDeviceWords, device_pid)),
          .start_time = port.load(device + offsetof(RegionDeviceWords, device_start_time))};
}

// The region of a run whose processes are all gone, locked.
struct DeadRegion {
  RegionFile file;
  RegionPort port;
  RegionPlan plan;
};

void pause_between_tries() {
  const timespec pause{.tv_sec = 0, .tv_nsec = kTryPauseNs};
  ::nanosleep(&pause, nullptr);
}

// A host that was killed a moment ago is still seen until the system has taken it apart.
bool is_gone(const ProcessIdentity& host) {
  for (int attempt = 1; is_alive(host); ++attempt) {
    if (attempt == kHostGoneTries) return false;
    pause_between_tries();
  }
  return true;
}

// Processes that are on their way out hold the lock for a moment longer.
Expected<RegionFile> lock_when_free(const std::string& path) {
  for (int attempt = 1;; ++attempt) {
    auto file = open_region_file(path, RegionLock::kExclusive);
    if (file || attempt == kLockTries) return file;
    pause_between_tries();
  }
}

// A device that keeps its pages brings over what it has when it sees that the host is gone, and
// leaves or is ended by its supervisor.
void let_device_finish(const ProcessIdentity& device) {
  for (int attempt = 0; attempt < kDeviceLeavesTries && is_alive(device); ++attempt)
    pause_between_tries();
}

Expected<DeadRegion> take_region(const std::string& path, std::uint64_t run_id, bool keeps_pages) {
  DeadRegion dead;
  {
    auto looked_at = open_region_file(path, RegionLock::kNone);
    if (!looked_at) return tl::unexpected(looked_at.error());
    auto port = RegionPort::open(*looked_at, Transport::kCopied);
    if (!port) return tl::unexpected(port.error());
    auto plan = read_plan(*port, path);
    if (!plan) return tl::unexpected(plan.error());
    if (plan->identity.run_id != run_id)
      return failure(ErrorKind::kDamage, "{} belongs to another run", path);
    const ProcessIdentity host{plan->identity.host_pid, plan->identity.host_start_time};
    if (!is_gone(host))
      return failure(ErrorKind::kUsage, "the run is still going on (host process {})", host.pid);
    if (keeps_pages) let_device_finish(device_of(*port));
    if (!end_process(device_of(*port), kEndDeviceMs))
      return failure(ErrorKind::kDevice, "the leftover device process {} does not end",
                     device_of(*port).pid);
    dead.plan = std::move(*plan);
  }
  auto file = lock_when_free(path);
  if (!file) return tl::unexpected(file.error());
  dead.file = std::move(*file);
  auto port = RegionPort::open(dead.file, Transport::kCopied);
  if (!port) return tl::unexpected(port.error());
  dead.port = std::move(*port);
  return dead;
}

// The capture of a killed run, opened for appending. A run killed before its description was
// written gets it now, from the region and run.json.
struct OpenCapture {
  std::unique_ptr<CaptureWriter> writer;
  CaptureLedger ledger;
  CaptureDescription description;
  RunClock clock;
  NameTexts names;
};

Expected<OpenCapture> open_capture(const std::string& path, const RunReport& report,
                                   const RegionPlan* plan) {
  OpenCapture open;
  if (plan != nullptr) {
    open.description = {.run = report,
                        .page_bytes = plan->layout.shape.page_bytes,
                        .lanes = plan->lanes,
                        .kernels = {},
                        .runtime = {}};
    open.description.run.ticks_per_second = plan->identity.ticks_per_second;
  }
  std::vector<IndexEntry> known;
  bool described = false;
  std::error_code code;
  if (!fs::exists(path, code)) {
    auto writer = CaptureWriter::create(path, report.run_id);
    if (!writer) return tl::unexpected(writer.error());
    open.writer = std::move(*writer);
  } else {
    auto reader = CaptureReader::open(path, CaptureReader::Open::kScan);
    if (!reader && reader.error().kind != ErrorKind::kDamage) return tl::unexpected(reader.error());
    if (reader) {
      known = reader->chunks();
      if (auto description = read_description(*reader)) {
        open.description = *description;
        described = true;
      }
      if (!described && plan == nullptr)
        return failure(ErrorKind::kDamage, "{}: the description is lost, and the region too", path);
      auto ledger = read_ledger(*reader, open.description.lanes, open.description.page_bytes);
      if (!ledger) return tl::unexpected(ledger.error());
      open.ledger = std::move(*ledger);
      open.clock = read_clock(*reader);
      open.names = read_names(*reader);
    }
    auto writer = CaptureWriter::append_to(path, report.run_id, std::move(known));
    if (!writer) return tl::unexpected(writer.error());
    open.writer = std::move(*writer);
  }
  if (open.ledger.lanes.empty())
    for (const auto& lane : open.description.lanes)
      open.ledger.lanes.push_back(
          {.plan = lane, .ledger = LaneLedger(static_cast<Overflow>(lane.overflow))});
  if (!described && plan != nullptr) {
    auto put =
        open.writer->append_text(ChunkType::kDescription, describe_capture(open.description));
    if (!put) return tl::unexpected(put.error());
  }
  return open;
}

bool keeps_its_pages(const RunReport& report) {
  const Platform* platform = find_platform(report.platform);
  return platform != nullptr && platform->transport == Transport::kPulled;
}

// Where the device kept its pages to itself: what neither capture nor region has of a lane.
std::uint64_t lost_with_device(const CapturedLane& lane) {
  LaneLedger ledger = lane.ledger;
  ledger.finish(lane.words);
  ledger.explain(DropReason::kFileError, lane.file_error_dropped);
  return ledger.counts().missing;
}

// Pages that were open when the host took them, and of which the region has more now: the device
// went on while the host collected, and the host died. They are taken again.
std::set<PageKey> grown_pages(const DeadRegion& region, const CaptureLedger& captured) {
  std::set<PageKey> grown;
  for (PageIndex page = 0; page < region.plan.layout.shape.page_count; ++page) {
    const PageHeaderImage header = read_page_header(region.port, region.plan.layout, page);
    const auto found = captured.keys.find({header.lane, header.epoch, header.sequence});
    if (found == captured.keys.end() || !found->second.open) continue;
    if (header.lane >= captured.lanes.size() || !captured.lanes[header.lane].before_open) continue;
    if (readable_bytes(region.port, region.plan, page) > found->second.bytes)
      grown.insert(found->first);
  }
  return grown;
}

// Appends what only the region has and closes the ledgers with its words.
void merge_region(const DeadRegion& region, OpenCapture& open, RecoverResult& result) {
  const std::set<PageKey> grown = grown_pages(region, open.ledger);
  std::vector<LaneLedger> ledgers;
  for (const auto& lane : open.ledger.lanes) ledgers.push_back(lane.ledger);
  for (const PageKey& key : grown) ledgers[key.lane] = *open.ledger.lanes[key.lane].before_open;
  ledgers.resize(region.plan.lanes.size());
  const auto& keys = open.ledger.keys;
  const auto is_captured = [&](const PageHeaderImage& page) {
    const PageKey key{page.lane, page.epoch, page.sequence};
    return keys.contains(key) && !grown.contains(key);
  };
  const Leftovers leftovers =
      collect_leftovers(region.port, region.plan, is_captured, *open.writer, ledgers);
  result.recovered_pages = leftovers.pages;
  report_faults(leftovers.faults, result.report.recorder);
  std::vector<unsigned char> records(region.plan.lanes.size() * sizeof(LaneRecord), 0);
  open.ledger.lanes.resize(region.plan.lanes.size());
  const bool keeps_pages = keeps_its_pages(result.report);
  for (LaneIndex lane = 0; lane < region.plan.lanes.size(); ++lane) {
    CapturedLane& captured = open.ledger.lanes[lane];
    captured.plan = region.plan.lanes[lane];
    captured.ledger = ledgers[lane];
    captured.words = leftovers.words[lane];
    captured.has_words = true;
    captured.file_error_dropped =
        region.port.load(region.plan.layout.lane_offset(lane) + offsetof(LaneEntry, host));
    captured.device_lost_dropped = keeps_pages ? lost_with_device(captured) : 0;
    const LaneRecord record{.plan = captured.plan,
                            .words = captured.words,
                            .file_error_dropped = captured.file_error_dropped,
                            .device_lost_dropped = captured.device_lost_dropped,
                            .reserved = {}};
    std::memcpy(records.data() + lane * sizeof(record), &record, sizeof(record));
  }
  const std::uint64_t device = offsetof(RegionHeader, device);
  open.clock.launch_ticks = region.port.load(device + offsetof(RegionDeviceWords, launch_ticks));
  open.clock.finish_ticks = region.port.load(device + offsetof(RegionDeviceWords, finish_ticks));
  open.clock.ticks_per_second = region.plan.identity.ticks_per_second;
  std::vector<ClockSample> unseen;
  for (const ClockSample& anchor : read_device_anchors(region.port))
    if (std::none_of(open.clock.anchors.begin(), open.clock.anchors.end(),
                     [&](const ClockSample& seen) { return seen.host_ns == anchor.host_ns; }))
      unseen.push_back(anchor);
  open.clock.anchors.insert(open.clock.anchors.end(), unseen.begin(), unseen.end());
  open.names.merge(read_names(region.port, region.plan.layout));
  RunClock news = open.clock;
  news.anchors = unseen;
  const auto note = [&](const Expected<void>& put) {
    if (!put && result.file_error.empty()) result.file_error = put.error().message;
  };
  note(open.writer->append_closing_text(ChunkType::kClock, describe_clock(news)));
  note(open.writer->append_closing_text(ChunkType::kNames, describe_names(open.names)));
  if (open.description.runtime)
    result.report.error =
        read_runtime_error(region.port, region.plan.layout, *open.description.runtime);
  RunReport ending = result.report;
  ending.status = "recovered";
  note(open.writer->append_closing_text(ChunkType::kOutcome, describe_outcome(ending)));
  note(open.writer->append_lanes(records, true));
}

void fill_report(const OpenCapture& open, RunReport& report) {
  report.status = "recovered";
  report.ticks_per_second = open.clock.ticks_per_second;
  report.anchors = open.clock.anchors;
  if (open.clock.finish_ticks > open.clock.launch_ticks)
    report.device_ns = report.ticks_to_ns(open.clock.finish_ticks - open.clock.launch_ticks);
  for (LaneIndex lane = 0; lane < open.ledger.lanes.size(); ++lane) {
    const CapturedLane& captured = open.ledger.lanes[lane];
    if (find_stream(static_cast<StreamId>(captured.plan.stream)) == nullptr) continue;
    report.lanes.push_back(
        report_lane(lane, captured.plan, captured.words, captured.ledger.counts()));
  }
  report_faults(open.ledger.faults, report.recorder);
}

// Removes the region of a run that has its report: a kill may have come between the two.
void remove_leftover_region(std::uint64_t run_id) {
  const std::string path = region_path(run_id);
  std::error_code code;
  if (!fs::exists(path, code)) return;
  if (auto file = lock_when_free(path)) ::unlink(path.c_str());
}

}  // namespace

Expected<RecoverResult> recover_run(const std::string& directory,
                                    const ExportArtifacts& export_artifacts) {
  auto started = read_run_report(directory);
  if (!started) return tl::unexpected(started.error());
  RecoverResult result;
  result.report = std::move(*started);
  RunReport& report = result.report;
  if (report.status != "running") {
    remove_leftover_region(report.run_id);
    result.already_complete = true;
    result.exit_code = report.status == "recovered" ? report.exit_code : 0;
    return result;
  }

  // Also before it has a region: a run that is only beginning is not one to finish.
  if (report.boot_id == boot_id() && !is_gone(report.host))
    return failure(ErrorKind::kUsage, "the run is still going on (host process {})",
                   report.host.pid);
  // The path follows from the run id; run.json is not believed where it names other files.
  const std::string path = region_path(report.run_id);
  const std::string capture_path = directory + "/" + kCaptureFile;
  std::error_code code;
  const bool has_region = report.boot_id == boot_id() && fs::exists(path, code);
  const bool has_capture = fs::exists(capture_path, code);
  DeadRegion region;
  if (has_region) {
    auto taken = take_region(path, report.run_id, keeps_its_pages(report));
    if (!taken) return tl::unexpected(taken.error());
    region = std::move(*taken);
    report_tasks(region.port, region.plan.layout, report);
  }
  if (has_region || has_capture) {
    auto open = open_capture(capture_path, report, has_region ? &region.plan : nullptr);
    if (!open) return tl::unexpected(open.error());
    if (has_region) merge_region(region, *open, result);
    finish_lanes(open->ledger);
    if (auto closed = open->writer->finish(); !closed && result.file_error.empty())
      result.file_error = closed.error().message;
    fill_report(*open, report);
    report.loss_known = has_region;
  }
  report.status = "recovered";
  if (export_artifacts)
    if (auto exported = export_artifacts(directory, report); !exported && result.file_error.empty())
      result.file_error = exported.error().message;
  fault_point(FaultPoint::kReport);
  report.region_path.clear();
  report.exit_code = decide_exit_code(report, result.file_error);
  if (auto written = write_run_report(directory, report); !written)
    return tl::unexpected(written.error());
  if (has_region) ::unlink(path.c_str());
  result.exit_code = report.exit_code;
  return result;
}

std::vector<StaleRegion> list_regions() {
  std::vector<StaleRegion> regions;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(kRegionDirectory, code)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("tidemark-") || !name.ends_with(".region")) continue;
    StaleRegion region{.path = entry.path().string(), .bytes = 0, .run_id = 0, .run_directory = {}};
    if (auto file = open_region_file(region.path, RegionLock::kNone)) {
      region.bytes = file->bytes;
      auto port = RegionPort::open(*file, Transport::kCopied);
      auto plan =
          port ? read_plan(*port, region.path) : Expected<RegionPlan>(tl::unexpected(port.error()));
      if (plan) {
        region.run_id = plan->identity.run_id;
        region.host_alive = is_alive({plan->identity.host_pid, plan->identity.host_start_time});
        region.device_alive = is_alive(device_of(*port));
        char text[kRunDirectoryBytes];
        port->read(offsetof(RegionHeader, run_directory), text, sizeof(text));
        region.run_directory.assign(text, ::strnlen(text, sizeof(text) - 1));
      }
    }
    regions.push_back(std::move(region));
  }
  return regions;
}

}  // namespace tidemark
