// SPDX-License-Identifier: Apache-2.0
#include "tests/fault_case.h"

#include <signal.h>

#include <algorithm>
#include <random>

#include <fmt/format.h>

namespace tidemark {
namespace {

// Only a hang that is wanted is waited for, and a stop must be able to outlast the limit. Nothing
// else comes near its limit, however slow the machine is.
constexpr std::uint32_t kHangLimitMs = 2'000, kNoLimitMs = 90'000;

std::uint32_t limit_ms(const FaultCase& the_case) {
  const bool short_one = the_case.action == FaultAction::kHang || the_case.point == kStopped;
  return short_one ? kHangLimitMs : kNoLimitMs;
}

// Less than this has no room for the closing chunks, and the run is refused. More lanes need more.
std::uint64_t least_limit(std::string_view platform) {
  return platform == "sim" ? 470 << 10 : 640 << 10;
}

// How often a point is reached in one of these runs, roughly; a case may ask for less.
std::uint64_t usual_count(FaultPoint point) {
  switch (point) {
    case FaultPoint::kPageSwitch:
    case FaultPoint::kPublish:
    case FaultPoint::kDrain:
      return 60;
    case FaultPoint::kBeforeCommit:
      return 120;
    case FaultPoint::kMidPayload:
      return 200;
    case FaultPoint::kFlush:
    case FaultPoint::kRecovery:
      return 12;
    case FaultPoint::kExport:
      return 7;
    case FaultPoint::kReport:
      return 1;
  }
  return 1;
}

}  // namespace

std::string_view row_name(FaultPoint row) {
  if (row == kDiskFull) return "disk_full";
  if (row == kStopped) return "stopped";
  return kFaultPointNames[static_cast<std::uint32_t>(row)];
}

FaultPoint place_of(const FaultCase& the_case) {
  return the_case.point == kStopped ? the_case.stop_point : the_case.point;
}

RightEnd right_end(const FaultCase& the_case, bool fired) {
  constexpr std::uint32_t kHung = 100, kFault = 102;
  const RightEnd fault{.exit_code = 3, .status = "device_fault", .error = kFault};
  if (!fired)  // the program of the row for recovery crashes by itself
    return the_case.point == FaultPoint::kRecovery ? fault : RightEnd{.status = "ok"};
  if (the_case.point == kStopped) return {.status = "ok"};
  if (on_host(the_case.point)) return {.signal = SIGKILL, .status = "recovered"};
  if (the_case.action == FaultAction::kHang)
    return {.exit_code = 3, .status = "hang", .error = kHung};
  return fault;
}

std::string fault_text(const FaultCase& the_case) {
  if (the_case.point == kDiskFull) return fmt::format("capture_limit={}", the_case.limit);
  const char* action = the_case.action == FaultAction::kCrash  ? "crash"
                       : the_case.action == FaultAction::kKill ? "kill"
                       : the_case.action == FaultAction::kStop ? "stop"
                                                               : "hang";
  return fmt::format("{}@{}:{}", action, row_name(place_of(the_case)), the_case.count);
}

FaultCase make_fault_case(FaultPoint point, std::string_view platform, Overflow policy,
                          std::uint64_t seed) {
  std::mt19937_64 random(seed * 1000 + static_cast<std::uint64_t>(point) * 16 +
                         static_cast<std::uint64_t>(policy) + platform.size() * 128);
  const auto pick = [&](std::uint64_t count) { return random() % count; };
  FaultCase made;
  made.seed = seed;
  made.point = point;
  made.platform = platform;
  made.policy = policy;
  if (point == kStopped) {
    made.stop_point = static_cast<FaultPoint>(pick(static_cast<std::uint64_t>(FaultPoint::kDrain)));
    made.stop_ms = static_cast<std::uint32_t>(pick(3) == 0 ? kHangLimitMs + 200 : pick(300));
  }
  made.count = 1 + pick(usual_count(point == kStopped ? made.stop_point : point));
  if (point == kDiskFull) made.limit = least_limit(platform) + pick(40) * (8 << 10);
  if (on_host(point)) {
    made.action = FaultAction::kKill;
    const char* second[] = {"",
                            "kill@recovery:1",
                            "kill@recovery:5",
                            "kill@export:1",
                            "kill@export:4",
                            "kill@report:1"};
    made.recover_fault = second[pick(6)];
  } else if (point == kStopped) {
    made.action = FaultAction::kStop;
  } else if (point != kDiskFull) {
    const FaultAction actions[] = {FaultAction::kCrash, FaultAction::kKill, FaultAction::kCrash,
                                   FaultAction::kKill, FaultAction::kHang};
    made.action = actions[pick(5)];
  }
  std::vector<std::string>& flags = made.run_flags;
  // A recovery by the run itself needs a device that went wrong, a disk that is full needs much to
  // write, the middle of a payload needs one that is long.
  const char* programs[] = {"mixed_example", "bgemm --case Small", "vector_example",
                            "paged_attention --case Small2"};
  const std::uint64_t choices = point == kDiskFull                          ? 2
                                : place_of(made) == FaultPoint::kMidPayload ? 3
                                                                            : 4;
  const std::string program =
      point == FaultPoint::kRecovery ? "crash_kernel" : programs[pick(choices)];
  if (const auto space = program.find(' '); space == std::string::npos)
    flags.push_back(program);
  else
    flags.insert(flags.end(),
                 {program.substr(0, space), "--case", program.substr(program.rfind(' ') + 1)});
  const char* policies[] = {"wait", "drop", "keep-last"};
  const char* pages[] = {"8192", "16384", "32768"};
  // Pages of keep-last lanes are never drained: there only the dump keeps its last ones.
  const bool some_drain = point == FaultPoint::kDrain && policy == Overflow::kKeepLast;
  const auto* name = std::find(std::begin(kFaultPolicies), std::end(kFaultPolicies), policy);
  made.keep_pages = static_cast<std::uint32_t>(2 + pick(6));
  flags.insert(flags.end(), {"-p", made.platform, "--policy"});
  flags.push_back(std::string(some_drain ? "dump=" : "") + policies[name - kFaultPolicies]);
  flags.insert(flags.end(), {"--page-bytes", pages[pick(3)], "--scheduler-timeout-ms",
                             std::to_string(limit_ms(made)), "--op-timeout-ms", "100000",
                             "--dump-tensor", "--keep-pages", std::to_string(made.keep_pages)});
  if (pick(4) != 0) flags.push_back("--enable-l2-swimlane");
  if (pick(4) != 0 || some_drain) flags.push_back("--enable-dep-gen");
  if (pick(4) != 0) flags.push_back("--enable-scope-stats");
  const char* runtimes[] = {"tensormap_and_ringbuffer", "aicpu_build_graph", "host_build_graph"};
  const std::uint64_t runtime = pick(point != FaultPoint::kRecovery ? 3 : 2);
  flags.insert(flags.end(), {"--runtime", runtimes[runtime]});
  if (pick(4) == 0) flags.insert(flags.end(), {"--inject", "drain_slow=200"});
  return made;
}

}  // namespace tidemark
