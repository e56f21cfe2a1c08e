// SPDX-License-Identifier: Apache-2.0
#include "tidemark/tiles/track_list.h"

#include <algorithm>
#include <map>
#include <set>

#include "tidemark/schema/enum_text.h"

namespace tidemark {
namespace {

class TrackLister {
 public:
  explicit TrackLister(RunCapture& run) : run_(run) {
    list_.track_of_lane.resize(run.lanes().size(), kNoTrack);
    list_.ticks_per_second = run.clock().ticks_per_second;
    find_epoch();
    if (has_units())
      add_units();
    else
      add_plain_lanes();
  }

  TrackList lane_tracks() && {
    put_in_order();
    return std::move(list_);
  }

  Expected<TrackList> all_tracks() && {
    TM_TRY_DO(add_losses());
    for (const LaneIndex lane : run_.lanes_of(StreamId::kEvents)) add_events(lane);
    add_unit_counters();
    put_in_order();
    return std::move(list_);
  }

 private:
  // A host may have built the graph before launch.
  void find_epoch() {
    const std::uint64_t launch_ticks = run_.clock().launch_ticks;
    list_.epoch_ticks = launch_ticks;
    for (LaneIndex lane = 0; lane < run_.lanes().size(); ++lane) {
      const LanePlan& plan = run_.lanes()[lane];
      if (plan.stream == StreamId::kNone || plan.record_bytes == 0) continue;
      RecordCursor cursor = run_.records(lane);
      if (cursor.next() && cursor.has_time())
        list_.epoch_ticks =
            std::min(list_.epoch_ticks, ticks_before(cursor.words()[1], cursor.written_ticks()));
    }
    list_.launch = list_.time_of(launch_ticks);
  }

  // Lanes of a description that contradicts itself are plain ones.
  [[nodiscard]] bool has_units() const {
    if (!run_.runtime() || run_.runtime()->lanes().count() != run_.lanes().size()) return false;
    const StreamLanes lanes = run_.runtime()->lanes();
    for (std::uint32_t i = 0; i < kUnitLaneCount; ++i) {
      const auto use = static_cast<UnitLane>(i);
      const UnitLaneInfo info = info_of(use);
      for (std::uint32_t unit = 0; unit < lanes.unit_count(info.unit); ++unit) {
        const std::uint32_t lane = lanes.lane(use, unit);
        if (lane != kNoLane && run_.lanes()[lane].stream != info.stream) return false;
      }
    }
    return true;
  }

  TrackNumber add(Track track) {
    list_.tracks.push_back(std::move(track));
    return static_cast<TrackNumber>(list_.tracks.size() - 1);
  }
  TrackNumber add_lane(TrackKind kind, LaneIndex lane, std::string name, std::string unit) {
    return list_.track_of_lane[lane] = add({.kind = kind,
                                            .name = std::move(name),
                                            .unit = std::move(unit),
                                            .stream = run_.lanes()[lane].stream,
                                            .lanes = {lane}});
  }

  void add_units() {
    const RuntimeConfig& config = *run_.runtime();
    const StreamLanes lanes = config.lanes();
    if (lanes.submits() != kNoLane)
      list_.orchestrator = add_lane(TrackKind::kOrchestrator, lanes.submits(),
                                    "orchestrator: submits", "orchestrator");
    if (lanes.scopes() != kNoLane)
      list_.scopes =
          add_lane(TrackKind::kScopes, lanes.scopes(), "orchestrator: scopes", "orchestrator");
    for (std::uint32_t i = 0; i < config.scheduler_count; ++i) {
      if (lanes.phases(i) == kNoLane) break;
      const std::string name = fmt::format("scheduler {}", i);
      list_.track_of_scheduler.push_back(
          add_lane(TrackKind::kScheduler, lanes.phases(i), name, name));
    }
    for (std::uint32_t core = 0; core < config.core_count(); ++core) {
      if (lanes.spans(core) == kNoLane) break;
      const CoreType type = core_type(core);
      const TrackNumber added =
          add_lane(TrackKind::kCore, lanes.spans(core),
                   fmt::format("core {} ({})", core, type == CoreType::kAic ? "aic" : "aiv"),
                   fmt::format("core {}", core));
      list_.tracks[added].core_type = type;
      list_.track_of_core.push_back(added);
    }
    find_tracks_of_other_lanes(lanes);
  }
  // A lane without a track of its own belongs to that of its unit.
  void find_tracks_of_other_lanes(const StreamLanes& lanes) {
    const TrackNumber driver = list_.orchestrator != kNoTrack ? list_.orchestrator : list_.scopes;
    for (std::uint32_t i = 0; i < kUnitLaneCount; ++i) {
      const auto use = static_cast<UnitLane>(i);
      const UnitKind kind = info_of(use).unit;
      for (std::uint32_t unit = 0; unit < lanes.unit_count(kind); ++unit) {
        const std::uint32_t lane = lanes.lane(use, unit);
        if (lane == kNoLane || list_.track_of_lane[lane] != kNoTrack) continue;
        list_.track_of_lane[lane] = kind == UnitKind::kOrchestrator ? driver
                                    : kind == UnitKind::kScheduler  ? list_.scheduler(unit)
                                                                    : list_.core(unit);
      }
    }
  }

  // Each lane is a track, also where several say that they are one core.
  void add_plain_lanes() {
    std::map<std::string, std::uint32_t> producers;
    for (const LanePlan& plan : run_.lanes()) ++producers[plan.producer];
    for (LaneIndex lane = 0; lane < run_.lanes().size(); ++lane) {
      const LanePlan& plan = run_.lanes()[lane];
      if (plan.record_bytes == 0) continue;
      const TrackKind kind =
          plan.stream == StreamId::kScopes ? TrackKind::kScopes : TrackKind::kLane;
      if (plan.stream != StreamId::kSwimlane && plan.stream != StreamId::kPhases &&
          plan.stream != StreamId::kScopes)
        continue;
      std::string name = plan.producer;
      if (producers[name] > 1 || name.empty()) name += fmt::format(" (lane {})", lane);
      add_lane(kind, lane, name, plan.producer);
    }
  }

