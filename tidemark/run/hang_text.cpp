// SPDX-License-Identifier: Apache-2.0
#include "tidemark/run/hang_text.h"

#include <algorithm>
#include <map>
#include <set>

#include "tidemark/run/task_text.h"
#include "tidemark/schema/resource.h"

namespace tidemark {
namespace {

constexpr std::size_t kStuckMax = 16;

std::string seconds(std::uint64_t ns) {
  return ns < 1'000'000'000 ? fmt::format("{:.0f} ms", static_cast<double>(ns) / 1e6)
                            : fmt::format("{:.1f} s", static_cast<double>(ns) / 1e9);
}

std::string at_site(const HangState& state, std::uint64_t task) {
  const std::string site = site_of(state, task);
  return site.empty() ? site : fmt::format(" ({})", site);
}

std::string waiting_text(const HangState& state, std::uint64_t task) {
  if (state.tasks_lost) return "; who waits for it was lost with the memory of the device";
  const std::size_t count = waiters_of(state, task).size();
  if (count == 0) return "; nothing waits for it";
  return fmt::format("; {} task{} for it", count, count == 1 ? " waits" : "s wait");
}

// Where a unit stood, if the core dump of its device says so.
std::string stood_text(const HangState& state, std::uint32_t unit) {
  const UnitStack* stack = worst_stack(state, unit);
  const StackFrame* frame = stack == nullptr ? nullptr : telling_frame(*stack);
  if (frame == nullptr) return {};
  return fmt::format(", at {}{}", frame_place(*frame),
                     stack->exception.empty() ? "" : " (" + stack->exception + ")");
}

// What a core was doing with its task.
std::string core_text(const HangState& state, std::uint32_t unit, bool crashed) {
  const UnitImage& line = state.lines[unit];
  const char* what = doing(line) == UnitState::kCopying ? "copying arguments for" : "in";
  std::string text = fmt::format(
      "{}{} {} {} kernel `{}` of task {}{}", unit_text(state.units, unit), place_text(line),
      crashed ? "was" : "has been", what, kernel_text(state, line.kernel), task_text(line.task_id),
      at_site(state, line.task_id));
  if (!crashed) text += fmt::format(" for {}", seconds(ns_before(state, doing_since_ticks(line))));
  return text + stood_text(state, unit);
}

std::string stalled_orchestrator(const HangState& state) {
  const UnitImage& line = state.lines[0];
  std::string text = fmt::format("the orchestrator has not moved for {}",
                                 seconds(ns_before(state, doing_since_ticks(line))));
  if (state.submitted == 0) return text + stood_text(state, 0) + "; it has submitted nothing";
  text = fmt::format("the orchestration has not gone on for {} since it submitted task {}",
                     seconds(ns_before(state, doing_since_ticks(line))), task_text(line.task_id));
  if (!state.last_site.empty()) text += fmt::format(" ({})", state.last_site);
  return fmt::format("{}{}; {} of {} tasks are complete and nothing runs", text,
                     stood_text(state, 0), state.completed, state.submitted);
}

std::string stalled_scheduler(const HangState& state) {
  const std::uint64_t ready = state.ready_tasks();
  return fmt::format(
      "{} has not polled for {}{}: {} task{} ready or finished and nobody looks, {} of "
      "{} tasks are not complete",
      unit_text(state.units, state.unit), seconds(state.limit_ms * 1'000'000),
      stood_text(state, state.unit), std::max<std::uint64_t>(ready, 1), ready > 1 ? "s are" : " is",
      state.in_flight(), state.submitted);
}

std::string circle_text(const HangState& state) {
  std::string text;
  for (const std::uint64_t task : find_circle(state))
    text += (text.empty() ? "" : " waits for ") + task_text(task);
  return text;
}

}  // namespace

UnitState doing(const UnitImage& line) {
  return line.state == UnitState::kLeft ? line.left_state : line.state;
}

std::uint64_t doing_since_ticks(const UnitImage& line) {
  return line.state == UnitState::kLeft ? line.left_since_ticks : line.since_ticks;
}

bool is_running(const UnitImage& line) {
  return doing(line) == UnitState::kBusy || doing(line) == UnitState::kCopying;
}

std::uint64_t ns_of(const HangState& state, std::uint64_t ticks) {
  if (state.ticks_per_second == 0) return 0;
  const double ns = static_cast<double>(ticks) * 1e9 / static_cast<double>(state.ticks_per_second);
  return ns < 1e19 ? static_cast<std::uint64_t>(ns) : 0;  // longer than any run: damaged
}

std::uint64_t ns_before(const HangState& state, std::uint64_t ticks) {
  if (ticks == 0 || ticks > state.detected_ticks) return 0;
  return ns_of(state, state.detected_ticks - ticks);
}

std::uint64_t ns_since_launch(const HangState& state, std::uint64_t ticks) {
  return ticks < state.launch_ticks ? 0 : ns_of(state, ticks - state.launch_ticks);
}

const UnitStack* worst_stack(const HangState& state, std::uint32_t unit) {
  const UnitStack* first = nullptr;
  for (const UnitStack& stack : state.stacks) {
    if (stack.unit != unit) continue;
    if (!stack.exception.empty()) return &stack;
    if (first == nullptr) first = &stack;
  }
  return first;
}

const StuckTask* find_task(const HangState& state, std::uint64_t id) {
  for (const auto& task : state.tasks)
    if (task.id == id) return &task;
  return nullptr;
}

std::vector<std::uint64_t> waiters_of(const HangState& state, std::uint64_t id) {
  std::map<std::uint64_t, const StuckTask*> by_id;
  for (const auto& task : state.tasks) by_id[task.id] = &task;
  std::vector<std::uint64_t> found, todo{id};
  std::set<std::uint64_t> seen{id};
  while (!todo.empty()) {
    const auto task = by_id.find(todo.back());
    todo.pop_back();
    if (task == by_id.end()) continue;
    for (const std::uint64_t waiter : task->second->waiters)
      if (seen.insert(waiter).second) {
        found.push_back(waiter);
        todo.push_back(waiter);
      }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string kernel_text(const HangState& state, std::uint32_t kernel) {
  return kernel < state.kernels.size() ? state.kernels[kernel] : fmt::format("#{}", kernel);
}

std::optional<std::uint32_t> core_of(const HangState& state, std::uint64_t task) {
  std::optional<std::uint32_t> last;
  const auto lines = state.core_lines();
  for (std::uint32_t core = 0; core < lines.size(); ++core) {
    const UnitImage& line = lines[core];
    if (line.task_id != task || doing_since_ticks(line) == 0) continue;
    if (is_running(line)) return core;
    if (line.count > 0) last = core;
  }
  return last;
}

std::vector<std::uint64_t> find_circle(const HangState& state) {
  std::map<std::uint64_t, std::uint64_t> waits_for;  // one of those it waits for
  for (const auto& task : state.tasks)
    for (const std::uint64_t waiter : task.waiters) waits_for[waiter] = task.id;
  // Every task is walked over once: a path that meets an older one leads nowhere new.
  std::map<std::uint64_t, std::uint64_t> walked_from;
  for (const auto& [first, unused] : waits_for) {
    std::uint64_t id = first;
    while (waits_for.contains(id) && walked_from.emplace(id, first).second) id = waits_for[id];
    if (!waits_for.contains(id) || walked_from[id] != first) continue;
    std::vector<std::uint64_t> circle{id};
    do circle.push_back(waits_for[circle.back()]);
    while (circle.back() != id);
    return circle;
  }
  return {};
}

std::vector<std::uint64_t> stuck_tasks(const HangState& state) {
  std::vector<std::uint64_t> stuck;
  const auto add = [&](std::uint64_t task) {
    if (stuck.size() < kStuckMax && std::find(stuck.begin(), stuck.end(), task) == stuck.end())
      stuck.push_back(task);
  };
  if (state.has_unit && state.unit > state.units.schedulers && state.unit < state.lines.size())
    add(state.lines[state.unit].task_id);
  if (state.hang == HangClass::kOrchestratorStalled && !state.lines.empty() && state.submitted > 0)
    add(state.lines[0].task_id);
  // Whoever else is in a kernel, longest first.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> running;
  for (const UnitImage& line : state.core_lines())
    if (is_running(line) && line.state != UnitState::kLeft)
      running.emplace_back(line.since_ticks, line.task_id);
  std::sort(running.begin(), running.end());
  for (const auto& [since, task] : running) add(task);
  for (const std::uint64_t task : find_circle(state)) add(task);
  // Tasks that wait for nobody and are not complete: somebody should have run or ended them.
  if (state.hang == HangClass::kReadyAllIdle || stuck.empty())
    for (const auto& task : state.tasks)
      if (task.pending == 0) add(task.id);
  return stuck;
}

std::string what_orchestrator_waits_for(const HangState& state) {
  if (state.lines.empty() || state.orchestration_done) return {};
  const UnitImage& line = state.lines[0];
  if (doing(line) != UnitState::kWaiting) return {};
  const auto resource = line.waits_for;
  if (resource == Resource::kNone) return "orchestrator waits for an element of a tensor";
  if (resource == Resource::kTensorMap) return "orchestrator is blocked on the tensor map";
  return fmt::format("orchestrator is blocked on ring {}'s {}", line.block, to_text(resource));
}

std::string orchestrator_text(const HangState& state) {
  const std::string held = what_orchestrator_waits_for(state);
  return held.empty() ? held : "the " + held;
}

std::string hang_sentence(const HangState& state) {
  std::string text;
  const bool is_core =
      state.has_unit && state.unit > state.units.schedulers && state.unit < state.lines.size();
  switch (state.hang) {
    case HangClass::kRunningStalled:
      if (!is_core) break;
      text = core_text(state, state.unit, false) +
             waiting_text(state, state.lines[state.unit].task_id);
      break;
    case HangClass::kOrchestratorStalled:
      if (!state.lines.empty()) text = stalled_orchestrator(state);
      return text;
    case HangClass::kReadyAllIdle:
      if (state.has_unit) text = stalled_scheduler(state);
      break;
    case HangClass::kDependencyDeadlock: {
      const std::string circle = circle_text(state);
      text = fmt::format("nothing runs and nothing is ready, but {} of {} tasks are not complete",
                         state.in_flight(), state.submitted);
      if (!circle.empty()) text += ": " + circle;
      break;
    }
    case HangClass::kRecorderStalled:
      if (state.has_unit)
        text = fmt::format(
            "{} stays behind{}: {} of {} tasks are complete and the schedulers have left, "
            "but it has not closed its lanes",
            unit_text(state.units, state.unit), stood_text(state, state.unit), state.completed,
            state.submitted);
      break;
    default:
      if (is_core)
        text = core_text(state, state.unit, true) +
               waiting_text(state, state.lines[state.unit].task_id);
  }
  const std::string held = orchestrator_text(state);
  if (!held.empty()) text += (text.empty() ? "" : "; ") + held;
  return text;
}

std::string site_of(const HangState& state, std::uint64_t task) {
  if (const StuckTask* found = find_task(state, task)) return found->site;
  for (const UnitImage& line : state.core_lines())
    if (line.task_id == task && is_running(line) && line.site != 0 &&
        line.site >> 32 < state.site_files.size())
      return fmt::format("{}:{}", state.site_files[line.site >> 32],
                         static_cast<std::uint32_t>(line.site));
  return {};
}

std::string place_text(const UnitImage& line) {
  return line.place == 0 ? std::string() : fmt::format(" on SM {}", line.place - 1);
}

std::string unit_text(const UnitCounts& units, std::uint32_t unit) {
  if (unit == 0) return "orchestrator";
  if (unit <= units.schedulers) return fmt::format("scheduler {}", unit - 1);
  return fmt::format("core {}", unit - 1 - units.schedulers);
}

}  // namespace tidemark
