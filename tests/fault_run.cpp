// SPDX-License-Identifier: Apache-2.0
#include "tests/fault_run.h"

#include <signal.h>

#include <filesystem>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "tests/child_process.h"
#include "tests/run_audit.h"
#include "tidemark/analyze/check_run.h"
#include "tidemark/base/process_identity.h"
#include "tidemark/device/region_file.h"
#include "tidemark/run/output_directory.h"
#include "tidemark/run/run_capture.h"
#include "tidemark/schema/task_span.h"
#include "tidemark/session/recover.h"

namespace tidemark {
namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t kProgramWaitMs = 100'000;   // never reached by a program that is well
constexpr std::uint32_t kProcessesGoneMs = 30'000;  // nor this by its processes

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
    if (case_.point == kDiskFull) {
      judge_full_disk(end);
    } else {
      outcome_.fired = audit_.fired() > 0;
      outcome_.reached = audit_.reached(place_of(case_));
      const RightEnd right = right_end(case_, outcome_.fired);
      expect_end("run", end, right.exit_code, right.signal);
      if (right.signal != 0) recover();
      judge(right);
    }
    check_nothing_left();
    return std::move(outcome_);
  }

 private:
  template <class... Args>
  bool expect(bool holds, fmt::format_string<Args...> text, Args&&... args) {
    if (!holds) outcome_.problems.push_back(fmt::format(text, std::forward<Args>(args)...));
    return holds;
  }
  void expect_end(const char* program, const ProgramEnd& end, int exit_code, int signal = 0) {
    const int code = signal != 0 ? -1 : exit_code;
    expect(end.signal == signal && end.exit_code == code,
           "{} left with {} (signal {}), and the fault {}: right is {} (signal {})", program,
           end.exit_code, end.signal, audit_.fired() > 0 ? "fired" : "did not fire", code, signal);
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
          sleep_us(case_.stop_ms * 1000ull);
          ::kill(device, SIGCONT);
          return;
        }
      if (!is_alive(identify_process(static_cast<std::uint32_t>(host)))) return;
      sleep_us(1000);
    }
  }

  // The disk was full if the capture's writer was refused a chunk; it says so itself. Then the run
  // leaves with 5, and only then.
  void judge_full_disk(const ProgramEnd& end) {
    if (!fs::exists(run_)) {  // refused, and nothing is left
      outcome_.fired = true;
      expect_end("run", end, 5);
      expect(audit_.accepted_in_all() == 0, "{} accepted by a run that was refused",
             audit_.accepted_in_all());
      return;
    }
    const auto report = read_run_report(run_);
    if (!expect(report.has_value(), "no readable run.json")) return;
    const bool keeps_region = report->status == RunStatus::kRunning;
    outcome_.fired = audit_.refused() > 0;
    expect(outcome_.fired || !keeps_region, "the region was kept, and nothing was refused");
    if (keeps_region) {
      expect(fs::exists(region_path(report->run_id)), "the region is gone");
      expect_end("recover", run_bounded({audited_, "recover", run_}), 0);
    }
    const RunAudit audited = judge({.status = keeps_region ? "recovered" : "ok"}, true);
    expect(outcome_.fired || audited.refused == 0, "{} refused by a disk that had space",
           audited.refused);
    expect_end("run", end, outcome_.fired ? 5 : 0);
    expect(keeps_region || report->exit_code == (outcome_.fired ? 5 : 0),
           "run.json says exit code {}", report->exit_code);
  }

  void recover() {
    if (!case_.recover_fault.empty()) {
      const std::uint64_t before = audit_.fired();
      const ProgramEnd end =
          run_bounded({audited_, "recover", run_, "--inject", case_.recover_fault});
      const bool fired = audit_.fired() > before;
      ++outcome_.recover_faults;
      outcome_.recover_fired += fired;
      expect_end("first recover", end, 0, fired ? SIGKILL : 0);
    }
    expect_end("recover", run_bounded({audited_, "recover", run_}), 0);
  }

  RunAudit judge(const RightEnd& right, bool disk_full = false) {
    const auto report = read_run_report(run_);
    if (!expect(report.has_value(), "no readable run.json")) return {};
    run_id_ = report->run_id;
    expect(to_text(report->status) == right.status, "status {} instead of {}",
           to_text(report->status), right.status);
    if (!disk_full) {
      expect(report->exit_code == right.exit_code, "run.json says exit code {}", report->exit_code);
      expect((report->error ? report->error->code : 0) == right.error,
             "run.json has error {} instead of {}", report->error ? report->error->code : 0,
             right.error);
    }
    const bool stopped = right.error >= 100;
    expect(fs::exists(run_ + "/hang.txt") == stopped, "hang.txt is {}there", stopped ? "not " : "");
    const auto checked = check_run(run_, {});
    if (!expect(checked.has_value(), "check: {}", checked ? "" : checked.error().message))
      return {};
    for (const auto& problem : checked->problems) {
      outcome_.problems.push_back("check: " + problem);
      outcome_.torn += problem.find("other bytes") != std::string::npos ||
                       problem.find("malformed") != std::string::npos;
    }
    std::error_code code;
    outcome_.capture_bytes = fs::file_size(run_ + "/" + kCaptureFile, code);
    const RunAudit audited =
        audit_run(run_, *report, audit_, {.keep_pages = case_.keep_pages, .disk_full = disk_full});
    outcome_.found += audited.found;
    outcome_.recovered += audited.recovered;
    outcome_.overwritten += audited.overwritten;
    outcome_.lost += audited.lost;
    outcome_.twice += audited.twice;
    outcome_.torn += audited.torn;
    outcome_.incomplete += audited.incomplete;
    outcome_.problems.insert(outcome_.problems.end(), audited.problems.begin(),
                             audited.problems.end());
    judge_spans();
    return audited;
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
        outcome_.twice += fresh ? 0 : 1;
        expect(fresh, "lane {}: a span twice", lane);
      }
    }
  }

  void check_nothing_left() {
    const Reaped reaped = reap_all(kProcessesGoneMs);
    outcome_.leftovers += reaped.left.empty() ? 0 : 1;
    expect(reaped.left.empty(), "processes left: {}", reaped.left);
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

}  // namespace

FaultOutcome run_fault_case(const FaultCase& the_case, const std::string& audited,
                            const std::string& directory) {
  fs::remove_all(directory);
  fs::create_directories(directory);
  return FaultRun(the_case, audited, directory).run();
}

}  // namespace tidemark
