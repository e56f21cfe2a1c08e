// SPDX-License-Identifier: Apache-2.0
#include "tests/kill_run.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

#include <filesystem>

#include <fmt/format.h>

#include "tests/child_process.h"
#include "tidemark/base/check.h"
#include "tidemark/base/unique_fd.h"
#include "tidemark/device/region_file.h"
#include "tidemark/session/stale_regions.h"
#include "tidemark/transport/region.h"

namespace tidemark {
namespace fs = std::filesystem;

namespace {

// Never reached where all is well: no verdict depends on how fast the machine is.
constexpr std::uint32_t kProgramWaitMs = 60'000;
constexpr std::uint32_t kProcessesGoneMs = 30'000;

// The producers' counters: a file of the test's own, which outlives every process of the run.
class AcceptedFile {
 public:
  AcceptedFile(const std::string& path, std::size_t words) : words_(words) {
    const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    TM_CHECK(fd.valid() && ::ftruncate(fd.get(), static_cast<off_t>(words * 8)) == 0);
    void* base = ::mmap(nullptr, words * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    TM_CHECK(base != MAP_FAILED);
    base_ = static_cast<std::uint64_t*>(base);
  }
  AcceptedFile(const AcceptedFile&) = delete;
  AcceptedFile& operator=(const AcceptedFile&) = delete;
  ~AcceptedFile() { ::munmap(base_, words_ * 8); }
  [[nodiscard]] std::span<const std::uint64_t> words() const { return {base_, words_}; }

 private:
  std::uint64_t* base_ = nullptr;
  std::size_t words_;
};

class CaseRun {
 public:
  CaseRun(const KillCase& the_case, std::string tidemark, const std::string& directory)
      : case_(the_case),
        tidemark_(std::move(tidemark)),
        base_(directory),
        run_(directory + "/run"),
        log_(directory + "/log.txt"),
        accepted_(directory + "/accepted", the_case.lanes * 2) {}

  CaseOutcome run() {
    const auto arguments = run_arguments(case_, tidemark_, run_, base_ + "/accepted");
    if (case_.moment == KillMoment::kCall)
      host_end_ = run_traced(arguments, log_, measured_stop()).end;
    else
      host_ = start_program(arguments, log_);
    if (case_.mode == KillMode::kDevice) {
      kill_device();
      judge(run_, outcome_.fate == KillFate::kHit ? "device_fault" : "ok");
    } else {
      kill_host();
      if (case_.mode == KillMode::kHost)
        recover(run_);
      else
        recover_with_kills();
      if (outcome_.fate != KillFate::kNeverBegan) judge(run_, wanted_status_);
    }
    expect(outcome_.fate == KillFate::kHit || case_.moment != KillMoment::kRunning,
           "a run of a minute was not hit");
    check_nothing_left();
    judge_device();
    return std::move(outcome_);
  }

 private:
  template <class... Args>
  bool expect(bool holds, fmt::format_string<Args...> text, Args&&... args) {
    if (!holds) outcome_.problems.push_back(fmt::format(text, std::forward<Args>(args)...));
    return holds;
  }

  // Counts the system calls of the same run when nobody kills it; the stop is one of those behind
  // the coming of its run.json.
  std::uint64_t measured_stop() {
    const std::string directory = base_ + "/measured";
    const AcceptedFile counts(base_ + "/measured_accepted", case_.lanes * 2);
    const TracedEnd measured =
        run_traced(run_arguments(case_, tidemark_, directory, base_ + "/measured_accepted"), log_,
                   kNoStop, directory + "/run.json");
    expect(measured.end.exit_code == 0 && measured.end.signal == 0 && measured.stops_before > 0,
           "a run that nobody killed left with {} (signal {})", measured.end.exit_code,
           measured.end.signal);
    return measured.stops_before + (measured.stops - measured.stops_before) * case_.part / 1000;
  }

  // A run is there to be found, or is over.
  void wait_for_report() {
    const std::uint64_t deadline_us = now_us() + kProgramWaitMs * 1000ull;
    while (!fs::exists(run_ + "/run.json") && now_us() < deadline_us)
      if ((host_end_ = wait_for(host_, 0))) return;
  }

  // The device process is the supervisor's child. 0: the run ended without one being seen.
  pid_t find_device() {
    pid_t supervisor = 0;
    const std::uint64_t deadline_us = now_us() + kProgramWaitMs * 1000ull;
    while (now_us() < deadline_us) {
      if (supervisor == 0)
        for (const pid_t child : children_of(host_)) supervisor = child;
      if (supervisor != 0)
        for (const pid_t child : children_of(supervisor)) return child;
      if ((host_end_ = wait_for(host_, 0))) return 0;
    }
    return 0;
  }

