// SPDX-License-Identifier: Apache-2.0
// The autopsy of a run as JSON: what hang.json and the viewer's page have of it.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>

#include "tidemark/analyze/hang_report.h"
#include "tidemark/run/producer_text.h"
#include "tidemark/run/unit_json.h"

namespace tidemark {

void fields(auto& v, const StuckReport& stuck) {
  std::vector<std::string> waiters;
  for (const std::uint64_t waiter : stuck.waiters) waiters.push_back(task_text(waiter));
  v("task_id", fmt::format("0x{:016x}", stuck.task_id));
  v("task", task_text(stuck.task_id));
  TM_FIELDS(v, stuck, kernel, core, since_ns, for_ns, site, waits_for);
  v("waiters", waiters);
}

namespace hang_fields {

// Where it stood, from the core dump of a GPU.
template <class Json>
void put_stacks(Json& json, const HangState& state, std::uint32_t unit) {
  std::vector<UnitStack> stacks;
  std::ranges::copy_if(state.stacks, std::back_inserter(stacks),
                       [&](const UnitStack& stack) { return stack.unit == unit; });
  if (stacks.empty()) return;
  put_list(json, "stacks", stacks, [&](const UnitStack& stack) {
    put(json, "first_thread", stack.first_thread);
    put(json, "threads", stack.threads);
    put(json, "exception", stack.exception);
    put_list(json, "frames", stack.frames, [&](const StackFrame& frame) {
      put(json, "function", frame.function);
      put(json, "file", frame.file);
      put(json, "line", frame.line);
    });
  });
}

template <class Json>
void put_device_core(Json& json, const KeptCore& core) {
  if (core.file.empty() && core.why_unread.empty()) return;
  put_object(json, "device_core", [&] {
    put(json, "file", core.file);
    put(json, "bytes", core.bytes);
    put(json, "why_unread", core.why_unread);
  });
}

// What all units have in common.
template <class Json>
void put_unit(Json& json, const HangState& state, const UnitImage& line) {
  put(json, "state", unit_state_text(line));
  put(json, "left", line.state == UnitState::kLeft);
  put(json, "since_ns", ns_since_launch(state, doing_since_ticks(line)));
  put(json, "for_ns", ns_before(state, doing_since_ticks(line)));
  put(json, "recorder_waiting", line.recorder_waiting != 0);
  if (line.place != 0) put(json, "sm", line.place - 1);
}

template <class Json>
void put_core(Json& json, const HangReport& report, const UnitImage& line, std::uint32_t core) {
  const HangState& state = report.state;
  put(json, "core", core);
  put(json, "core_type", core_type(core) == CoreType::kAic ? "aic" : "aiv");
  put_unit(json, state, line);
  put(json, "parts_run", line.count);
  put_work(json, state, line, line.task_id != 0 || line.count > 0 || is_running(line));
  put(json, "block", line.block);
  put_stacks(json, state, state.units.core(core));
  const auto last = report.last_spans.find(core);
  const std::span<const TaskSpan> spans =
      last == report.last_spans.end() ? std::span<const TaskSpan>() : last->second;
  put_list(json, "last_records", spans, [&](const TaskSpan& span) {
    put(json, "task", task_text(span.task_id));
    put(json, "kernel", kernel_text(state, span.kernel));
    put(json, "block", span.block);
    put(json, "start_ns", ns_since_launch(state, span.begin_ticks));
    put(json, "end_ns", ns_since_launch(state, span.end_ticks));
  });
}

template <class Json>
void put_schedulers(Json& json, const HangState& state) {
  const auto cores = state.core_lines();
  const auto running = std::count_if(cores.begin(), cores.end(), is_running);
  const auto waiting = std::count_if(state.tasks.begin(), state.tasks.end(),
                                     [](const StuckTask& task) { return task.pending > 0; });
  std::uint32_t index = 0;
  put_list(json, "schedulers", state.scheduler_lines(), [&](const UnitImage& line) {
    put(json, "scheduler", index);
    put_unit(json, state, line);
    put_stacks(json, state, state.units.scheduler(index++));
    put(json, "loops", line.loops);
    put(json, "completed", line.count);
    put(json, "ready", state.ready_tasks());  // of the whole device: the queues are shared
    put(json, "running", running);
    put(json, "waiting", waiting);
  });
}

template <class Json>
void put_orchestrator(Json& json, const HangState& state) {
  if (state.lines.empty()) return;
  put_unit(json, state, state.lines[0]);
  put_stacks(json, state, 0);
  put(json, "last_submitted", task_text(state.lines[0].task_id));
  put(json, "last_site", state.last_site);
  put(json, "done", state.orchestration_done);
  put(json, "blocked", orchestrator_text(state));
}

// Of a recording: stopped ones first, worst first.
template <class Json>
void put_producers(Json& json, const HangState& state) {
  std::vector<const ProducerState*> producers = stopped_producers(state);
  const std::size_t stopped = producers.size();
  for (const ProducerState& producer : state.producers)
    if (std::ranges::find(producers, &producer) == producers.end()) producers.push_back(&producer);
  std::size_t index = 0;
  put_list(json, "producers", producers, [&](const ProducerState* producer) {
    put(json, "lane", producer->lane);
    put(json, "producer", producer->producer);
    put(json, "stream", producer->stream);
    put(json, "stopped", index++ < stopped);
    put(json, "begun", producer->has_begun());
    put(json, "at", producer->at);
    put(json, "waits", producer->waits);
    put(json, "number", producer->number);
    put(json, "for_ns", ns_at(state, *producer));
    put(json, "since_ns", ns_since_launch(state, producer->since_ticks));
    put(json, "waits_for_page", producer->waits_for_page);
    if (producer->place != 0) {
      const ProducerPlace place = decode_place(producer->place);
      put(json, "sm", place.multiprocessor);
      put(json, "block", place.block);
      put(json, "warp", place.warp);
    }
    put(json, "records", producer->records);
    put(json, "last_record", producer->record);
    put(json, "last_record_for_ns", ns_before(state, producer->record_ticks));
    put(json, "source", producer->source);
  });
  put(json, "producers_ended", state.producers_ended);
}

}  // namespace hang_fields

// The members of one object.
template <class Json>
void put_hang_report(Json& json, const HangReport& report) {
  const HangState& state = report.state;
  FieldWriter v(json);
  v("schema_version", 1);
  v("class", report.hang_class);
  TM_FIELDS(v, state, code, name, message);
  v("sentence", report.sentence);
  v("detected_ns", ns_since_launch(state, state.detected_ticks));
  TM_FIELDS(v, state, submitted, completed);
  TM_FIELDS(v, report, stuck, chain);
  put_object(json, "orchestrator", [&] { hang_fields::put_orchestrator(json, state); });
  std::uint32_t core = 0;
  put_list(json, "cores", state.core_lines(),
           [&](const UnitImage& line) { hang_fields::put_core(json, report, line, core++); });
  hang_fields::put_schedulers(json, state);
  put_rings(json, state, RingDetail::kWhole);
  v("tensormap", state.map_entries);
  v("tensormap_capacity", state.map_capacity);
  put_object(json, "recorder", [&] {
    v("waiting_lanes", state.waiting_lanes.size());
    v("unit_wait_ns", ns_of(state, state.recorder_waited_ticks()));
  });
  if (state.is_recording()) hang_fields::put_producers(json, state);
  v("incomplete_tasks", state.tasks.size());
  v("incomplete_tasks_cut", state.tasks_cut);
  hang_fields::put_device_core(json, state.core);
}

}  // namespace tidemark
