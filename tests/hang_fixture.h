// SPDX-License-Identifier: Apache-2.0
// Test support: runs that are stopped, by the audited executable, and what they leave against the
// audit's counts.
#pragma once

#include <signal.h>

#include "tests/audit_words.h"
#include "tests/child_process.h"
#include "tests/dump_fixture.h"
#include "tidemark/session/run_report.h"

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

  // Looks from outside until a core is in a kernel of this task. Its core; nothing: it never came.
  std::optional<unsigned> wait_until_busy(const std::string& run, const std::string& task) {
    const std::uint64_t end_us = now_us() + kPatienceMs * 1000ull;
    while (now_us() < end_us) {
      const Finished look = this->run(fmt::format("top {} --once --json", run));
      if (look.exit_code != 0 || !look.out.starts_with("{")) continue;  // not there yet
      const auto json = parse(look.out);
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

  // What was accepted is in the capture; one may be stored whose writer did not come to count it.
  void expect_everything_accepted(const RunReport& report, const AuditWords& audit) {
    std::uint64_t accepted = 0;
    for (const LaneReport& lane : report.lanes) {
      const std::uint64_t kept = lane.counts.delivered + lane.counts.recovered;
      EXPECT_GE(kept, audit.accepted(lane.lane)) << lane.stream << " of " << lane.producer;
      EXPECT_LE(kept, audit.accepted(lane.lane) + 1) << lane.stream << " of " << lane.producer;
      accepted += audit.accepted(lane.lane);
    }
    EXPECT_GT(accepted, 40u) << "nothing was counted";
  }
};

}  // namespace tidemark
