// SPDX-License-Identifier: Apache-2.0
#include "tidemark/tiles/analysed_run.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "tidemark/base/human_text.h"
#include "tidemark/schema/task_id.h"

namespace tidemark {
namespace {

// What the page shows does not name a directory of this machine.
std::string without_directory(const RunCapture& run, const std::string& message) {
  const std::string prefix = run.directory() + ": ";
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

// Keeps a part that could be made; of another one the reason.
template <class Part>
void keep(AnalysedRun& analysed, const char* document, Expected<Part> made,
          std::optional<Part>& part) {
  if (made)
    part = std::move(*made);
  else
    analysed.not_made.push_back({document, without_directory(analysed.run, made.error().message)});
}

Expected<void> find_losses(AnalysedRun& analysed) {
  TM_TRY(const auto found, analysed.run.lane_losses());
  const LaneLosses& losses = found.get();
  const auto length = [](const LaneGap& gap) { return gap.to_ticks - gap.from_ticks; };
  for (const LaneGap& gap : losses.gaps) {
    if (gap.lost > 0) {
      analysed.losses.push_back(
          {gap.lane, gap.lost, to_text(gap.reason), gap.from_ticks, gap.to_ticks});
      continue;
    }
    auto& longest = analysed.longest_stall;
    if (!longest || length(gap) > length(*longest)) longest = gap;
  }
  // Of a run that goes on, what is on its way is not lost.
  const bool goes_on = analysed.status() == RunStatus::kRunning;
  for (const LaneHole& hole : losses.holes)
    if (!goes_on || hole.why != kLossMissing)
      analysed.losses.push_back({hole.lane, hole.lost, hole.why, hole.from_ticks, hole.to_ticks});
  std::ranges::stable_sort(analysed.losses, std::greater{}, &LossRow::lost);
  for (const LaneCounts& counts : losses.counts) analysed.produced += counts.produced;
  return {};
}

Expected<TaskGraph> load_graph(AnalysedRun& analysed) {
  std::uint64_t records = 0;
  TM_TRY(const auto losses, analysed.run.lane_losses());
  for (const LaneIndex lane : analysed.run.lanes_of(StreamId::kEdges)) {
    const LaneCounts& counts = losses.get().counts[lane];
    records += counts.delivered + counts.recovered;
  }
  if (records > analysed.options.graph_records_max)
    return failure(ErrorKind::kUsage,
                   "the graph has {} records, more than the {} that are held in memory",
                   with_commas(records), with_commas(analysed.options.graph_records_max));
  return TaskGraph::load(analysed.run);
}

void analyse_graph(AnalysedRun& analysed) {
  keep(analysed, "graph", load_graph(analysed), analysed.graph);
  if (!analysed.graph) return;
  analysed.links = analysed.graph->links();
  RunCapture& run = analysed.run;
  if (!run.has(StreamId::kSwimlane)) return;
  analysed.times = join_times(run, *analysed.graph);
  // Which cores there are, only a configuration says; without a span nothing has ended.
  if (!run.runtime() || analysed.times->rows.empty()) return;
  analysed.path = find_critical_path(*run.runtime(), run.clock(), *analysed.graph, *analysed.times);
  analysed.starvation =
      find_starvation(*run.runtime(), run.clock(), *analysed.graph, *analysed.times);
}

// Where the device took no statistics: of what it was writing when it hung.
void complete_stats(AnalysedRun& analysed) {
  std::uint64_t left = analysed.options.stats_bytes;
  for (DumpEntry& entry : analysed.dump->entries) {
    if (!entry.is_tensor() || entry.has_stats()) continue;
    const std::uint64_t bytes = entry.header.payload_bytes;
    const bool computes = entry.is_whole() && bytes <= left;
    const auto stats = computes ? compute_stats(analysed.run, entry)
                                : Expected<DumpStats>(failure(ErrorKind::kUsage, "too large"));
    if (!stats) {
      ++analysed.stats_unknown;
      continue;
    }
    left -= bytes;
    entry.stats = *stats;
    entry.header.flags |= kDumpHasStats;
  }
}

// In the order of the submits; what the graph does not know comes last.
void sort_dump(AnalysedRun& analysed) {
  if (!analysed.graph) return;
  std::ranges::stable_sort(analysed.dump->entries, {}, [&](const DumpEntry& entry) {
    return std::tuple(analysed.graph->index_of(entry.header.task_id), entry.header.task_id,
                      entry.header.stage, entry.header.arg_index);
  });
}

void analyse_dump(AnalysedRun& analysed) {
  keep(analysed, "tensors", read_dump(analysed.run), analysed.dump);
  if (!analysed.dump) return;
  complete_stats(analysed);
  sort_dump(analysed);
  analysed.nans = find_first_nan(*analysed.dump, NotFinite::kNan);
  analysed.nans_are_nan = analysed.nans.seen.has_value();
  if (!analysed.nans_are_nan) analysed.nans = find_first_nan(*analysed.dump);
}

}  // namespace

RunStatus AnalysedRun::status() const {
  if (report) return report->status;
  return run.outcome() ? run.outcome()->status : RunStatus::kMissing;
}

const RunError* AnalysedRun::error() const {
  const auto& error = report || !run.outcome() ? report : run.outcome();
  return error && error->error ? &*error->error : nullptr;
}

std::optional<TrackNumber> AnalysedRun::track_of_core(std::uint32_t core) const {
  const TrackNumber track = tracks.core(core);
  return track == kNoTrack ? std::nullopt : std::optional(track);
}

std::optional<TrackNumber> AnalysedRun::loss_track_of(LaneIndex lane) const {
  for (TrackNumber i = 0; i < tracks.tracks.size(); ++i)
    if (tracks.tracks[i].kind == TrackKind::kLoss &&
        std::ranges::find(tracks.tracks[i].lanes, lane) != tracks.tracks[i].lanes.end())
      return i;
  return std::nullopt;
}

std::string id_text(std::uint64_t task_id) { return fmt::format("0x{:016x}", task_id); }

Expected<AnalysedRun> analyse_run(RunCapture& run, const TrackList& tracks,
                                  const DocumentOptions& options) {
  AnalysedRun analysed{.run = run, .tracks = tracks, .options = options};
  // A run.json that cannot be read says nothing; the capture's own outcome is asked then.
  if (auto report = read_run_report(run.directory())) analysed.report = std::move(*report);
  TM_TRY_DO(find_losses(analysed));
  keep(analysed, "timeline", read_timeline(run), analysed.timeline);
  analyse_graph(analysed);
  keep(analysed, "scopes", report_scopes(run), analysed.scopes);
  analyse_dump(analysed);
  if (const auto state = run.hang()) analysed.hang = make_hang_report(*state, &run);
  return analysed;
}

void TaskPages::add(std::uint64_t task_id, std::uint64_t row) {
  const std::uint64_t page = row / kRowsPerPage;
  const std::uint32_t ring = TaskId{task_id}.ring();
  // The entries of the newest page are the last ones: one for each ring at most.
  for (std::size_t i = entries_.size(); i > 0 && entries_[i - 1].page == page; --i) {
    Entry& entry = entries_[i - 1];
    if (entry.ring != ring) continue;
    entry.lowest = std::min(entry.lowest, task_id);
    entry.highest = std::max(entry.highest, task_id);
    return;
  }
  entries_.push_back({task_id, task_id, page, ring});
}

void TaskPages::put(CompactJsonWriter& json, std::string_view key) const {
  put_key(json, key);
  json.StartArray();
  for (const Entry& entry : entries_) {
    json.StartArray();
    put_value(json, id_text(entry.lowest));
    put_value(json, id_text(entry.highest));
    put_value(json, entry.page);
    json.EndArray();
  }
  json.EndArray();
}

}  // namespace tidemark
