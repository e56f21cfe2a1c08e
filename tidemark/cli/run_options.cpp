// SPDX-License-Identifier: Apache-2.0
#include "tidemark/cli/run_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "tidemark/base/human_text.h"
#include "tidemark/base/nearest_name.h"
#include "tidemark/cli/fault_options.h"
#include "tidemark/schema/stream_registry.h"
#include "tidemark/session/runtime_lanes.h"

namespace tidemark::cli {
namespace {

Expected<Overflow> parse_overflow(const std::string& text, const std::string& flag) {
  constexpr std::array kAll{Overflow::kWait, Overflow::kDrop, Overflow::kKeepLast};
  for (const Overflow overflow : kAll)
    if (text == to_text(overflow)) return overflow;
  return failure(ErrorKind::kUsage, "--policy {}: a policy is wait, drop or keep-last{}", flag,
                 did_you_mean(text, kAll, [](Overflow overflow) { return to_text(overflow); }));
}

Expected<void> parse_policies(const std::vector<std::string>& policies, RunRequest& request) {
  for (const auto& text : policies) {
    const auto equals = text.find('=');
    TM_TRY(const auto overflow,
           parse_overflow(equals == std::string::npos ? text : text.substr(equals + 1), text));
    if (equals == std::string::npos) {
      request.policy = overflow;
      continue;
    }
    const StreamInfo* stream = find_stream(text.substr(0, equals));
    if (stream == nullptr)
      return failure(ErrorKind::kUsage, "--policy {}: no stream {}; see 'tidemark list'{}", text,
                     text.substr(0, equals),
                     did_you_mean(text.substr(0, equals), kStreams, &StreamInfo::name));
    request.stream_policy[stream->id] = overflow;
  }
  return {};
}

Expected<std::uint32_t> parse_number(const std::string& text, const std::string& flag) {
  std::uint32_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size())
    return failure(ErrorKind::kUsage, "--inject {}: '{}' is not a number", flag, text);
  return value;
}

Expected<void> parse_injections(const std::vector<std::string>& faults, RunRequest& request) {
  DrainInjection& inject = request.inject;
  for (const auto& fault : faults) {
    if (fault.find('@') != std::string::npos) {
      TM_TRY_DO(arm_fault(fault));
      continue;
    }
    const auto equals = fault.find('=');
    const std::string name = fault.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : fault.substr(equals + 1);
    if (name == "drain_stop" || name == "no_hold") {
      (name == "no_hold" ? request.hold_device : inject.stop) = name == "drain_stop";
      continue;
    }
    if (name == "core" && !value.empty()) {
      request.inject_core = value;
      continue;
    }
    if (name != "drain_pause_ms" && name != "drain_slow" && name != "capture_limit")
      return failure(ErrorKind::kUsage,
                     "--inject {}: known faults are drain_pause_ms=N, drain_slow=N, drain_stop, "
                     "no_hold, capture_limit=N, core=FILE and ACTION@POINT:N",
                     fault);
    TM_TRY(const auto number, parse_number(value, fault));
    if (name == "capture_limit")
      request.capture_limit = number;
    else
      (name == "drain_pause_ms" ? inject.pause_ms : inject.slow_us) = number;
  }
  return {};
}

void bind_recorder_options(Command& command, RunOptions& options) {
  RunRequest& request = options.request;
  command.group = "Recorder";
  command.option("--policy", &options.policies,
                 "[STREAM=]wait|drop|keep-last; may be given several times");
  command.option("--keep-pages", &request.keep_pages, "Pages a keep-last lane owns (>= 2)",
                 kShowsDefault);
  command.option("--page-bytes", &request.recorder.page_bytes, "Bytes of one page", kShowsDefault);
  command.option("--pool-bytes", &request.recorder.pool_bytes,
                 "Bytes of the shared page pool; 0 sizes it to the lanes", kShowsDefault);
  command.option("--drain-threads", &request.recorder.drain_threads, "Threads that drain pages",
                 kShowsDefault);
  command.option("--drain-timeout-ms", &request.recorder.drain_timeout_ms,
                 "A waiting producer gives up when nothing at all was drained for so long",
                 kShowsDefault);
  command.option(
      "--op-timeout-ms", &request.op_timeout_ms,
      fmt::format("Limit for the whole launch; 0: none (default: none on simulated platforms, "
                  "{} on CUDA)",
                  platform_of(DeviceKind::kCuda).op_timeout_ms));
  command.option("--export-limit", &options.export_limit,
                 "Records above which a JSON artifact is written only on request", kShowsDefault);
  command.option("--inject", &options.injections,
                 "Faults for tests: drain_pause_ms=N (once), drain_slow=N (microseconds per "
                 "page), drain_stop, no_hold (the device goes on while it is collected), "
                 "capture_limit=N (bytes of a full disk), core=FILE (taken for the core dump of a "
                 "device that hangs); "
                 "crash|kill|hang|stop@POINT:N, the Nth time a process comes to "
                 "page_switch, publish, before_commit, mid_payload, flush (device), drain, "
                 "recovery, export, report (host)");
}

// The case that is asked for, by name; the first one if none is.
Expected<std::string> choose_case(const RunOptions& options, const WorkloadEntry& workload) {
  if (options.case_name.empty()) return workload.cases.front().name;
  const auto found = std::ranges::find(workload.cases, options.case_name, &WorkloadCase::name);
  if (found != workload.cases.end()) return found->name;
  return failure(ErrorKind::kUsage, "--case {}: {} has the cases {}{}", options.case_name,
                 workload.name, joined(workload.cases, ", ", {}, &WorkloadCase::name),
                 did_you_mean(options.case_name, workload.cases, &WorkloadCase::name));
}

Expected<WorkloadLaunch> plan_without_tasks(const RunOptions& options, const RunRequest& request) {
  std::string_view refused = options.dump.level.empty() ? "" : "--dump-tensor";
  if (options.runtime.block_threads != 1)
    return failure(ErrorKind::kUsage, "--block-threads {}: {} has no kernels of tasks",
                   options.runtime.block_threads, request.workload);
  for (const auto& stream : kStreams)
    if (stream.id != StreamId::kSwimlane && options.streams[stream.id] != 0) {
      refused = stream.flag;
      break;
    }
  if (!refused.empty())
    return failure(ErrorKind::kUsage, "{}: {} has neither tasks nor scopes; it writes spans only",
                   refused, request.workload);
  return options.plans.at(request.workload)(*request.platform);
}

Expected<RuntimeConfig> plan_config(const RunOptions& options, const WorkloadEntry& workload,
                                    const RunRequest& request) {
  TM_TRY(auto config, plan_runtime(options.runtime, *request.platform));
  if (workload.device_builds && config.build == BuildKind::kHostBuild)
    return failure(ErrorKind::kUsage,
                   "--runtime host_build_graph: {} goes wrong where its orchestration runs, which "
                   "would be this process",
                   workload.name);
  const std::uint32_t op_ms = request.op_timeout_ms.value_or(request.platform->op_timeout_ms);
  if (op_ms > 0 && config.task_timeout_ms >= op_ms)
    return failure(ErrorKind::kUsage,
                   "--op-timeout-ms {}: must be more than --scheduler-timeout-ms {}, or it would "
                   "hide which task hangs",
                   op_ms, config.task_timeout_ms);
  TM_TRY(config.streams, check_streams(options.streams));
  TM_TRY(config.dump, plan_dump(options.dump, workload.kernels));
  config.streams[StreamId::kDump] = config.dump.on() ? 1 : 0;
  return config;
}

WorkloadLaunch launch_of(const WorkloadEntry& workload, const RunRequest& request,
                         const RuntimeConfig& config) {
  WorkloadLaunch launch;
  launch.program = workload.name;
  launch.kernels = workload.kernels;
  launch.lanes = runtime_lanes(config);
  launch.runtime =
      workload.plan({.case_name = request.case_name, .seed = request.seed, .config = config});
  launch.args.resize(sizeof(RuntimeConfig));
  std::memcpy(launch.args.data(), &launch.runtime->config, sizeof(RuntimeConfig));
  return launch;
}

// How many units a GPU holds, only its process can say; the rest is known and judged now.
Expected<void> plan_tasks(const RunOptions& options, const WorkloadEntry& workload,
                          RunRequest& request) {
  TM_TRY(const auto config, plan_config(options, workload, request));
  request.runtime = options.runtime.runtime;
  if (request.platform->device != DeviceKind::kCuda) {
    request.launch = launch_of(workload, request, config);
    return {};
  }
  request.launch.program = workload.name;
  request.plan_for = [&workload, config, asked = request](const DeviceShape& shape) {
    RuntimeConfig fitting = config;
    fitting.cluster_count = shape.cluster_count;
    fitting.scheduler_count = shape.scheduler_count;
    return Expected<WorkloadLaunch>(launch_of(workload, asked, fitting));
  };
  return {};
}

}  // namespace

