// SPDX-License-Identifier: Apache-2.0
// tidemark top: a live look at a running (or hung) run from another process.
#include <unistd.h>

#include <algorithm>
#include <memory>

#include <fmt/core.h>

#include "tidemark/analyze/hang_report.h"
#include "tidemark/base/human_text.h"
#include "tidemark/base/monotonic_clock.h"
#include "tidemark/cli/command_line.h"
#include "tidemark/cli/terminal.h"
#include "tidemark/run/json.h"
#include "tidemark/schema/error_code.h"
#include "tidemark/schema/unit_state.h"
#include "tidemark/session/live_view.h"

namespace tidemark::cli {
namespace {

struct TopArgs {
  std::string run;
  bool once = false;
  bool json = false;
  std::uint32_t interval_ms = 1000;
};

constexpr std::uint32_t kFirstLookMs = 200;  // rates need two looks
constexpr std::size_t kCoresShown = 24;
constexpr std::size_t kBarCells = 20;

std::string bar(std::uint64_t used, std::uint64_t capacity) {
  const double share =
      capacity == 0 ? 0 : std::min(1.0, static_cast<double>(used) / static_cast<double>(capacity));
  const auto full = static_cast<std::size_t>(share * kBarCells + (used > 0 ? 0.999 : 0));
  const std::size_t cells = std::min(full, kBarCells);
  return fmt::format("[{}{}] {:>5.1f}%", std::string(cells, '#'),
                     std::string(kBarCells - cells, '.'), share * 100);
}

// Two looks, and what happened between them.
struct Rates {
  Rates(const LiveView& before, const LiveView& now)
      : seconds(std::max(1e-3, static_cast<double>(now.taken_ns - before.taken_ns) / 1e9)) {
    tasks = per_second(before.state.completed, now.state.completed);
    pages = per_second(before.drained_pages, now.drained_pages);
    for (const auto& stream : now.streams) {
      double rate = 0;
      for (const auto& old : before.streams)
        if (old.name == stream.name) rate = per_second(old.attempted, stream.attempted);
      records.push_back(rate);
    }
  }
  [[nodiscard]] double per_second(std::uint64_t before, std::uint64_t now) const {
    return now > before ? static_cast<double>(now - before) / seconds : 0;
  }
  double seconds;
  double tasks = 0, pages = 0;
  std::vector<double> records;  // by stream
};

std::string rate_text(double rate) { return with_commas(static_cast<std::uint64_t>(rate)) + "/s"; }

void add_units(std::string& text, const HangState& state) {
  if (state.lines.empty()) return;
  const std::string held = orchestrator_text(state);
  text += fmt::format("orchestrator {}{} for {}\n", unit_state_text(state.lines[0]),
                      held.empty() ? "" : " (" + held.substr(4) + ")",
                      human_ns(ns_before(state, doing_since_ticks(state.lines[0]))));
  for (std::uint32_t i = 0; i < state.units.schedulers; ++i)
    if (state.units.scheduler(i) < state.lines.size())
      text += fmt::format("scheduler {}  {}, {} tasks complete\n", i,
                          unit_state_text(state.lines[state.units.scheduler(i)]),
                          with_commas(state.lines[state.units.scheduler(i)].count));
  // Busy ones first, longest first.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> busy;
  std::map<std::string, std::uint32_t> by_state;
  for (std::uint32_t core = 0; core < state.units.cores; ++core) {
    if (state.units.core(core) >= state.lines.size()) break;
    const UnitImage& line = state.lines[state.units.core(core)];
    ++by_state[unit_state_text(line)];
    if (doing(line) == UnitState::kBusy || doing(line) == UnitState::kCopying)
      busy.emplace_back(line.since_ticks, core);
  }
  text += "cores        ";
  bool first = true;
  for (const auto& [name, count] : by_state) {
    text += fmt::format("{}{} {}", first ? "" : ", ", count, name);
    first = false;
  }
  text += "\n";
  std::sort(busy.begin(), busy.end());
  for (std::size_t i = 0; i < busy.size() && i < kCoresShown; ++i) {
    const UnitImage& line = state.lines[state.units.core(busy[i].second)];
    text += fmt::format("  core {:<4} {} {:<10} {:<20} {:<12} {}\n", busy[i].second,
                        core_type(busy[i].second) == CoreType::kAic ? "aic" : "aiv",
                        unit_state_text(line), kernel_text(state, line.kernel),
                        task_text(line.task_id), human_ns(ns_before(state, line.since_ticks)));
  }
}

void add_rings(std::string& text, const HangState& state) {
  for (std::uint32_t i = 0; i < kRingCount; ++i) {
    const RingState& ring = state.rings[i];
    if (ring.head == 0) continue;
    text += fmt::format("ring {}       tasks {}  heap {}  deps {}\n", i,
                        bar(ring.head - std::min(ring.head, ring.tail), ring.window),
                        bar(ring.heap_used, ring.heap_bytes), bar(ring.deps_used, ring.dep_pool));
  }
  text += fmt::format("tensor map   {}\n", bar(state.map_entries, state.map_capacity));
}

std::string render(const LiveRun& run, const LiveView& view, const Rates& rates) {
  const HangState& state = view.state;
  std::string text = fmt::format(
      "{} {} on {}: {} since launch{}{}\n", run.report().workload, run.report().case_name,
      run.report().platform, human_ns(ns_since_launch(state, state.detected_ticks)),
      view.host_alive ? "" : "; the HOST IS GONE ('tidemark recover' when the device has left)",
      view.device_alive ? "" : "; no device process");
  if (view.error_code != 0)
    text += fmt::format("error        {} {}\n", view.error_code,
                        to_text(static_cast<ErrorCode>(view.error_code)));
  if (view.has_runtime) {
    text += fmt::format("tasks        {} of {} complete, {} in flight, {}, {} scopes{}\n",
                        with_commas(state.completed), with_commas(state.submitted),
                        with_commas(state.submitted - std::min(state.submitted, state.completed)),
                        rate_text(rates.tasks), with_commas(state.scopes),
                        state.orchestration_done ? ", all submitted" : "");
    add_units(text, state);
    add_rings(text, state);
  }
  text += fmt::format("drained      {} pages, {}\n", with_commas(view.drained_pages),
                      rate_text(rates.pages));
  for (std::size_t i = 0; i < view.streams.size(); ++i) {
    const LiveStream& stream = view.streams[i];
    text += fmt::format("  {:<10} {:>14} records {:>14}  {} lanes, {} waiting, {} dropped\n",
                        stream.name, with_commas(stream.attempted), rate_text(rates.records[i]),
                        stream.lanes, stream.waiting, with_commas(stream.dropped));
  }
  return text;
}

void put_cores(JsonWriter& json, const HangState& state) {
  put_key(json, "cores");
  json.StartArray();
  for (std::uint32_t core = 0; core < state.units.cores; ++core) {
    if (state.units.core(core) >= state.lines.size()) break;
    const UnitImage& line = state.lines[state.units.core(core)];
    json.StartObject();
    put(json, "core", core);
    put(json, "state", unit_state_text(line));
    const bool had_task =
        line.count > 0 || doing(line) == UnitState::kBusy || doing(line) == UnitState::kCopying;
    put_key(json, "task");
    had_task ? put_text(json, task_text(line.task_id)) : static_cast<void>(json.Null());
    put_key(json, "kernel");
    had_task ? put_text(json, kernel_text(state, line.kernel)) : static_cast<void>(json.Null());
    put(json, "for_ns", ns_before(state, doing_since_ticks(line)));
    put(json, "parts_run", line.count);
    json.EndObject();
  }
  json.EndArray();
}

void put_rings(JsonWriter& json, const HangState& state) {
  put_key(json, "rings");
  json.StartArray();
  for (const RingState& ring : state.rings) {
    json.StartObject();
    put(json, "tasks", ring.head - std::min(ring.head, ring.tail));
    put(json, "task_window", ring.window);
    put(json, "heap", ring.heap_used);
    put(json, "heap_bytes", ring.heap_bytes);
    put(json, "dep_pool_used", ring.deps_used);
    put(json, "dep_pool", ring.dep_pool);
    json.EndObject();
  }
  json.EndArray();
}

std::string render_json(const LiveRun& run, const LiveView& view, const Rates& rates) {
  const HangState& state = view.state;
  rapidjson::StringBuffer buffer;
  JsonWriter json(buffer);
  json.StartObject();
  put(json, "schema_version", 1);
  put(json, "run_id", run_id_text(run.report().run_id));
  put(json, "workload", run.report().workload);
  put(json, "platform", run.report().platform);
  put(json, "host_alive", view.host_alive);
  put(json, "device_alive", view.device_alive);
  put(json, "error_code", view.error_code);
  put(json, "elapsed_ns", ns_since_launch(state, state.detected_ticks));
  put(json, "submitted", state.submitted);
  put(json, "completed", state.completed);
  put(json, "tasks_per_second", rates.tasks);
  put(json, "scopes", state.scopes);
  put(json, "orchestration_done", state.orchestration_done);
  if (!state.lines.empty()) {
    put(json, "orchestrator", unit_state_text(state.lines[0]));
    put(json, "orchestrator_blocked", orchestrator_text(state));
  }
  put_key(json, "schedulers");
  json.StartArray();
  for (std::uint32_t i = 0; i < state.units.schedulers; ++i) {
    if (state.units.scheduler(i) >= state.lines.size()) break;
    const UnitImage& line = state.lines[state.units.scheduler(i)];
    json.StartObject();
    put(json, "state", unit_state_text(line));
    put(json, "loops", line.loops);
    put(json, "completed", line.count);
    json.EndObject();
  }
  json.EndArray();
  put_cores(json, state);
  put_rings(json, state);
  put(json, "drained_pages", view.drained_pages);
  put(json, "pages_per_second", rates.pages);
  put_key(json, "streams");
  json.StartArray();
  for (std::size_t i = 0; i < view.streams.size(); ++i) {
    const LiveStream& stream = view.streams[i];
    json.StartObject();
    put(json, "stream", stream.name);
    put(json, "lanes", stream.lanes);
    put(json, "attempted", stream.attempted);
    put(json, "records_per_second", rates.records[i]);
    put(json, "pages", stream.pages);
    put(json, "dropped", stream.dropped);
    put(json, "waiting_lanes", stream.waiting);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

Expected<int> watch(const TopArgs& args) {
  const auto directory = resolve_run(args.run);
  if (!directory) return report_error(directory.error());
  auto run = LiveRun::attach(*directory);
  if (!run) return report_error(run.error());
  const bool live = !args.once && !args.json && ::isatty(STDOUT_FILENO) == 1;
  auto before = run->look();
  sleep_ms(kFirstLookMs);
  for (;;) {
    auto now = run->look();
    if (!before || !now) {
      print("{}: the run has ended; see 'tidemark check {}'\n", *directory, *directory);
      return 0;
    }
    const Rates rates(*before, *now);
    if (live) print_raw("\x1b[H\x1b[J");
    print_text(args.json ? render_json(*run, *now, rates) + "\n" : render(*run, *now, rates));
    flush();
    if (!live) return 0;
    before = std::move(now);
    sleep_ms(args.interval_ms);
  }
}

}  // namespace

void add_top_command(Command& program) {
  Command& command = program.command(
      "top", "A live look at a run from another terminal; it can never disturb the run");
  auto args = std::make_shared<TopArgs>();
  command.option("run", &args->run, "Directory of the run (default: the newest)");
  command.flag("--once", &args->once, "Print one look and leave");
  command.flag("--json", &args->json, "One look as JSON, for scripts");
  command.option("--interval-ms", &args->interval_ms, "Between two looks",
                 {.shows_default = true, .range = {{50, 60'000}}});
  command.run = [args] { return watch(*args); };
}

}  // namespace tidemark::cli
