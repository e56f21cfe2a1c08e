// SPDX-License-Identifier: Apache-2.0
#include "tidemark/analyze/check_run.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "tidemark/analyze/dump_index.h"
#include "tidemark/capture/capture_writer.h"
#include "tidemark/run/output_directory.h"
#include "tidemark/run/run_owner.h"

namespace tidemark {
namespace {

constexpr std::size_t kProblemsMax = 50;

void add_problem(CheckResult& result, std::string problem) {
  if (result.problems.size() < kProblemsMax) result.problems.push_back(std::move(problem));
}

// Nothing that a tool outside relies on may be missing.
void check_report(CheckResult& result) {
  const RunReport& report = result.report;
  if (result.still_running)
    result.notes.push_back(
        fmt::format("still running: {}; what is sealed so far was checked", owner_text(report)));
  else if (report.status == RunStatus::kRunning)
    add_problem(result,
                "run.json says the run is still going on; 'tidemark recover' finishes a "
                "run whose host was killed");
  if (report.workload.empty() || report.platform.empty() || report.status == RunStatus::kMissing)
    add_problem(result, "run.json lacks a required field");
  if (!report.loss_known)
    add_problem(result, "the region was gone at recovery: what came after the capture is unknown");
}

void compare_lane(CheckResult& result, const LaneReport& said, const LaneCounts& found) {
  const auto differ = [&](const char* what, std::uint64_t in_report, std::uint64_t in_capture) {
    if (in_report != in_capture)
      add_problem(result, fmt::format("lane {} ({}): run.json says {} {}, the capture holds {}",
                                      said.lane, said.producer, what, in_report, in_capture));
  };
  differ("produced", said.counts.produced, found.produced);
  differ("delivered", said.counts.delivered, found.delivered);
  differ("recovered", said.counts.recovered, found.recovered);
  differ("dropped", said.counts.dropped, found.dropped);
  differ("overwritten", said.counts.overwritten, found.overwritten);
  differ("incomplete", said.counts.incomplete, found.incomplete);
  if (!found.closes())
    add_problem(result,
                fmt::format("lane {} ({}): the ledger does not close: {} numbers unaccounted{}",
                            said.lane, said.producer, found.unaccounted(),
                            found.contradictory == 0
                                ? ""
                                : fmt::format(", {} of them contradictory", found.contradictory)));
}

void check_ledger(CheckResult& result, const CaptureLedger& ledger) {
  for (const auto& lane : ledger.lanes) result.counted.add(lane.ledger.counts());
  result.pages = ledger.keys.size();
  if (ledger.unreadable_pages > 0)
    add_problem(result, fmt::format("{} pages cannot be read", ledger.unreadable_pages));
  if (ledger.duplicate_pages > 0)
    add_problem(result, fmt::format("{} pages stand in the capture twice", ledger.duplicate_pages));
  for (std::size_t i = 1; i < kPageFaultCount; ++i)
    if (const auto fault = static_cast<PageFault>(i); ledger.faults.of(fault) > 0)
      add_problem(result, fmt::format("{}: {} times", to_text(fault), ledger.faults.of(fault)));
  for (const auto& said : result.report.lanes)
    if (said.lane < ledger.lanes.size())
      compare_lane(result, said, ledger.lanes[said.lane].ledger.counts());
    else
      add_problem(result, fmt::format("run.json names lane {}, which the capture does not have",
                                      said.lane));
}

// Other commands open a capture by its index: it must name what a scan finds, no more and no less.
void check_index(CheckResult& result, const std::string& path, const CaptureReader& scanned) {
  if (!scanned.damage().empty()) return;
  const auto indexed = CaptureReader::open(path, CaptureReader::Open::kIndexed);
  if (!indexed || !indexed->used_index()) return;
  const auto same = [](const IndexEntry& a, const IndexEntry& b) {
    return std::memcmp(&a, &b, sizeof(IndexEntry)) == 0;
  };
  if (!std::equal(indexed->chunks().begin(), indexed->chunks().end(), scanned.chunks().begin(),
                  scanned.chunks().end(), same))
    add_problem(result, fmt::format("{}: its index names other chunks than are in the file", path));
}

// The task runtime hashed what it dumped; the bytes in the capture must have the same hash. Frames
// of others are their own affair.
void check_dump(CheckResult& result, const std::string& directory) {
  auto run = RunCapture::open(directory);
  if (!run || !run->has(StreamId::kDump) || !run->runtime()) return;
  const auto index = read_dump(*run);
  if (!index) return add_problem(result, index.error().message);
  if (index->malformed > 0)
    add_problem(result, fmt::format("{} frames of the dump are malformed", index->malformed));
  std::uint64_t wrong = 0;
  for (const auto& entry : index->entries) {
    const DumpHeader& header = entry.header;
    if (!entry.is_tensor() || !entry.has_stats() || header.payload_bytes == 0 ||
        header.payload_bytes != header.logical_bytes)
      continue;
    const auto stats = compute_stats(*run, entry);
    if (!stats) return add_problem(result, stats.error().message);
    if (stats->hash != entry.stats.hash && wrong++ == 0)
      add_problem(result, fmt::format("the dump of task {}, argument {}, has other bytes than the "
                                      "device hashed",
                                      task_text(header.task_id), header.arg_index));
    ++result.verified_tensors;
  }
  if (wrong > 1) add_problem(result, fmt::format("and {} more tensors like it", wrong - 1));
}

}  // namespace

Expected<CheckResult> check_run(const std::string& directory, const ContentCheck& content_check) {
  CheckResult result;
  TM_TRY(result.report, read_run_report(directory));
  const std::string path = directory + "/" + kCaptureFile;
  result.still_running = result.report.status == RunStatus::kRunning && is_being_written(path);
  check_report(result);

  std::error_code code;
  if (!std::filesystem::exists(path, code)) {
    if (!result.report.lanes.empty()) add_problem(result, path + " is missing");
    result.notes.push_back("the run recorded nothing");
    return result;
  }
  TM_TRY(auto reader, CaptureReader::open(path, result.still_running ? CaptureReader::Open::kLive
                                                                     : CaptureReader::Open::kScan));
  result.chunks = reader.chunks().size();
  result.file_bytes = reader.file_bytes();
  for (const auto& damage : reader.damage())
    add_problem(result, fmt::format("{}: {} bytes at {} cannot be read: {}", path, damage.bytes,
                                    damage.offset, damage.what));
  for (const auto& part : reader.unfinished())
    if (!result.still_running)
      result.notes.push_back(fmt::format("{} bytes at {}: {}", part.bytes, part.offset, part.what));
  if (!result.still_running) check_index(result, path, reader);
  if (reader.run_id() != result.report.run_id)
    add_problem(result, "run.json and the capture are of different runs");

  TM_TRY(auto description, read_description(reader));
  const auto visit = [&](const CapturedPage& page) {
    if (content_check) result.verified_records += content_check(page, result.problems);
  };
  TM_TRY(auto ledger,
         read_ledger(reader, description.lanes, description.page_bytes, visit,
                     result.still_running ? LedgerOf::kLiveFile : LedgerOf::kWholeFile));
  finish_lanes(ledger);
  if (!result.still_running && reader.last_of(ChunkType::kLanes) == nullptr)
    add_problem(result, "the capture's end is lost: what came after its last page is unknown");
  check_ledger(result, ledger);
  if (!result.still_running) check_dump(result, directory);
  return result;
}

}  // namespace tidemark
