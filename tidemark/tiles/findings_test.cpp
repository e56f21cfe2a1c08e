// SPDX-License-Identifier: Apache-2.0
// Findings, sentence by sentence, from facts that were made up here.
#include "tidemark/tiles/findings.h"

#include <gtest/gtest.h>

#include "tidemark/schema/error_code.h"

namespace tidemark {
namespace {

// Of a run that ended well, lost nothing and recorded nothing.
RunFacts good() {
  RunFacts facts;
  facts.status = RunStatus::kOk;
  return facts;
}

std::vector<std::string> texts(const RunFacts& facts) {
  std::vector<std::string> texts;
  for (const Finding& finding : find_findings(facts)) texts.push_back(finding.text);
  return texts;
}

// The one that begins so; a test of what is said says the whole sentence.
Finding find(const RunFacts& facts, std::string_view begin) {
  for (const Finding& finding : find_findings(facts))
    if (finding.text.starts_with(begin)) return finding;
  ADD_FAILURE() << "no finding begins with " << begin;
  return {};
}

ResourceUse limit(std::uint64_t peak) {
  return {.resource = "dependency pool",
          .ring = 2,
          .peak = peak,
          .capacity = 1000,
          .site = "a.h:83",
          .flag = "--ring-dep-pool"};
}

PathFact path(double execution, double core_wait, double scheduler, double orchestrator) {
  PathFact fact;
  fact.path = {.steps = {},
               .length_ns = execution + core_wait + scheduler + orchestrator,
               .execution_ns = execution,
               .core_wait_ns = core_wait,
               .scheduler_ns = scheduler,
               .orchestrator_ns = orchestrator};
  fact.link = {.task = 7, .track = 3, .time = 99};
  return fact;
}

TEST(Findings, SayThatThereIsNothingToSay) {
  EXPECT_EQ(texts(good()), std::vector<std::string>{
                               "Nothing was lost; producers waited for the recorder 0 % of the "
                               "time."});
  RunFacts facts = good();
  facts.produced = 556'689;
  facts.stall_share = 0.002;
  const Finding finding = find_findings(facts).at(0);
  EXPECT_EQ(finding.text,
            "Nothing was lost: all 556,689 records are here; producers waited for the recorder "
            "0.2 % of the time.");
  EXPECT_EQ(finding.severity, Severity::kNote);
  facts.produced = 1;
  EXPECT_TRUE(texts(facts)[0].starts_with("Nothing was lost: the one record is here;"));
}

TEST(Findings, OfAHangNameTheStuckTask) {
  RunFacts facts = good();
  facts.status = RunStatus::kHang;
  facts.error = RunError{.code = 100, .name = "SCHEDULER_TIMEOUT", .message = "another text"};
  facts.hang = HangFact{.hang_class = "running stalled",
                        .sentence = "core 1 has been in kernel `x` of task t12 for 11.4 s",
                        .link = {.panel = "hang", .task = 12, .track = 4, .site = "a.h:59"}};
  const Finding first = find_findings(facts).at(0);
  EXPECT_EQ(first.text, "The run hung: core 1 has been in kernel `x` of task t12 for 11.4 s.");
  EXPECT_EQ(first.severity, Severity::kBad);
  EXPECT_EQ(first.link.panel, "hang");
  EXPECT_EQ(first.link.task, 12u);
  EXPECT_EQ(first.link.site, "a.h:59");
  facts.hang.reset();
  EXPECT_EQ(texts(facts)[0], "The run hung: another text (100 SCHEDULER_TIMEOUT).");
  facts.error.reset();
  facts.tasks = {.submitted = 1800, .completed = 12};
  EXPECT_EQ(texts(facts)[0], "The run hung; 12 of 1,800 tasks are complete.");
}

TEST(Findings, OfAFatalErrorHaveItsHintAndTheScope) {
  RunFacts facts = good();
  facts.status = RunStatus::kFatal;
  facts.error = RunError{.code = 2,
                         .name = "HEAP_RING_DEADLOCK",
                         .message = "the heap of ring 0 is full",
                         .hint = "--ring-heap 512 gives twice the room.",
                         .culprit = Culprit{.scope = "a.h:31"}};
  facts.hang = HangFact{.link = {.panel = "hang", .task = 0}};
  const Finding first = find_findings(facts).at(0);
  EXPECT_EQ(first.text,
            "The program could not go on: the heap of ring 0 is full; --ring-heap 512 gives twice "
            "the room (2 HEAP_RING_DEADLOCK).");
  EXPECT_EQ(first.severity, Severity::kBad);
  EXPECT_EQ(first.link.panel, "scopes");
  EXPECT_EQ(first.link.site, "a.h:31");
  EXPECT_FALSE(first.link.task) << "the scope is what to look at";
}

TEST(Findings, SayHowEveryOtherRunEnded) {
  RunFacts facts = good();
  const auto first = [&](RunStatus status) {
    facts.status = status;
    return find_findings(facts).at(0);
  };
  facts.result = "3 of 10 elements differ";
  EXPECT_EQ(first(RunStatus::kMismatch).text, "The results differ: 3 of 10 elements differ.");
  EXPECT_EQ(first(RunStatus::kMismatch).severity, Severity::kBad);
  EXPECT_EQ(first(RunStatus::kMismatch).link.panel, "graph");
  facts.has_dump = true;
  EXPECT_EQ(first(RunStatus::kMismatch).link.panel, "tensors");
  facts.error = RunError{.code = 102, .name = "DEVICE_FAULT", .message = "signal 11"};
  EXPECT_EQ(first(RunStatus::kDeviceFault).text,
            "The device crashed: signal 11 (102 DEVICE_FAULT).");
  EXPECT_EQ(first(RunStatus::kInterrupted).text,
            "The run was interrupted by a signal; 0 of 0 tasks are complete.");
  EXPECT_EQ(first(RunStatus::kInterrupted).severity, Severity::kWarn);
  EXPECT_EQ(first(RunStatus::kRecovered).severity, Severity::kWarn);
  EXPECT_TRUE(first(RunStatus::kRunning).text.starts_with("The run is still going on"));
  EXPECT_EQ(first(RunStatus::kRunning).severity, Severity::kNote);
  for (const RunStatus status : {RunStatus::kMissing, RunStatus::kUnknown})
    EXPECT_EQ(first(status).text, "How the run ended is not known: its host never wrote it down.");
  EXPECT_EQ(first(RunStatus::kOk).text.substr(0, 16), "Nothing was lost");
}

TEST(Findings, NameEveryLossAndWhetherItWasAllowed) {
  RunFacts facts = good();
  facts.losses = {{.stream = "edges",
                   .reason = "no_page",
                   .lost = 37,
                   .places = 2,
                   .producer = "orchestrator",
                   .expected = true,
                   .link = {.track = 9, .time = 55}},
                  {.stream = "swimlane", .reason = "overwritten", .lost = 1, .expected = true},
                  {.stream = "dump", .reason = "missing", .lost = 4000}};
  const auto found = find_findings(facts);
  ASSERT_EQ(found.size(), 3u) << "and not that nothing was lost";
  EXPECT_EQ(found[0].text, "4,000 records of the dump stream are missing and nothing says why.");
  EXPECT_EQ(found[0].severity, Severity::kBad);
  EXPECT_EQ(found[1].text,
            "37 records of the edges stream were dropped (no page was free) in 2 places, "
            "most by orchestrator.");
  EXPECT_EQ(found[1].severity, Severity::kWarn);
  EXPECT_EQ(found[1].link.track, 9u);
  EXPECT_EQ(found[1].link.time, 55u);
  EXPECT_EQ(found[2].text, "1 record of the swimlane stream was overwritten by newer ones.");
}

TEST(Findings, GatherLossesThatAreMany) {
  RunFacts facts = good();
  for (std::uint64_t i = 0; i < 5; ++i)
    facts.losses.push_back({.stream = "s" + std::to_string(i),
                            .reason = "aborted",
                            .lost = 100 - i,
                            .expected = true});
  facts.losses.back().expected = false;
  const auto found = find_findings(facts);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_TRUE(found[0].text.starts_with("96 records of the s4 stream"));
  EXPECT_TRUE(found[1].text.starts_with("100 records of the s0 stream"));
  EXPECT_EQ(found[2].text, "294 records of other streams or for other reasons were lost, too.");
  EXPECT_EQ(found[2].severity, Severity::kWarn);
  facts.losses.clear();
  facts.loss_known = false;
  EXPECT_EQ(texts(facts), std::vector<std::string>{
                              "What was lost is not known: the shared memory was gone before it "
                              "could be read."});
}

NanFact nan_fact() {
  return {.task_id = std::uint64_t{1} << 32 | 4,
          .kernel = "soft<max>",
          .arg = 3,
          .role = "output",
          .site = "nan.h:48",
          .count = 1,
          .elements = 1024,
          .clean_inputs = {0},
          .tasks_wrote = 1,
          .link = {.panel = "tensors", .row = 19}};
}

TEST(Findings, SayWhoMadeTheFirstNan) {
  RunFacts facts = good();
  facts.nan = nan_fact();
  const Finding found = find_findings(facts).at(0);
  EXPECT_EQ(found.text,
            "The first NaN was made by `soft<max>` of task r1t4 (nan.h:48): 1 of 1,024 elements in "
            "argument 3 (output); what it read (argument 0) was clean.");
  EXPECT_EQ(found.severity, Severity::kBad);
  EXPECT_EQ(found.link.row, 19u);
  facts.nan->clean_inputs = {0, 1, 2};
  facts.nan->tasks_wrote = 4;
  facts.nan->site.clear();
  EXPECT_EQ(texts(facts)[0],
            "The first NaN was made by `soft<max>` of task r1t4: 1 of 1,024 elements in argument 3 "
            "(output); what it read (arguments 0, 1 and 2) was clean; 4 tasks wrote one in all.");
  facts.nan->clean_inputs.clear();
  EXPECT_NE(texts(facts)[0].find("; it read no tensor, or none was dumped;"), std::string::npos);
  facts.nan->is_nan = false;
  EXPECT_TRUE(texts(facts)[0].starts_with("The first infinity was made by"));
  EXPECT_EQ(find_findings(facts)[0].severity, Severity::kWarn);
}

TEST(Findings, BlameNobodyForANanThatWasThereBefore) {
  RunFacts facts = good();
  facts.nan = nan_fact();
  facts.nan->made = false;
  facts.nan->before = true;
  facts.nan->role = "inout";
  facts.nan->tasks_wrote = 0;
  const Finding unwritten = find(facts, "No task made");
  EXPECT_EQ(unwritten.text,
            "No task made a NaN; the first was there before `soft<max>` of task r1t4 (nan.h:48) "
            "ran: 1 of 1,024 elements in argument 3 (inout); no task wrote one.");
  EXPECT_EQ(unwritten.severity, Severity::kNote);
  facts.nan->tasks_wrote = 2;
  const Finding handed_on = find(facts, "No task made");
  EXPECT_TRUE(
      handed_on.text.ends_with("; 2 tasks had one in what they wrote, and in what they read."));
  EXPECT_EQ(handed_on.severity, Severity::kNote) << "the results are as they should be";
  facts.status = RunStatus::kMismatch;
  EXPECT_EQ(find(facts, "No task made a NaN").severity, Severity::kWarn);
  facts.nan->is_nan = false;
  EXPECT_EQ(find(facts, "No task made an infinity").severity, Severity::kNote);
  facts.nan->before = false;
  EXPECT_TRUE(find(facts, "No task made an infinity of clean inputs; the first is in what")
                  .text.ends_with("had one in what they wrote, and in what they read."));
}

TEST(Findings, BlameTheLargestPartOfTheCriticalPath) {
  RunFacts facts = good();
  facts.path = path(1e6, 235e6, 8e6, 756e6);
  Finding found = find(facts, "Critical path");
  EXPECT_EQ(found.text,
            "Critical path of 1.00 s: 76 % orchestrator, 24 % waiting for a core, 0.8 % "
            "scheduler, 0.1 % execution; submits come too late: give each task more work, or "
            "submit earlier what the path waits for.");
  EXPECT_EQ(found.severity, Severity::kWarn);
  EXPECT_EQ(found.link.task, 7u);
  EXPECT_EQ(found.link.track, 3u);
  facts.limit = limit(950);
  EXPECT_TRUE(find(facts, "Critical path")
                  .text.ends_with("; the dependency pool of ring 2 was full: raise "
                                  "--ring-dep-pool."));
  facts.limit = limit(900);
  EXPECT_NE(find(facts, "Critical path").text.find("submits come too late"), std::string::npos);
  facts.path = path(1, 97, 1, 1);
  EXPECT_TRUE(find(facts, "Critical path").text.ends_with("more cores or shorter kernels help."));
  facts.path = path(1, 1, 97, 1);
  EXPECT_TRUE(find(facts, "Critical path").text.ends_with("give each more work."));
  facts.path = path(97, 1, 1, 1);
  found = find(facts, "Critical path");
  EXPECT_TRUE(found.text.ends_with("; faster kernels shorten the run."));
  EXPECT_EQ(found.severity, Severity::kNote) << "this is what a run should do";
  facts.path->kernel = "qk";
  facts.path->kernel_share = 0.8;
  EXPECT_TRUE(find(facts, "Critical path")
                  .text.ends_with("; 80 % of it in `qk`: a faster one shortens the run."));
  facts.path = path(0, 0, 0, 0);
  EXPECT_EQ(texts(facts).size(), 2u) << "a path of no length says nothing";
}

TEST(Findings, NameTheLimitAndItsFlag) {
  RunFacts facts = good();
  facts.limit = limit(1000);
  Finding found = find(facts, "Closest");
  EXPECT_EQ(found.text,
            "Closest to its limit: the dependency pool of ring 2 (1,000 of 1,000, 100.00 %), in "
            "the scope at a.h:83; raise --ring-dep-pool.");
  EXPECT_EQ(found.severity, Severity::kWarn);
  EXPECT_EQ(found.link.panel, "scopes");
  EXPECT_EQ(found.link.site, "a.h:83");
  facts.limit = limit(10);
  found = find(facts, "Closest");
  EXPECT_TRUE(
      found.text.ends_with("(10 of 1,000, 1.00 %), in the scope at a.h:83; set by "
                           "--ring-dep-pool."));
  EXPECT_EQ(found.severity, Severity::kNote);
  facts.limit = limit(0);
  EXPECT_EQ(texts(facts).size(), 1u) << "nothing was used";
}

TEST(Findings, SayHowLongCoresStarved) {
  RunFacts facts = good();
  facts.starvation = {{.type = CoreType::kAic, .core_ns = 2e9, .share = 0.3},
                      {.type = CoreType::kAiv, .core_ns = 5e3, .share = 0.06}};
  Finding found = find(facts, "Cores were idle");
  EXPECT_EQ(
      found.text,
      "Cores were idle although a task was ready: AIC cores for 30 % of their time (2.00 s in "
      "all), AIV cores for 6 % of their time (5.00 µs in all); a dispatch takes long beside "
      "the tasks.");
  EXPECT_EQ(found.severity, Severity::kWarn);
  facts.starvation[0].share = 0.04;
  found = find(facts, "Cores were idle");
  EXPECT_EQ(found.text.find("AIC"), std::string::npos);
  EXPECT_EQ(found.severity, Severity::kNote);
  facts.starvation[1].share = 0.04;
  EXPECT_EQ(texts(facts).size(), 1u);
}

TEST(Findings, SayWhatRecordingCost) {
  RunFacts facts = good();
  facts.produced = 5;
  facts.stall_share = 0.722;
  facts.stall_link = {.track = 8, .time = 77};
  const auto found = find_findings(facts);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].text,
            "Recording slowed the run: producers waited for the recorder 72 % of the time; record "
            "less, or raise --pool-bytes or --drain-threads.");
  EXPECT_EQ(found[0].severity, Severity::kWarn);
  EXPECT_EQ(found[0].link.time, 77u);
  EXPECT_EQ(found[1].text, "Nothing was lost: all 5 records are here.") << "said once";
  facts.stall_share = 0.05;
  EXPECT_EQ(find(facts, "Recording").severity, Severity::kNote);
}

