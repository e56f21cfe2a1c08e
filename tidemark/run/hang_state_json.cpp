// SPDX-License-Identifier: Apache-2.0
// HangState as the JSON that is stored in the capture, and back. Units and rings are rows of
// numbers, in the order of FORMAT.md.
#include <algorithm>

#include "tidemark/run/hang_state.h"
#include "tidemark/run/json_fields.h"

namespace tidemark {

static void numbers(auto& v, Of<UnitImage> auto& line) {
  v.row(line.state, line.kernel, line.task_id, line.since_ticks, line.count, line.block,
        line.waits_for, line.recorder_waiting, line.recorder_since_ticks,
        line.recorder_waited_ticks, line.recorder_pages, line.waited_before_ticks, line.loops,
        line.left_since_ticks, line.left_state, line.place, line.site);
}

static void numbers(auto& v, Of<RingState> auto& ring) {
  v.row(ring.head, ring.tail, ring.window, ring.heap_used, ring.heap_bytes, ring.deps_used,
        ring.fanin_used, ring.dep_pool);
}

static void fields(auto& v, Of<StuckTask> auto& task) {
  TM_FIELDS(v, task, id, kernels, site, pending, parts_left);
  v("blocks", task.block_count);
  v("waiters", task.waiters);
}

static void fields(auto& v, Of<ProducerState> auto& producer) {
  TM_FIELDS(v, producer, lane, producer, stream, state);
  v.flag("waits_for_page", producer.waits_for_page);
  v("at", producer.at);
  v.flag("waits", producer.waits);
  TM_FIELDS(v, producer, number, since_ticks, place, records, record_number, record_ticks, record,
            source);
}

static void fields(auto& v, Of<StackFrame> auto& frame) {
  TM_FIELDS(v, frame, function, file, line);
}

static void fields(auto& v, Of<UnitStack> auto& stack) {
  TM_FIELDS(v, stack, unit, sm, first_thread, threads, exception, frames);
}

static void fields(auto& v, Of<KeptCore> auto& core) {
  TM_FIELDS(v, core, file, bytes, why_unread);
}

static void fields(auto& v, Of<HangState> auto& state) {
  v("hang", state.hang);
  v("class", state.error_class);
  TM_FIELDS(v, state, code, name, message, unit);
  v.flag("has_unit", state.has_unit);
  TM_FIELDS(v, state, limit_ms, detected_ticks, launch_ticks, ticks_per_second);
  TM_FIELDS(v, state.units, schedulers, cores);
  v("units", state.lines);
  TM_FIELDS(v, state, rings, map_entries, map_capacity, submitted, completed, scopes, last_site);
  v.flag("orchestration_done", state.orchestration_done);
  TM_FIELDS(v, state, ready, tasks);
  v.flag("tasks_cut", state.tasks_cut);
  v.flag("tasks_lost", state.tasks_lost);
  TM_FIELDS(v, state, kernels, waiting_lanes, site_files, core, stacks);
  if constexpr (!std::remove_reference_t<decltype(v)>::kReads)
    if (!state.is_recording()) return;
  TM_FIELDS(v, state, producers, producers_ended);
}

std::string to_json(const HangState& state) { return json_text(state); }

namespace {

constexpr std::uint32_t kUnitsMax = 1u << 16;  // more than any device has
constexpr std::size_t kTasksWhenCut = 256;
constexpr std::size_t kWaitersWhenCut = 16;
constexpr std::size_t kTextWhenCut = 256;
constexpr std::size_t kStacksWhenCut = 4;
constexpr std::size_t kFramesWhenCut = 6;
constexpr std::size_t kFrameTextWhenCut = 128;
constexpr std::uint64_t kUnitJsonBytes = 17 * 21;  // a row of numbers
constexpr std::uint64_t kTaskJsonBytes = 1024;
constexpr std::size_t kProducersWhenCut = 64;
constexpr std::size_t kProducerTextWhenCut = 96;
constexpr std::uint64_t kProducerJsonBytes = 1024;
constexpr std::uint64_t kOtherJsonBytes = 64ull << 10;  // kernels, rings, messages, stacks

void cut(std::string& text, std::size_t bytes) {
  if (text.size() > bytes) text.resize(bytes);
}

void cut_stacks(HangState& state) {
  cut(state.core.why_unread, kTextWhenCut);
  if (state.stacks.size() > kStacksWhenCut) state.stacks.resize(kStacksWhenCut);
  for (UnitStack& stack : state.stacks) {
    cut(stack.exception, kFrameTextWhenCut);
    if (stack.frames.size() > kFramesWhenCut) stack.frames.resize(kFramesWhenCut);
    for (StackFrame& frame : stack.frames) {
      cut(frame.function, kFrameTextWhenCut);
      if (frame.file.size() > kFrameTextWhenCut)  // its end says more
        frame.file.erase(0, frame.file.size() - kFrameTextWhenCut);
    }
  }
}

}  // namespace

HangState cut_hang_state(HangState state) {
  std::stable_partition(state.tasks.begin(), state.tasks.end(), [&](const StuckTask& task) {
    return std::ranges::find(state.lines, task.id, &UnitImage::task_id) != state.lines.end();
  });
  state.tasks_cut = state.tasks_cut || state.tasks.size() > kTasksWhenCut;
  if (state.tasks.size() > kTasksWhenCut) state.tasks.resize(kTasksWhenCut);
  for (auto& task : state.tasks) {
    if (task.waiters.size() > kWaitersWhenCut) task.waiters.resize(kWaitersWhenCut);
    if (task.site.size() > kTextWhenCut) task.site.resize(kTextWhenCut);
  }
  for (auto& kernel : state.kernels)
    if (kernel.size() > kTextWhenCut) kernel.resize(kTextWhenCut);
  if (state.producers.size() > kProducersWhenCut) state.producers.resize(kProducersWhenCut);
  for (auto& producer : state.producers)
    for (std::string* text :
         {&producer.producer, &producer.stream, &producer.at, &producer.record, &producer.source})
      if (text->size() > kProducerTextWhenCut) text->resize(kProducerTextWhenCut);
  cut_stacks(state);
  return state;
}

std::uint64_t hang_state_bytes(const UnitCounts& units, std::size_t lanes) {
  return kOtherJsonBytes + units.total() * kUnitJsonBytes + kTasksWhenCut * kTaskJsonBytes +
         lanes * 8;
}

std::uint64_t recording_state_bytes(std::size_t lanes) {
  return kOtherJsonBytes + lanes * 8 + kProducersWhenCut * kProducerJsonBytes;
}

std::optional<HangState> parse_hang_state(const std::string& text) {
  rapidjson::Document json;
  json.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
  if (json.HasParseError() || !json.IsObject()) return std::nullopt;
  HangState state;
  FieldReader::read(json, state);
  state.units.schedulers = std::min(state.units.schedulers, kUnitsMax);
  state.units.cores = std::min(state.units.cores, kUnitsMax);
  return state;
}

}  // namespace tidemark
