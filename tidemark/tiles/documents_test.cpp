// SPDX-License-Identifier: Apache-2.0
// The documents of runs that ended in every way, against what was written: figures by a naive count
// over the records, every loss, and names that look like markup.
#include "tidemark/tiles/documents.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "tidemark/tiles/testing/documented_run.h"

namespace tidemark {
namespace {

using samples::all_streams;
using samples::document;
using samples::DocumentedRun;
using samples::HandCapture;
using samples::kLaunchTicks;
using samples::report_of;

using Texts = std::vector<std::string>;

Texts findings_of(const DocumentedRun& made) {
  Texts texts;
  const auto overview = made.tiles.json("doc/overview");
  for (const auto& finding : overview["findings"].GetArray())
    texts.emplace_back(finding["text"].GetString());
  return texts;
}

// Spans on all cores, and what an independent count makes of them.
struct Spans {
  struct Sum {
    std::uint64_t count = 0, total = 0, least = ~std::uint64_t{0}, most = 0;
  };
  std::map<std::string, Sum> by_kernel;
  std::map<LaneIndex, std::uint64_t> lost;

  explicit Spans(HandCapture& capture, double lost_share, std::uint64_t seed = 1) {
    std::mt19937_64 random(seed);
    const char* names[] = {"add", "mul", "exp"};
    for (std::uint16_t core = 0; core < 3; ++core) {
      std::uint64_t now = kLaunchTicks;
      for (std::uint64_t i = 0; i < 500; ++i) {
        TaskSpan span{.task_id = i,
                      .begin_ticks = now + random() % 50,
                      .kernel = static_cast<std::uint16_t>(random() % 3),
                      .core = core};
        now = span.end_ticks = span.begin_ticks + random() % 1000;
        const LaneIndex lane = capture.lanes().spans(core);
        if (std::uniform_real_distribution<double>(0, 1)(random) < lost_share) {
          capture.lose(lane);
          ++lost[lane];
          continue;
        }
        capture.write(lane, span);
        Sum& sum = by_kernel[names[span.kernel]];
        const std::uint64_t length = span.end_ticks - span.begin_ticks;
        ++sum.count;
        sum.total += length;
        sum.least = std::min(sum.least, length);
        sum.most = std::max(sum.most, length);
      }
    }
  }
};

TEST(Documents, HaveTheTimesOfEveryKernel) {
  HandCapture capture(all_streams());
  const Spans spans(capture, 0);
  const RunReport report = report_of(RunStatus::kOk);
  const DocumentedRun made = document(capture, {}, &report);
  const auto overview = made.tiles.json("doc/overview");
  ASSERT_EQ(overview["kernels"].Size(), spans.by_kernel.size());
  double before = HUGE_VAL;
  for (const auto& kernel : overview["kernels"].GetArray()) {
    const Spans::Sum& sum = spans.by_kernel.at(kernel["name"].GetString());
    EXPECT_EQ(kernel["count"].GetUint64(), sum.count);
    EXPECT_EQ(kernel["total_ns"].GetDouble(), static_cast<double>(sum.total));
    EXPECT_EQ(kernel["least_ns"].GetDouble(), static_cast<double>(sum.least));
    EXPECT_EQ(kernel["most_ns"].GetDouble(), static_cast<double>(sum.most));
    EXPECT_LE(kernel["total_ns"].GetDouble(), before) << "most time first";
    before = kernel["total_ns"].GetDouble();
  }
  std::uint64_t most = 0;
  for (const auto& [name, sum] : spans.by_kernel) most = std::max(most, sum.most);
  const auto& slowest = overview["slowest"][0];
  EXPECT_EQ(slowest["end"].GetUint64() - slowest["start"].GetUint64(), most);
  EXPECT_EQ(overview["losses"].Size(), 0u);
  EXPECT_EQ(findings_of(made).back(),
            "Nothing was lost: all 1,500 records are here; producers waited for the recorder 0 % "
            "of the time.");
}

TEST(Documents, ListEveryLossWithItsPlace) {
  HandCapture capture(all_streams());
  const Spans spans(capture, 0.1);
  const RunReport report = report_of(RunStatus::kOk);
  const DocumentedRun made = document(capture, {}, &report);
  const auto overview = made.tiles.json("doc/overview");
  std::map<LaneIndex, std::uint64_t> lost;
  std::uint64_t all = 0;
  for (const auto& loss : overview["losses"].GetArray()) {
    const auto lane = static_cast<LaneIndex>(loss["lane"].GetUint());
    lost[lane] += loss["lost"].GetUint64();
    all += loss["lost"].GetUint64();
    EXPECT_STREQ(loss["stream"].GetString(), "swimlane");
    EXPECT_STREQ(loss["reason"].GetString(), "no_page");
    EXPECT_EQ(loss["track"].GetUint64(), 3 + lane);
    EXPECT_TRUE(loss["from"].IsUint64() && loss["to"].IsUint64());
  }
  EXPECT_EQ(lost, spans.lost);
  EXPECT_EQ(overview["losses_left_out"].GetUint64(), 0u);
  const std::string first = findings_of(made).at(0);
  EXPECT_TRUE(first.starts_with(std::to_string(all) +
                                " records of the swimlane stream were dropped "
                                "(no page was free) in "))
      << first;
}

TEST(Documents, OfLossesBeyondAThousandAreCounted) {
  HandCapture capture(all_streams());
  const LaneIndex lane = capture.lanes().spans(0);
  for (std::uint64_t i = 0; i < 1500; ++i) {
    capture.lose(lane);
    if (i % 7 == 0) capture.lose(lane);
    capture.write(
        lane,
        TaskSpan{.task_id = i, .begin_ticks = kLaunchTicks + i, .end_ticks = kLaunchTicks + i});
  }
  const DocumentedRun made = document(capture);
  const auto overview = made.tiles.json("doc/overview");
  ASSERT_EQ(overview["losses"].Size(), 1000u);
  EXPECT_EQ(overview["losses_left_out"].GetUint64(), 500u);
  EXPECT_EQ(overview["losses"][0]["lost"].GetUint64(), 2u) << "largest first";
}

TEST(Documents, OfARunWithoutStreamsSayHowToRecordThem) {
  RuntimeConfig config = all_streams();
  config.streams = {};
  config.streams[StreamId::kSwimlane] = 1;
  HandCapture capture(config);
  const DocumentedRun made = document(capture);
  EXPECT_EQ(made.list.names, Texts{"overview"});
  EXPECT_EQ(made.list.tasks, 0u);
  EXPECT_EQ(made.tiles.names(), Texts{"doc/overview"});
  const auto overview = made.tiles.json("doc/overview");
  std::map<std::string, std::string> why;
  for (const auto& one : overview["not_made"].GetArray())
    why[one["document"].GetString()] = one["why"].GetString();
  EXPECT_EQ(why, (std::map<std::string, std::string>{
                     {"graph", "no graph was recorded; run with --enable-dep-gen"},
                     {"scopes", "no scopes were recorded; run with --enable-scope-stats"},
                     {"tensors", "nothing was dumped; run with --dump-tensor"}}));
  EXPECT_TRUE(overview["critical_path"].IsNull());
  EXPECT_EQ(findings_of(made).at(0),
            "How the run ended is not known: its host never wrote it down.");
}

// The capture's own outcome counts where there is no run.json.
TEST(Documents, OfAFatalRunNameTheScopeAndTheSetting) {
  HandCapture capture(all_streams());
  RunReport outcome = report_of(RunStatus::kFatal);
  outcome.error = RunError{.code = 2,
                           .name = "HEAP_RING_DEADLOCK",
                           .message = "the heap of ring 0 is full",
                           .hint = "--ring-heap 512 gives twice the room",
                           .culprit = Culprit{.scope = "a.h:31", .resource = "heap"}};
  const DocumentedRun made = document(capture, {.outcome = outcome});
  const auto overview = made.tiles.json("doc/overview");
  const auto& first = overview["findings"][0];
  EXPECT_STREQ(first["text"].GetString(),
               "The program could not go on: the heap of ring 0 is full; --ring-heap 512 gives "
               "twice the room (2 HEAP_RING_DEADLOCK).");
  EXPECT_STREQ(first["severity"].GetString(), "bad");
  EXPECT_STREQ(first["link"]["site"].GetString(), "a.h:31");
  const auto scopes = made.tiles.json("doc/scopes");
  EXPECT_TRUE(scopes["fatal"].GetBool());
  EXPECT_STREQ(scopes["culprit"]["scope"].GetString(), "a.h:31");
}

HangState stalled() {
  HangState state;
  state.hang = HangClass::kRunningStalled;
  state.code = 100;
  state.name = "SCHEDULER_TIMEOUT";
  state.has_unit = true;
  state.units = {.schedulers = 1, .cores = 3};
  state.unit = state.units.core(1);
  state.ticks_per_second = 1'000'000'000;
  state.launch_ticks = kLaunchTicks;
  state.detected_ticks = kLaunchTicks + 12'000'000'000;
  state.kernels = {"copy"};
  state.lines.resize(state.units.total());
  for (auto& line : state.lines) line = {.since_ticks = kLaunchTicks, .state = UnitState::kIdle};
  UnitImage& busy = state.lines[state.units.core(1)];
  busy.state = UnitState::kBusy;
  busy.task_id = 12;
  busy.since_ticks = kLaunchTicks + 1'000'000'000;
  state.submitted = 15;
  state.completed = 12;
  state.tasks = {
      {.id = 12, .kernels = {0, kNoKernel, kNoKernel}, .site = "a.h:59", .waiters = {13}},
      {.id = 13, .kernels = {0, kNoKernel, kNoKernel}, .pending = 1}};
  return state;
}

TEST(Documents, OfAHangHaveTheAutopsyFirst) {
  HandCapture capture(all_streams());
  capture.write(capture.lanes().spans(1), TaskSpan{.task_id = 11,
                                                   .begin_ticks = kLaunchTicks + 5,
                                                   .end_ticks = kLaunchTicks + 9,
                                                   .core = 1});
  const RunReport report = report_of(RunStatus::kHang);
  const DocumentedRun made = document(capture, {.hang = stalled()}, &report);
  EXPECT_NE(std::ranges::find(made.list.names, "hang"), made.list.names.end());
  const auto overview = made.tiles.json("doc/overview");
  const auto& first = overview["findings"][0];
  EXPECT_STREQ(first["text"].GetString(),
               "The run hung: core 1 has been in kernel `copy` of task t12 (a.h:59) for "
               "11.0 s; 1 task waits for it.");
  EXPECT_STREQ(first["link"]["panel"].GetString(), "hang");
  EXPECT_STREQ(first["link"]["task"].GetString(), "0x000000000000000c");
  EXPECT_EQ(first["link"]["track"].GetUint64(), 1u);
  EXPECT_EQ(first["link"]["time"].GetUint64(), 1'000'000'000u);
  const auto hang = made.tiles.json("doc/hang");
  EXPECT_STREQ(hang["class"].GetString(), "running stalled");
  EXPECT_STREQ(hang["stuck"][0]["task"].GetString(), "t12");
  EXPECT_STREQ(hang["cores"][1]["last_records"][0]["task"].GetString(), "t11");
  EXPECT_EQ(std::string(hang["text"].GetString()).substr(0, 5), "100 S");
}

TEST(Documents, OfScopesHavePeaksAndSettings) {
  HandCapture capture(all_streams());
  const LaneIndex lane = capture.lanes().scopes();
  ScopeBoundary outer{.file = 1, .time_ticks = kLaunchTicks + 10, .line = 5, .serial = 1};
  ScopeBoundary inner{.file = 1, .time_ticks = kLaunchTicks + 20, .line = 6, .serial = 2};
  inner.depth = inner.ring = 1;
  capture.write(lane, outer);
  capture.write(lane, inner);
  inner.phase = outer.phase = ScopeBoundary::Phase::kEnd;
  inner.time_ticks = kLaunchTicks + 50;
  outer.time_ticks = kLaunchTicks + 90;
  inner.peaks.tasks[1] = outer.peaks.tasks[1] = 16'000;
  capture.write(lane, inner);
  capture.write(lane, outer);
  const RunReport report = report_of(RunStatus::kOk);
  const DocumentedRun made = document(capture, {.names = {{1, "a.h"}}}, &report);
  const auto scopes = made.tiles.json("doc/scopes");
  ASSERT_EQ(scopes["sites"].Size(), 2u);
  std::map<std::string, const rapidjson::Value*> sites;
  for (const auto& site : scopes["sites"].GetArray()) sites[site["site"].GetString()] = &site;
  EXPECT_EQ((*sites["a.h:6"])["longest_ns"].GetUint64(), 30u);
  EXPECT_EQ((*sites["a.h:6"])["peaks"]["task_window_peak"][1].GetUint64(), 16'000u);
  const auto parent = (*sites["a.h:6"])["parent"].GetUint();
  EXPECT_STREQ(scopes["sites"][parent]["site"].GetString(), "a.h:5");
  EXPECT_TRUE((*sites["a.h:5"])["parent"].IsNull());
  EXPECT_EQ(scopes["counters"].Size(), 2 * kRingCount);
  EXPECT_EQ(scopes["counters"][0]["capacity"].GetUint64(), 16'384u);
  EXPECT_EQ(std::string(scopes["smallest_settings"].GetString()).substr(0, 19),
            "--ring-task-window ");
  const Texts found = findings_of(made);
  EXPECT_EQ(found.at(0),
            "Closest to its limit: the task window of ring 1 (16,000 of 16,384, 97.66 %), in the "
            "scope at a.h:6; raise --ring-task-window.");
}

TEST(Documents, TakeNamesAsTheyAre) {
  const std::string evil = "</script><b onload=\"x\">\\ \t\x01 \xff\xc3";
  HandCapture capture(all_streams());
  capture.write(capture.lanes().spans(0),
                TaskSpan{.task_id = 1, .begin_ticks = kLaunchTicks, .end_ticks = kLaunchTicks + 9});
  capture.write(capture.lanes().edges(), GraphTask{.task_id = 1, .submit_file = 1});
  RunReport report = report_of(RunStatus::kMismatch);
  report.result_ok = false;
  report.result = evil;
  const DocumentedRun made = document(capture, {.kernels = {evil}, .names = {{1, evil}}}, &report);
  for (const std::string& name : made.tiles.names()) (void)made.tiles.json(name);
  const auto overview = made.tiles.json("doc/overview");
  const std::string kernel = overview["kernels"][0]["name"].GetString();
  EXPECT_TRUE(kernel.starts_with("</script><b onload=\"x\">\\ ")) << kernel;
  const auto rows = made.rows("graph/", "tasks");
  EXPECT_TRUE(std::string(rows[0]["site"].GetString()).starts_with("</script><b"));
}

TEST(Documents, StopWhereTheSinkRefuses) {
  HandCapture capture(all_streams());
  capture.write(capture.lanes().edges(), GraphTask{.task_id = 1});
  const samples::TemporaryDirectory directory;
  RunCapture run = capture.open(directory);
  const TrackList tracks = samples::tracks_by_hand(run);
  samples::KeptDocuments all;
  ASSERT_TRUE(make_documents(run, tracks, {}, all));
  const std::size_t count = all.names().size();
  EXPECT_GE(count, 5u);
  for (std::size_t after = 0; after < count; ++after) {
    samples::KeptDocuments tiles;
    tiles.refuse_after = after;
    const auto made = make_documents(run, tracks, {}, tiles);
    ASSERT_FALSE(made) << after;
    EXPECT_TRUE(made.error().message.starts_with("no room for")) << made.error().message;
  }
}

}  // namespace
}  // namespace tidemark
