// SPDX-License-Identifier: Apache-2.0
#include "tidemark/tiles/tile_set.h"

#include <algorithm>
#include <map>
#include <set>

#include "tidemark/tiles/lane_pass.h"
#include "tidemark/tiles/page_times.h"
#include "tidemark/tiles/tile_index.h"

namespace tidemark {
namespace {

// Makers hold some hundred kilobytes each; a lane with more counters is read again for the rest.
constexpr std::size_t kTracksInPass = 64;

using TrackGroup = std::vector<TrackNumber>;

// Tracks that are made in one pass over the same lanes.
std::vector<TrackGroup> group_tracks(const TrackList& list) {
  // Losses are in no lane's records; schedulers go together, because they have a counter together.
  struct Key {
    bool losses;
    LaneIndex lane;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, TrackGroup> groups;
  const LaneIndex scheduler = list.track_of_scheduler.empty()
                                  ? kNoLane
                                  : list.tracks[list.track_of_scheduler.front()].lanes.front();
  for (TrackNumber i = 0; i < list.tracks.size(); ++i) {
    const Track& track = list.tracks[i];
    const LaneIndex lane = track.kind == TrackKind::kScheduler ? scheduler : track.lanes.front();
    groups[{track.kind == TrackKind::kLoss, lane}].push_back(i);
  }
  std::vector<TrackGroup> split;
  for (const auto& [key, tracks] : groups)
    for (std::size_t at = 0; at < tracks.size(); at += kTracksInPass) {
      const auto first = tracks.begin() + static_cast<std::ptrdiff_t>(at);
      const auto count = static_cast<std::ptrdiff_t>(std::min(kTracksInPass, tracks.size() - at));
      split.emplace_back(first, first + count);
    }
  return split;
}

std::uint64_t records_of_tracks(const RunCapture& run, const TrackList& list) {
  std::set<LaneIndex> lanes;
  for (const Track& track : list.tracks)
    if (track.kind != TrackKind::kLoss) lanes.insert(track.lanes.begin(), track.lanes.end());
  std::uint64_t records = 0;
  for (const LaneIndex lane : lanes) records += records_in_pages(run, lane);
  return records;
}

std::uint64_t finish_of(const RunCapture& run, const TrackList& list) {
  return run.clock().finish_ticks == 0 ? list.launch : list.time_of(run.clock().finish_ticks);
}

Expected<LaneCounts> count_all(RunCapture& run) {
  TM_TRY(const LaneLosses& losses, run.lane_losses());
  LaneCounts all;
  for (const LaneCounts& counts : losses.counts) all.add(counts);
  return all;
}

}  // namespace

Expected<void> make_tile_set(RunCapture& run, const TileOptions& options, TileSink& sink,
                             const TileProgress& progress) {
  TM_TRY(const TrackList list, list_tracks(run));
  NameTable names(run);
  const TaskFlags not_finite = not_finite_tasks(run);
  std::vector<TrackTotals> totals(list.tracks.size());
  TileIndex index{.grid = choose_grid(read_page_times(run, list), finish_of(run, list)),
                  .end = finish_of(run, list),
                  .names = names.entries(),
                  .list = list,
                  .totals = totals,
                  .records = records_of_tracks(run, list)};
  TM_TRY(index.counts, count_all(run));
  if (options.documents) {
    TM_TRY(index.documents, options.documents(run, list, sink));
  }
  TileWriter writer(sink, options.threads);
  const auto report = [&](std::uint64_t records) -> Expected<void> {
    index.records_done += records;
    TM_TRY_DO(writer.result());
    return progress ? progress(std::min(index.records_done, index.records), index.records)
                    : Expected<void>{};
  };
  const PassInput input{run, list, not_finite, names, index.grid, report};
  for (const TrackGroup& group : group_tracks(list)) {
    LanePass pass(input, group, writer);
    TM_TRY_DO(pass.make());
    for (const TrackNumber track : group) {
      totals[track] = pass.totals(track);
      index.end = std::max(index.end, totals[track].end);
    }
  }
  TM_TRY_DO(writer.finish());
  index.records_done = index.records;
  return sink.put_text("index.json", index_json(run, index));
}

Expected<void> sketch_tile_set(RunCapture& run, TileSink& sink) {
  const TrackList list = list_lane_tracks(run);
  const NameTable names(run);
  const PageTimes times = read_page_times(run, list);
  std::vector<TrackTotals> totals(list.tracks.size());
  TileIndex index{.grid = choose_grid(times, finish_of(run, list)),
                  .end = finish_of(run, list),
                  .names = names.entries(),
                  .list = list,
                  .totals = totals,
                  .sketch_only = true,
                  .records = records_of_tracks(run, list)};
  TileWriter writer(sink);
  for (TrackNumber track = 0; track < list.tracks.size(); ++track) {
    std::vector<SketchPage> pages = times[list.tracks[track].lanes.front()];
    std::sort(pages.begin(), pages.end(),
              [](const SketchPage& a, const SketchPage& b) { return a.begin < b.begin; });
    for (const SketchPage& page : pages) {
      totals[track].count += page.records;
      index.end = std::max(index.end, page.end);
    }
    writer.put_directory(track, writer.encoder().sketch(pages));
  }
  TM_TRY_DO(writer.finish());
  return sink.put_text("index.json", index_json(run, index));
}

}  // namespace tidemark
