// SPDX-License-Identifier: Apache-2.0
#include "tidemark/tiles/lane_pass.h"

#include <algorithm>
#include <deque>

#include "tidemark/schema/phase_span.h"
#include "tidemark/schema/task_id.h"
#include "tidemark/tiles/scope_spans.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kReportEvery = 65536;

}  // namespace

LanePass::LanePass(const PassInput& input, std::span<const TrackNumber> tracks, TileWriter& writer)
    : input_(input) {
  const std::size_t late_most = std::max<std::size_t>(
      TimeOrder<TileSpan>::kLateMost / std::max<std::size_t>(tracks.size(), 1), 4096);
  for (const TrackNumber number : tracks) {
    const Track& track = input.list.tracks[number];
    stream_ = track.stream;
    losses_ = track.kind == TrackKind::kLoss;
    for (const LaneIndex lane : track.lanes)
      if (std::find(lanes_.begin(), lanes_.end(), lane) == lanes_.end()) lanes_.push_back(lane);
    if (!track.has_samples()) {
      auto maker = std::make_unique<SpanTrackMaker>(number, input.grid, writer, late_most);
      spans_of_[track.lanes.front()] = maker.get();
      made_[number] = std::move(maker);
      continue;
    }
    auto maker = std::make_unique<SampleTrackMaker>(number, input.grid, writer, late_most);
    if (track.sample == SampleKind::kUserCounter) counters_[track.name_hash] = maker.get();
    if (track.sample == SampleKind::kLiveTasks) live_tasks_[track.ring] = maker.get();
    if (track.sample == SampleKind::kHeapBytes) heap_bytes_[track.ring] = maker.get();
    if (track.sample == SampleKind::kReadyTasks) ready_ = maker.get();
    made_[number] = std::move(maker);
  }
  if (stream_ != StreamId::kPhases) return;
  complete_ = input_.names.phase("complete");
  dispatch_ = input_.names.phase("dispatch");
  submit_ = input_.names.phase("submit");
}

Expected<void> LanePass::make() {
  for (bool again = true; again;) {
    TM_TRY_DO(read_once());
    again = false;
    for (auto& [number, maker] : made_) again |= maker->end_pass();
  }
  return {};
}

Expected<void> LanePass::read_once() {
  if (losses_) return read_losses(lanes_.front());
  if (lanes_.size() > 1) return read_merged();
  return read_lane(lanes_.front());
}

Expected<void> LanePass::read_lane(LaneIndex lane) {
  const auto found = spans_of_.find(lane);
  spans_ = found == spans_of_.end() ? nullptr : found->second;
  ScopeSpans scopes;
  scopes_ = &scopes;
  RecordCursor cursor = input_.run.records(lane);
  while (cursor.next()) {
    take(cursor);
    if (++read_ % kReportEvery == 0) TM_TRY_DO(input_.progress(kReportEvery));
  }
  scopes.finish(
      [this](const ScopeBoundary& begin, std::uint64_t end_ticks) { put_scope(begin, end_ticks); });
  scopes_ = nullptr;
  return input_.progress(std::exchange(read_, 0) % kReportEvery);
}

// Lanes that a track has together come in the order in which their records were written.
Expected<void> LanePass::read_merged() {
  struct Reader {
    RecordCursor cursor;
    LaneIndex lane;
  };
  std::deque<Reader> readers;
  for (const LaneIndex lane : lanes_) {
    Reader reader{input_.run.records(lane), lane};
    if (reader.cursor.next()) readers.push_back(std::move(reader));
  }
  while (!readers.empty()) {
    const auto next =
        std::min_element(readers.begin(), readers.end(), [](const Reader& a, const Reader& b) {
          return a.cursor.written_ticks() < b.cursor.written_ticks();
        });
    const auto found = spans_of_.find(next->lane);
    spans_ = found == spans_of_.end() ? nullptr : found->second;
    take(next->cursor);
    if (!next->cursor.next()) readers.erase(next);
    if (++read_ % kReportEvery == 0) TM_TRY_DO(input_.progress(kReportEvery));
  }
  return input_.progress(std::exchange(read_, 0) % kReportEvery);
}

