// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/run_ending.h"

#include <poll.h>
#include <string.h>

#include <utility>

#include "tidemark/base/monotonic_clock.h"
#include "tidemark/base/watched_time.h"
#include "tidemark/collect/rescue.h"
#include "tidemark/run/hang_text.h"
#include "tidemark/session/anchor_times.h"
#include "tidemark/session/device_core.h"
#include "tidemark/session/read_hang_state.h"
#include "tidemark/session/runtime_report.h"
#include "tidemark/session/status_image.h"

namespace tidemark {
namespace {

constexpr std::uint32_t kLookMs = 100;
constexpr std::uint64_t kStepMaxNs = 5 * kLookMs * 1'000'000ull;  // of time charged for one look
constexpr std::uint32_t kLooksPerNames = 10;
constexpr std::uint32_t kHostSlackMs = 500;   // the device's own watchdogs speak first
constexpr std::uint32_t kTeardownMs = 1000;   // for the units to leave after an error
constexpr std::uint32_t kAbortWaitMs = 1000;  // without anything that moves
constexpr std::uint32_t kAbortWaitMaxMs = 5000;
constexpr std::uint32_t kAbortLookMs = 20;
constexpr std::uint32_t kCrashDumpMs = 10'000;  // for a driver to write one
constexpr std::uint32_t kSnapshotMs = 5000;  // for a GPU's process to bring what tasks were doing

std::uint32_t op_timeout_ms(const RunRequest& request) {
  return request.op_timeout_ms.value_or(request.platform->op_timeout_ms);
}

}  // namespace

RunError device_fault(const DeviceExit& exit, const std::string& fault_text) {
  RunError error{.code = 102, .name = "DEVICE_FAULT"};
  switch (exit.kind) {
    case DeviceExit::Kind::kSignalled:
      error.error_class = "signal";
      error.message = fmt::format("the device process was ended by signal {} ({})", exit.code,
                                  ::strsignal(exit.code));
      error.hint =
          "what was recorded before it is in the capture; run with --isolation thread "
          "under a debugger to catch it";
      break;
    case DeviceExit::Kind::kFinished:
      if (!fault_text.empty()) {
        error.error_class = "device";
        error.message = fault_text;
        error.hint = "what was recorded before it is in the capture";
        break;
      }
      error.error_class = "launch";
      error.message = fmt::format("the device process left with code {}", exit.code);
      error.hint = "the program could not be started on the device";
      break;
    case DeviceExit::Kind::kLost:
      error.error_class = "supervisor";
      error.message = "the supervisor process is gone, and the device with it";
      error.hint = "something outside the run ended it";
      break;
  }
  return error;
}

namespace {

RunError scheduler_timeout(HangClass hang) {
  return {.code = static_cast<std::uint32_t>(ErrorCode::kSchedulerTimeout),
          .name = std::string(to_text(ErrorCode::kSchedulerTimeout)),
          .error_class = std::string(to_text(hang)),
          .message = {},
          .hint =
              "'tidemark hang' shows the autopsy; if it is only slow, raise "
              "--scheduler-timeout-ms"};
}

void read_latched_error(const RunRequest& request, ActiveRun& run, HangState* state) {
  if (!request.launch.runtime) return;
  RunReport& report = run.report();
  const StatusImage image = read_status(run.port(), run.plan().layout);
  const LatchedErrorOf<PlainWord>& latched = image.error;
  if (latched.code == ErrorCode::kSchedulerTimeout) {
    const HangClass hang = latched.hang_class;
    report.status = RunStatus::kHang;
    report.error = scheduler_timeout(hang);
    state->hang = hang;
    state->unit = latched.unit;
    state->has_unit = state->unit < state->units.total();
    return;
  }
  if (auto error =
          read_runtime_error(run.port(), run.plan().layout, request.launch.runtime->config)) {
    report.status = RunStatus::kFatal;
    report.error = std::move(error);
  }
}

}  // namespace

void note_clock(Device& device, ActiveRun& run) {
  if (const auto sample = device.sample_clock()) run.note_clock(*sample);
  run.note_device_anchors();
}

// A device that somebody else stopped (a signal, a debugger) is neither late nor hung: the run
// waits and says so.
class HeldDevice {
 public:
  // True while it is held.
  bool look(const Device& device, ActiveRun& run, const RunRequest& request, std::uint64_t now_ns) {
    const bool held = device.is_held();
    if (held && since_ns_ == 0) {
      since_ns_ = now_ns;
      if (request.on_notice)
        request.on_notice(fmt::format(
            "the device process {} is stopped (a signal or a debugger); the run goes on when it is "
            "continued",
            device.process().pid));
    } else if (!held && since_ns_ != 0) {
      note(run, request, now_ns);
    }
    return held;
  }
  // In the report too.
  void note(ActiveRun& run, const RunRequest& request, std::uint64_t now_ns) {
    if (since_ns_ == 0) return;
    if (request.on_notice) request.on_notice("the device process was continued");
    run.report().warnings.push_back(
        {.code = 0,
         .name = "DEVICE_STOPPED",
         .error_class = "warning",
         .message = fmt::format("the device process was stopped from outside for {:.1f} s",
                                static_cast<double>(now_ns - since_ns_) / 1e9),
         .hint = "a signal (SIGSTOP, SIGTTIN) or a debugger; the time counts for no limit"});
    since_ns_ = 0;
  }

