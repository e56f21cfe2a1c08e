// SPDX-License-Identifier: Apache-2.0
// HangState as the JSON that stands in the capture, and back. Units and tasks are rows of numbers,
// in the order of their fields.
#include <algorithm>

#include "tidemark/run/hang_state.h"
#include "tidemark/run/json.h"

namespace tidemark {
namespace {

using Json = rapidjson::Writer<rapidjson::StringBuffer>;

constexpr std::uint64_t kUnitsMax = 1u << 16;  // more than any device has

void put_line(Json& json, const UnitImage& line) {
  json.StartArray();
  for (const std::uint64_t value :
       {static_cast<std::uint64_t>(line.state), std::uint64_t{line.kernel}, line.task_id,
        line.since_ticks, line.count, std::uint64_t{line.block},
        static_cast<std::uint64_t>(line.waits_for), std::uint64_t{line.recorder_waiting},
        line.recorder_since_ticks, line.recorder_waited_ticks, line.recorder_pages,
        line.waited_before_ticks, line.loops, line.left_since_ticks,
        static_cast<std::uint64_t>(line.left_state)})
    json.Uint64(value);
  json.EndArray();
}

std::uint64_t number_at(const rapidjson::Value& row, rapidjson::SizeType index) {
  return row.IsArray() && index < row.Size() && row[index].IsUint64() ? row[index].GetUint64() : 0;
}
std::uint32_t word_at(const rapidjson::Value& row, rapidjson::SizeType index) {
  return static_cast<std::uint32_t>(number_at(row, index));
}

UnitImage line_of(const rapidjson::Value& row) {
  UnitImage line{};
  line.state = static_cast<UnitState>(word_at(row, 0));
  line.kernel = word_at(row, 1);
  line.task_id = number_at(row, 2);
  line.since_ticks = number_at(row, 3);
  line.count = number_at(row, 4);
  line.block = word_at(row, 5);
  line.waits_for = static_cast<Resource>(word_at(row, 6));
  line.recorder_waiting = word_at(row, 7);
  line.recorder_since_ticks = number_at(row, 8);
  line.recorder_waited_ticks = number_at(row, 9);
  line.recorder_pages = number_at(row, 10);
  line.waited_before_ticks = number_at(row, 11);
  line.loops = number_at(row, 12);
  line.left_since_ticks = number_at(row, 13);
  line.left_state = static_cast<UnitState>(word_at(row, 14));
  return line;
}

void put_task(Json& json, const StuckTask& task) {
  json.StartObject();
  put(json, "id", task.id);
  put_key(json, "kernels");
  json.StartArray();
  for (const std::uint16_t kernel : task.kernels) json.Uint(kernel);
  json.EndArray();
  put(json, "site", task.site);
  put(json, "pending", task.pending);
  put(json, "parts_left", task.parts_left);
  put(json, "blocks", task.block_count);
  put_key(json, "waiters");
  json.StartArray();
  for (const std::uint64_t waiter : task.waiters) json.Uint64(waiter);
  json.EndArray();
  json.EndObject();
}

StuckTask task_of(const rapidjson::Value& object) {
  StuckTask task;
  task.id = get_u64(object, "id");
  if (const auto* kernels = get_member(object, "kernels"))
    for (rapidjson::SizeType i = 0; i < kKernelsMax; ++i)
      task.kernels[i] = static_cast<std::uint16_t>(number_at(*kernels, i));
  task.site = get_text(object, "site");
  task.pending = static_cast<std::uint32_t>(get_u64(object, "pending"));
  task.parts_left = static_cast<std::uint32_t>(get_u64(object, "parts_left"));
  task.block_count = static_cast<std::uint32_t>(get_u64(object, "blocks"));
  if (const auto* waiters = get_member(object, "waiters"); waiters != nullptr && waiters->IsArray())
    for (rapidjson::SizeType i = 0; i < waiters->Size(); ++i)
      task.waiters.push_back(number_at(*waiters, i));
  return task;
}

void put_ring(Json& json, const RingState& ring) {
  json.StartArray();
  for (const std::uint64_t value :
       {ring.head, ring.tail, ring.window, ring.heap_used, ring.heap_bytes, ring.deps_used,
        ring.fanin_used, ring.dep_pool})
    json.Uint64(value);
  json.EndArray();
}

RingState ring_of(const rapidjson::Value& row) {
  return {.head = number_at(row, 0),
          .tail = number_at(row, 1),
          .window = number_at(row, 2),
          .heap_used = number_at(row, 3),
          .heap_bytes = number_at(row, 4),
          .deps_used = number_at(row, 5),
          .fanin_used = number_at(row, 6),
          .dep_pool = number_at(row, 7)};
}

template <class Rows, class Put>
void put_rows(Json& json, const char* key, const Rows& rows, const Put& put_row) {
  put_key(json, key);
  json.StartArray();
  for (const auto& row : rows) put_row(row);
  json.EndArray();
}

}  // namespace

std::string to_json(const HangState& state) {
  rapidjson::StringBuffer buffer;
  Json json(buffer);
  json.StartObject();
  put(json, "hang", static_cast<std::uint32_t>(state.hang));
  put(json, "class", state.error_class);
  put(json, "code", state.code);
  put(json, "name", state.name);
  put(json, "message", state.message);
  put(json, "unit", state.unit);
  put(json, "has_unit", std::uint32_t{state.has_unit});
  put(json, "limit_ms", state.limit_ms);
  put(json, "detected_ticks", state.detected_ticks);
  put(json, "launch_ticks", state.launch_ticks);
  put(json, "ticks_per_second", state.ticks_per_second);
  put(json, "schedulers", state.units.schedulers);
  put(json, "cores", state.units.cores);
  put_rows(json, "units", state.lines, [&](const UnitImage& line) { put_line(json, line); });
  put_rows(json, "rings", state.rings, [&](const RingState& ring) { put_ring(json, ring); });
  put(json, "map_entries", state.map_entries);
  put(json, "map_capacity", state.map_capacity);
  put(json, "submitted", state.submitted);
  put(json, "completed", state.completed);
  put(json, "scopes", state.scopes);
  put(json, "last_site", state.last_site);
  put(json, "orchestration_done", std::uint32_t{state.orchestration_done});
  put_rows(json, "ready", state.ready, [&](std::uint64_t count) { json.Uint64(count); });
  put_rows(json, "tasks", state.tasks, [&](const StuckTask& task) { put_task(json, task); });
  put(json, "tasks_cut", std::uint32_t{state.tasks_cut});
  put_rows(json, "kernels", state.kernels, [&](const std::string& name) { put_text(json, name); });
  put_rows(json, "waiting_lanes", state.waiting_lanes,
           [&](std::uint32_t lane) { json.Uint(lane); });
  json.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

namespace {

constexpr std::size_t kTasksWhenCut = 256;
constexpr std::size_t kWaitersWhenCut = 16;
constexpr std::size_t kTextWhenCut = 256;
constexpr std::uint64_t kUnitJsonBytes = 16 * 21;  // a row of numbers
constexpr std::uint64_t kTaskJsonBytes = 1024;
constexpr std::uint64_t kOtherJsonBytes = 48ull << 10;  // kernels, rings, messages

}  // namespace

HangState cut_hang_state(HangState state) {
  std::stable_partition(state.tasks.begin(), state.tasks.end(), [&](const StuckTask& task) {
    return std::any_of(state.lines.begin(), state.lines.end(),
                       [&](const UnitImage& line) { return line.task_id == task.id; });
  });
  state.tasks_cut = state.tasks_cut || state.tasks.size() > kTasksWhenCut;
  if (state.tasks.size() > kTasksWhenCut) state.tasks.resize(kTasksWhenCut);
  for (auto& task : state.tasks) {
    if (task.waiters.size() > kWaitersWhenCut) task.waiters.resize(kWaitersWhenCut);
    if (task.site.size() > kTextWhenCut) task.site.resize(kTextWhenCut);
  }
  for (auto& kernel : state.kernels)
    if (kernel.size() > kTextWhenCut) kernel.resize(kTextWhenCut);
  return state;
}

std::uint64_t hang_state_bytes(const UnitCounts& units, std::size_t lanes) {
  return kOtherJsonBytes + units.total() * kUnitJsonBytes + kTasksWhenCut * kTaskJsonBytes +
         lanes * 8;
}

std::optional<HangState> parse_hang_state(const std::string& text) {
  rapidjson::Document json;
  json.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
  if (json.HasParseError() || !json.IsObject()) return std::nullopt;
  HangState state;
  state.hang = static_cast<HangClass>(get_u64(json, "hang"));
  state.error_class = get_text(json, "class");
  state.code = static_cast<std::uint32_t>(get_u64(json, "code"));
  state.name = get_text(json, "name");
  state.message = get_text(json, "message");
  state.unit = static_cast<std::uint32_t>(get_u64(json, "unit"));
  state.has_unit = get_u64(json, "has_unit") != 0;
  state.limit_ms = get_u64(json, "limit_ms");
  state.detected_ticks = get_u64(json, "detected_ticks");
  state.launch_ticks = get_u64(json, "launch_ticks");
  state.ticks_per_second = get_u64(json, "ticks_per_second");
  state.units.schedulers =
      static_cast<std::uint32_t>(std::min(get_u64(json, "schedulers"), kUnitsMax));
  state.units.cores = static_cast<std::uint32_t>(std::min(get_u64(json, "cores"), kUnitsMax));
  const auto each = [&](const char* key, const auto& take) {
    const auto* rows = get_member(json, key);
    if (rows == nullptr || !rows->IsArray()) return;
    for (rapidjson::SizeType i = 0; i < rows->Size(); ++i) take((*rows)[i], i);
  };
  each("units", [&](const auto& row, auto) { state.lines.push_back(line_of(row)); });
  each("rings", [&](const auto& row, auto i) {
    if (i < kRingCount) state.rings[i] = ring_of(row);
  });
  state.map_entries = get_u64(json, "map_entries");
  state.map_capacity = get_u64(json, "map_capacity");
  state.submitted = get_u64(json, "submitted");
  state.completed = get_u64(json, "completed");
  state.scopes = get_u64(json, "scopes");
  state.last_site = get_text(json, "last_site");
  state.orchestration_done = get_u64(json, "orchestration_done") != 0;
  each("ready", [&](const auto& value, auto i) {
    if (i < kTaskShapeCount && value.IsUint64()) state.ready[i] = value.GetUint64();
  });
  each("tasks", [&](const auto& row, auto) { state.tasks.push_back(task_of(row)); });
  state.tasks_cut = get_u64(json, "tasks_cut") != 0;
  each("kernels", [&](const auto& value, auto) { state.kernels.push_back(text_of(value)); });
  each("waiting_lanes", [&](const auto& value, auto) {
    if (value.IsUint()) state.waiting_lanes.push_back(value.GetUint());
  });
  return state;
}

}  // namespace tidemark
