// SPDX-License-Identifier: Apache-2.0
// tidemark top: a live look at a running (or hung) run from another process.
#include <unistd.h>

#include <algorithm>

#include <fmt/core.h>

#include "tidemark/analyze/hang_fields.h"
#include "tidemark/base/human_text.h"
#include "tidemark/base/monotonic_clock.h"
#include "tidemark/cli/command_line.h"
#include "tidemark/cli/terminal.h"
#include "tidemark/run/producer_text.h"
#include "tidemark/run/unit_json.h"
#include "tidemark/schema/error_code.h"
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
      const auto old = std::ranges::find(before.streams, stream.name, &LiveStream::name);
      const bool known = old != before.streams.end();
      records.push_back(known ? per_second(old->attempted, stream.attempted) : 0);
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
  const std::string held = what_orchestrator_waits_for(state);
  text += fmt::format("orchestrator {}{} for {}\n", unit_state_text(state.lines[0]),
                      held.empty() ? "" : " (" + held + ")",
                      human_ns(ns_before(state, doing_since_ticks(state.lines[0]))));
  std::uint32_t scheduler = 0;
  for (const UnitImage& line : state.scheduler_lines())
    text += fmt::format("scheduler {}  {}, {} tasks complete\n", scheduler++, unit_state_text(line),
                        with_commas(line.count));
  // Busy ones first, longest first.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> busy;
  const auto cores = state.core_lines();
  for (std::uint32_t core = 0; core < cores.size(); ++core)
    if (is_running(cores[core])) busy.emplace_back(cores[core].since_ticks, core);
  text += fmt::format("cores        {}\n", core_states_text(state));
  std::sort(busy.begin(), busy.end());
  for (std::size_t i = 0; i < busy.size() && i < kCoresShown; ++i) {
    const UnitImage& line = cores[busy[i].second];
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
    text +=
        fmt::format("ring {}       tasks {}  heap {}  deps {}\n", i, bar(ring.tasks(), ring.window),
                    bar(ring.heap_used, ring.heap_bytes), bar(ring.deps_used, ring.dep_pool));
  }
  text += fmt::format("tensor map   {}\n", bar(state.map_entries, state.map_capacity));
}

void add_producers(std::string& text, const HangState& state) {
  const auto stopped = stopped_producers(state);
  text += fmt::format("producers    {} stopped, {}\n", stopped.size(), other_producers_text(state));
  for (std::size_t i = 0; i < stopped.size() && i < kCoresShown; ++i)
    text += fmt::format("  {}\n", producer_line(state, *stopped[i]));
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
    text +=
        fmt::format("tasks        {} of {} complete, {} in flight, {}, {} scopes{}\n",
                    with_commas(state.completed), with_commas(state.submitted),
                    with_commas(state.in_flight()), rate_text(rates.tasks),
                    with_commas(state.scopes), state.orchestration_done ? ", all submitted" : "");
    add_units(text, state);
    add_rings(text, state);
  }
  if (state.is_recording()) add_producers(text, state);
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

void put_units(JsonWriter& json, const HangState& state) {
  if (!state.lines.empty()) {
    put(json, "orchestrator", unit_state_text(state.lines[0]));
    put(json, "orchestrator_blocked", orchestrator_text(state));
  }
  put_list(json, "schedulers", state.scheduler_lines(), [&](const UnitImage& line) {
    put(json, "state", unit_state_text(line));
    put(json, "loops", line.loops);
    put(json, "completed", line.count);
  });
  std::uint32_t core = 0;
  put_list(json, "cores", state.core_lines(), [&](const UnitImage& line) {
    put(json, "core", core++);
    put(json, "state", unit_state_text(line));
    put_work(json, state, line, line.count > 0 || is_running(line));
    put(json, "for_ns", ns_before(state, doing_since_ticks(line)));
    put(json, "parts_run", line.count);
  });
}

void put_look(JsonWriter& json, const LiveRun& run, const LiveView& view, const Rates& rates) {
  const HangState& state = view.state;
  FieldWriter v(json);
  v("schema_version", 1);
  v.hex("run_id", run.report().run_id);
  TM_FIELDS(v, run.report(), workload, platform);
  TM_FIELDS(v, view, host_alive, device_alive, error_code);
  v("elapsed_ns", ns_since_launch(state, state.detected_ticks));
  TM_FIELDS(v, state, submitted, completed);
  v("tasks_per_second", rates.tasks);
  TM_FIELDS(v, state, scopes, orchestration_done);
  put_units(json, state);
  put_rings(json, state, RingDetail::kBrief);
  if (state.is_recording()) hang_fields::put_producers(json, state);
  v("drained_pages", view.drained_pages);
  v("pages_per_second", rates.pages);
  auto rate = rates.records.begin();
  put_list(json, "streams", view.streams, [&](const LiveStream& stream) {
    v("stream", stream.name);
    TM_FIELDS(v, stream, lanes, attempted);
    v("records_per_second", *rate++);
    TM_FIELDS(v, stream, pages, dropped);
    v("waiting_lanes", stream.waiting);
  });
}

std::string render_json(const LiveRun& run, const LiveView& view, const Rates& rates) {
  return json_text<JsonWriter>([&](JsonWriter& json) { put_look(json, run, view, rates); });
}

Expected<int> watch(const TopArgs& args) {
  TM_TRY(const auto directory, resolve_run(args.run));
  TM_TRY(auto run, LiveRun::attach(directory));
  const bool live = !args.once && !args.json && ::isatty(STDOUT_FILENO) == 1;
  auto before = run.look();
  sleep_ms(kFirstLookMs);
  for (;;) {
    auto now = run.look();
    if (!before || !now) {
      print("{}: the run has ended; see 'tidemark check {}'\n", directory, directory);
      return 0;
    }
    const Rates rates(*before, *now);
    if (live) print_raw("\x1b[H\x1b[J");
    print_text(args.json ? render_json(run, *now, rates) + "\n" : render(run, *now, rates));
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
  auto& args = add_arguments<TopArgs>(command, watch);
  command.option("run", &args.run, "Directory of the run (default: the newest)");
  command.flag("--once", &args.once, "Print one look and leave");
  command.flag("--json", &args.json, "One look as JSON, for scripts");
  command.option("--interval-ms", &args.interval_ms, "Between two looks",
                 {.shows_default = true, .range = {{50, 60'000}}});
}

}  // namespace tidemark::cli
