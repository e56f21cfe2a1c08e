// SPDX-License-Identifier: Apache-2.0
// A host that is killed with all streams on: wherever the kill comes, recovery leaves a sound run
// with everything that was accepted, by the run's own count, and artifacts that can be read.
#include "tests/hang_fixture.h"

namespace tidemark {
namespace {

class KilledStreams : public HangFixture {
 protected:
  void expect_artifacts(const RunReport& report, const AuditWords& audit) {
    const auto lines = lines_of("r/scope_stats/scope_stats.jsonl");
    ASSERT_FALSE(lines.empty());
    EXPECT_TRUE(lines[0]["fatal"].GetBool());
    const std::uint64_t scopes = accepted_of("scopes", report, audit);
    EXPECT_GE(lines.size() - 1, scopes);
    EXPECT_LE(lines.size() - 1, scopes + open_lanes_of("scopes", report));
    const auto swimlane = json_of("r/l2_swimlane_records.json");
    EXPECT_LE(swimlane["tasks"].Size(), report.tasks.submitted);
    tasks_ += swimlane["tasks"].Size();
    EXPECT_GT(json_of("r/deps.json")["tasks"].Size(), 0u);
    run_ok("scopes r");
    run_ok("swimlane r --perfetto r/t.pftrace");
  }

  std::uint64_t tasks_ = 0;  // of the run's artifact
};

TEST_F(KilledStreams, AKilledHostLeavesThemToRecovery) {
  for (const char* platform : {"sim", "a5sim"}) {
    const std::string command = fmt::format(
        "run paged_attention --case VarSeq4 -p {} --page-bytes 4096 {}", platform, kAllStreams);
    const std::uint64_t pages = count_point(FaultPoint::kDrain, command);
    ASSERT_GE(pages, 16u);
    for (const std::string& fault :
         {std::string("kill@drain:1"), fmt::format("kill@drain:{}", pages / 4),
          fmt::format("kill@drain:{}", pages / 2), std::string("kill@export:2")}) {
      SCOPED_TRACE(fmt::format("{} on {}", fault, platform));
      AuditWords audit(path("audit"));
      kill_and_recover(command, fault, audit);
      if (HasFatalFailure()) return;
      const auto report = read_run_report(path("r"));
      const RunAudit audited = expect_everything_accepted(*report, audit);
      if (fault.starts_with("kill@drain")) {
        EXPECT_GT(audited.recovered, 0u);
      }
      tasks_ = 0;
      expect_artifacts(*report, audit);
      // A device whose host is gone while the graph is built may leave before it has run anything.
      EXPECT_TRUE(tasks_ > 0 || fault.starts_with("kill@drain"));
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace tidemark