void bind_run_options(Command& command, RunOptions& options) {
  RunRequest& request = options.request;
  command.option("workload", &request.workload, "See 'tidemark list'", {.required = true});
  command.option("--case", &options.case_name, "Case of the workload (default: its first)");
  command.option("-p,--platform", &options.platform, "See 'tidemark list'", kShowsDefault);
  command.option("-d,--device", &request.device, "Device number", kShowsDefault);
  command.option("--isolation", &options.isolation,
                 "process: the device is a process of its own; thread: for sanitizers and "
                 "debuggers",
                 {.shows_default = true, .one_of = {"process", "thread"}});
  command.option("--seed", &request.seed, "Seed of everything random", kShowsDefault);
  command.flag("--json", &options.json, "Print run.json instead of the summary");
  command.option("--output-prefix", &request.output_dir,
                 "Directory of the run (default outputs/<workload>_<case>_<time>)");
  command.flag("--force", &request.force, "Replace the run in --output-prefix");
  command.flag("--no-sync", &options.no_sync,
               "Do not wait at the end until the files are on stable storage");
  command.flag("--no-check", &options.no_check,
               "Do not compare the results with the golden reference");
  command.flag("--no-core-dump", &options.no_core_dump,
               "Keep no core dump (device.core) of a GPU that hangs or crashes, and read no source "
               "lines from it");
  bind_stream_options(command, options.streams);
  bind_dump_options(command, options.dump);
  bind_runtime_options(command, options.runtime);
  bind_recorder_options(command, options);
  for (const auto& workload : registered_workloads())
    if (workload.bind_flags) options.plans[workload.name] = workload.bind_flags(command);
}

