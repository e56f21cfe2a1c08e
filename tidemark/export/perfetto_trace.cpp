// SPDX-License-Identifier: Apache-2.0
// trace.pftrace: one track per core, scheduler and orchestrator; tasks, phases, submits and scopes
// as slices; dependencies as flows; occupancy and the program's counters as counter tracks; what
// the recorder lost or waited for as slices of their own.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/compile.h>

#include "tidemark/analyze/scope_report.h"
#include "tidemark/analyze/timeline.h"
#include "tidemark/export/artifact.h"
#include "tidemark/export/perfetto_writer.h"
#include "tidemark/schema/phase_span.h"
#include "tidemark/schema/task_id.h"

namespace tidemark {
namespace {

// Tracks by what they show; the number says of whom.
enum class TrackKind : std::uint64_t {
  kProcess = 1,
  kOrchestrator,
  kScopes,
  kJoints,
  kScheduler,
  kCore,
  kGaps,
  kStalls,
  kLiveTasks,
  kHeap,
  kReady,
  kUserCounter,
};

TrackId track_of(TrackKind kind, std::uint64_t number = 0) {
  return static_cast<std::uint64_t>(kind) << 32 | number;
}

constexpr TrackId kRoot = static_cast<std::uint64_t>(TrackKind::kProcess) << 32;

// The dependencies of each task, as flows: an edge between two tasks is one, whatever its reasons.
class FlowTable {
 public:
  explicit FlowTable(const TaskGraph& graph) : links_(graph.links()), told_(graph.tasks.size()) {
    first_.reserve(graph.tasks.size() + 1);
    std::uint64_t next = 1;
    for (const auto& consumers : links_.consumers) {
      first_.push_back(next);
      next += consumers.size();
    }
  }
  // Once per task: its first slice carries them.
  bool take(std::size_t task, std::vector<std::uint64_t>& out, std::vector<std::uint64_t>& in) {
    out.clear();
    in.clear();
    if (told_[task]) return false;
    told_[task] = true;
    for (std::size_t i = 0; i < links_.consumers[task].size(); ++i) out.push_back(first_[task] + i);
    for (const std::uint32_t producer : links_.producers[task]) {
      const auto& consumers = links_.consumers[producer];
      const auto at =
          std::lower_bound(consumers.begin(), consumers.end(), task) - consumers.begin();
      in.push_back(first_[producer] + static_cast<std::uint64_t>(at));
    }
    return true;
  }

 private:
  TaskGraph::Links links_;
  std::vector<std::uint64_t> first_;
  std::vector<bool> told_;
};

class TraceExport {
 public:
  TraceExport(RunCapture& run, PartFile& part) : run_(run), writer_(part) {
    epoch_ticks_ = run.clock().launch_ticks;
  }

  Expected<void> write() {
    if (run_.has(StreamId::kEdges)) {
      TM_TRY(graph_, TaskGraph::load(run_));
      times_ = join_times(run_, *graph_);
      flows_.emplace(*graph_);
    }
    find_epoch();
    writer_.put_process(kRoot, fmt::format("{} on {}", run_.description().run.workload,
                                           run_.description().run.platform));
    put_orchestrator();
    put_schedulers();
    put_cores();
    put_joints();
    put_events();
    return put_recorder();
  }

 private:
  using Note = SliceNote;

  [[nodiscard]] std::int64_t ns(std::uint64_t ticks) const {
    return run_.clock().to_ns(ticks) - run_.clock().to_ns(epoch_ticks_);
  }
  void track(TrackId uuid, std::string_view name) {
    writer_.put_track(uuid, kRoot, name, next_rank_++);
  }

  // Times in a trace are not negative, but a host may have built the graph before launch.
  void find_epoch() {
    for (LaneIndex lane = 0; lane < run_.lanes().size(); ++lane) {
      if (run_.lanes()[lane].stream == StreamId::kNone || run_.lanes()[lane].record_bytes == 0)
        continue;
      RecordCursor cursor = run_.records(lane);
      if (!cursor.next()) continue;
      if (cursor.has_time())
        epoch_ticks_ =
            std::min(epoch_ticks_, ticks_before(cursor.words()[1], cursor.written_ticks()));
    }
  }

  [[nodiscard]] bool has_units() const {
    return run_.runtime() && run_.runtime()->lanes().count() == run_.lanes().size();
  }

