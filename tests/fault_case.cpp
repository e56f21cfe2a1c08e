// SPDX-License-Identifier: Apache-2.0
#include "tests/fault_case.h"

#include <signal.h>

#include <filesystem>
#include <random>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "tests/audit_words.h"
#include "tests/child_process.h"
#include "tidemark/analyze/check_run.h"
#include "tidemark/analyze/run_capture.h"
#include "tidemark/base/unique_fd.h"
#include "tidemark/device/process_identity.h"
#include "tidemark/device/region_file.h"
#include "tidemark/schema/task_span.h"
#include "tidemark/session/recover.h"

namespace tidemark {
namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t kProgramWaitMs = 20'000;
constexpr std::uint32_t kProcessesGoneMs = 8'000;
constexpr const char* kTimeoutMs = "700";

bool on_host(FaultPoint point) { return point >= FaultPoint::kDrain && point < kDiskFull; }

// Less than this has no room for the closing chunks, and the run is refused. More lanes need more.
std::uint64_t capture_limit(const FaultCase& the_case) {
  constexpr std::uint64_t kUnitBytes = 8 << 10;
  return (the_case.platform == "sim" ? 470 << 10 : 640 << 10) + the_case.count * kUnitBytes;
}

class FaultRun {
 public:
  FaultRun(const FaultCase& the_case, std::string audited, const std::string& directory)
      : case_(the_case),
        audited_(std::move(audited)),
        run_(directory + "/run"),
        log_(directory + "/log.txt"),
        audit_(directory + "/audit") {}

  FaultOutcome run() {
    std::vector<std::string> arguments{audited_, "run"};
    arguments.insert(arguments.end(), case_.run_flags.begin(), case_.run_flags.end());
    arguments.insert(arguments.end(), {"--inject", fault_text(case_), "--output-prefix", run_});
    const auto end = run_bounded(arguments);
    if (case_.point == kDiskFull) return judge_full_disk(end);
    if (case_.point == kStopped) return judge_stopped(end);
    if (on_host(case_.point)) {
      outcome_.hit = end.signal == SIGKILL;
      if (outcome_.hit) recover();
    } else {
      outcome_.hit = end.exit_code == 3;
    }
    if (!outcome_.hit) {  // it never came to the point so often
      expect(end.signal == 0, "run was ended by signal {}", end.signal);
      wait_for_processes();
      return std::move(outcome_);
    }
    expect(on_host(case_.point) || end.signal == 0, "run was ended by signal {}", end.signal);
    judge();
    check_nothing_left();
    return std::move(outcome_);
  }

 private:
  template <class... Args>
  bool expect(bool holds, fmt::format_string<Args...> text, Args&&... args) {
    if (!holds) outcome_.problems.push_back(fmt::format(text, std::forward<Args>(args)...));
    return holds;
  }
  ProgramEnd run_bounded(const std::vector<std::string>& arguments) {
    const pid_t pid = start_program(arguments, log_);
    if (case_.point == kStopped) continue_later(pid);
    auto end = wait_for(pid, kProgramWaitMs);
    if (end) return *end;
    ++outcome_.tool_hangs;
    expect(false, "'tidemark {}' does not end", arguments[1]);
    ::kill(pid, SIGKILL);
    return *wait_for(pid, kProgramWaitMs);
  }

  // Waits until the device process is stopped, or gone, and continues it after a while.
  void continue_later(pid_t host) {
    for (std::uint64_t until_us = now_us() + kProgramWaitMs * 1000ull; now_us() < until_us;) {
      for (const pid_t supervisor : children_of(host))
        for (const pid_t device : children_of(supervisor)) {
          if (!is_stopped(identify_process(static_cast<std::uint32_t>(device)))) continue;
          outcome_.hit = true;
          sleep_us(case_.stop_ms * 1000ull);
          ::kill(device, SIGCONT);
          return;
        }
      if (!is_alive(identify_process(static_cast<std::uint32_t>(host)))) return;
      sleep_us(1000);
    }
  }

  FaultOutcome judge_stopped(const ProgramEnd& end) {
    expect(end.signal == 0 && end.exit_code == 0, "run left with {} (signal {})", end.exit_code,
           end.signal);
    if (outcome_.problems.empty()) judge();
    check_nothing_left();
    return std::move(outcome_);
  }