Expected<RunRequest> make_request(const RunOptions& options) {
  RunRequest request = options.request;
  const WorkloadEntry* workload = find_registered_workload(request.workload);
  if (workload == nullptr)
    return failure(ErrorKind::kUsage, "no workload {}; see 'tidemark list'{}", request.workload,
                   did_you_mean(request.workload, registered_workloads(), &WorkloadEntry::name));
  TM_TRY(request.case_name, choose_case(options, *workload));
  request.platform = find_platform(options.platform);
  if (request.platform == nullptr)
    return failure(ErrorKind::kUsage, "--platform {}: no such platform; see 'tidemark list'{}",
                   options.platform, did_you_mean(options.platform, platforms(), &Platform::name));
  request.isolation = options.isolation == "thread" ? Isolation::kThread : Isolation::kProcess;
  request.core_dump = !options.no_core_dump;
  request.check_results = !options.no_check;
  TM_TRY_DO(parse_policies(options.policies, request));
  TM_TRY_DO(parse_injections(options.injections, request));
  if (workload->plan) {
    TM_TRY_DO(plan_tasks(options, *workload, request));
  } else {
    TM_TRY(request.launch, plan_without_tasks(options, request));
  }
  request.sync = !options.no_sync;
  return request;
}

}  // namespace tidemark::cli