TEST(Findings, NameTheKernelWithTheMostTime) {
  RunFacts facts = good();
  facts.kernel = KernelFact{.name = "q\"k",
                            .share = 0.613,
                            .blocks = 8192,
                            .mean_ns = 111'500,
                            .most_ns = 3'462'900,
                            .link = {.task = 3}};
  const Finding found = find_findings(facts).at(0);
  EXPECT_EQ(found.text,
            "`q\"k` takes 61 % of the time in kernels: 8,192 blocks of 112 µs on average, the "
            "longest 3.46 ms.");
  EXPECT_EQ(found.link.task, 3u);
}

TEST(Findings, HandOnTheWarningsOfTheRun) {
  RunFacts facts = good();
  facts.limit = limit(10);
  facts.warnings = {{.code = static_cast<std::uint32_t>(ErrorCode::kRingBufferBackpressure),
                     .name = "RING_BUFFER_BACKPRESSURE",
                     .message = "held back for 84 % of the run",
                     .hint = "raise it"},
                    {.name = "DUMP_SKIPPED", .message = "3 tasks were not dumped"}};
  const auto found = find_findings(facts);
  EXPECT_EQ(found.at(0).text,
            "Held back for 84 % of the run; raise it (20 RING_BUFFER_BACKPRESSURE).");
  EXPECT_EQ(found[0].link.panel, "scopes");
  EXPECT_EQ(found[0].link.site, "a.h:83");
  EXPECT_EQ(found.at(1).text, "3 tasks were not dumped (DUMP_SKIPPED).");
  EXPECT_EQ(found[1].link.panel, "timeline");
  EXPECT_TRUE(find(facts, "Closest to its limit").text.ends_with("set by --ring-dep-pool."));
  facts.warnings[0].message += ", longest by the dependency pool of ring 2";
  for (const std::string& text : texts(facts))
    EXPECT_FALSE(text.starts_with("Closest")) << "the warning has said it";
}

