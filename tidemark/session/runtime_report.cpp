// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/runtime_report.h"

#include <algorithm>
#include <string>

#include "tidemark/base/align.h"
#include "tidemark/run/task_text.h"
#include "tidemark/runtime/kernel_info.h"
#include "tidemark/session/status_image.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kSlotsMax = std::uint64_t{1} << 61;  // of anything: the region may lie

// Everything known of an error, as words.
struct Latched : LatchedErrorOf<PlainWord> {
  explicit Latched(const LatchedErrorOf<PlainWord>& error)
      : LatchedErrorOf<PlainWord>(error),
        task(task_text(task_id)),
        kernel_name(status_text(kernel)),
        reason(status_text(text)),
        scope_site(fmt::format("{}:{}", status_text(scope_file), scope_line)),
        scope(*scope_file == 0 ? "no scope" : "the scope at " + scope_site),
        submit(*submit_file == 0 ? "the orchestration"
                                 : fmt::format("{}:{}", status_text(submit_file), submit_line)) {
    ring = std::min(ring, kRingCount - 1);
  }

  std::string task, kernel_name, reason, scope_site, scope, submit;
};

std::string setting(const Latched& latched, std::uint64_t value) {
  return fmt::format("{} {}", resource_flag(latched.resource), value);
}

std::string deadlock_message(const Latched& latched, const std::string& what) {
  return fmt::format(
      "proven deadlock: {} of ring {} is full ({} of {}) and {} cannot be left before task {} ({}) "
      "is submitted at {}",
      what, latched.ring, latched.used, latched.capacity, latched.scope, latched.task,
      latched.kernel_name, latched.submit);
}

RunError describe_deadlock(const Latched& latched, const RuntimeConfig& config) {
  RunError error;
  const bool host_build = config.build == BuildKind::kHostBuild;
  const std::string what{to_text(latched.resource)};
  switch (latched.code) {
    case ErrorCode::kScopeDeadlock:
      error.message = fmt::format(
          "proven deadlock: {} alone holds all {} usable slots of ring {}'s task window ({}); task "
          "{} ({}) at {} can never get one",
          latched.scope, latched.capacity - 1, latched.ring, latched.capacity, latched.task,
          latched.kernel_name, latched.submit);
      break;
    case ErrorCode::kTensormapOverflow:
      error.message = fmt::format(
          "the tensor map is full ({} of {}) and no entry can be freed: {}; task {} ({}) at {} in "
          "{} "
          "needs another",
          latched.used, latched.capacity,
          host_build ? "no task runs before the graph is whole" : "all are of one task",
          latched.task, latched.kernel_name, latched.submit, latched.scope);
      break;
    case ErrorCode::kHeapRingDeadlock:
      error.message = deadlock_message(latched, "the " + what) +
                      fmt::format("; it asks for {} bytes more", latched.requested);
      break;
    default:
      error.message = deadlock_message(latched, "the " + what);
  }
  if (host_build)
    error.message += "; host_build_graph keeps the whole graph and gives nothing back";
  const std::uint64_t wanted =
      latched.resource == Resource::kHeap || latched.resource == Resource::kArguments
          ? std::max(latched.capacity * 2, latched.used + latched.requested * 2)
          : round_up_to_power_of_two(std::min(std::max(latched.capacity, latched.used), kSlotsMax) +
                                     1);
  error.hint =
      fmt::format("{} gives twice the room; or close the scope earlier", setting(latched, wanted));
  error.culprit = Culprit{.scope = latched.scope_site,
                          .ring = latched.ring,
                          .resource = what,
                          .used = latched.used,
                          .capacity = latched.capacity,
                          .setting = setting(latched, wanted)};
  return error;
}

RunError describe_shared_overrun(const Latched& latched) {
  RunError error;
  error.message = fmt::format(
      "kernel '{}' (task {}) asks its block for {} bytes of shared memory; its kInfo declares {}",
      latched.kernel_name, latched.task, latched.requested, latched.capacity);
  error.hint = fmt::format(".shared_bytes = {} in the kernel's kInfo; at most {}",
                           latched.requested, kSharedBytesMax);
  return error;
}

RunError describe_invalid_args(const Latched& latched) {
  // Only a kernel that runs asks for something, and no submit says where.
  if (latched.requested > 0 && *latched.submit_file == 0) return describe_shared_overrun(latched);
  RunError error;
  const std::string where =
      latched.arg == kNoArg ? std::string() : fmt::format(", argument {}", latched.arg);
  error.message =
      fmt::format("submit of {}{} at {} in {}: {}",
                  latched.kernel_name.empty() ? "a task" : "kernel '" + latched.kernel_name + "'",
                  where, latched.submit, latched.scope, latched.reason);
  error.hint = "compare the call with the kernel's kInfo";
  return error;
}

