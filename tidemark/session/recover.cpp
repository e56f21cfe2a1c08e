// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/recover.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "tidemark/base/fault_plan.h"
#include "tidemark/base/file_size_signal.h"
#include "tidemark/capture/capture_ledger.h"
#include "tidemark/capture/capture_writer.h"
#include "tidemark/collect/leftover_pages.h"
#include "tidemark/run/description.h"
#include "tidemark/run/output_directory.h"
#include "tidemark/run/report_lanes.h"
#include "tidemark/run/run_owner.h"
#include "tidemark/schema/stream_registry.h"
#include "tidemark/session/active_run.h"
#include "tidemark/session/dead_region.h"
#include "tidemark/session/read_producers.h"
#include "tidemark/session/region_words.h"
#include "tidemark/session/runtime_report.h"

namespace tidemark {
namespace fs = std::filesystem;

namespace {

constexpr int kForeignLockTries = 20;  // nobody here was seen to end

// The capture of a killed run, opened for appending. A run killed before its description was
// written gets it now, from the region and run.json.
struct OpenCapture {
  std::unique_ptr<CaptureWriter> writer;
  CaptureLedger ledger;
  CaptureDescription description;
  RunClock clock;
  NameTexts names;
};

// `locked` is the file, if there is one.
Expected<OpenCapture> open_capture(const std::string& path, UniqueFd locked,
                                   const RunReport& report, const RegionPlan* plan,
                                   const CaptureSpace::Options& space) {
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
  if (!locked.valid()) {
    TM_TRY(open.writer, CaptureWriter::create(path, report.run_id, space));
  } else {
    auto reader = CaptureReader::open(path, CaptureReader::Open::kScan);
    if (!reader && reader.error().kind != ErrorKind::kDamage) return tl::unexpected(reader.error());
    if (reader) {
      known = reader->chunks();
      if (auto description = read_description(*reader)) {
        open.description = *description;
        described = true;
      }
      TM_TRY_DO(reader->expect_read());
      if (!described && plan == nullptr)
        return failure(ErrorKind::kDamage, "{}: the description is lost, and the region too", path);
      TM_TRY(open.ledger,
             read_ledger(*reader, open.description.lanes, open.description.page_bytes));
      open.clock = read_clock(*reader);
      open.names = read_names(*reader);
      TM_TRY_DO(reader->expect_read());
    }
    TM_TRY(open.writer, CaptureWriter::append_to(std::move(locked), path, report.run_id,
                                                 std::move(known), space));
  }
  if (open.ledger.lanes.empty())
    for (const auto& lane : open.description.lanes)
      open.ledger.lanes.push_back({{.plan = lane}, LaneLedger(lane.overflow)});
  if (!described && plan != nullptr)
    TM_TRY_DO(
        open.writer->append_text(ChunkType::kDescription, describe_capture(open.description)));
  return open;
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

// Appends the pages that only the region has, and gives the lanes the region's words.
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
  result.missing_bytes = leftovers.refused_bytes;
  report_faults(leftovers.faults, result.report.recorder);
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
  }
}

// What the producers of a recording were at when their host was gone. The host said until when it
// was there.
Expected<void> keep_producers(const DeadRegion& region, const OpenCapture& open) {
  HangState state = read_recording_state(region.port, region.plan, open.clock.anchors,
                                         region.port.load(offsetof(RegionHeader, host.looked_ns)));
  if (std::ranges::none_of(state.producers, &ProducerState::has_begun)) return {};
  state.name = "RECOVERED";
  state.error_class = "host gone";
  if (open.writer->append_text(ChunkType::kHang, to_json(state))) return {};
  return open.writer->append_closing_text(ChunkType::kHang, to_json(cut_hang_state(state)));
}

// Everything else that only the region knows, and the end of the capture.
Expected<void> close_capture(const DeadRegion& region, OpenCapture& open, RecoverResult& result) {
  open.clock.launch_ticks = region.port.load(offsetof(RegionHeader, device.launch_ticks));
  open.clock.finish_ticks = region.port.load(offsetof(RegionHeader, device.finish_ticks));
  open.clock.ticks_per_second = region.plan.identity.ticks_per_second;
  std::vector<ClockSample> unseen;
  for (const ClockSample& anchor : read_device_anchors(region.port))
    if (std::ranges::count(open.clock.anchors, anchor.host_ns, &ClockSample::host_ns) == 0)
      unseen.push_back(anchor);
  open.clock.anchors.insert(open.clock.anchors.end(), unseen.begin(), unseen.end());
  open.names.merge(read_names(region.port, region.plan.layout));
  RunClock news = open.clock;
  news.anchors = unseen;
  Expected<void> all;
  const auto note = [&](Expected<void> put) {
    if (!put && all) all = std::move(put);
  };
  note(open.writer->append_closing_text(ChunkType::kClock, describe_clock(news)));
  note(open.writer->append_closing_text(ChunkType::kNames, describe_names(open.names)));
  if (open.description.runtime)
    result.report.error =
        read_runtime_error(region.port, region.plan.layout, *open.description.runtime);
  else
    note(keep_producers(region, open));
  RunReport ending = result.report;
  ending.status = RunStatus::kRecovered;
  note(open.writer->append_closing_text(ChunkType::kOutcome, describe_outcome(ending)));
  const std::vector<LaneRecord> lanes(open.ledger.lanes.begin(), open.ledger.lanes.end());
  note(open.writer->append_lanes(bytes_of(lanes), true));
  return all;
}

// Nothing of the region is missing in the capture afterwards; an error otherwise.
Expected<void> complete_capture(const DeadRegion* region, OpenCapture& open, RecoverResult& result,
                                bool sync) {
  if (region != nullptr) {
    merge_region(*region, open, result);
    TM_TRY_DO(expect_read(region->port, region->file.path));
    if (result.missing_bytes > 0) return failure(ErrorKind::kFile, "{}", open.writer->error());
    TM_TRY_DO(close_capture(*region, open, result));
    TM_TRY_DO(expect_read(region->port, region->file.path));
  }
  finish_lanes(open.ledger);
  TM_TRY_DO(open.writer->finish());
  return sync ? open.writer->sync() : Expected<void>();
}

void fill_report(const OpenCapture& open, RunReport& report) {
  report.status = RunStatus::kRecovered;
  report.ticks_per_second = open.clock.ticks_per_second;
  report.anchors = open.clock.anchors;
  thin_anchors(report.anchors);
  if (open.clock.finish_ticks > open.clock.launch_ticks)
    report.device_ns = report.ticks_to_ns(open.clock.finish_ticks - open.clock.launch_ticks);
  for (LaneIndex lane = 0; lane < open.ledger.lanes.size(); ++lane) {
    const CapturedLane& captured = open.ledger.lanes[lane];
    if (find_stream(captured.plan.stream) == nullptr) continue;
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
  if (auto file = lock_region(path)) ::unlink(path.c_str());
}

RecoverResult complete(RunReport report) {
  remove_leftover_region(report.run_id);
  RecoverResult result;
  result.already_complete = true;
  result.exit_code = report.status == RunStatus::kRecovered ? report.exit_code : 0;
  result.report = std::move(report);
  return result;
}

// The capture of a run that is over, locked; not valid if the run has none.
Expected<UniqueFd> lock_capture_of(const std::string& path, const RunReport& report, HostIs host) {
  std::error_code code;
  if (!fs::exists(path, code)) return UniqueFd();
  auto locked = lock_when_free([&] { return lock_capture(path); },
                               host == HostIs::kGone ? kLockTries : kForeignLockTries);
  if (locked || locked.error().kind != ErrorKind::kUsage) return locked;
  if (host == HostIs::kGone)
    return failure(ErrorKind::kUsage, "{}: another recovery is at work on this run",
                   locked.error().message);
  return still_going_on(report);
}

// Whether what is here proves that the run is over. A region whose lock can be taken does.
Expected<void> prove_over(const RunReport& report, HostIs host, bool has_region,
                          const RecoverOptions& options) {
  if (host == HostIs::kAlive) return still_going_on(report);
  if (host != HostIs::kUnknown || has_region || options.host_is_gone) return {};
  return failure(ErrorKind::kUsage,
                 "cannot tell from here whether the run is over: it belongs to {}, and its region "
                 "{} is not in this machine's or container's shared memory; recover it there, or "
                 "add --host-is-gone if you know that its host process is gone for good",
                 owner_text(report), region_path(report.run_id));
}

// `missing_bytes`: unset where space would not help.
RecoverResult keep_region(RecoverResult result, const std::string& directory,
                          const std::string& why, std::optional<std::uint64_t> missing_bytes) {
  result.incomplete = true;
  result.exit_code = 5;
  result.report.status = RunStatus::kRunning;
  const std::string first =
      missing_bytes ? fmt::format("free {} and ", space_text(*missing_bytes)) : std::string();
  result.file_error = fmt::format("{}; nothing was removed: {}run 'tidemark recover {}' again", why,
                                  first, directory);
  return result;
}

// Artifacts and report; the capture is whole.
RecoverResult finish_recovery(RecoverResult result, const std::string& directory,
                              const RecoverOptions& options, ReportFile& report_file) {
  RunReport& report = result.report;
  report.status = RunStatus::kRecovered;
  if (options.export_artifacts)
    if (auto exported = options.export_artifacts(directory, report); !exported) {
      if (exported.error().kind == ErrorKind::kFile)
        result.file_error = exported.error().message;
      else
        report.warnings.push_back({.code = 0,
                                   .name = "NOT_EXPORTED",
                                   .error_class = "warning",
                                   .message = exported.error().message,
                                   .hint = "the capture has too little to make artifacts of"});
    }
  fault_point(FaultPoint::kReport);
  report.region_path.clear();
  report.exit_code = result.exit_code = decide_exit_code(report, result.file_error);
  if (auto written = report_file.replace(report, options.sync); !written)
    return keep_region(std::move(result), directory, written.error().message, 0);
  return result;
}

}  // namespace

Expected<RecoverResult> recover_run(const std::string& directory, const RecoverOptions& options) {
  make_file_size_limit_an_error();
  TM_TRY(RunReport started, read_run_report(directory));
  if (started.status != RunStatus::kRunning) return complete(std::move(started));
  // Also before it has a region: a run that is only beginning is not one to finish.
  const HostIs host = look_for_host(started);
  if (host == HostIs::kAlive) return still_going_on(started);
  const std::string capture_path = directory + "/" + kCaptureFile;
  TM_TRY(auto capture, lock_capture_of(capture_path, started, host));
  // Another recovery may have finished it while this one waited.
  TM_TRY(started, read_run_report(directory));
  if (started.status != RunStatus::kRunning) return complete(std::move(started));

  RecoverResult result;
  result.report = std::move(started);
  RunReport& report = result.report;
  report.recorder = {};  // it is known only at the end of a run
  // The path follows from the run id; run.json is not believed where it names other files.
  const std::string path = region_path(report.run_id);
  const bool same_boot = report.boot_id == boot_id();
  std::error_code code;
  const bool has_region = same_boot && fs::exists(path, code);
  TM_TRY_DO(prove_over(report, host, has_region, options));
  DeadRegion region;
  if (has_region) {
    TM_TRY(region, take_region(path, report, host == HostIs::kGone));
    report.tasks = read_task_counts(region.port, region.plan.layout);
  }
  auto report_file =
      ReportFile::reserve(directory, report.run_id, has_region ? region.plan.lanes.size() : 0);
  if (!report_file) return keep_region(result, directory, report_file.error().message, 0);
  OpenCapture open;  // holds the lock until the report is in place
  if (has_region || capture.valid()) {
    CaptureSpace::Options space;
    if (options.capture_limit != 0) space.mapping_bytes = options.capture_limit;
    auto opened = open_capture(capture_path, std::move(capture), report,
                               has_region ? &region.plan : nullptr, space);
    if (!opened && opened.error().kind != ErrorKind::kFile) return tl::unexpected(opened.error());
    if (!opened) return keep_region(result, directory, opened.error().message, 0);
    open = std::move(*opened);
    if (auto whole = complete_capture(has_region ? &region : nullptr, open, result, options.sync);
        !whole) {
      const bool unread = has_region && region.port.read_error() != 0;
      const std::uint64_t missing = std::max(result.missing_bytes, open.writer->refused_bytes());
      return keep_region(result, directory, whole.error().message,
                         unread ? std::nullopt : std::make_optional(missing));
    }
    fill_report(open, report);
    report.loss_known = has_region;
  }
  result = finish_recovery(std::move(result), directory, options, *report_file);
  if (has_region && !result.incomplete) ::unlink(path.c_str());
  return result;
}

}  // namespace tidemark
