// SPDX-License-Identifier: Apache-2.0
// Findings: what comes first where a host was killed, and how times are written.
#include <gtest/gtest.h>

#include "tidemark/tiles/findings.h"

namespace tidemark {
namespace {

RunFacts with_status(RunStatus status) {
  RunFacts facts;
  facts.status = status;
  return facts;
}

TEST(Findings, OfAKilledRunBeginWithTheKill) {
  RunFacts facts = with_status(RunStatus::kRecovered);
  facts.losses = {{.stream = "edges", .reason = "host_gone", .lost = 3}};
  EXPECT_TRUE(find_findings(facts).at(0).text.starts_with("The host was killed;"));
  EXPECT_EQ(find_findings(facts).at(1).severity, Severity::kWarn);
  facts.losses[0].reason = "no_page";
  EXPECT_EQ(find_findings(facts).at(0).severity, Severity::kBad);
  EXPECT_TRUE(find_findings(facts).at(0).text.starts_with("3 records"));
}

TEST(Findings, SayThatThePathIsOfAGraphWithHoles) {
  RunFacts facts = with_status(RunStatus::kOk);
  facts.path = PathFact{.path = {.steps = {}, .length_ns = 4e6, .orchestrator_ns = 4e6}};
  EXPECT_TRUE(find_findings(facts).at(0).text.starts_with("Critical path of 4.00 ms: 100 %"));
  EXPECT_EQ(find_findings(facts).at(0).severity, Severity::kWarn);
  facts.path->complete = false;
  EXPECT_TRUE(find_findings(facts).at(0).text.starts_with(
      "Critical path of 4.00 ms, in a graph that was not recorded whole: 100 %"));
  EXPECT_EQ(find_findings(facts).at(0).severity, Severity::kNote);
}

TEST(Findings, WriteTimesWithThreeDigits) {
  RunFacts facts = with_status(RunStatus::kOk);
  const auto longest = [&](double ns) {
    facts.kernel = KernelFact{.name = "k", .blocks = 1, .mean_ns = 1, .most_ns = ns};
    const std::string text = find_findings(facts).at(0).text;
    return text.substr(text.find("longest ") + 8);
  };
  EXPECT_EQ(longest(0), "0 ns.");
  EXPECT_EQ(longest(7), "7.00 ns.");
  EXPECT_EQ(longest(999), "999 ns.");
  EXPECT_EQ(longest(12'340), "12.3 µs.");
  EXPECT_EQ(longest(4'000'000), "4.00 ms.");
  EXPECT_EQ(longest(2.5e12), "2500 s.");
}

}  // namespace
}  // namespace tidemark
