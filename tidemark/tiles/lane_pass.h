// SPDX-License-Identifier: Apache-2.0
// Reads lanes and gives their records to the makers of the tracks that show them, all in one pass:
// a lane of submits is a track of spans and counters, a lane of events is marks and counters.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "tidemark/run/run_capture.h"
#include "tidemark/tiles/name_table.h"
#include "tidemark/tiles/not_finite_tasks.h"
#include "tidemark/tiles/track_list.h"
#include "tidemark/tiles/track_maker.h"

namespace tidemark {

struct PassInput {
  RunCapture& run;
  const TrackList& list;
  const TaskFlags& not_finite;
  NameTable& names;
  TileGrid grid;
  // Called now and then with the records that were read since the last call. An error ends the
  // pass.
  std::function<Expected<void>(std::uint64_t records)> progress;
};

class LanePass {
 public:
  // Tracks that have all their lanes in common, or each one of them.
  LanePass(const PassInput& input, std::span<const TrackNumber> tracks, TileWriter& writer);

  // Reads the lanes as often as the order of their records asks for: nearly always once.
  Expected<void> make();
  [[nodiscard]] const TrackTotals& totals(TrackNumber track) const {
    return made_.at(track)->totals();
  }

 private:
  Expected<void> read_once();
  Expected<void> read_lane(LaneIndex lane);
  Expected<void> read_merged();
  void take(const RecordCursor& record);
  void take_span(const TaskSpan& span);
  void take_phase(const RecordCursor& record);
  void take_submit(const SubmitSpan& submit);
  void take_scope(const ScopeBoundary& boundary);
  void take_event(const UserEvent& event);
  void put_scope(const ScopeBoundary& begin, std::uint64_t end_ticks);
  Expected<void> read_losses(LaneIndex lane);
  void put_span(std::uint64_t begin_ticks, std::uint64_t end_ticks, TileSpan span);
  void put_sample(SampleTrackMaker* maker, std::uint64_t ticks, std::int64_t value);

  PassInput input_;
  std::map<TrackNumber, std::unique_ptr<TrackMaker>> made_;
  std::vector<LaneIndex> lanes_;
  StreamId stream_ = StreamId::kNone;
  bool losses_ = false;
  // By what they show; null: nobody asks for it.
  std::map<LaneIndex, SpanTrackMaker*> spans_of_;
  SpanTrackMaker* spans_ = nullptr;  // of the lane that is being read
  SampleTrackMaker* live_tasks_[kRingCount] = {};
  SampleTrackMaker* heap_bytes_[kRingCount] = {};
  SampleTrackMaker* ready_ = nullptr;
  std::map<std::uint64_t, SampleTrackMaker*> counters_;     // by the hash of the name
  class ScopeSpans* scopes_ = nullptr;                      // of the lane that is being read
  std::uint32_t complete_ = 0, dispatch_ = 0, submit_ = 0;  // names
  std::uint64_t read_ = 0;
};

}  // namespace tidemark