void LanePass::take(const RecordCursor& record) {
  switch (stream_) {
    case StreamId::kSwimlane:
      return take_span(record.as<TaskSpan>());
    case StreamId::kPhases:
      return take_phase(record);
    case StreamId::kScopes:
      return take_scope(record.as<ScopeBoundary>());
    case StreamId::kEvents:
      return take_event(record.as<UserEvent>());
    default:
      return;
  }
}

void LanePass::put_span(std::uint64_t begin_ticks, std::uint64_t end_ticks, TileSpan span) {
  span.begin = input_.list.time_of(begin_ticks);
  const std::uint64_t end = input_.list.time_of(end_ticks);
  span.length = end > span.begin ? end - span.begin : 0;
  if (span.task != kNoTileTask && !input_.not_finite.empty())
    if (const auto found = input_.not_finite.find(span.task); found != input_.not_finite.end())
      span.flags |= found->second;
  if (spans_ != nullptr) spans_->add(span);
}

void LanePass::put_sample(SampleTrackMaker* maker, std::uint64_t ticks, std::int64_t value) {
  if (maker != nullptr) maker->add({input_.list.time_of(ticks), value});
}

void LanePass::take_span(const TaskSpan& span) {
  put_span(span.begin_ticks, span.end_ticks,
           {.task = span.task_id, .aux = span.block, .name = input_.names.kernel(span.kernel)});
}

void LanePass::take_phase(const RecordCursor& record) {
  if (phase_kind(record.words()) == PhaseKind::kSubmit) return take_submit(record.as<SubmitSpan>());
  const auto phase = record.as<SchedulerPhase>();
  put_span(
      phase.begin_ticks, phase.end_ticks,
      {.aux = phase.processed, .name = phase.kind == PhaseKind::kComplete ? complete_ : dispatch_});
  put_sample(ready_, phase.end_ticks, phase.ready);
}

void LanePass::take_submit(const SubmitSpan& submit) {
  put_span(submit.begin_ticks, submit.end_ticks,
           {.task = submit.task_id, .aux = submit.index, .name = submit_});
  const std::uint32_t ring = TaskId{submit.task_id}.ring();
  put_sample(live_tasks_[ring], submit.end_ticks, submit.live_tasks);
  put_sample(heap_bytes_[ring], submit.end_ticks, static_cast<std::int64_t>(submit.heap_bytes));
}

void LanePass::take_scope(const ScopeBoundary& boundary) {
  scopes_->take(boundary, [this](const ScopeBoundary& begin, std::uint64_t end_ticks) {
    put_scope(begin, end_ticks);
  });
}

void LanePass::put_scope(const ScopeBoundary& begin, std::uint64_t end_ticks) {
  put_span(begin.time_ticks, end_ticks,
           {.aux = begin.ring, .name = input_.names.site(begin.file, begin.line)});
}

void LanePass::take_event(const UserEvent& event) {
  if (event.kind == EventKind::kCounter) {
    const auto found = counters_.find(event.name_hash);
    if (found != counters_.end()) put_sample(found->second, event.time_ticks, event.value);
    return;
  }
  if (spans_ == nullptr) return;
  put_span(event.time_ticks, event.time_ticks,
           {.aux = zigzag(event.value), .name = input_.names.mark(event.name_hash)});
}

Expected<void> LanePass::read_losses(LaneIndex lane) {
  TM_TRY(const LaneLosses& losses, input_.run.lane_losses());
  spans_ = spans_of_.at(lane);
  for (const LaneGap& gap : losses.gaps)
    if (gap.lane == lane)
      put_span(gap.from_ticks, gap.to_ticks,
               {.aux = gap.lost,
                .name = input_.names.loss(gap.lost > 0 ? to_text(gap.reason) : "recorder stall")});
  for (const LaneHole& hole : losses.holes)
    if (hole.lane == lane)
      put_span(hole.from_ticks, hole.to_ticks,
               {.aux = hole.lost, .name = input_.names.loss(hole.why)});
  return {};
}

}  // namespace tidemark
