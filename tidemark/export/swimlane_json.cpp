// SPDX-License-Identifier: Apache-2.0
// l2_swimlane_records.json: one row per (task, kernel, block), what schedulers and orchestrator
// did, the user events, and what was lost where.
#include "tidemark/analyze/task_rows.h"
#include "tidemark/export/artifact.h"
#include "tidemark/export/event_json.h"
#include "tidemark/export/row_text.h"
#include "tidemark/schema/cluster_range.h"
#include "tidemark/schema/phase_span.h"
#include "tidemark/schema/task_id.h"

namespace tidemark {
namespace {

class SwimlaneWriter {
 public:
  SwimlaneWriter(RunCapture& run, PartFile& part)
      : run_(run),
        part_(part),
        out_(part.text()),
        clock_(run.clock()),
        repeats_(run.runtime() && run.runtime()->repeats()) {
    for (const auto& kernel : run.description().kernels) kernels_.push_back(json_text(kernel));
  }

  Expected<void> write() {
    const auto& config = run_.runtime();
    const std::uint32_t level = config ? std::max(config->streams[StreamId::kSwimlane], 1u) : 1;
    append("{{\"schema_version\":1,\"l2_swimlane_level\":{},\"tasks\":[", level);
    for_each_task_row(run_, [&](const TaskRow& row) { put_row(row); });
    end_list();
    put_scheduler_phases();
    put_submits();
    put_core_to_thread();
    put_event_rows();
    TM_TRY(const auto gaps, run_.gaps());
    append("\"gaps\":[");
    for (const LaneGap& gap : gaps)
      if (gap.lost > 0) put_gap(gap);
    append("]}}\n");
    return {};
  }

 private:
  template <class... T>
  void append(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<T>(values)...);
  }
  // Rows are one per line, with a comma before all but the first of a list.
  void begin_row() {
    part_.flush_if_full();
    out_.append(first_ ? "\n" : ",\n");
    first_ = false;
  }
  void end_list() {
    out_.append("],\n");
    first_ = true;
  }

  void put_row(const TaskRow& row) {
    begin_row();
    const bool aic = run_.runtime() && core_type(row.core) == CoreType::kAic;
    fmt::format_to(std::back_inserter(out_),
                   FMT_COMPILE("{{\"task_id\":{},\"ring_id\":{},\"func_id\":{},\"func_name\":"),
                   row.task_id, TaskId{row.task_id}.ring(), row.kernel);
    if (row.kernel < kernels_.size())
      out_.append(kernels_[row.kernel]);
    else
      append("\"kernel_{}\"", row.kernel);
    fmt::format_to(std::back_inserter(out_),
                   FMT_COMPILE(",\"core_id\":{},\"core_type\":\"{}\",\"block\":{}"), row.core,
                   aic ? "aic" : "aiv", row.block);
    if (repeats_) append(",\"iteration\":{}", TaskId{row.task_id}.lap());
    const std::int64_t start = clock_.tenths(row.start_ticks), end = clock_.tenths(row.end_ticks);
    out_.append(",\"start_time_us\":");
    RowClock::put(out_, start);
    out_.append(",\"end_time_us\":");
    RowClock::put(out_, end);
    out_.append(",\"duration_us\":");
    RowClock::put(out_, end - start);
    if (row.has_finish) {
      clock_.put_time(out_, ",\"dispatch_time_us\":", row.dispatch_ticks);
      clock_.put_time(out_, ",\"finish_time_us\":", row.finish_ticks);
    }
    out_.push_back('}');
  }