  // What was refused while the device ran is counted; what was left in the region is recovered.
  FaultOutcome judge_full_disk(const ProgramEnd& end) {
    expect(end.signal == 0 && (end.exit_code == 5 || end.exit_code == 0),
           "run left with {} (signal {})", end.exit_code, end.signal);
    outcome_.hit = end.exit_code == 5;
    if (!fs::exists(run_)) {  // refused, and nothing is left
      wait_for_processes();
      return std::move(outcome_);
    }
    if (const auto report = read_run_report(run_); report && report->status == "running") {
      expect(fs::exists(region_path(report->run_id)), "the region is gone");
      const ProgramEnd recovered = run_bounded({audited_, "recover", run_});
      expect(recovered.signal == 0 && recovered.exit_code == 0, "recover left with {} (signal {})",
             recovered.exit_code, recovered.signal);
    }
    if (outcome_.problems.empty()) judge();
    check_nothing_left();
    return std::move(outcome_);
  }

  void recover() {
    if (!case_.recover_fault.empty()) {
      const ProgramEnd end =
          run_bounded({audited_, "recover", run_, "--inject", case_.recover_fault});
      expect(end.signal == SIGKILL || end.exit_code == 0, "first recover left with {} (signal {})",
             end.exit_code, end.signal);
    }
    const ProgramEnd end = run_bounded({audited_, "recover", run_});
    expect(end.signal == 0 && end.exit_code == 0, "recover left with {} (signal {})", end.exit_code,
           end.signal);
  }

  void judge() {
    auto report = read_run_report(run_);
    if (!expect(report.has_value(), "no readable run.json")) return;
    run_id_ = report->run_id;
    const auto checked = check_run(run_, {});
    if (!expect(checked.has_value(), "check: {}", checked ? "" : checked.error().message)) return;
    for (const auto& problem : checked->problems) {
      outcome_.problems.push_back("check: " + problem);
      outcome_.duplicates += problem.find("twice") != std::string::npos ? 1 : 0;
      outcome_.torn += problem.find("other bytes") != std::string::npos ? 1 : 0;
    }
    const bool ends_well = case_.point == kStopped || case_.point == kDiskFull;
    const std::string wanted = ends_well                            ? "ok"
                               : on_host(case_.point)               ? "recovered"
                               : case_.action == FaultAction::kHang ? "hang"
                                                                    : "device_fault";
    expect(report->status == wanted || (on_host(case_.point) && report->status != "running") ||
               (case_.point == kDiskFull && report->status == "recovered"),
           "status {} instead of {}", report->status, wanted);
    expect(on_host(case_.point) || ends_well || fs::exists(run_ + "/hang.txt"), "no hang.txt");
    for (const auto& lane : report->lanes) {
      const LaneCounts& counts = lane.counts;
      const std::uint64_t accepted = audit_.accepted(lane.lane);
      const std::uint64_t refused =
          case_.point == kDiskFull
              ? counts.dropped_by[static_cast<std::size_t>(DropReason::kFileError)]
              : 0;
      const std::uint64_t kept = counts.delivered + counts.recovered + counts.overwritten + refused;
      outcome_.recovered += counts.recovered;
      outcome_.found += counts.delivered + counts.recovered;
      outcome_.lost += accepted > kept ? accepted - kept : 0;
      expect(kept >= accepted, "lane {} ({}): {} accepted, {} found", lane.lane, lane.producer,
             accepted, kept);
      // One may be stored whose writer did not come to count it.
      const bool too_many = kept > accepted + 1;
      outcome_.duplicates += too_many ? 1 : 0;
      expect(!too_many, "lane {} ({}): {} accepted, but {} found", lane.lane, lane.producer,
             accepted, kept);
    }
    judge_spans();
  }

  // Spans say what a core can have done, each (task, kernel, block) once.
  void judge_spans() {
    auto run = RunCapture::open(run_);
    if (!expect(run.has_value() && run->runtime(), "the capture cannot be opened")) return;
    std::set<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>> seen;
    for (const LaneIndex lane : run->lanes_of(StreamId::kSwimlane)) {
      const UnitCounts units = run->runtime()->units();
      const std::uint32_t unit = run->lanes()[lane].unit;
      if (unit < units.core(0)) continue;  // of a scheduler
      RecordCursor cursor = run->records(lane);
      while (cursor.next()) {
        const auto span = cursor.as<TaskSpan>();
        const bool sane = units.core(span.core) == unit && span.begin_ticks > 0 &&
                          span.end_ticks >= span.begin_ticks &&
                          span.kernel < run->description().kernels.size() && span.task_id >> 32 < 4;
        outcome_.torn += sane ? 0 : 1;
        expect(sane, "lane {}: a span that nobody wrote", lane);
        const bool fresh = seen.emplace(span.task_id, span.kernel, span.block).second;
        outcome_.duplicates += fresh ? 0 : 1;
        expect(fresh, "lane {}: a span twice", lane);
      }
    }
  }