  void put_orchestrator() {
    if (!has_units()) return;
    const StreamLanes lanes = run_.runtime()->lanes();
    if (lanes.scopes() != kNoLane) {
      track(track_of(TrackKind::kScopes), "orchestrator: scopes");
      put_scopes();
    }
    if (lanes.submits() == kNoLane) return;
    const TrackId submits = track_of(TrackKind::kOrchestrator);
    track(submits, "orchestrator: submits");
    for (std::uint32_t ring = 0; ring < kRingCount; ++ring) {
      writer_.put_counter_track(track_of(TrackKind::kLiveTasks, ring), kRoot,
                                fmt::format("ring {}: tasks", ring), "tasks");
      writer_.put_counter_track(track_of(TrackKind::kHeap, ring), kRoot,
                                fmt::format("ring {}: heap", ring), "bytes");
    }
    RecordCursor cursor = run_.records(lanes.submits());
    while (cursor.next()) {
      const auto submit = cursor.as<SubmitSpan>();
      const std::uint64_t ring = TaskId{submit.task_id}.ring();
      const std::string task = task_text(submit.task_id);
      const std::array notes{Note{"task", task}, Note{"index", {}, submit.index}};
      writer_.begin_slice(submits, ns(submit.begin_ticks), "submit", notes);
      writer_.end_slice(submits, ns(submit.end_ticks));
      writer_.put_counter(track_of(TrackKind::kLiveTasks, ring), ns(submit.end_ticks),
                          submit.live_tasks);
      writer_.put_counter(track_of(TrackKind::kHeap, ring), ns(submit.end_ticks),
                          static_cast<std::int64_t>(submit.heap_bytes));
    }
  }

  // Scopes nest, so they are slices within slices. What the recorder lost of them must not leave
  // a slice open: an end without its begin is passed over, a begin without its end is closed.
  void put_scopes() {
    const TrackId scopes = track_of(TrackKind::kScopes);
    std::vector<std::uint32_t> open;
    std::uint64_t last_ticks = 0;
    run_.for_each<ScopeBoundary>([&](const ScopeBoundary& boundary, LaneIndex) {
      last_ticks = boundary.time_ticks;
      if (boundary.phase == ScopeBoundary::Phase::kBegin) {
        const std::array notes{Note{"depth", {}, boundary.depth}, Note{"ring", {}, boundary.ring}};
        writer_.begin_slice(scopes, ns(boundary.time_ticks),
                            run_.site_of(boundary.file, boundary.line), notes);
        open.push_back(boundary.serial);
        return;
      }
      if (std::find(open.begin(), open.end(), boundary.serial) == open.end()) return;
      for (bool closed = false; !closed; open.pop_back()) {
        closed = open.back() == boundary.serial;
        writer_.end_slice(scopes, ns(boundary.time_ticks));
      }
    });
    for (; !open.empty(); open.pop_back()) writer_.end_slice(scopes, ns(last_ticks));
  }

  void put_schedulers() {
    if (!has_units() || run_.runtime()->lanes().phases(0) == kNoLane) return;
    writer_.put_counter_track(track_of(TrackKind::kReady), kRoot, "ready tasks", "tasks");
    for (std::uint32_t i = 0; i < run_.runtime()->scheduler_count; ++i) {
      const TrackId scheduler = track_of(TrackKind::kScheduler, i);
      track(scheduler, fmt::format("scheduler {}", i));
      RecordCursor cursor = run_.records(run_.runtime()->lanes().phases(i));
      while (cursor.next()) {
        const auto phase = cursor.as<SchedulerPhase>();
        const std::array notes{Note{"processed", {}, phase.processed},
                               Note{"loop", {}, phase.loop}};
        writer_.begin_slice(scheduler, ns(phase.begin_ticks),
                            phase.kind == PhaseKind::kComplete ? "complete" : "dispatch", notes);
        writer_.end_slice(scheduler, ns(phase.end_ticks));
        writer_.put_counter(track_of(TrackKind::kReady), ns(phase.end_ticks), phase.ready);
      }
    }
  }

  void put_cores() {
    if (has_units())
      for (std::uint32_t core = 0; core < run_.runtime()->core_count(); ++core) name_core(core);
    for_each_task_row(run_, [&](const TaskRow& row) { put_row(row); });
  }
  TrackId name_core(std::uint32_t core) {
    const TrackId uuid = track_of(TrackKind::kCore, core);
    if (core >= named_cores_.size()) named_cores_.resize(core + 1, false);
    if (!named_cores_[core]) {
      named_cores_[core] = true;
      const bool aic = run_.runtime() && core_type(core) == CoreType::kAic;
      track(uuid, run_.runtime() ? fmt::format("core {} ({})", core, aic ? "aic" : "aiv")
                                 : fmt::format("core {}", core));
    }
    return uuid;
  }
  void put_row(const TaskRow& row) {
    const TrackId core = name_core(row.core);
    std::array<char, 32> text;
    const std::string_view task = short_task(row.task_id, text);
    const std::array notes{Note{"task", task}, Note{"block", {}, row.block}};
    SliceFlows flows;
    if (flows_) {
      const std::size_t index = graph_->index_of(row.task_id);
      if (index != TaskGraph::kNoTask && flows_->take(index, out_, in_)) flows = {out_, in_};
    }
    writer_.begin_slice(core, ns(row.start_ticks), kernel_name(row.kernel), notes, flows);
    writer_.end_slice(core, ns(row.end_ticks));
  }
  static std::string_view short_task(std::uint64_t task_id, std::array<char, 32>& text) {
    const TaskId task{task_id};
    auto written =
        task.ring() == 0
            ? fmt::format_to_n(text.data(), text.size(), FMT_COMPILE("t{}"), task.local())
            : fmt::format_to_n(text.data(), text.size(), FMT_COMPILE("r{}t{}"), task.ring(),
                               task.local());
    std::size_t size = written.size;
    if (task.lap() != 0)
      size +=
          fmt::format_to_n(text.data() + size, text.size() - size, FMT_COMPILE("l{}"), task.lap())
              .size;
    return {text.data(), std::min(size, text.size())};
  }
  const std::string& kernel_name(std::uint16_t kernel) {
    const auto [found, fresh] = kernel_names_.try_emplace(kernel);
    if (fresh) found->second = run_.kernel_name(kernel);
    return found->second;
  }

