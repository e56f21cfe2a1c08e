// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/run_session.h"

#include "tidemark/base/fault_plan.h"
#include "tidemark/collect/rescue.h"
#include "tidemark/device/sim/sim_clock.h"
#include "tidemark/run/report_lanes.h"
#include "tidemark/session/device_core.h"
#include "tidemark/session/entry_data.h"
#include "tidemark/session/run_ending.h"
#include "tidemark/session/runtime_report.h"

namespace tidemark {
namespace {

// The device's memory, filled; nothing for programs without a task runtime.
Expected<std::optional<DeviceMemory>> prepare_memory(const RunRequest& request, ActiveRun& run) {
  if (!request.launch.runtime) return std::optional<DeviceMemory>{};
  const RuntimeLaunch& runtime = *request.launch.runtime;
  TM_TRY(auto memory, DeviceMemory::create(runtime.memory_bytes));
  // A graph that is built here is recorded here: its lanes have this process as their producer.
  const bool builds_here = runtime.config.build == BuildKind::kHostBuild && run.records();
  MappedMemory mapping;
  RegionView region;
  if (builds_here) {
    TM_TRY(mapping, map_region(run.region().fd.get(), run.region().path, run.region().bytes));
    region = RegionView(mapping.base());
  }
  TM_TRY(const auto status, runtime.prepare(memory, builds_here ? &region : nullptr));
  run.write_status(status);
  return std::optional<DeviceMemory>(std::move(memory));
}

// What the runtime counted.
void read_runtime(const RunRequest& request, ActiveRun& run) {
  if (!request.launch.runtime) return;
  run.report().tasks = read_task_counts(run.port(), run.plan().layout);
  if (request.launch.runtime->config.repeats())
    run.report().iterations =
        read_iterations(run.port(), run.plan().layout, run.report().ticks_per_second);
  if (auto held = read_backpressure(run.port(), run.plan().layout))
    run.report().warnings.push_back(std::move(*held));
}

// Whether its results are right.
void judge_results(const RunRequest& request, ActiveRun& run,
                   const std::optional<DeviceMemory>& memory) {
  RunReport& report = run.report();
  if (!memory || report.status != RunStatus::kOk || !request.check_results) return;
  const RuntimeLaunch& runtime = *request.launch.runtime;
  const auto check = runtime.check(*memory);
  report.result_ok = check && check->passed;
  report.result = check ? check->text : check.error().message;
  if (!*report.result_ok) report.status = RunStatus::kMismatch;
}

// A run that only lost files has an error, too.
void name_file_error(ActiveRun& run) {
  RunReport& report = run.report();
  if (!run.file_error().empty() && !report.error)
    report.error = RunError{.code = 0,
                            .name = "FILE_ERROR",
                            .error_class = "file",
                            .message = run.file_error(),
                            .hint =
                                "free space or choose another --output-prefix; what was "
                                "written before it is readable"};
}

RunResult result_of(ActiveRun& run) {
  const RunReport& report = run.report();
  const bool keeps = run.keeps_region();
  const std::string file_error = keeps ? kept_region_text(run) : run.file_error();
  const int exit_code = keeps                                          ? 5
                        : report.exit_code == 0 && !file_error.empty() ? 5
                                                                       : report.exit_code;
  return RunResult{.report = report,
                   .directory = run.directory(),
                   .file_error = file_error,
                   .keeps_region = keeps,
                   .exit_code = exit_code};
}

// The request, planned for what the device holds.
Expected<RunRequest> fit_to_device(const RunRequest& asked, Device& device) {
  RunRequest request = asked;
  if (!asked.plan_for) return request;
  TM_TRY(const auto shape, device.open(asked.launch.program, asked.core_dump));
  if (!shape) return request;
  TM_TRY(request.launch, asked.plan_for(*shape));
  use_device_clock(shape->clock);
  return request;
}

CoreCause core_cause(const Ending& ending) {
  if (!ending.exit) return CoreCause::kStillRuns;
  return ending.exit->is_well() ? CoreCause::kNone : CoreCause::kCrashed;
}

}  // namespace

Expected<RunResult> run_session(const RunRequest& asked) {
  TM_TRY(auto device, open_device(*asked.platform, asked.device, asked.isolation));
  TM_TRY(const RunRequest request, fit_to_device(asked, *device));
  TM_TRY(const auto prepared,
         ActiveRun::prepare(request, [&] { return device->ticks_per_second(); }));
  ActiveRun& run = *prepared;
  RunReport& report = run.report();
  const SignalWatch signals;

  // Before launch only if something is recorded before it: the device starts with pages in hand.
  const bool builds_here =
      request.launch.runtime && request.launch.runtime->config.build == BuildKind::kHostBuild;
  if (builds_here) run.start_drainer();
  TM_TRY(const auto memory, prepare_memory(request, run));
  const auto core = make_core_file(request);
  TM_TRY_DO(device->launch({.program = request.launch.program,
                            .args = request.launch.args,
                            .region = &run.region(),
                            .memory = memory ? &*memory : nullptr,
                            .core = core ? &*core : nullptr}));
  run.started();
  if (!builds_here) run.start_drainer();
  Ending ending = wait_for_device(*device, run, request, signals);
  const bool has_left = ending.exit.has_value();
  if (has_left) note_clock(*device, run);
  run.note_device_anchors();  // the state that is read next is placed in time by them
  classify(ending, request, run, memory);
  if (!has_left) {
    ending.exit = wind_down(*device, run, ending.had_its_time);
    note_clock(*device, run);
  }
  // Nothing moves under the reader where the device can be held still.
  const bool still_runs = !ending.exit && !(request.hold_device && device->hold());
  if (still_runs && request.platform->transport == Transport::kPulled)
    wait_until_rescued(run.port(), kRescueMs);
  run.collect(!ending.is_well(), still_runs ? Producers::kMayRun : Producers::kGone);
  if (const std::string fault = run.fault_text();
      !fault.empty() && report.error && report.error->message.find(fault) == std::string::npos)
    report.error->message += fmt::format("; the device says: {}", fault);
  if (core) add_core(run, *core, core_cause(ending));
  keep_evidence(request, run, memory, !ending.exit);
  if (!ending.exit && !device->reset() && report.error)
    report.error->hint = "the device runs in this process and could not be ended";
  read_runtime(request, run);
  judge_results(request, run, memory);  // the capture says how it ended, too
  run.close_capture();

  if (request.export_artifacts && !run.keeps_region())
    if (auto exported = request.export_artifacts(run.directory(), report); !exported)
      run.note_file_error(exported.error());
  report.exit_code = decide_exit_code(report, run.file_error());
  if (ending.signal != 0) report.exit_code = 128 + ending.signal;
  name_file_error(run);
  fault_point(FaultPoint::kReport);
  run.end();
  return result_of(run);
}

}  // namespace tidemark