  void kill_device() {
    pid_t device = 0;
    if (case_.moment != KillMoment::kRunning) device = find_device();
    sleep_us(case_.delay_us);
    if (device == 0 && !host_end_) device = find_device();
    // Seen a moment ago, or in a run that lasts a minute: the pid is still the device's.
    if (device != 0) ::kill(device, SIGKILL);
    if (!host_end_) host_end_ = wait_for(host_, kProgramWaitMs);
    if (!expect(host_end_.has_value(), "the run does not end after its device was killed")) {
      ::kill(host_, SIGKILL);
      host_end_ = wait_for(host_, kProgramWaitMs);
    }
    // A device that ended by itself around the kill ends the run well; every other ends it with 3.
    const bool ended_well = host_end_->exit_code == 0 && (device == 0 || case_.records > 0);
    if (ended_well) outcome_.fate = KillFate::kTooLate;
    expect(ended_well || host_end_->exit_code == 3, "run left with {} (signal {})",
           host_end_->exit_code, host_end_->signal);
  }

  void kill_host() {
    if (case_.moment == KillMoment::kRunning || case_.moment == KillMoment::kTearDown)
      wait_for_report();
    if (!host_end_) {
      sleep_us(case_.delay_us);
      ::kill(host_, SIGKILL);
    }
    open_region();
    if (host_end_) return judge_host();
    if (case_.mode != KillMode::kHost || !case_.recover_at_once) collect_host();
  }

  void collect_host() {
    host_end_ = wait_for(host_, kProgramWaitMs);
    TM_CHECK(host_end_.has_value());
    judge_host();
  }

  void judge_host() {
    if (host_end_->signal != SIGKILL) {
      outcome_.fate = KillFate::kTooLate;
      expect(host_end_->exit_code == 0, "run left with {} before the kill", host_end_->exit_code);
    }
    if (!fs::exists(run_ + "/run.json")) outcome_.fate = KillFate::kNeverBegan;
    if (outcome_.fate == KillFate::kNeverBegan || recovered_) return;
    // A run that has its report keeps it; every other is recovered.
    const auto report = read_run_report(run_);
    if (expect(
            report && (report->status == RunStatus::kRunning || report->status == RunStatus::kOk),
            "a killed run left no run.json that says running or ok"))
      wanted_status_ = report->status == RunStatus::kOk ? "ok" : "recovered";
    expect(outcome_.fate == KillFate::kHit || wanted_status_ == "ok",
           "a run that was over has status {}", report ? to_text(report->status) : "");
  }

  // What the device process said last can be read also when the region has no name any more.
  void open_region() {
    const auto report = read_run_report(run_);
    if (!report || report->run_id == 0) return;
    region_ = UniqueFd(::open(region_path(report->run_id).c_str(), O_RDONLY | O_CLOEXEC));
  }

  // A device process that outlived its host ended by itself, or says that it was told. One that its
  // supervisor ended for being slow says neither: how many do is a floor of the campaign.
  void judge_device() {
    RegionDeviceWords words{};
    if (!region_.valid() || outcome_.fate != KillFate::kHit) return;
    if (::pread(region_.get(), &words, sizeof(words), offsetof(RegionHeader, device)) !=
            static_cast<ssize_t>(sizeof(words)) ||
        words.device_pid.load_relaxed() == 0)
      return;
    outcome_.told = words.host_gone.load_relaxed() != 0;
    outcome_.never_told = !outcome_.told && words.finish_ticks.load_relaxed() == 0;
  }

  void recover(const std::string& directory) {
    const ProgramEnd end = run_program({tidemark_, "recover", directory}, log_, kProgramWaitMs);
    recovered_ = true;
    if (!host_end_) collect_host();
    const int wanted = outcome_.fate == KillFate::kNeverBegan ? 2 : 0;
    expect(end.signal == 0 && end.exit_code == wanted, "recover left with {} (signal {})",
           end.exit_code, end.signal);
  }