  [[nodiscard]] std::string unit_of(LaneIndex lane) const {
    const TrackNumber track = list_.track_of_lane[lane];
    return track != kNoTrack ? list_.tracks[track].unit : run_.lanes()[lane].producer;
  }

  Expected<void> add_losses() {
    TM_TRY(const LaneLosses& losses, run_.lane_losses());
    std::set<LaneIndex> lanes;
    for (const LaneGap& gap : losses.gaps) lanes.insert(gap.lane);
    for (const LaneHole& hole : losses.holes) lanes.insert(hole.lane);
    for (const LaneIndex lane : lanes) {
      const LanePlan& plan = run_.lanes()[lane];
      const StreamInfo* stream = find_stream(plan.stream);
      const std::string unit = unit_of(lane);
      add({.kind = TrackKind::kLoss,
           .name = fmt::format("{}: {} lost", unit,
                               stream != nullptr ? stream->name : std::string_view("records")),
           .unit = unit,
           .parent = list_.track_of_lane[lane],
           .stream = plan.stream,
           .lanes = {lane}});
    }
    return {};
  }

  void add_events(LaneIndex lane) {
    std::set<std::uint64_t> counters;
    bool has_marks = false;
    RecordCursor cursor = run_.records(lane);
    while (cursor.next()) {
      const auto event = cursor.as<UserEvent>();
      if (event.kind != EventKind::kCounter)
        has_marks = true;
      else if (counters.size() <= kCounterTracksMost)
        counters.insert(event.name_hash);
    }
    const std::string unit = unit_of(lane);
    if (has_marks)
      add({.kind = TrackKind::kMarks,
           .name = fmt::format("{}: marks", unit),
           .unit = unit,
           .parent = list_.track_of_lane[lane],
           .stream = StreamId::kEvents,
           .lanes = {lane}});
    for (const std::uint64_t name : counters) {
      if (counter_count_ == kCounterTracksMost) {
        ++list_.counters_left_out;
        continue;
      }
      ++counter_count_;
      add({.kind = TrackKind::kCounter,
           .name = fmt::format("{} ({})", run_.name_of(name), run_.lanes()[lane].producer),
           .unit = unit,
           .parent = list_.track_of_lane[lane],
           .stream = StreamId::kEvents,
           .lanes = {lane},
           .name_hash = name});
    }
  }

  void add_unit_counters() {
    const auto counter = [&](std::string name, const char* unit_of_value, SampleKind sample,
                             std::uint32_t ring, std::vector<LaneIndex> lanes) {
      add({.kind = TrackKind::kCounter,
           .name = std::move(name),
           .unit = "orchestrator",
           .unit_of_value = unit_of_value,
           .stream = StreamId::kPhases,
           .lanes = std::move(lanes),
           .sample = sample,
           .ring = ring});
    };
    if (list_.orchestrator != kNoTrack) {
      const std::vector<LaneIndex> lanes = list_.tracks[list_.orchestrator].lanes;
      for (std::uint32_t ring = 0; ring < kRingCount; ++ring) {
        counter(fmt::format("ring {}: tasks", ring), "tasks", SampleKind::kLiveTasks, ring, lanes);
        counter(fmt::format("ring {}: heap", ring), "bytes", SampleKind::kHeapBytes, ring, lanes);
      }
    }
    if (list_.track_of_scheduler.empty()) return;
    std::vector<LaneIndex> lanes;
    for (const TrackNumber track : list_.track_of_scheduler)
      lanes.push_back(list_.tracks[track].lanes.front());
    counter("ready tasks", "tasks", SampleKind::kReadyTasks, 0, std::move(lanes));
  }

  // Each track is followed by what belongs to it; counters come last.
  void put_in_order() {
    std::map<TrackNumber, std::vector<TrackNumber>> beside;
    std::vector<TrackNumber> counters;
    for (TrackNumber i = 0; i < list_.tracks.size(); ++i) {
      const Track& track = list_.tracks[i];
      if (track.kind == TrackKind::kCounter)
        counters.push_back(i);
      else if (track.kind == TrackKind::kLoss || track.kind == TrackKind::kMarks)
        beside[track.parent].push_back(i);
    }
    auto& shown = list_.shown;
    for (TrackNumber i = 0; i < list_.tracks.size(); ++i) {
      const Track& track = list_.tracks[i];
      if (track.kind == TrackKind::kCounter || track.kind == TrackKind::kLoss ||
          track.kind == TrackKind::kMarks)
        continue;
      shown.push_back(i);
      if (const auto found = beside.find(i); found != beside.end())
        shown.insert(shown.end(), found->second.begin(), found->second.end());
    }
    const auto& alone = beside[kNoTrack];
    shown.insert(shown.end(), alone.begin(), alone.end());
    shown.insert(shown.end(), counters.begin(), counters.end());
  }

  RunCapture& run_;
  TrackList list_;
  std::size_t counter_count_ = 0;
};

}  // namespace

std::string_view to_text(TrackKind kind) {
  return enum_text(
      kind, TrackKind::kOrchestrator,
      {"orchestrator", "scopes", "scheduler", "core", "lane", "loss", "marks", "counter"});
}

Expected<TrackList> list_tracks(RunCapture& run) { return TrackLister(run).all_tracks(); }

TrackList list_lane_tracks(RunCapture& run) { return TrackLister(run).lane_tracks(); }

}  // namespace tidemark
