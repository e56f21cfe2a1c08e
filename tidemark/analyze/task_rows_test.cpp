// SPDX-License-Identifier: Apache-2.0
// The join of worker spans with what the schedulers saw: every span comes once, with its own finish
// or with none, whatever the interleaving of the cores and whatever was lost.
#include "tidemark/analyze/task_rows.h"

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

#include <gtest/gtest.h>

#include "tidemark/analyze/testing/hand_capture.h"
#include "tidemark/base/testing/seed_range.h"
#include "tidemark/schema/cluster_range.h"

namespace tidemark {
namespace {

using samples::kLaunchTicks;

// One block of work as both sides saw it.
struct Work {
  TaskSpan span;
  TaskSpan finish;
  bool span_lost = false;
  bool finish_lost = false;
};

using WorkKey = std::tuple<std::uint16_t, std::uint64_t, std::uint16_t, std::uint32_t>;

WorkKey key_of(const TaskSpan& span) { return {span.core, span.task_id, span.kernel, span.block}; }
WorkKey key_of(const TaskRow& row) { return {row.core, row.task_id, row.kernel, row.block}; }

struct ProgramOptions {
  std::uint32_t clusters = 1;
  std::uint32_t schedulers = 1;
  std::uint32_t level = 2;
  std::uint32_t works = 300;
  std::uint32_t mailbox_depth = 4;
  double lost_spans = 0;
  double lost_finishes = 0;
};

RuntimeConfig config_of(const ProgramOptions& options) {
  RuntimeConfig config;
  config.cluster_count = options.clusters;
  config.scheduler_count = options.schedulers;
  config.streams[StreamId::kSwimlane] = options.level;
  return config;
}

// A core works through its mailbox; dispatches wait for a free place in it, finishes are seen some
// time after the end. Cores drift apart.
std::vector<std::vector<Work>> random_work(std::mt19937_64& random, const ProgramOptions& options) {
  std::vector<std::vector<Work>> cores(options.clusters * kCoresPerCluster);
  std::uniform_real_distribution<double> chance(0, 1);
  for (std::uint64_t i = 0; i < options.works; ++i) {
    auto& works = cores[random() % cores.size()];
    const bool first = works.empty();
    std::uint64_t dispatch = (first ? kLaunchTicks : works.back().finish.begin_ticks);
    if (works.size() >= options.mailbox_depth)
      dispatch = std::max(dispatch, works[works.size() - options.mailbox_depth].finish.end_ticks);
    dispatch += random() % 3;
    const std::uint64_t idle = first ? 0 : works.back().span.end_ticks;
    const std::uint64_t begin = std::max(dispatch, idle) + random() % 3;
    const std::uint64_t end = begin + 1 + random() % 40;
    const std::uint64_t seen_before = first ? 0 : works.back().finish.end_ticks;
    // Tasks of several blocks: some share an id, none shares id, kernel and block.
    Work work;
    work.span = {.task_id = (i / 4) % 2 == 0 ? i / 4 : i,
                 .begin_ticks = begin,
                 .end_ticks = end,
                 .block = static_cast<std::uint32_t>(i),
                 .kernel = static_cast<std::uint16_t>(random() % 3),
                 .core = static_cast<std::uint16_t>(&works - cores.data())};
    work.finish = work.span;
    work.finish.begin_ticks = dispatch;
    work.finish.end_ticks = std::max(end, seen_before) + random() % 25;
    work.span_lost = chance(random) < options.lost_spans;
    work.finish_lost = chance(random) < options.lost_finishes;
    works.push_back(work);
  }
  return cores;
}

samples::HandCapture record(const std::vector<std::vector<Work>>& cores,
                            const RuntimeConfig& config) {
  samples::HandCapture capture(config);
  const StreamLanes lanes = config.lanes();
  for (std::uint32_t core = 0; core < cores.size(); ++core)
    for (const Work& work : cores[core])
      capture.write_or_lose(lanes.spans(core), work.span, work.span_lost);
  if (lanes.finishes(0) == kNoLane) return capture;
  // Each scheduler writes in the order in which it saw the finishes of its cores.
  std::vector<std::vector<Work>> seen(config.scheduler_count);
  for (std::uint32_t core = 0; core < cores.size(); ++core) {
    auto& of_scheduler = seen[scheduler_of(config, core / kCoresPerCluster)];
    of_scheduler.insert(of_scheduler.end(), cores[core].begin(), cores[core].end());
  }
  for (std::uint32_t i = 0; i < seen.size(); ++i) {
    std::stable_sort(seen[i].begin(), seen[i].end(), [](const Work& a, const Work& b) {
      return a.finish.end_ticks < b.finish.end_ticks;
    });
    for (const Work& work : seen[i])
      capture.write_or_lose(lanes.finishes(i), work.finish, work.finish_lost);
  }
  return capture;
}

std::vector<TaskRow> rows_of(const samples::HandCapture& capture) {
  const samples::TemporaryDirectory directory;
  RunCapture run = capture.open(directory);
  std::vector<TaskRow> rows;
  for_each_task_row(run, [&](const TaskRow& row) { rows.push_back(row); });
  return rows;
}

// Every span that is there comes once, in the order of its core, with its finish if that is there.
void expect_joined(const std::vector<std::vector<Work>>& cores, const std::vector<TaskRow>& rows) {
  std::map<WorkKey, Work> expected;
  for (const auto& works : cores)
    for (const Work& work : works) {
      if (work.span_lost) continue;
      ASSERT_TRUE(expected.emplace(key_of(work.span), work).second);
    }
  EXPECT_EQ(rows.size(), expected.size());
  std::vector<std::uint64_t> last_start(cores.size(), 0);
  for (const TaskRow& row : rows) {
    ASSERT_LT(row.core, cores.size());
    const auto found = expected.find(key_of(row));
    ASSERT_NE(found, expected.end()) << "not written, or there twice: task " << row.task_id;
    const Work work = found->second;
    expected.erase(found);
    ASSERT_EQ(row.start_ticks, work.span.begin_ticks);
    ASSERT_EQ(row.end_ticks, work.span.end_ticks);
    ASSERT_EQ(row.has_finish, !work.finish_lost) << "task " << row.task_id;
    if (row.has_finish) {
      ASSERT_EQ(row.dispatch_ticks, work.finish.begin_ticks);
      ASSERT_EQ(row.finish_ticks, work.finish.end_ticks);
    }
    ASSERT_LE(last_start[row.core], row.start_ticks) << "core " << row.core;
    last_start[row.core] = row.start_ticks;
  }
  EXPECT_TRUE(expected.empty());
}

void expect_joined(std::mt19937_64& random, const ProgramOptions& options) {
  const auto cores = random_work(random, options);
  expect_joined(cores, rows_of(record(cores, config_of(options))));
}

TEST(TaskRows, GiveEverySpanItsDispatchAndFinish) {
  std::mt19937_64 random(71);
  for (std::uint64_t i = 0; i < fewer_under_sanitizer(40) && !HasFailure(); ++i)
    for (const std::uint32_t clusters : {1u, 2u})
      for (const std::uint32_t depth : {1u, 4u, 16u})
        expect_joined(random, {.clusters = clusters, .mailbox_depth = depth});
}

TEST(TaskRows, AreJoinedByTheSchedulerOfTheCore) {
  std::mt19937_64 random(72);
  for (int i = 0; i < 20 && !HasFailure(); ++i)
    for (const std::uint32_t schedulers : {2u, 3u, 5u})
      expect_joined(random, {.clusters = 3, .schedulers = schedulers});
}

TEST(TaskRows, NeverTakeTheFinishOfOtherWorkWhateverIsLost) {
  std::mt19937_64 random(73);
  for (std::uint64_t i = 0; i < fewer_under_sanitizer(60) && !HasFailure(); ++i)
    for (const double lost_spans : {0.0, 0.1, 0.5, 0.95})
      for (const double lost_finishes : {0.0, 0.1, 0.5, 0.95})
        expect_joined(random, {.clusters = 1 + static_cast<std::uint32_t>(random() % 2),
                               .works = 200,
                               .mailbox_depth = 1u << random() % 5,
                               .lost_spans = lost_spans,
                               .lost_finishes = lost_finishes});
}

TEST(TaskRows, FindTheirFinishBehindAnyNumberOfLostSpans) {
  std::mt19937_64 random(74);
  auto cores = random_work(random, {.works = 20'000, .mailbox_depth = 16});
  for (auto& works : cores)
    for (std::size_t i = works.size() / 10; i < works.size() * 9 / 10; ++i)
      works[i].span_lost = true;
  expect_joined(cores, rows_of(record(cores, config_of({}))));
}

TEST(TaskRows, ComeWithoutFinishWhereAllFinishesAreLost) {
  std::mt19937_64 random(75);
  expect_joined(random, {.works = 5'000, .lost_finishes = 2});
}

TEST(TaskRows, ComeWithoutFinishAtLevelOne) {
  std::mt19937_64 random(76);
  auto cores = random_work(random, {.clusters = 2});
  for (auto& works : cores)
    for (Work& work : works) work.finish_lost = true;
  expect_joined(cores, rows_of(record(cores, config_of({.clusters = 2, .level = 1}))));
}

TEST(TaskRows, AreNoneWhereNothingRan) {
  EXPECT_TRUE(rows_of(samples::HandCapture(config_of({}))).empty());
}

TEST(TaskRows, AreJoinedWhereTheClockStandsStill) {
  std::vector<std::vector<Work>> cores(3);
  for (std::uint64_t i = 0; i < 4; ++i) {
    Work work;
    work.span = {.task_id = i, .begin_ticks = kLaunchTicks + 5, .end_ticks = kLaunchTicks + 5};
    work.finish = work.span;
    cores[0].push_back(work);
  }
  expect_joined(cores, rows_of(record(cores, config_of({}))));
}

}  // namespace
}  // namespace tidemark
