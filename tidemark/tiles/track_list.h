// SPDX-License-Identifier: Apache-2.0
// The tracks of a run, in the order in which they are shown, and the time they share: ticks since
// the epoch, which is the launch or the first time in the capture if that is earlier. Who links to
// a place on the timeline asks here for its track and its time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/run/run_capture.h"
#include "tidemark/schema/core_type.h"

namespace tidemark {

enum class TrackKind : std::uint8_t {
  kOrchestrator,
  kScopes,
  kScheduler,
  kCore,
  kLane,  // of a program without our runtime
  kLoss,  // what is missing of a lane, and where its producer waited
  kMarks,
  kCounter,
};
std::string_view to_text(TrackKind kind);

// Its id. A track of a lane's own records has the same number in a sketch.
using TrackNumber = std::uint32_t;
inline constexpr TrackNumber kNoTrack = ~TrackNumber{0};

// What a counter track shows of the records of its lanes.
enum class SampleKind : std::uint8_t { kUserCounter, kLiveTasks, kHeapBytes, kReadyTasks };

struct Track {
  TrackKind kind = TrackKind::kLane;
  std::string name;
  std::string unit;  // whose it is: "core 0", "scheduler 1", "orchestrator", or a producer's name
  std::optional<CoreType> core_type = {};
  TrackNumber parent = kNoTrack;
  std::string unit_of_value = {};  // of samples: "tasks", "bytes"

  // Where its content comes from.
  StreamId stream = StreamId::kNone;
  std::vector<LaneIndex> lanes = {};
  SampleKind sample = SampleKind::kUserCounter;
  std::uint32_t ring = 0;       // of kLiveTasks and kHeapBytes
  std::uint64_t name_hash = 0;  // of kUserCounter

  [[nodiscard]] bool has_samples() const { return kind == TrackKind::kCounter; }
};

// Times of tiles are below this; later ones are cut at it.
inline constexpr std::uint64_t kTileTimeEnd = std::uint64_t{1} << 53;

struct TrackList {
  std::vector<Track> tracks;       // by number
  std::vector<TrackNumber> shown;  // in the order in which they are shown
  std::uint64_t counters_left_out = 0;
  std::uint64_t epoch_ticks = 0;
  std::uint64_t ticks_per_second = 1;
  std::uint64_t launch = 0;                // ticks since the epoch
  std::vector<TrackNumber> track_of_lane;  // where the lane's own records are, or its unit's track
  std::vector<TrackNumber> track_of_core;  // by core; empty without our runtime
  std::vector<TrackNumber> track_of_scheduler;
  TrackNumber orchestrator = kNoTrack;
  TrackNumber scopes = kNoTrack;

  // Ticks of the device to ticks since the epoch; what is before it is at it.
  [[nodiscard]] std::uint64_t time_of(std::uint64_t ticks) const {
    const auto since = static_cast<std::int64_t>(ticks - epoch_ticks);
    if (since < 0) return 0;
    return static_cast<std::uint64_t>(since) < kTileTimeEnd ? static_cast<std::uint64_t>(since)
                                                            : kTileTimeEnd - 1;
  }
  [[nodiscard]] TrackNumber core(std::uint32_t core) const {
    return core < track_of_core.size() ? track_of_core[core] : kNoTrack;
  }
  [[nodiscard]] TrackNumber scheduler(std::uint32_t index) const {
    return index < track_of_scheduler.size() ? track_of_scheduler[index] : kNoTrack;
  }
  [[nodiscard]] TrackNumber lane(LaneIndex lane) const {
    return lane < track_of_lane.size() ? track_of_lane[lane] : kNoTrack;
  }
};

// More counters than this are left out, and counted.
inline constexpr std::size_t kCounterTracksMost = 4096;

// Reads the events of the run for the names of its counters, and every page for what is missing.
Expected<TrackList> list_tracks(RunCapture& run);
// Only the tracks of the lanes' own records, by the capture's description alone.
TrackList list_lane_tracks(RunCapture& run);

}  // namespace tidemark