RunError describe(const Latched& latched, const RuntimeConfig& config) {
  RunError error;
  switch (latched.code) {
    case ErrorCode::kScopeDeadlock:
    case ErrorCode::kHeapRingDeadlock:
    case ErrorCode::kFlowControlDeadlock:
    case ErrorCode::kDepPoolOverflow:
    case ErrorCode::kTensormapOverflow:
      error = describe_deadlock(latched, config);
      break;
    case ErrorCode::kInvalidArgs:
      error = describe_invalid_args(latched);
      break;
    case ErrorCode::kRequestTooLarge:
      error.message = fmt::format(
          "task {} ({}) at {} asks for {} bytes of {}; the {} of ring {} has {} bytes and could "
          "never hold them",
          latched.task, latched.kernel_name, latched.submit, latched.requested,
          latched.resource == Resource::kHeap ? "outputs" : "arguments",
          latched.resource == Resource::kHeap ? "heap" : "memory for arguments", latched.ring,
          latched.capacity);
      error.hint = setting(latched, round_up(latched.requested, std::uint64_t{1} << 20));
      break;
    case ErrorCode::kSyncStartInvalid:
      error.message =
          fmt::format("{} at {} wants {} blocks to start together; the device has {} such cores",
                      latched.kernel_name, latched.submit, latched.requested, latched.capacity);
      error.hint = "fewer blocks, or a platform with more clusters";
      break;
    case ErrorCode::kTensorWaitTimeout:
      error.message = fmt::format(
          "the orchestration waited too long for an element at {}{}", latched.submit,
          latched.task_id == ~std::uint64_t{0} ? "" : " of what task " + latched.task + " writes");
      error.hint = "raise --scheduler-timeout-ms if the task is only slow";
      break;
    case ErrorCode::kExplicitOrchFatal:
      error.message =
          fmt::format("the orchestration gave up at {}: {}", latched.submit, latched.reason);
      error.hint = "the program itself reported this; see its source";
      break;
    case ErrorCode::kScopeDepthExceeded:
      error.message = fmt::format("the scope at {} would be nested deeper than {}", latched.submit,
                                  latched.capacity);
      error.hint = "close scopes before opening more";
      break;
    default:
      error.message =
          fmt::format("the runtime stopped with code {}", static_cast<std::uint32_t>(latched.code));
      error.hint = "unknown code: the region may be damaged";
  }
  error.code = static_cast<std::uint32_t>(latched.code);
  error.name = std::string(to_text(latched.code));
  error.error_class = latched.resource == Resource::kNone ? "" : to_text(latched.resource);
  return error;
}

}  // namespace

TaskCounts read_task_counts(const RegionPort& port, const RegionLayout& layout) {
  const std::uint64_t room = layout.shape.status_bytes;
  if (room < kUnitLinesOffset) return {};
  const StatusImage image = read_status(port, layout);
  const UnitCounts units{.schedulers = image.scheduler_count, .cores = 0};
  TaskCounts counts{
      .submitted = image.submitted, .completed = image.completed_at_once, .scopes = image.scopes};
  const std::uint64_t lines = (room - kUnitLinesOffset) / sizeof(UnitProgress);
  for (std::uint64_t i = 0; i < units.schedulers && i + 1 < lines; ++i)
    counts.completed +=
        port.load(layout.status_offset + kUnitLinesOffset +
                  units.scheduler(static_cast<std::uint32_t>(i)) * sizeof(UnitProgress) +
                  offsetof(UnitProgress, count));
  return counts;
}

IterationCounts read_iterations(const RegionPort& port, const RegionLayout& layout,
                                std::uint64_t ticks_per_second) {
  if (layout.shape.status_bytes < kUnitLinesOffset) return {};
  const StatusImage image = read_status(port, layout);
  const auto ns = [&](std::uint64_t from_ticks, std::uint64_t to_ticks) -> double {
    const std::uint64_t ticks = to_ticks - std::min(from_ticks, to_ticks);
    return static_cast<double>(ticks) * 1e9 / static_cast<double>(ticks_per_second);
  };
  IterationCounts counts{.asked = image.repeat,
                         .completed = std::min(image.iterations, image.repeat)};
  if (counts.completed > 0)
    counts.first_ns =
        static_cast<std::uint64_t>(ns(image.iterations_begin_ticks, image.first_iteration_ticks));
  if (counts.completed > 1)
    counts.next_ns =
        static_cast<std::uint64_t>(ns(image.first_iteration_ticks, image.last_iteration_ticks) /
                                   static_cast<double>(counts.completed - 1));
  return counts;
}

std::optional<RunError> read_runtime_error(const RegionPort& port, const RegionLayout& layout,
                                           const RuntimeConfig& config) {
  const StatusImage image = read_status(port, layout);
  const Latched latched(image.error);
  if (latched.code == ErrorCode::kNone || latched.code == ErrorCode::kAborted) return std::nullopt;
  return describe(latched, config);
}

std::optional<RunError> read_backpressure(const RegionPort& port, const RegionLayout& layout) {
  const StatusImage status = read_status(port, layout);
  const auto& latched = status.backpressure;
  const std::uint64_t begin = status.begin_ticks, end = status.end_ticks;
  if (end <= begin) return std::nullopt;
  const double share = static_cast<double>(latched.ticks) / static_cast<double>(end - begin);
  if (share < kBackpressureShare) return std::nullopt;
  const Resource resource = latched.resource;
  RunError warning{.code = static_cast<std::uint32_t>(ErrorCode::kRingBufferBackpressure),
                   .name = std::string(to_text(ErrorCode::kRingBufferBackpressure)),
                   .error_class = "warning",
                   .message = {},
                   .hint = {}};
  warning.message = fmt::format(
      "the orchestrator was held back for {:.0f} % of the run, longest by the {} of ring {} in the "
      "scope at {}:{}",
      share * 100, to_text(resource), std::min(latched.ring, kRingCount - 1),
      status_text(latched.scope_file), latched.scope_line);
  warning.hint = fmt::format("a larger {} lets it run ahead; not needed if the cores are busy",
                             resource_flag(resource));
  return warning;
}

}  // namespace tidemark