  void wait_for_processes() {
    const Reaped reaped = reap_all(kProcessesGoneMs);
    outcome_.leftovers += reaped.left.empty() ? 0 : 1;
    expect(reaped.left.empty(), "processes left: {}", reaped.left);
  }
  void check_nothing_left() {
    wait_for_processes();
    const bool left = run_id_ != 0 && fs::exists(region_path(run_id_));
    outcome_.leftovers += left ? 1 : 0;
    expect(!left, "{} is left", region_path(run_id_));
  }

  const FaultCase& case_;
  const std::string audited_;
  const std::string run_;
  const std::string log_;
  AuditWords audit_;
  FaultOutcome outcome_;
  std::uint64_t run_id_ = 0;
};

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
  return 40;  // of space
}

}  // namespace

std::string_view row_name(FaultPoint row) {
  if (row == kDiskFull) return "disk_full";
  if (row == kStopped) return "stopped";
  return kFaultPointNames[static_cast<std::uint32_t>(row)];
}

std::string fault_text(const FaultCase& the_case) {
  if (the_case.point == kDiskFull) return fmt::format("capture_limit={}", capture_limit(the_case));
  const char* action = the_case.action == FaultAction::kCrash  ? "crash"
                       : the_case.action == FaultAction::kKill ? "kill"
                       : the_case.action == FaultAction::kStop ? "stop"
                                                               : "hang";
  return fmt::format("{}@{}:{}", action,
                     row_name(the_case.point == kStopped ? the_case.stop_point : the_case.point),
                     the_case.count);
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
    made.stop_ms = static_cast<std::uint32_t>(pick(1000));  // the limit is 700
  }
  made.count = 1 + pick(usual_count(point == kStopped ? made.stop_point : point));
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
    const FaultAction actions[] = {FaultAction::kCrash, FaultAction::kKill, FaultAction::kHang};
    made.action = actions[pick(3)];
  }
  std::vector<std::string>& flags = made.run_flags;
  // A recovery by the run itself needs a device that went wrong.
  const char* programs[] = {"vector_example", "paged_attention --case Small2", "mixed_example",
                            "bgemm --case Small"};
  const std::string program = point == FaultPoint::kRecovery ? "crash_kernel" : programs[pick(4)];
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
  flags.insert(flags.end(), {"-p", made.platform, "--policy"});
  flags.push_back(std::string(some_drain ? "dump=" : "") + policies[name - kFaultPolicies]);
  flags.insert(flags.end(), {"--page-bytes", pages[pick(3)], "--scheduler-timeout-ms", kTimeoutMs,
                             "--dump-tensor", "--keep-pages", std::to_string(2 + pick(6))});
  if (pick(4) != 0) flags.push_back("--enable-l2-swimlane");
  if (pick(4) != 0 || some_drain) flags.push_back("--enable-dep-gen");
  if (pick(4) != 0) flags.push_back("--enable-scope-stats");
  const char* runtimes[] = {"tensormap_and_ringbuffer", "aicpu_build_graph", "host_build_graph"};
  const std::uint64_t runtime = pick(point != FaultPoint::kRecovery ? 3 : 2);
  flags.insert(flags.end(), {"--runtime", runtimes[runtime]});
  if (pick(4) == 0) flags.insert(flags.end(), {"--inject", "drain_slow=200"});
  return made;
}

FaultOutcome run_fault_case(FaultCase the_case, const std::string& audited,
                            const std::string& directory) {
  for (;;) {
    fs::remove_all(directory);
    fs::create_directories(directory);
    FaultOutcome outcome = FaultRun(the_case, audited, directory).run();
    if (outcome.hit || the_case.count == 1 || !outcome.problems.empty()) return outcome;
    the_case.count = the_case.count / 2;
  }
}

}  // namespace tidemark