  // The same killed run recovered twice, once without interruption; both must come to the same.
  void recover_with_kills() {
    if (outcome_.fate == KillFate::kNeverBegan) return recover(run_);
    std::uint64_t usual_us = 20'000, usual_stops = 0;
    const std::string through = base_ + "/through";
    if (!case_.recover_at_once) {
      wait_for_processes();
      const std::string region = region_path(read_run_report(run_)->run_id);
      const bool has_region = fs::exists(region);
      fs::copy(run_, through, fs::copy_options::recursive);
      if (has_region) fs::copy_file(region, base_ + "/region");
      const std::uint64_t begin_us = now_us();
      if (case_.recover_kills[0].where == RecoverKill::Where::kTime) {
        recover(through);
      } else {
        const auto traced = run_traced({tidemark_, "recover", through}, log_, kNoStop);
        expect(traced.end.exit_code == 0, "recover left with {}", traced.end.exit_code);
        usual_stops = traced.stops;
      }
      usual_us = now_us() - begin_us;
      if (has_region)
        fs::copy_file(base_ + "/region", region, fs::copy_options::overwrite_existing);
    }
    for (const auto& kill : case_.recover_kills) interrupt_recovery(kill, usual_us, usual_stops);
    recover(run_);
    if (case_.recover_at_once) return;
    outcome_.compared = 1;
    const auto report = read_run_report(run_);
    const auto other = read_run_report(through);
    if (!expect(report && other, "a recovered run has no readable run.json")) return;
    expect(report->status == other->status, "status {} after interruptions, {} without",
           to_text(report->status), to_text(other->status));
    audit_same(read_found(case_, run_, outcome_.problems), *report,
               read_found(case_, through, outcome_.problems), *other, outcome_.problems);
  }

  void interrupt_recovery(const RecoverKill& kill, std::uint64_t usual_us,
                          std::uint64_t usual_stops) {
    std::optional<ProgramEnd> end;
    if (kill.where == RecoverKill::Where::kTime) {
      const pid_t pid = start_program({tidemark_, "recover", run_}, log_);
      sleep_us(usual_us * kill.amount / 1000);
      ::kill(pid, SIGKILL);
      end = wait_for(pid, kProgramWaitMs);
      TM_CHECK(end.has_value());
    } else {
      const std::uint64_t stop = kill.where == RecoverKill::Where::kCall
                                     ? usual_stops * kill.amount / 1000
                                     : usual_stops - std::min(usual_stops, kill.amount);
      end = run_traced({tidemark_, "recover", run_}, log_, stop).end;
    }
    outcome_.recover_kills += end->signal == SIGKILL;
    expect(end->signal == SIGKILL || end->exit_code == 0, "recover left with {} before its kill",
           end->exit_code);
  }

  // What the files say, by the test's own reading and by `check`. An empty status: recovered or ok,
  // where nobody could look before the recovery.
  void judge(const std::string& directory, const std::string& status) {
    const ProgramEnd check = run_program({tidemark_, "check", directory}, log_, kProgramWaitMs);
    expect(check.signal == 0 && check.exit_code == 0, "check left with {} (signal {})",
           check.exit_code, check.signal);
    const auto report = read_run_report(directory);
    if (!expect(report.has_value(), "no readable run.json")) return;
    expect(status.empty()
               ? report->status == RunStatus::kRecovered || report->status == RunStatus::kOk
               : to_text(report->status) == status,
           "status {}", to_text(report->status));
    const int exit_code = report->status == RunStatus::kDeviceFault ? 3 : 0;
    expect(report->exit_code == exit_code, "run.json says exit code {}", report->exit_code);
    expect(report->region_path.empty(), "run.json still names a region");
    const CaptureFound found = read_found(case_, directory, outcome_.problems);
    audit_accepted(case_, found, *report, accepted_.words(), outcome_.problems);
    for (std::size_t i = 0; i < found.lanes.size(); ++i)
      (i < case_.lanes ? outcome_.records_found : outcome_.frames_found) += found.lanes[i].count;
    outcome_.incomplete += report->total().incomplete;
    run_id_ = report->run_id;
  }

  void wait_for_processes() {
    const Reaped reaped = reap_all(kProcessesGoneMs);
    outcome_.process_wait_ms = std::max(outcome_.process_wait_ms, reaped.waited_ms);
    expect(reaped.left.empty(), "processes left: {}", reaped.left);
  }

  void check_nothing_left() {
    wait_for_processes();
    if (run_id_ != 0) expect(!fs::exists(region_path(run_id_)), "{} is left", region_path(run_id_));
    for (const auto& region : list_regions())
      expect(region.run_directory != fs::absolute(run_).string(), "{} is left", region.path);
  }

  const KillCase& case_;
  const std::string tidemark_;
  const std::string base_;
  const std::string run_;
  const std::string log_;
  AcceptedFile accepted_;
  UniqueFd region_;
  std::string wanted_status_;  // empty: it was recovered before anybody could look
  bool recovered_ = false;
  CaseOutcome outcome_;
  pid_t host_ = 0;
  std::optional<ProgramEnd> host_end_;
  std::uint64_t run_id_ = 0;
};

}  // namespace

CaseOutcome run_case(const KillCase& the_case, const std::string& tidemark,
                     const std::string& directory) {
  fs::create_directories(directory);
  return CaseRun(the_case, tidemark, directory).run();
}

}  // namespace tidemark