 private:
  std::uint64_t since_ns_ = 0;
};

Ending wait_for_device(Device& device, ActiveRun& run, const RunRequest& request,
                       const SignalWatch& signals) {
  const std::uint32_t timeout_ms = op_timeout_ms(request);
  WatchedTime time(kStepMaxNs);
  time.look(monotonic_ns());
  HeldDevice held;
  AnchorTimes anchor_times;
  std::uint64_t looks = 0;
  bool first_look = true;
  std::optional<HostWatchdog> watchdog;
  if (request.launch.runtime) {
    const RuntimeConfig& config = request.launch.runtime->config;
    watchdog.emplace(&run.port(), run.plan().layout, config.units(),
                     config.task_timeout_ms == 0 ? 0 : config.task_timeout_ms + kHostSlackMs);
    if (dumps_core(request)) watchdog->allow_standstill(kCrashDumpMs);
  }
  const auto over = [&](Ending ending) {
    if (!device.is_held()) held.note(run, request, monotonic_ns());
    return ending;
  };
  for (;;) {
    pollfd watched[2] = {{device.wait_fd(), POLLIN, 0}, {signals.fd(), POLLIN, 0}};
    // The first look is early: the epoch of a run that is killed soon is then in its capture.
    ::poll(watched, 2, std::exchange(first_look, false) ? 5 : kLookMs);
    if (signals.signal() != 0) return over({.signal = signals.signal()});
    if (auto exit = device.wait(0)) return over({.exit = exit});
    // Time in which nobody looked, or in which the device was held, is charged to nobody.
    const bool is_held = held.look(device, run, request, monotonic_ns());
    if (is_held) time.pass(monotonic_ns());
    const std::uint64_t now_ns = is_held ? time.watched() : time.look(monotonic_ns());
    const std::uint64_t elapsed_ms = now_ns / 1'000'000;
    if (timeout_ms > 0 && elapsed_ms >= timeout_ms) return over({.timed_out = true});
    if (watchdog && !is_held) {
      // An error is latched and somebody does not leave.
      if (const auto ms = watchdog->latched_ms(now_ns); ms && *ms >= kTeardownMs)
        return over({.had_its_time = true});
      if (auto finding = watchdog->look(now_ns)) return over({.finding = finding});
    }
    if (anchor_times.is_due(elapsed_ms)) note_clock(device, run);
    if (looks++ % kLooksPerNames == 0) run.note_names();
    if (request.on_progress)
      request.on_progress({.elapsed_ms = elapsed_ms,
                           .records = run.drained_records(),
                           .pages = run.drained_pages(),
                           .tasks = read_task_counts(run.port(), run.plan().layout)});
  }
}

// The device's memory as it can be read: a GPU has its own, of which its process brings what is
// asked for. Nothing: nobody brought it.
const DeviceMemory* readable_memory(const RunRequest& request, ActiveRun& run,
                                    const std::optional<DeviceMemory>& memory, bool runs) {
  if (!memory) return nullptr;
  if (request.platform->device == DeviceKind::kSimulated) return &*memory;
  return wait_until_snapped(run.port(), runs, kSnapshotMs) ? &*memory : nullptr;
}

void classify(const Ending& ending, const RunRequest& request, ActiveRun& run,
              const std::optional<DeviceMemory>& memory) {
  RunReport& report = run.report();
  auto state = std::make_shared<HangState>();
  if (request.launch.runtime) {
    const bool latched = read_status(run.port(), run.plan().layout).error.code != ErrorCode::kNone;
    if (!ending.is_well() || latched) {
      const DeviceMemory* readable = readable_memory(request, run, memory, !ending.exit);
      *state =
          read_hang_state(run.port(), run.plan().layout, request.launch.runtime->config, readable);
      state->tasks_lost = memory && readable == nullptr;
    }
  }
  if (ending.signal != 0) {
    report.status = RunStatus::kInterrupted;
  } else if (ending.timed_out) {
    report.status = RunStatus::kHang;
    report.error = RunError{
        .code = 101,
        .name = "OP_TIMEOUT",
        .error_class = "",
        .message = fmt::format("the launch exceeded its limit of {} ms", op_timeout_ms(request)),
        .hint = "raise --op-timeout-ms if the workload is only slow"};
  } else if (ending.finding) {
    report.status = RunStatus::kHang;
    report.error = scheduler_timeout(ending.finding->hang);
    state->hang = ending.finding->hang;
    state->unit = ending.finding->unit;
    state->has_unit = true;
  } else if (ending.exit && !ending.exit->is_well()) {
    report.status = RunStatus::kDeviceFault;
    report.error = device_fault(*ending.exit, run.fault_text());
  } else {
    report.status = RunStatus::kOk;
    read_latched_error(request, run, state.get());
    if (!ending.exit && report.status == RunStatus::kOk) {  // aborted, by nobody here
      report.status = RunStatus::kHang;
      report.error = scheduler_timeout(HangClass::kNone);
    }
  }
  if (report.status == RunStatus::kOk || !request.launch.runtime) return;
  run.place_in_time(*state);
  state->kernels = request.launch.kernels;
  const std::string sentence = hang_sentence(*state);
  if (report.error && !sentence.empty() && report.error->code >= 100)
    report.error->message += (report.error->message.empty() ? "" : "; ") + sentence;
  if (report.error) {
    state->code = report.error->code;
    state->name = report.error->name;
    state->error_class = report.error->error_class;
    state->message = report.error->message;
  } else {
    state->name = state->error_class = to_text(report.status);
  }
  report.hang = std::move(state);
}

std::optional<DeviceExit> wind_down(Device& device, ActiveRun& run, bool had_its_time) {
  const std::uint64_t patience_ns =
      (had_its_time ? kAbortWaitMs / 10 : kAbortWaitMs) * 1'000'000ull;
  run.set_abort();
  const std::uint64_t begin_ns = monotonic_ns();
  std::uint64_t moved_ns = begin_ns, pages = run.drained_pages();
  for (;;) {
    if (auto exit = device.wait(kAbortLookMs)) return exit;
    const std::uint64_t now_ns = monotonic_ns();
    if (const std::uint64_t now_pages = run.drained_pages(); now_pages != pages) {
      pages = now_pages;
      moved_ns = now_ns;
    }
    if (now_ns - moved_ns > patience_ns || now_ns - begin_ns > kAbortWaitMaxMs * 1'000'000ull)
      return std::nullopt;
  }
}

void keep_evidence(const RunRequest& request, ActiveRun& run,
                   const std::optional<DeviceMemory>& memory, bool still_running) {
  const auto state = run.report().hang;
  if (!state || !run.records()) return;
  run.note_hang(*state);
  const RuntimeConfig& config = request.launch.runtime->config;
  if (!readable_memory(request, run, memory, false) || !config.dump.on()) return;
  for (const auto& frame : snapshot_outputs(*state, config, *memory, still_running))
    run.note_snapshot(frame);
}

}  // namespace tidemark
