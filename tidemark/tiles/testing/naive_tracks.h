// SPDX-License-Identifier: Apache-2.0
// Test support: what a track has to show, straight from the records, all of them in memory.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tidemark/schema/phase_span.h"
#include "tidemark/schema/scope_boundary.h"
#include "tidemark/schema/task_id.h"
#include "tidemark/tiles/tile_codec.h"
#include "tidemark/tiles/track_list.h"

namespace tidemark::samples {

struct NamedSpan {
  TileSpan span;  // without its name's number
  std::string name;
};

class NaiveTracks {
 public:
  NaiveTracks(RunCapture& run, const TrackList& list) : run_(run), list_(list) {}
  // Tasks whose spans are flagged, and how.
  std::map<std::uint64_t, std::uint16_t> not_finite;

  [[nodiscard]] std::vector<NamedSpan> spans(const Track& track) {
    found_.clear();
    if (track.kind == TrackKind::kLoss)
      read_losses(track.lanes.front());
    else
      for (const LaneIndex lane : track.lanes) read_lane(lane);
    std::stable_sort(found_.begin(), found_.end(), [](const NamedSpan& a, const NamedSpan& b) {
      return a.span.begin != b.span.begin ? a.span.begin < b.span.begin
                                          : a.span.length > b.span.length;
    });
    std::vector<std::uint64_t> ends(64, 0);
    for (NamedSpan& found : found_) {
      std::size_t row = 0;
      while (row < 63 && ends[row] > found.span.begin) ++row;
      ends[row] = std::max(ends[row], found.span.end());
      found.span.row = static_cast<std::uint16_t>(row);
    }
    return found_;
  }

  [[nodiscard]] std::vector<TileSample> samples(const Track& track) {
    struct Written {
      std::uint64_t ticks;
      TileSample sample;
    };
    std::vector<Written> all;
    for (const LaneIndex lane : track.lanes) {
      RecordCursor cursor = run_.records(lane);
      while (cursor.next())
        if (auto sample = sample_of(cursor, track))
          all.push_back({cursor.written_ticks(), *sample});
    }
    std::stable_sort(all.begin(), all.end(), [](const Written& a, const Written& b) {
      return a.sample.begin < b.sample.begin;
    });
    std::vector<TileSample> samples;
    for (const Written& one : all) samples.push_back(one.sample);
    return samples;
  }

 private:
  std::optional<TileSample> sample_of(const RecordCursor& cursor, const Track& track) {
    if (track.sample == SampleKind::kUserCounter) {
      const auto event = cursor.as<UserEvent>();
      if (event.kind != EventKind::kCounter || event.name_hash != track.name_hash)
        return std::nullopt;
      return TileSample{list_.time_of(event.time_ticks), event.value};
    }
    const bool is_submit = phase_kind(cursor.words()) == PhaseKind::kSubmit;
    if (track.sample == SampleKind::kReadyTasks) {
      if (is_submit) return std::nullopt;
      const auto phase = cursor.as<SchedulerPhase>();
      return TileSample{list_.time_of(phase.end_ticks), phase.ready};
    }
    if (!is_submit) return std::nullopt;
    const auto submit = cursor.as<SubmitSpan>();
    if (TaskId{submit.task_id}.ring() != track.ring) return std::nullopt;
    return TileSample{list_.time_of(submit.end_ticks),
                      track.sample == SampleKind::kLiveTasks
                          ? std::int64_t{submit.live_tasks}
                          : static_cast<std::int64_t>(submit.heap_bytes)};
  }

  void add(std::uint64_t begin_ticks, std::uint64_t end_ticks, std::uint64_t task,
           std::uint64_t aux, std::string name) {
    NamedSpan found{.span = {}, .name = std::move(name)};
    found.span.begin = list_.time_of(begin_ticks);
    const std::uint64_t end = list_.time_of(end_ticks);
    found.span.length = end < found.span.begin ? 0 : end - found.span.begin;
    found.span.task = task;
    found.span.aux = aux;
    found.span.flags = not_finite.contains(task) ? not_finite.at(task) : std::uint16_t{0};
    found_.push_back(std::move(found));
  }

  void read_lane(LaneIndex lane) {
    const StreamId stream = run_.lanes()[lane].stream;
    if (stream == StreamId::kScopes) return read_scopes(lane);
    RecordCursor cursor = run_.records(lane);
    while (cursor.next()) {
      if (stream == StreamId::kSwimlane) {
        const auto span = cursor.as<TaskSpan>();
        add(span.begin_ticks, span.end_ticks, span.task_id, span.block,
            run_.kernel_name(span.kernel));
      } else if (stream == StreamId::kEvents) {
        const auto event = cursor.as<UserEvent>();
        if (event.kind != EventKind::kCounter)
          add(event.time_ticks, event.time_ticks, kNoTileTask, zigzag(event.value),
              run_.name_of(event.name_hash));
      } else if (phase_kind(cursor.words()) == PhaseKind::kSubmit) {
        const auto submit = cursor.as<SubmitSpan>();
        add(submit.begin_ticks, submit.end_ticks, submit.task_id, submit.index, "submit");
      } else {
        const auto phase = cursor.as<SchedulerPhase>();
        add(phase.begin_ticks, phase.end_ticks, kNoTileTask, phase.processed,
            phase.kind == PhaseKind::kComplete ? "complete" : "dispatch");
      }
    }
  }

  // Every begin finds its end: the first boundary after it that is no deeper.
  void read_scopes(LaneIndex lane) {
    std::vector<ScopeBoundary> all;
    RecordCursor cursor = run_.records(lane);
    while (cursor.next()) all.push_back(cursor.as<ScopeBoundary>());
    std::vector<std::pair<std::size_t, std::size_t>> closed;  // end, begin; inner ones first
    for (std::size_t begin = all.size(); begin-- > 0;) {
      if (all[begin].phase != ScopeBoundary::Phase::kBegin) continue;
      std::size_t end = begin + 1;
      while (end < all.size() && all[end].depth > all[begin].depth) ++end;
      closed.emplace_back(end, begin);
    }
    std::ranges::stable_sort(closed, {}, &std::pair<std::size_t, std::size_t>::first);
    for (const auto& [end, begin] : closed)
      add(all[begin].time_ticks, all[std::min(end, all.size() - 1)].time_ticks, kNoTileTask,
          all[begin].ring, run_.site_of(all[begin].file, all[begin].line));
  }

  void read_losses(LaneIndex lane) {
    const LaneLosses& losses = run_.lane_losses().value();
    for (const LaneGap& gap : losses.gaps)
      if (gap.lane == lane)
        add(gap.from_ticks, gap.to_ticks, kNoTileTask, gap.lost,
            gap.lost > 0 ? std::string(to_text(gap.reason)) : "recorder stall");
    for (const LaneHole& hole : losses.holes)
      if (hole.lane == lane)
        add(hole.from_ticks, hole.to_ticks, kNoTileTask, hole.lost, std::string(hole.why));
  }

  RunCapture& run_;
  const TrackList& list_;
  std::vector<NamedSpan> found_;
};

}  // namespace tidemark::samples
