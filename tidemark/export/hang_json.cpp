// SPDX-License-Identifier: Apache-2.0
// hang.json and hang.txt: the autopsy of a run that was stopped.
#include "tidemark/export/hang_json.h"

#include "tidemark/export/json_file.h"
#include "tidemark/schema/unit_state.h"

namespace tidemark {
namespace {

using Json = JsonFile::Writer;

std::string id_text(std::uint64_t id) { return fmt::format("0x{:016x}", id); }

void put_stuck(Json& json, const StuckReport& stuck) {
  json.StartObject();
  put(json, "task_id", id_text(stuck.task_id));
  put(json, "task", task_text(stuck.task_id));
  put(json, "kernel", stuck.kernel);
  put_key(json, "core");
  if (stuck.core)
    json.Uint(*stuck.core);
  else
    json.Null();
  put(json, "since_ns", stuck.since_ns);
  put(json, "for_ns", stuck.for_ns);
  put(json, "site", stuck.site);
  put_key(json, "waits_for");
  json.StartArray();
  for (const auto& wait : stuck.waits_for) put_text(json, wait);
  json.EndArray();
  put_key(json, "waiters");
  json.StartArray();
  for (const std::uint64_t waiter : stuck.waiters) put_text(json, task_text(waiter));
  json.EndArray();
  json.EndObject();
}

// What all units have in common.
void put_unit(Json& json, const HangState& state, const UnitImage& line) {
  put(json, "state", unit_state_text(line));
  put(json, "left", line.state == UnitState::kLeft);
  put(json, "since_ns", ns_since_launch(state, doing_since_ticks(line)));
  put(json, "for_ns", ns_before(state, doing_since_ticks(line)));
  put(json, "recorder_waiting", line.recorder_waiting != 0);
}

void put_core(Json& json, const HangReport& report, std::uint32_t core) {
  const HangState& state = report.state;
  const UnitImage& line = state.lines[state.units.core(core)];
  json.StartObject();
  put(json, "core", core);
  put(json, "core_type", core_type(core) == CoreType::kAic ? "aic" : "aiv");
  put_unit(json, state, line);
  put(json, "parts_run", line.count);
  const bool has_task = line.task_id != 0 || line.count > 0 || doing(line) == UnitState::kBusy ||
                        doing(line) == UnitState::kCopying;
  put_key(json, "task");
  if (has_task)
    put_text(json, task_text(line.task_id));
  else
    json.Null();
  put_key(json, "kernel");
  if (has_task)
    put_text(json, kernel_text(state, line.kernel));
  else
    json.Null();
  put(json, "block", line.block);
  put_key(json, "last_records");
  json.StartArray();
  if (const auto last = report.last_spans.find(core); last != report.last_spans.end())
    for (const auto& span : last->second) {
      json.StartObject();
      put(json, "task", task_text(span.task_id));
      put(json, "kernel", kernel_text(state, span.kernel));
      put(json, "block", span.block);
      put(json, "start_ns", ns_since_launch(state, span.begin_ticks));
      put(json, "end_ns", ns_since_launch(state, span.end_ticks));
      json.EndObject();
    }
  json.EndArray();
  json.EndObject();
}

void put_schedulers(Json& json, const HangState& state) {
  std::uint64_t ready = 0, running = 0, waiting = 0;
  for (const std::uint64_t count : state.ready) ready += count;
  for (std::uint32_t core = 0; core < state.units.cores; ++core)
    if (state.units.core(core) < state.lines.size()) {
      const UnitState what = doing(state.lines[state.units.core(core)]);
      running += what == UnitState::kBusy || what == UnitState::kCopying ? 1 : 0;
    }
  for (const auto& task : state.tasks) waiting += task.pending > 0 ? 1 : 0;
  put_key(json, "schedulers");
  json.StartArray();
  for (std::uint32_t i = 0; i < state.units.schedulers; ++i) {
    if (state.units.scheduler(i) >= state.lines.size()) break;
    const UnitImage& line = state.lines[state.units.scheduler(i)];
    json.StartObject();
    put(json, "scheduler", i);
    put_unit(json, state, line);
    put(json, "loops", line.loops);
    put(json, "completed", line.count);
    put(json, "ready", ready);  // of the whole device: the queues are shared
    put(json, "running", running);
    put(json, "waiting", waiting);
    json.EndObject();
  }
  json.EndArray();
}

void put_rings(Json& json, const HangState& state) {
  put_key(json, "rings");
  json.StartArray();
  for (std::uint32_t i = 0; i < kRingCount; ++i) {
    const RingState& ring = state.rings[i];
    json.StartObject();
    put(json, "ring", i);
    put(json, "head", ring.head);
    put(json, "tail", ring.tail);
    put(json, "tasks", ring.head - std::min(ring.head, ring.tail));
    put(json, "task_window", ring.window);
    put(json, "heap", ring.heap_used);
    put(json, "heap_bytes", ring.heap_bytes);
    put(json, "dep_pool_used", ring.deps_used);
    put(json, "fanin_used", ring.fanin_used);
    put(json, "dep_pool", ring.dep_pool);
    json.EndObject();
  }
  json.EndArray();
  put(json, "tensormap", state.map_entries);
  put(json, "tensormap_capacity", state.map_capacity);
}

Expected<void> write_json(const HangReport& report, const std::string& path) {
  auto file = JsonFile::create(path);
  if (!file) return tl::unexpected(file.error());
  Json& json = (*file)->json();
  const HangState& state = report.state;
  json.StartObject();
  put(json, "schema_version", 1);
  put(json, "class", report.hang_class);
  put(json, "code", state.code);
  put(json, "name", state.name);
  put(json, "message", state.message);
  put(json, "sentence", report.sentence);
  put(json, "detected_ns", ns_since_launch(state, state.detected_ticks));
  put(json, "submitted", state.submitted);
  put(json, "completed", state.completed);
  put_key(json, "stuck");
  json.StartArray();
  for (const auto& stuck : report.stuck) put_stuck(json, stuck);
  json.EndArray();
  put_key(json, "chain");
  json.StartArray();
  for (const auto& link : report.chain) put_text(json, link);
  json.EndArray();
  put_key(json, "orchestrator");
  json.StartObject();
  if (!state.lines.empty()) {
    put_unit(json, state, state.lines[0]);
    put(json, "last_submitted", task_text(state.lines[0].task_id));
    put(json, "last_site", state.last_site);
    put(json, "done", state.orchestration_done);
    put(json, "blocked", orchestrator_text(state));
  }
  json.EndObject();
  put_key(json, "cores");
  json.StartArray();
  for (std::uint32_t core = 0; core < state.units.cores; ++core)
    if (state.units.core(core) < state.lines.size()) put_core(json, report, core);
  json.EndArray();
  put_schedulers(json, state);
  put_rings(json, state);
  put_key(json, "recorder");
  json.StartObject();
  put(json, "waiting_lanes", std::uint64_t{state.waiting_lanes.size()});
  std::uint64_t waited = 0;
  for (const auto& line : state.lines) waited += line.recorder_waited_ticks;
  put(json, "unit_wait_ns", ns_of(state, waited));
  json.EndObject();
  put(json, "incomplete_tasks", std::uint64_t{state.tasks.size()});
  put(json, "incomplete_tasks_cut", state.tasks_cut);
  json.EndObject();
  return (*file)->finish();
}

}  // namespace

Expected<void> write_hang_files(const HangReport& report, const std::string& directory) {
  if (auto put = write_json(report, directory + "/hang.json"); !put) return put;
  auto text = PartFile::create(directory + "/hang.txt");
  if (!text) return tl::unexpected(text.error());
  text->write(hang_summary(report, directory));
  return text->finish();
}

}  // namespace tidemark
