// SPDX-License-Identifier: Apache-2.0
// Test support: runs that are stopped, by the audited executable, and what they leave against the
// audit's counts.
#pragma once

#include <signal.h>

#include <fmt/ranges.h>

#include "tests/child_process.h"
#include "tests/dump_fixture.h"
#include "tests/run_audit.h"
#include "tidemark/run/run_report.h"

namespace tidemark {

class HangFixture : public DumpFixture {
 protected:
  static constexpr std::uint32_t kPatienceMs = 60'000;  // never reached by a run that is well

  pid_t start(const std::string& arguments, const char* executable = TIDEMARK_AUDITED) {
    return start_program(
        {"/bin/sh", "-c",
         fmt::format("cd '{}' && exec '{}' {}", directory_, executable, arguments)},
        path("log.txt"));
  }
  int finish(pid_t pid) {
    const auto end = wait_for(pid, kPatienceMs);
    if (!end) ::kill(pid, SIGKILL);
    EXPECT_TRUE(end) << "the run does not end";
    if (!end) return (void)wait_for(pid, kPatienceMs), -1;
    EXPECT_EQ(end->signal, 0) << read(path("log.txt"));
    return end->exit_code;
  }

  // Looks from outside until a core is in a kernel of this task and all that can be done before it
  // is done and counted: nothing moves any more. Its core; nothing: it never came.
  std::optional<unsigned> wait_until_stuck(const std::string& run, unsigned number) {
    const std::string task = fmt::format("t{}", number);
    const std::uint64_t end_us = now_us() + kPatienceMs * 1000ull;
    while (now_us() < end_us) {
      const Finished look = this->run(fmt::format("top {} --once --json", run));
      if (look.exit_code != 0 || !look.out.starts_with("{")) continue;  // not there yet
      const auto json = parse(look.out);
      if (!json["orchestration_done"].GetBool() || json["completed"].GetUint() != number) continue;
      for (const auto& core : json["cores"].GetArray())
        if (core["state"].GetString() == std::string("busy") && core["task"].GetString() == task)
          return core["core"].GetUint();
    }
    return std::nullopt;
  }

  void expect_check_passes(const std::string& run) {
    const Finished done = this->run("check " + run);
    EXPECT_EQ(done.exit_code, 0) << done.out << done.error;
  }

  // What was accepted is in the capture, with the content it was accepted with.
  RunAudit expect_everything_accepted(const RunReport& report, const AuditWords& audit,
                                      std::uint64_t at_least = 41) {
    const RunAudit audited = audit_run(path("r"), report, audit, {});
    EXPECT_EQ(fmt::format("{}", fmt::join(audited.problems, "\n")), "");
    EXPECT_EQ(audited.lost + audited.twice + audited.torn, 0u);
    EXPECT_GE(audited.accepted, at_least) << "nothing was counted";
    return audited;
  }

  // By the count of the audit. An open lane may hold one more.
  static std::uint64_t accepted_of(const std::string& stream, const RunReport& report,
                                   const AuditWords& audit) {
    std::uint64_t accepted = 0;
    for (const LaneReport& lane : report.lanes)
      if (lane.stream == stream) accepted += audit.accepted(lane.lane);
    return accepted;
  }
  static std::uint64_t open_lanes_of(const std::string& stream, const RunReport& report) {
    return static_cast<std::uint64_t>(std::count_if(
        report.lanes.begin(), report.lanes.end(),
        [&](const LaneReport& lane) { return lane.stream == stream && lane.state == "open"; }));
  }

  // How often a run that nobody kills comes to a point.
  std::uint64_t count_point(FaultPoint point, const std::string& arguments) {
    AuditWords audit(path("audit"));
    fs::remove_all(path("r"));
    EXPECT_EQ(finish(start(arguments + " --output-prefix r")), 0) << read(path("log.txt"));
    EXPECT_EQ(audit.fired(), 0u);
    return audit.reached(point);
  }

  // Kills the host where the fault says, by the plan's own word, and recovers the run.
  void kill_and_recover(const std::string& arguments, const std::string& fault,
                        const AuditWords& audit) {
    fs::remove_all(path("r"));
    const pid_t host = start(arguments + " --inject " + fault + " --output-prefix r");
    const auto end = wait_for(host, kPatienceMs);
    if (!end) ::kill(host, SIGKILL);
    ASSERT_TRUE(end) << "the run does not end";
    EXPECT_EQ(audit.fired(), 1u) << fault << " did not fire\n" << read(path("log.txt"));
    EXPECT_EQ(end->signal, SIGKILL) << read(path("log.txt"));
    run_ok("recover r");
    expect_check_passes("r");
    const auto report = read_run_report(path("r"));
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->status, RunStatus::kRecovered);
  }
};

}  // namespace tidemark
