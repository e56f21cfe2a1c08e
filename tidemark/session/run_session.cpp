// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/run_session.h"

#include <poll.h>
#include <string.h>

#include "tidemark/base/monotonic_clock.h"
#include "tidemark/session/active_run.h"
#include "tidemark/session/entry_data.h"
#include "tidemark/session/report_lanes.h"
#include "tidemark/session/runtime_report.h"
#include "tidemark/session/signal_watch.h"

namespace tidemark {
namespace {

constexpr std::uint32_t kLookMs = 100;
constexpr std::uint32_t kAnchorEveryMs = 1000;
constexpr std::uint32_t kAbortWaitMs = 5000;  // for the lanes to flush and close

// How the wait for the device ended.
struct Ending {
  std::optional<DeviceExit> exit;  // nothing: the device still runs
  int signal = 0;
  bool timed_out = false;
};

std::uint32_t op_timeout_ms(const RunRequest& request) {
  return request.op_timeout_ms.value_or(request.platform->op_timeout_ms);
}

// The clock of a simulated device is read here; a GPU's process leaves its readings in the region.
void note_clock(Device& device, ActiveRun& run) {
  if (const auto sample = device.sample_clock()) run.note_clock(*sample);
  run.note_device_anchors();
}

Ending wait_for_device(Device& device, ActiveRun& run, const RunRequest& request,
                       const SignalWatch& signals) {
  const std::uint64_t begin_ns = monotonic_ns();
  const std::uint32_t timeout_ms = op_timeout_ms(request);
  std::uint64_t next_anchor_ms = kAnchorEveryMs;
  bool first_look = true;
  for (;;) {
    pollfd watched[2] = {{device.wait_fd(), POLLIN, 0}, {signals.fd(), POLLIN, 0}};
    // The first look is early: the epoch of a run that is killed soon is then in its capture.
    ::poll(watched, 2, first_look ? 5 : kLookMs);
    if (signals.signal() != 0) return {.signal = signals.signal()};
    if (auto exit = device.wait(0)) return {.exit = exit};
    const std::uint64_t elapsed_ms = (monotonic_ns() - begin_ns) / 1'000'000;
    if (timeout_ms > 0 && elapsed_ms >= timeout_ms) return {.timed_out = true};
    if (first_look || elapsed_ms >= next_anchor_ms) {
      note_clock(device, run);
      run.note_names();
      if (!first_look) next_anchor_ms += kAnchorEveryMs;
      first_look = false;
    }
    if (request.on_progress) {
      const TaskCounts tasks = read_task_counts(run.port(), run.plan().layout);
      request.on_progress({.elapsed_ms = elapsed_ms,
                           .records = run.drained_records(),
                           .pages = run.drained_pages(),
                           .tasks_submitted = tasks.submitted,
                           .tasks_completed = tasks.completed});
    }
  }
}

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

// Classifies what happened before anything is cleaned up.
void latch(const Ending& ending, const RunRequest& request, const std::string& fault_text,
           RunReport& report) {
  if (ending.signal != 0) {
    report.status = "interrupted";
  } else if (ending.timed_out) {
    report.status = "hang";
    report.error = RunError{
        .code = 101,
        .name = "OP_TIMEOUT",
        .error_class = "",
        .message = fmt::format("the launch exceeded its limit of {} ms", op_timeout_ms(request)),
        .hint = "raise --op-timeout-ms if the workload is only slow"};
  } else if (ending.exit->kind != DeviceExit::Kind::kFinished || ending.exit->code != 0) {
    report.status = "device_fault";
    report.error = device_fault(*ending.exit, fault_text);
  } else {
    report.status = "ok";
  }
}

// Abort, wait (bounded) for the lanes to close. Nothing: the device did not leave by itself.
std::optional<DeviceExit> wind_down(Device& device, ActiveRun& run) {
  run.set_abort();
  return device.wait(kAbortWaitMs);
}

// The device's memory, filled; nothing for programs without a task runtime.
Expected<std::optional<DeviceMemory>> prepare_memory(const RunRequest& request, ActiveRun& run) {
  if (!request.launch.runtime) return std::optional<DeviceMemory>{};
  const RuntimeLaunch& runtime = *request.launch.runtime;
  auto memory = DeviceMemory::create(runtime.memory_bytes);
  if (!memory) return tl::unexpected(memory.error());
  // A graph that is built here is recorded here: its lanes have this process as their producer.
  const bool builds_here = runtime.config.build == BuildKind::kHostBuild && run.records();
  RegionMapping mapping;
  RegionView region;
  if (builds_here) {
    auto mapped = map_region(run.region().fd.get(), run.region().path, run.region().bytes);
    if (!mapped) return tl::unexpected(mapped.error());
    mapping = std::move(*mapped);
    region = RegionView(mapping.base());
  }
  const auto status = runtime.prepare(*memory, builds_here ? &region : nullptr);
  if (!status) return tl::unexpected(status.error());
  run.write_status(*status);
  return std::optional<DeviceMemory>(std::move(*memory));
}

// What the runtime says of itself.
void read_runtime(const RunRequest& request, ActiveRun& run) {
  if (!request.launch.runtime) return;
  const RuntimeLaunch& runtime = *request.launch.runtime;
  RunReport& report = run.report();
  report_tasks(run.port(), run.plan().layout, report);
  if (auto held = read_backpressure(run.port(), run.plan().layout, runtime.config))
    report.warnings.push_back(std::move(*held));
  if (report.status != "ok") return;
  if (auto error = read_runtime_error(run.port(), run.plan().layout, runtime.config)) {
    report.status = "fatal";
    report.error = std::move(error);
  }
}

// Whether its results are right.
void judge_results(const RunRequest& request, ActiveRun& run,
                   const std::optional<DeviceMemory>& memory) {
  RunReport& report = run.report();
  if (!memory || report.status != "ok" || !request.check_results) return;
  const RuntimeLaunch& runtime = *request.launch.runtime;
  const auto check = runtime.check(*memory);
  report.result_ok = check && check->passed;
  report.result = check ? check->text : check.error().message;
  if (!*report.result_ok) report.status = "mismatch";
}

bool ended_well(const std::optional<DeviceExit>& exit) {
  return exit && exit->kind == DeviceExit::Kind::kFinished && exit->code == 0;
}

}  // namespace

Expected<RunResult> run_session(const RunRequest& request) {
  auto device = open_device(*request.platform, request.device, request.isolation);
  if (!device) return tl::unexpected(device.error());
  auto prepared = ActiveRun::prepare(request, [&] { return (*device)->ticks_per_second(); });
  if (!prepared) return tl::unexpected(prepared.error());
  ActiveRun& run = **prepared;
  RunReport& report = run.report();
  const SignalWatch signals;

  // Before launch only if something is recorded before it: the device starts with pages in hand.
  const bool builds_here =
      request.launch.runtime && request.launch.runtime->config.build == BuildKind::kHostBuild;
  if (builds_here) run.start_drainer();
  const auto memory = prepare_memory(request, run);
  if (!memory) return tl::unexpected(memory.error());
  if (auto launched = (*device)->launch({.program = request.launch.program,
                                         .args = request.launch.args,
                                         .region = &run.region(),
                                         .memory = *memory ? &**memory : nullptr});
      !launched)
    return tl::unexpected(launched.error());
  if (!builds_here) run.start_drainer();
  const Ending ending = wait_for_device(**device, run, request, signals);
  latch(ending, request, run.fault_text(), report);
  const std::optional<DeviceExit> exit = ending.exit ? ending.exit : wind_down(**device, run);

  note_clock(**device, run);
  run.collect(!ended_well(exit));
  if (const std::string fault = run.fault_text();
      !fault.empty() && report.error && report.error->message != fault)
    report.error->message += fmt::format("; the device says: {}", fault);
  if (!exit && !(*device)->reset() && report.error)
    report.error->hint = "the device runs in this process and could not be ended";
  read_runtime(request, run);
  run.close_capture();
  judge_results(request, run, *memory);

  if (request.export_artifacts)
    if (auto exported = request.export_artifacts(run.directory(), report); !exported)
      run.note_file_error(exported.error());
  report.exit_code = decide_exit_code(report, run.file_error());
  if (ending.signal != 0) report.exit_code = 128 + ending.signal;
  if (!run.file_error().empty() && !report.error)
    report.error = RunError{.code = 0,
                            .name = "FILE_ERROR",
                            .error_class = "file",
                            .message = run.file_error(),
                            .hint =
                                "free space or choose another --output-prefix; what was "
                                "written before it is readable"};
  run.write_report();
  run.remove_region();
  const int exit_code = report.exit_code == 0 && !run.file_error().empty() ? 5 : report.exit_code;
  return RunResult{.report = report,
                   .directory = run.directory(),
                   .file_error = run.file_error(),
                   .exit_code = exit_code};
}

}  // namespace tidemark