  // Tasks without a kernel have no slice on a core, but flows pass through them.
  void put_joints() {
    if (!graph_) return;
    bool named = false;
    for (std::size_t i = 0; i < graph_->tasks.size(); ++i) {
      if (times_.tasks[i].ran || !flows_->take(i, out_, in_)) continue;
      if (!named) track(track_of(TrackKind::kJoints), "allocations and joints");
      named = true;
      const std::string task = task_text(graph_->tasks[i].task.task_id);
      const std::array notes{Note{"task", task}};
      writer_.put_instant(track_of(TrackKind::kJoints), ns(times_.tasks[i].complete_ticks),
                          node_kernel_name(run_, graph_->tasks[i].task), notes, {out_, in_});
    }
  }

  void put_events() {
    std::map<std::pair<std::uint64_t, LaneIndex>, TrackId> counters;
    run_.for_each<UserEvent>([&](const UserEvent& event, LaneIndex lane) {
      const std::string name = run_.name_of(event.name_hash);
      if (event.kind == EventKind::kCounter) {
        auto [found, fresh] = counters.emplace(std::pair{event.name_hash, lane},
                                               track_of(TrackKind::kUserCounter, counters.size()));
        if (fresh)
          writer_.put_counter_track(found->second, kRoot,
                                    fmt::format("{} ({})", name, run_.lanes()[lane].producer), "");
        writer_.put_counter(found->second, ns(event.time_ticks), event.value);
        return;
      }
      const std::string value = fmt::format("{}", event.value);
      const std::array notes{Note{"value", value}};
      writer_.put_instant(event_track(lane), ns(event.time_ticks), name, notes);
    });
  }
  // Marks are on the track of whoever made them.
  TrackId event_track(LaneIndex lane) {
    if (!has_units()) return name_core(run_.lanes()[lane].unit);
    const UnitCounts units = run_.runtime()->units();
    const std::uint32_t unit = run_.lanes()[lane].unit;
    if (unit >= units.core(0)) return name_core(unit - units.core(0));
    const TrackId marks = track_of(TrackKind::kOrchestrator, 1);
    if (!marks_named_) track(marks, "orchestrator: marks");
    marks_named_ = true;
    return marks;
  }

  Expected<void> put_recorder() {
    TM_TRY(auto gaps, run_.gaps());
    std::stable_sort(gaps.begin(), gaps.end(), [](const LaneGap& a, const LaneGap& b) {
      return a.from_ticks < b.from_ticks;
    });
    std::map<TrackId, std::int64_t> ends;
    for (const LaneGap& gap : gaps) {
      const bool lost = gap.lost > 0;
      const TrackId uuid = track_of(lost ? TrackKind::kGaps : TrackKind::kStalls, gap.lane);
      const auto [found, fresh] = ends.emplace(uuid, 0);
      if (fresh)
        track(uuid, fmt::format("recorder: {} {}, lane {}", run_.lanes()[gap.lane].producer,
                                lost ? "lost records" : "waited for a page", gap.lane));
      const std::int64_t from = std::max(ns(gap.from_ticks), found->second);
      const std::int64_t to = std::max(ns(gap.to_ticks), from);
      const std::array notes{Note{"lost", {}, gap.lost}};
      writer_.begin_slice(
          uuid, from, lost ? fmt::format("gap: {}", to_text(gap.reason)) : "recorder stall", notes);
      writer_.end_slice(uuid, to);
      found->second = to;
    }
    return {};
  }

  RunCapture& run_;
  PerfettoWriter writer_;
  std::optional<TaskGraph> graph_;
  GraphTimes times_;
  std::optional<FlowTable> flows_;
  std::uint64_t epoch_ticks_ = 0;
  std::uint32_t next_rank_ = 0;
  std::vector<bool> named_cores_;
  bool marks_named_ = false;
  std::map<std::uint16_t, std::string> kernel_names_;
  std::vector<std::uint64_t> out_, in_;
};

}  // namespace

Expected<void> write_perfetto_trace(RunCapture& run, const std::string& path) {
  TM_TRY(auto part, PartFile::create(path));
  TM_TRY_DO(TraceExport(run, part).write());
  return part.finish();
}

}  // namespace tidemark
