// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/device_core.h"

#include <fcntl.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <utility>

#include "tidemark/base/tool_run.h"
#include "tidemark/base/whole_io.h"
#include "tidemark/collect/rescue.h"
#include "tidemark/device/cuda/unit_placement.h"
#include "tidemark/run/core_lines.h"
#include "tidemark/run/debugger_text.h"
#include "tidemark/run/hang_text.h"

namespace tidemark {
namespace {

constexpr const char* kDebugger = "cuda-gdb";
constexpr std::uint32_t kDumpMs = 1500;      // for the driver to write it
constexpr std::size_t kAllShownMax = 16;     // units: of a crash there are all of them
constexpr std::size_t kUnitsAskedMax = 4;    // backtraces of so many units
constexpr std::size_t kThreadsAskedMax = 8;  // of each: the first of every warp
constexpr std::size_t kTextBytes = 4 << 20;
constexpr std::uint64_t kCoreReadBytes = 256ull << 20;

// A folder for what the debugger leaves, gone with its owner.
class ScratchFolder {
 public:
  ScratchFolder() {
    const char* where = std::getenv("TMPDIR");
    std::string path =
        fmt::format("{}/tidemark-gdb-XXXXXX", where != nullptr && *where != 0 ? where : "/tmp");
    if (::mkdtemp(path.data()) != nullptr) path_ = path;
  }
  ~ScratchFolder() {
    std::error_code code;
    if (!path_.empty()) std::filesystem::remove_all(path_, code);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Those that may be stuck, worst first.
std::vector<std::uint32_t> units_to_ask(const HangState& state) {
  std::vector<std::uint32_t> units;
  const auto add = [&](std::uint32_t unit) {
    if (units.size() < kUnitsAskedMax && std::ranges::find(units, unit) == units.end())
      units.push_back(unit);
  };
  if (state.has_unit) add(state.unit);
  for (std::uint32_t unit = 0; unit < state.lines.size(); ++unit)
    if (unit > state.units.schedulers && is_running(state.lines[unit])) add(unit);
  if (!state.orchestration_done) add(0);
  return units;
}

std::vector<std::string> questions_about(const HangState& state) {
  std::vector<std::string> commands;
  for (const std::uint32_t unit : units_to_ask(state)) {
    const UnitPlace place = place_of(state.units, unit);
    const bool is_core = unit > state.units.schedulers;
    for (std::uint32_t warp = 0; warp < (is_core ? kThreadsAskedMax : 1); ++warp) {
      commands.push_back(
          fmt::format("cuda block {} thread {}", place.cta, place.thread + warp * 32));
      commands.emplace_back("bt");
    }
  }
  return commands;
}

// Those that wait for others of their block are hardly the ones that hang.
bool waits_for_others(const UnitStack& stack) {
  return std::ranges::any_of(stack.frames, [](const StackFrame& frame) {
    const std::string& name = frame.function;
    return name.ends_with("::sync") || name.ends_with("::broadcast") ||
           name.find("syncthreads") != std::string::npos ||
           name.find("syncwarp") != std::string::npos || name.find("barrier") != std::string::npos;
  });
}

// What the debugger says of a core dump, with the lines of the core dump itself.
class StackMaker {
 public:
  StackMaker(const DebuggerText& text, const CoreLines& lines, const HangState& state)
      : text_(text), lines_(lines), state_(state) {}

  std::vector<UnitStack> make() {
    for (const ThreadStack& stack : text_.stacks)
      if (!stack.exception.empty()) add_exception(stack);
    std::vector<std::uint32_t> units = units_to_ask(state_);
    const auto add = [&](std::uint32_t unit) {
      if (unit < state_.units.total() && std::ranges::find(units, unit) == units.end())
        units.push_back(unit);
    };
    for (const ThreadStack& stack : text_.stacks)
      add(unit_at(state_.units, {stack.block, stack.thread}));
    std::set<std::uint32_t> resident;
    for (const ThreadsAtPlace& place : text_.places)
      resident.insert(unit_at(state_.units, {place.block, place.first_thread}));
    if (resident.size() <= kAllShownMax) std::ranges::for_each(resident, add);
    for (const std::uint32_t unit : units) add_unit(unit);
    return std::move(stacks_);
  }

 private:
  void add_exception(const ThreadStack& stack) {
    const std::uint32_t unit = unit_at(state_.units, {stack.block, stack.thread});
    if (unit >= state_.units.total()) return;
    UnitStack found{.unit = unit,
                    .sm = stack.sm,
                    .first_thread = stack.thread,
                    .threads = 1,
                    .exception = stack.exception,
                    .frames = frames_of(stack.pc, &stack)};
    stacks_.push_back(std::move(found));
  }

  // All its threads, those first that tell most.
  void add_unit(std::uint32_t unit) {
    std::vector<UnitStack> found;
    for (const ThreadsAtPlace& place : text_.places) {
      if (place.first_thread > place.last_thread ||
          unit_at(state_.units, {place.block, place.first_thread}) != unit)
        continue;
      const auto same = std::ranges::find_if(text_.stacks, [&](const ThreadStack& stack) {
        return stack.exception.empty() && stack.block == place.block &&
               stack.thread >= place.first_thread && stack.thread <= place.last_thread;
      });
      const ThreadStack* stack = same == text_.stacks.end() ? nullptr : &*same;
      UnitStack threads{.unit = unit,
                        .sm = place_of_unit(unit, stack),
                        .first_thread = place.first_thread,
                        .threads = place.last_thread - place.first_thread + 1,
                        .frames = frames_of(place.pc, stack)};
      if (threads.frames.empty()) threads.frames.push_back(place.frame);
      const auto before = std::ranges::find_if(found, [&](const UnitStack& other) {
        return same_frames(other, threads) &&
               other.first_thread + other.threads == threads.first_thread;
      });
      if (before == found.end())
        found.push_back(std::move(threads));
      else
        before->threads += threads.threads;
    }
    std::ranges::stable_sort(found, {}, [](const UnitStack& stack) {
      return std::pair(waits_for_others(stack), ~stack.threads);
    });
    for (UnitStack& stack : found)
      if (stacks_.size() < kStacksMax) stacks_.push_back(std::move(stack));
  }

  [[nodiscard]] std::uint32_t place_of_unit(std::uint32_t unit, const ThreadStack* stack) const {
    if (stack != nullptr) return stack->sm;
    return unit < state_.lines.size() && state_.lines[unit].place != 0
               ? state_.lines[unit].place - 1
               : 0;
  }

  // The inlined calls are in the core dump, the function around them and its callers the
  // debugger's.
  [[nodiscard]] std::vector<StackFrame> frames_of(std::uint64_t pc,
                                                  const ThreadStack* stack) const {
    std::vector<StackFrame> frames = lines_.frames_at(pc);
    if (stack == nullptr) return frames;
    if (frames.empty()) return stack->frames;
    if (stack->own_frames == 0) return frames;
    const auto callers = stack->frames.begin() + static_cast<std::ptrdiff_t>(stack->own_frames);
    frames.back().function = std::prev(callers)->function;
    frames.insert(frames.end(), callers, stack->frames.end());
    if (frames.size() > kFramesMax) frames.resize(kFramesMax);
    return frames;
  }
  static bool same_frames(const UnitStack& a, const UnitStack& b) {
    return std::ranges::equal(a.frames, b.frames,
                              [](const StackFrame& left, const StackFrame& right) {
                                return left.function == right.function && left.file == right.file &&
                                       left.line == right.line;
                              });
  }

  const DebuggerText& text_;
  const CoreLines& lines_;
  const HangState& state_;
  std::vector<UnitStack> stacks_;
};

// What a core dump says about the units of a state. An error: why it says nothing.
Expected<std::vector<UnitStack>> read_core(const CoreFile& file, const std::string& path,
                                           const HangState& state, std::uint32_t limit_ms) {
  TM_TRY(const auto answer, ask_debugger(path, questions_about(state), limit_ms));
  auto stacks = StackMaker(answer.text, read_core_lines(file), state).make();
  if (!stacks.empty()) return stacks;
  if (answer.timed_out)
    return failure(ErrorKind::kDevice, "{} had not read it after {:.1f} s", kDebugger,
                   limit_ms / 1000.0);
  return failure(ErrorKind::kDevice, "{} says nothing of any unit{}{}", kDebugger,
                 answer.text.complaint.empty() ? "" : ": ", answer.text.complaint);
}

// The injected file, as if the device had written it.
Expected<CoreFile> injected_core(const std::string& path) {
  TM_TRY(auto file, CoreFile::create());
  const UniqueFd from(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!from.valid()) return file_failure("open", path);
  std::vector<std::byte> bytes(64 << 10);
  for (std::uint64_t at = 0;;) {
    const ssize_t got = read_at(from.get(), at, bytes.data(), bytes.size());
    if (got < 0) return file_failure("read", path);
    if (got == 0) return file;
    if (!write_at(file.fd(), at, bytes.data(), static_cast<std::uint64_t>(got)))
      return file_failure("copy", path);
    at += static_cast<std::uint64_t>(got);
  }
}

}  // namespace

Expected<DebuggerAnswer> ask_debugger(const std::string& core_path,
                                      const std::vector<std::string>& questions,
                                      std::uint32_t limit_ms) {
  const std::string debugger = find_tool(kDebugger);
  if (debugger.empty()) return failure(ErrorKind::kDevice, "{} is not on this machine", kDebugger);
  const ScratchFolder scratch;
  ToolRun tool{
      .path = debugger,
      .args = {"-nx", "-batch"},
      .environment = {"TMPDIR=" + scratch.path(), "LC_ALL=C", "TERM=dumb", "DEBUGINFOD_URLS="},
      .limit_ms = limit_ms,
      .text_bytes = kTextBytes};
  std::vector<std::string> commands = {"set pagination off",
                                       "set width 0",
                                       "set print frame-arguments none",
                                       "set confirm off",
                                       "maint set internal-error quit yes",
                                       "maint set internal-error corefile no",
                                       "target cudacore " + core_path,
                                       "bt",
                                       "info cuda threads"};
  commands.insert(commands.end(), questions.begin(), questions.end());
  for (const std::string& command : commands) {
    tool.args.emplace_back("-ex");
    tool.args.push_back(command);
  }
  TM_TRY(const auto result, run_tool(tool));
  return DebuggerAnswer{parse_debugger_text(result.text), result.timed_out};
}

CoreLines read_core_lines(const CoreFile& file) {
  // A copy: a mapping of what another process may cut would be a trap.
  std::vector<unsigned char> bytes(std::min(file.bytes(), kCoreReadBytes));
  const ssize_t got = read_at(file.fd(), 0, bytes.data(), bytes.size());
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return CoreLines(bytes);
}

std::string keep_core(const CoreFile& file, const std::string& directory, HangState& state,
                      Expected<void>& kept) {
  std::string path = directory + "/" + kCoreDumpFile;
  state.core.bytes = file.bytes();
  kept = file.keep(path);
  if (kept) state.core.file = kCoreDumpFile;
  // The debugger has rules of its own about blanks and quotes.
  if (!kept || path.find_first_of(" \t'\"\\") != std::string::npos) path = file.path();
  return path;
}

bool dumps_core(const RunRequest& request) {
  return request.core_dump && request.launch.runtime &&
         request.platform->device == DeviceKind::kCuda && request.isolation == Isolation::kProcess;
}

std::optional<CoreFile> make_core_file(const RunRequest& request) {
  const bool injects = request.core_dump && request.launch.runtime && !request.inject_core.empty();
  if (!injects && !dumps_core(request)) return std::nullopt;
  auto file = injects ? injected_core(request.inject_core) : CoreFile::create();
  if (!file) return std::nullopt;
  return std::move(*file);
}

Expected<void> keep_and_read_core(const CoreFile& file, const std::string& directory,
                                  HangState& state, std::uint32_t limit_ms) {
  Expected<void> kept;
  const std::string path = keep_core(file, directory, state, kept);
  auto stacks = read_core(file, path, state, limit_ms);
  if (stacks)
    state.stacks = std::move(*stacks);
  else
    state.core.why_unread = stacks.error().message;
  // Whoever raised an exception is the culprit, whatever the lines of the others say.
  for (const UnitStack& stack : state.stacks)
    if (!stack.exception.empty()) {
      state.unit = stack.unit;
      state.has_unit = true;
      break;
    }
  return kept;
}

void add_core(ActiveRun& run, const CoreFile& file, CoreCause cause) {
  RunReport& report = run.report();
  if (!report.hang || cause == CoreCause::kNone) return;
  auto state = std::make_shared<HangState>(*report.hang);
  const std::string before = hang_sentence(*state);
  const bool was_there = file.bytes() > 0;
  if (cause == CoreCause::kStillRuns && !was_there && !wait_until_core_dumped(run.port(), kDumpMs))
    state->core.why_unread =
        fmt::format("no core dump: the driver had not written it after {:.1f} s", kDumpMs / 1000.0);
  else if (file.bytes() == 0)
    state->core.why_unread = "no core dump: the driver wrote none";
  else if (auto kept = keep_and_read_core(file, run.directory(), *state); !kept)
    run.note_file_error(kept.error());
  if (const std::string now = hang_sentence(*state); report.error && now != before) {
    std::string& message = report.error->message;
    if (const std::size_t at = message.find(before); !before.empty() && at != std::string::npos)
      message.replace(at, before.size(), now);
    state->message = message;
  }
  report.hang = std::move(state);
}

}  // namespace tidemark