TEST(Findings, AreSevenAtMostAndTheWorstFirst) {
  RunFacts facts = good();
  facts.status = RunStatus::kMismatch;
  facts.kernel = KernelFact{.name = "k", .share = 1, .blocks = 1};
  facts.limit = limit(10);
  facts.path = path(0, 0, 0, 1e6);
  facts.stall_share = 0.5;
  facts.starvation = {{.type = CoreType::kAiv, .core_ns = 1, .share = 0.5}};
  facts.losses = {{.stream = "edges", .reason = "aborted", .lost = 3}};
  facts.nan = nan_fact();
  facts.warnings = {{.name = "W", .message = "m"}};
  const auto found = find_findings(facts);
  ASSERT_EQ(found.size(), kFindingsMax);
  const char* begins[] = {"The results", "3 records",       "The first NaN",   "M (W)",
                          "Critical",    "Cores were idle", "Recording slowed"};
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(found[i].text.starts_with(begins[i])) << found[i].text;
    EXPECT_EQ(found[i].severity, i < 3 ? Severity::kBad : Severity::kWarn) << found[i].text;
  }
}

TEST(Findings, OfNonsenseAreStillSentences) {
  RunFacts facts = good();
  facts.path = path(-1, std::numeric_limits<double>::quiet_NaN(), 1, 2);
  facts.stall_share = std::numeric_limits<double>::quiet_NaN();
  facts.starvation = {{.share = std::numeric_limits<double>::quiet_NaN()}};
  facts.kernel =
      KernelFact{.blocks = 1, .mean_ns = std::numeric_limits<double>::infinity(), .most_ns = -1};
  for (const std::string& text : texts(facts)) EXPECT_TRUE(text.ends_with(".")) << text;
}

}  // namespace
}  // namespace tidemark
