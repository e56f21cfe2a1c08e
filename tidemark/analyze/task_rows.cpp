// SPDX-License-Identifier: Apache-2.0
#include "tidemark/analyze/task_rows.h"

#include <deque>

#include "tidemark/schema/cluster_range.h"

namespace tidemark {
namespace {

TaskRow row_of(const TaskSpan& span) {
  return {.task_id = span.task_id,
          .block = span.block,
          .kernel = span.kernel,
          .core = span.core,
          .start_ticks = span.begin_ticks,
          .end_ticks = span.end_ticks};
}

bool same_work(const TaskSpan& span, const TaskSpan& finish) {
  return span.task_id == finish.task_id && span.kernel == finish.kernel &&
         span.block == finish.block;
}

// One core's spans, and the finishes that wait for theirs.
class CoreJoin {
 public:
  CoreJoin(RecordCursor cursor, const std::function<void(const TaskRow&)>& fn)
      : cursor_(std::move(cursor)), fn_(fn) {
    advance();
  }

  void take(const TaskSpan& finish) {
    finishes_.push_back(finish);
    if (finishes_.size() > kFinishesMax) finishes_.pop_front();  // their spans are lost
    while (has_span_ && (emit_joined() || is_past(finish))) {
    }
  }
  void flush() {
    while (has_span_)
      if (!emit_joined()) emit({});
  }

 private:
  // A core works in the order of its mailbox: finishes before the one that fits lost their spans.
  bool emit_joined() {
    for (std::size_t i = 0; i < finishes_.size(); ++i) {
      if (!same_work(span_, finishes_[i])) continue;
      const TaskSpan finish = finishes_[i];
      finishes_.erase(finishes_.begin(), finishes_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      emit(finish);
      return true;
    }
    return false;
  }
  // This finish and all later ones were dispatched after the span was over. In the same tick is no
  // proof: a clock may be coarser than a block is long.
  bool is_past(const TaskSpan& finish) {
    if (finish.begin_ticks <= span_.end_ticks) return false;
    emit({});
    return true;
  }
  void emit(const std::optional<TaskSpan>& finish) {
    TaskRow row = row_of(span_);
    if (finish) {
      row.has_finish = true;
      row.dispatch_ticks = finish->begin_ticks;
      row.finish_ticks = finish->end_ticks;
    }
    fn_(row);
    advance();
  }
  void advance() {
    has_span_ = cursor_.next();
    if (has_span_) span_ = cursor_.as<TaskSpan>();
  }

  static constexpr std::size_t kFinishesMax = 1024;
  RecordCursor cursor_;
  const std::function<void(const TaskRow&)>& fn_;
  bool has_span_ = false;
  TaskSpan span_;
  std::deque<TaskSpan> finishes_;
};

void join_scheduler(RunCapture& run, const RuntimeConfig& config, std::uint32_t scheduler,
                    const std::function<void(const TaskRow&)>& fn) {
  const StreamLanes lanes = config.lanes();
  const ClusterRange clusters = clusters_of(config, scheduler);
  const std::uint32_t first = clusters.first * kCoresPerCluster;
  std::deque<CoreJoin> cores;
  for (std::uint32_t core = first; core < clusters.last * kCoresPerCluster; ++core)
    cores.emplace_back(run.records(lanes.spans(core)), fn);
  if (lanes.finishes(scheduler) != kNoLane) {
    RecordCursor cursor = run.records(lanes.finishes(scheduler));
    while (cursor.next()) {
      const auto finish = cursor.as<TaskSpan>();
      if (finish.core >= first && finish.core - first < cores.size())
        cores[finish.core - first].take(finish);
    }
  }
  for (auto& core : cores) core.flush();
}

}  // namespace

void for_each_task_row(RunCapture& run, const std::function<void(const TaskRow&)>& fn) {
  const auto& config = run.runtime();
  // Lanes of a description that contradicts itself are read as plain spans.
  if (config && config->streams[StreamId::kSwimlane] > 0 &&
      config->lanes().count() == run.lanes().size()) {
    for (std::uint32_t i = 0; i < config->scheduler_count; ++i) join_scheduler(run, *config, i, fn);
    return;
  }
  run.for_each<TaskSpan>([&](const TaskSpan& span, LaneIndex) { fn(row_of(span)); });
}

}  // namespace tidemark