  void put_scheduler_phases() {
    append("\"aicpu_scheduler_phases\":[");
    const auto& config = run_.runtime();
    const std::uint32_t schedulers = has_lane_of_every_unit() ? config->scheduler_count : 0;
    bool any = false;
    for (std::uint32_t i = 0; i < schedulers; ++i) {
      const LaneIndex lane = config->lanes().phases(i);
      if (lane == kNoLane) break;
      out_.append(any ? "],\n[" : "\n[");
      any = true;
      first_ = true;
      RecordCursor cursor = run_.records(lane);
      while (cursor.next()) put_phase(cursor.as<SchedulerPhase>());
    }
    if (any) out_.append("]");
    end_list();
  }
  void put_phase(const SchedulerPhase& phase) {
    begin_row();
    clock_.put_time(out_, "{\"start_time_us\":", phase.begin_ticks);
    clock_.put_time(out_, ",\"end_time_us\":", phase.end_ticks);
    append(
        ",\"phase\":\"{}\",\"loop_iter\":{},\"tasks_processed\":{},\"pop_hit\":{},"
        "\"pop_miss\":{},\"ready\":{}}}",
        phase.kind == PhaseKind::kComplete ? "complete" : "dispatch", phase.loop, phase.processed,
        phase.pop_hit, phase.pop_miss, phase.ready);
  }

  void put_submits() {
    append("\"aicpu_orchestrator_phases\":[");
    const LaneIndex lane = has_lane_of_every_unit() ? run_.runtime()->lanes().submits() : kNoLane;
    if (lane != kNoLane) {
      out_.append("\n[");
      RecordCursor cursor = run_.records(lane);
      while (cursor.next()) {
        const auto submit = cursor.as<SubmitSpan>();
        begin_row();
        clock_.put_time(out_, "{\"start_time_us\":", submit.begin_ticks);
        clock_.put_time(out_, ",\"end_time_us\":", submit.end_ticks);
        append(",\"phase\":\"orch_submit\",\"submit_idx\":{},\"task_id\":{}}}", submit.index,
               submit.task_id);
      }
      out_.append("]");
    }
    end_list();
  }

  void put_core_to_thread() {
    const std::uint32_t schedulers = has_lane_of_every_unit() ? run_.runtime()->scheduler_count : 0;
    std::vector<std::uint32_t> threads;  // by core
    for (std::uint32_t i = 0; i < schedulers; ++i)
      threads.resize(clusters_of(*run_.runtime(), i).last * kCoresPerCluster, i);
    append("\"core_to_thread\":[{}", fmt::join(threads, ","));
    end_list();
  }

  void put_event_rows() {
    append("\"events\":[");
    run_.for_each<UserEvent>([&](const UserEvent& event, LaneIndex lane) {
      begin_row();
      append("{{\"name\":{},\"kind\":\"{}\"", json_text(run_.name_of(event.name_hash)),
             to_text(event.kind));
      clock_.put_time(out_, ",\"time_us\":", event.time_ticks);
      append(",\"value\":{},\"unit\":{},\"lane\":{},\"producer\":{}}}", event.value, event.unit,
             lane, json_text(run_.lanes()[lane].producer));
    });
    end_list();
  }

  void put_gap(const LaneGap& gap) {
    begin_row();
    append("{{\"lane\":{}", gap.lane);
    clock_.put_time(out_, ",\"from\":", gap.from_ticks);
    clock_.put_time(out_, ",\"to\":", gap.to_ticks);
    append(",\"lost\":{},\"reason\":\"{}\"}}", gap.lost, to_text(gap.reason));
  }

  [[nodiscard]] bool has_lane_of_every_unit() const {
    return run_.runtime() && run_.runtime()->lanes().count() == run_.lanes().size();
  }

  RunCapture& run_;
  PartFile& part_;
  std::string& out_;
  RowClock clock_;
  bool repeats_;
  std::vector<std::string> kernels_;
  bool first_ = true;
};

}  // namespace

Expected<void> write_swimlane_json(RunCapture& run, const std::string& path) {
  TM_TRY(auto part, PartFile::create(path));
  TM_TRY_DO(SwimlaneWriter(run, part).write());
  return part.finish();
}

Expected<void> write_name_map(RunCapture& run, const std::string& path) {
  return write_json(path, [&](JsonFile& file) {
    auto& json = file.json();
    const auto& kernels = run.description().kernels;
    put_object(json, "callable_id_to_name", [&] {
      for (std::size_t i = 0; i < kernels.size(); ++i) put(json, fmt::format("{}", i), kernels[i]);
    });
    put(json, "orchestrator_name", run.description().run.workload);
    put(json, "level", 2);
  });
}

}  // namespace tidemark
