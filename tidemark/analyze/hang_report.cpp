// SPDX-License-Identifier: Apache-2.0
#include "tidemark/analyze/hang_report.h"

#include <algorithm>
#include <set>

#include "tidemark/base/human_text.h"
#include "tidemark/run/producer_text.h"
#include "tidemark/schema/unit_state.h"

namespace tidemark {
namespace {

constexpr std::size_t kLastSpans = 3;
constexpr std::size_t kChainMax = 8;
constexpr std::size_t kShownMax = 6;
constexpr std::size_t kProducersShown = 12;
constexpr std::size_t kStacksShown = 4;

std::string seconds(std::uint64_t ns) {
  if (ns < 10'000'000) return fmt::format("{:.1f} us", static_cast<double>(ns) / 1e3);
  if (ns < 10'000'000'000) return fmt::format("{:.1f} ms", static_cast<double>(ns) / 1e6);
  return fmt::format("{:.1f} s", static_cast<double>(ns) / 1e9);
}

std::string kernels_of(const HangState& state, const StuckTask& task) {
  std::string text;
  for (const std::uint16_t kernel : task.kernels)
    if (kernel != kNoKernel) text += (text.empty() ? "" : "+") + kernel_text(state, kernel);
  return text.empty() ? "none" : text;
}

bool runs(const HangState& state, std::uint32_t core, std::uint64_t task) {
  const UnitImage& line = state.core_lines()[core];
  return line.task_id == task && is_running(line);
}

// What a task waits for, and who should tell it so.
std::vector<std::string> waits_of(const HangState& state, std::uint64_t id,
                                  const std::optional<std::uint32_t>& core) {
  if (core && runs(state, *core, id))
    return {fmt::format("core {} to return from its kernel", *core)};
  std::vector<std::string> waits;
  for (const auto& task : state.tasks)
    if (std::find(task.waiters.begin(), task.waiters.end(), id) != task.waiters.end())
      waits.push_back(
          fmt::format("task {} ({}) to be complete", task_text(task.id), kernels_of(state, task)));
  const StuckTask* task = find_task(state, id);
  if (waits.empty() && task != nullptr && task->pending == 0)
    waits.push_back(state.hang == HangClass::kReadyAllIdle && state.has_unit
                        ? unit_text(state.units, state.unit) + " to dispatch or to complete it"
                        : "a scheduler to dispatch or to complete it");
  if (waits.empty() && task == nullptr) waits.push_back("nothing: it is complete");
  return waits;
}

StuckReport describe(const HangState& state, std::uint64_t id) {
  StuckReport stuck;
  stuck.task_id = id;
  stuck.core = core_of(state, id);
  stuck.site = site_of(state, id);
  const StuckTask* task = find_task(state, id);
  if (task != nullptr) {
    stuck.kernel = kernels_of(state, *task);
  } else if (!state.lines.empty() && state.lines[0].task_id == id) {
    stuck.site = state.last_site;
  }
  std::uint64_t since = 0;
  if (stuck.core) {
    const UnitImage& line = state.lines[state.units.core(*stuck.core)];
    if (stuck.kernel.empty() || stuck.kernel == "none")
      stuck.kernel = kernel_text(state, line.kernel);
    since = doing_since_ticks(line);
  }
  if (state.hang == HangClass::kOrchestratorStalled && !state.lines.empty())
    since = doing_since_ticks(state.lines[0]);
  stuck.since_ns = ns_since_launch(state, since);
  stuck.for_ns = ns_before(state, since);
  stuck.waits_for = waits_of(state, id, stuck.core);
  if (state.hang == HangClass::kOrchestratorStalled)
    stuck.waits_for = {"the orchestration to go on behind its submit"};
  stuck.waiters = waiters_of(state, id);
  return stuck;
}

// Each link waits for the one before it.
std::vector<std::string> chain_of(const HangState& state, const std::vector<StuckReport>& stuck) {
  std::vector<std::string> chain;
  if (state.hang == HangClass::kOrchestratorStalled) chain.emplace_back("orchestrator");
  if (!stuck.empty() && chain.empty()) {
    std::set<std::uint64_t> seen;
    for (std::uint64_t id = stuck.front().task_id; seen.insert(id).second;) {
      const StuckTask* task = find_task(state, id);
      chain.push_back(task == nullptr
                          ? task_text(id)
                          : fmt::format("{} {}", task_text(id), kernels_of(state, *task)));
      if (task == nullptr || task->waiters.empty() || chain.size() == kChainMax) break;
      id = task->waiters.front();
    }
  }
  if (const std::string held = what_orchestrator_waits_for(state); !held.empty())
    chain.push_back(held);
  else if (state.orchestration_done && state.completed < state.submitted)
    chain.emplace_back("orchestrator waits for the last task");
  return chain;
}

std::map<std::uint32_t, std::vector<TaskSpan>> last_spans(RunCapture& run,
                                                          const UnitCounts& units) {
  std::map<std::uint32_t, std::vector<TaskSpan>> last;
  for (const LaneIndex lane : run.lanes_of(StreamId::kSwimlane)) {
    const std::uint32_t unit = run.lanes()[lane].unit;
    if (unit < units.core(0) || unit >= units.total()) continue;  // of a scheduler
    std::vector<TaskSpan>& spans = last[unit - units.core(0)];
    RecordCursor cursor = run.records(lane);
    while (cursor.next()) {
      spans.push_back(cursor.as<TaskSpan>());
      if (spans.size() > kLastSpans) spans.erase(spans.begin());
    }
  }
  return last;
}

std::string cores_line(const HangState& state) {
  std::vector<std::string> busy;
  const auto lines = state.core_lines();
  for (std::uint32_t core = 0; core < lines.size(); ++core) {
    const UnitImage& line = lines[core];
    if (doing(line) == UnitState::kIdle || doing(line) == UnitState::kNotStarted) continue;
    busy.push_back(fmt::format("core {}{} {} {} {}", core, place_text(line),
                               kernel_text(state, line.kernel), task_text(line.task_id),
                               seconds(ns_before(state, doing_since_ticks(line)))));
  }
  if (busy.size() > kShownMax) {
    const std::size_t more = busy.size() - kShownMax;
    busy.resize(kShownMax);
    busy.push_back(fmt::format("{} more", more));
  }
  const std::string text = core_states_text(state);
  return busy.empty() ? text : text + ": " + joined(busy, ", ");
}

std::string schedulers_line(const HangState& state) {
  std::vector<std::string> parts;
  for (const UnitImage& line : state.scheduler_lines())
    parts.push_back(fmt::format("{} {} rounds, {} complete", parts.size(), line.loops, line.count));
  return fmt::format("{}; {} ready, {} of {} tasks complete", joined(parts, "; "),
                     state.ready_tasks(), state.completed, state.submitted);
}

std::string rings_line(const HangState& state) {
  std::vector<std::string> parts;
  for (std::uint32_t i = 0; i < kRingCount; ++i) {
    const RingState& ring = state.rings[i];
    if (ring.head == 0) continue;
    parts.push_back(fmt::format("ring {}: {}/{} tasks, {}/{} heap, {}/{} dependencies", i,
                                ring.tasks(), ring.window, ring.heap_used, ring.heap_bytes,
                                ring.deps_used, ring.dep_pool));
  }
  return parts.empty() ? "nothing was submitted" : joined(parts, "; ");
}

std::string recorder_line(const HangState& state) {
  return fmt::format("{} lane{} waited for a page at that moment; units have waited {} in all",
                     state.waiting_lanes.size(), state.waiting_lanes.size() == 1 ? "" : "s",
                     seconds(ns_of(state, state.recorder_waited_ticks())));
}

// Of the unit that is stuck first.
std::vector<const UnitStack*> stacks_worst_first(const HangState& state) {
  std::vector<const UnitStack*> stacks;
  for (const UnitStack& stack : state.stacks) stacks.push_back(&stack);
  std::ranges::stable_sort(stacks, {}, [&](const UnitStack* stack) {
    return stack->exception.empty() ? (state.has_unit && stack->unit == state.unit ? 1 : 2) : 0;
  });
  return stacks;
}

std::string stack_line(const HangState& state, const UnitStack& stack) {
  const std::uint32_t last = stack.first_thread + std::max(stack.threads, 1u) - 1;
  const std::string threads = stack.threads > 1
                                  ? fmt::format("threads {} to {}", stack.first_thread, last)
                                  : fmt::format("thread {}", stack.first_thread);
  return fmt::format("{} on SM {}, {}{}: {}", unit_text(state.units, stack.unit), stack.sm, threads,
                     stack.exception.empty() ? "" : ", " + stack.exception, stack_text(stack));
}

// The name of the file, how to read it, and why it was not read here.
std::string core_line(const HangState& state, const std::string& directory) {
  const KeptCore& core = state.core;
  if (core.file.empty()) return core.why_unread;
  return fmt::format("{}, {}{}; {}", core.file, human_bytes(core.bytes),
                     core.why_unread.empty() ? "" : ", not read: " + core.why_unread,
                     read_core_command(directory, core));
}

void add(std::string& text, const char* label, const std::string& line) {
  if (!line.empty()) text += fmt::format("{:<10} {}\n", label, line);
}

std::string producers_summary(const HangReport& report, const std::string& directory) {
  const HangState& state = report.state;
  std::string text =
      fmt::format("{}{}{}{}, after {}\n", state.code == 0 ? "" : fmt::format("{} ", state.code),
                  state.name, report.hang_class.empty() ? "" : ": ", report.hang_class,
                  seconds(ns_since_launch(state, state.detected_ticks)));
  const auto stopped = stopped_producers(state);
  add(text, "what", report.sentence.empty() ? "no producer has stopped" : report.sentence);
  for (std::size_t i = 0; i < stopped.size() && i < kProducersShown; ++i)
    add(text, i == 0 ? "stopped" : "", producer_line(state, *stopped[i]));
  if (stopped.size() > kProducersShown)
    add(text, "", fmt::format("{} more (--json has all)", stopped.size() - kProducersShown));
  add(text, "others", other_producers_text(state));
  add(text, "core dump", core_line(state, directory));
  return text;
}

}  // namespace

std::string unit_state_text(const UnitImage& line) {
  return std::string(line.recorder_waiting != 0 ? "waiting for the recorder"
                                                : to_text(doing(line)));
}

std::string core_states_text(const HangState& state) {
  std::map<std::string, std::uint32_t> by_state;
  for (const UnitImage& line : state.core_lines()) ++by_state[unit_state_text(line)];
  std::vector<std::string> parts;
  for (const auto& [text, count] : by_state) parts.push_back(fmt::format("{} {}", count, text));
  return joined(parts, ", ");
}

HangReport make_hang_report(const HangState& state, RunCapture* run) {
  HangReport report;
  report.state = state;
  report.hang_class =
      state.hang != HangClass::kNone ? std::string(to_text(state.hang)) : state.error_class;
  if (state.is_recording()) {
    report.sentence = producers_sentence(state);
    return report;
  }
  report.sentence = hang_sentence(state);
  for (const std::uint64_t task : stuck_tasks(state)) report.stuck.push_back(describe(state, task));
  report.chain = chain_of(state, report.stuck);
  if (run != nullptr) report.last_spans = last_spans(*run, state.units);
  return report;
}

std::string hang_summary(const HangReport& report, const std::string& directory) {
  const HangState& state = report.state;
  if (state.is_recording()) return producers_summary(report, directory);
  std::string text = fmt::format("{} {}{}{}, after {}\n", state.code, state.name,
                                 report.hang_class.empty() ? "" : ": ", report.hang_class,
                                 seconds(ns_since_launch(state, state.detected_ticks)));
  add(text, "what", report.sentence.empty() ? state.message : report.sentence);
  if (state.code < 100 && !report.sentence.empty()) add(text, "error", state.message);
  for (std::size_t i = 0; i < report.stuck.size() && i < 3; ++i) {
    const StuckReport& stuck = report.stuck[i];
    std::string line = fmt::format("{} {}", task_text(stuck.task_id), stuck.kernel);
    if (stuck.core) line += fmt::format(" on core {}", *stuck.core);
    if (!stuck.site.empty()) line += fmt::format(", submitted at {}", stuck.site);
    line += fmt::format(", waits for {}", joined(stuck.waits_for, ", "));
    if (!stuck.waiters.empty()) {
      std::vector<std::string> names;
      for (const std::uint64_t waiter : stuck.waiters)
        if (names.size() < kShownMax) names.push_back(task_text(waiter));
      line += fmt::format("; {} wait for it: {}{}", stuck.waiters.size(), joined(names, ", "),
                          stuck.waiters.size() > names.size() ? ", ..." : "");
    }
    add(text, i == 0 ? "stuck" : "", line);
  }
  const auto stacks = stacks_worst_first(state);
  for (std::size_t i = 0; i < stacks.size() && i < kStacksShown; ++i)
    add(text, i == 0 ? "stacks" : "", stack_line(state, *stacks[i]));
  if (stacks.size() > kStacksShown)
    add(text, "", fmt::format("{} more in hang.json", stacks.size() - kStacksShown));
  add(text, "core dump", core_line(state, directory));
  add(text, "chain", joined(report.chain, " <- "));
  add(text, "cores", cores_line(state));
  add(text, "schedulers", schedulers_line(state));
  add(text, "rings", rings_line(state));
  add(text, "recorder", recorder_line(state));
  if (!report.stuck.empty() && report.stuck.front().core) {
    const auto last = report.last_spans.find(*report.stuck.front().core);
    std::vector<std::string> spans;
    if (last != report.last_spans.end())
      for (const auto& span : last->second)
        spans.push_back(fmt::format("{} {} ({})", task_text(span.task_id),
                                    kernel_text(state, span.kernel),
                                    seconds(ns_since_launch(state, span.end_ticks) -
                                            std::min(ns_since_launch(state, span.begin_ticks),
                                                     ns_since_launch(state, span.end_ticks)))));
    if (!spans.empty())
      add(text, "before",
          fmt::format("core {} ran {}", *report.stuck.front().core, joined(spans, ", ")));
  }
  if (!report.stuck.empty())
    add(text, "next",
        fmt::format("tidemark dump {0} --task {1}; tidemark deps {0} --why {1}; tidemark swimlane "
                    "{0}",
                    directory, task_text(report.stuck.front().task_id)));
  return text;
}

}  // namespace tidemark
