// SPDX-License-Identifier: Apache-2.0
// The critical path and the starvation of runs small enough to be checked by hand; and that the
// parts of a path make up its length in runs that are not.
#include "tidemark/analyze/critical_path.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "tidemark/analyze/testing/hand_capture.h"
#include "tidemark/base/testing/seed_range.h"

namespace tidemark {
namespace {

using samples::kLaunchTicks;

// Times of one task after the launch. One tick is one nanosecond.
struct Task {
  std::uint64_t id = 0;
  std::uint64_t submit = 0;
  std::vector<std::uint64_t> waits_for;
  std::uint16_t core = 0;
  std::uint64_t dispatch = 0, start = 0, end = 0, finish = 0;
  bool runs = true;
};

struct Found {
  TaskGraph graph;
  GraphTimes times;
  CriticalPath path;
  std::vector<Starvation> starvation;

  [[nodiscard]] double parts_ns() const {
    return path.execution_ns + path.core_wait_ns + path.scheduler_ns + path.orchestrator_ns;
  }
};

struct Losses {
  double share = 0;
  std::uint64_t seed = 0;
};

// Records the tasks as a run does, and reads them back.
Found find(std::vector<Task> tasks, std::uint32_t clusters = 1, const Losses& losses = {}) {
  RuntimeConfig config;
  config.cluster_count = clusters;
  config.streams[StreamId::kSwimlane] = 2;
  config.streams[StreamId::kEdges] = 1;
  samples::HandCapture capture(config);
  const StreamLanes lanes = capture.lanes();
  std::mt19937_64 random(losses.seed);
  const auto lost = [&] {
    return std::uniform_real_distribution<double>(0, 1)(random) < losses.share;
  };
  const auto at = [](std::uint64_t ticks) { return kLaunchTicks + ticks; };
  for (const Task& task : tasks) {
    for (const std::uint64_t producer : task.waits_for)
      capture.write_or_lose(lanes.edges(),
                            GraphEdgeRecord{.producer = producer, .consumer = task.id}, lost());
    const std::uint16_t kernel = task.runs ? 0 : 0xFFFF;
    capture.write_or_lose(
        lanes.edges(),
        GraphTask{
            .task_id = task.id, .time_ticks = at(task.submit), .kernels = {0xFFFF, kernel, 0xFFFF}},
        lost());
  }
  std::erase_if(tasks, [](const Task& task) { return !task.runs; });
  std::stable_sort(tasks.begin(), tasks.end(),
                   [](const Task& a, const Task& b) { return a.start < b.start; });
  for (const Task& task : tasks)
    capture.write_or_lose(lanes.spans(task.core),
                          TaskSpan{.task_id = task.id,
                                   .begin_ticks = at(task.start),
                                   .end_ticks = at(task.end),
                                   .core = task.core},
                          lost());
  std::stable_sort(tasks.begin(), tasks.end(),
                   [](const Task& a, const Task& b) { return a.finish < b.finish; });
  for (const Task& task : tasks)
    capture.write_or_lose(lanes.finishes(0),
                          TaskSpan{.task_id = task.id,
                                   .begin_ticks = at(task.dispatch),
                                   .end_ticks = at(task.finish),
                                   .core = task.core},
                          lost());
  const samples::TemporaryDirectory directory;
  RunCapture run = capture.open(directory);
  Found found{.graph = TaskGraph::load(run).value()};
  found.times = join_times(run, found.graph);
  found.path = find_critical_path(config, run.clock(), found.graph, found.times);
  found.starvation = find_starvation(config, run.clock(), found.graph, found.times);
  return found;
}

const Starvation& of_type(const Found& found, CoreType type) {
  for (const Starvation& starvation : found.starvation)
    if (starvation.type == type) return starvation;
  ADD_FAILURE() << "no such type of core";
  return found.starvation.front();
}

std::vector<std::uint64_t> step_ids(const Found& found) {
  std::vector<std::uint64_t> ids;
  for (const PathStep& step : found.path.steps) ids.push_back(step.task_id);
  return ids;
}

TEST(CriticalPath, SaysWhatEachMomentOfOneTaskWasSpentOn) {
  const Found found = find(
      {{.id = 1, .submit = 10, .core = 0, .dispatch = 15, .start = 22, .end = 52, .finish = 55}});
  ASSERT_EQ(found.path.steps.size(), 1u);
  EXPECT_TRUE(found.path.steps[0].ran);
  EXPECT_DOUBLE_EQ(found.path.length_ns, 55);
  EXPECT_DOUBLE_EQ(found.path.orchestrator_ns, 10);
  EXPECT_DOUBLE_EQ(found.path.scheduler_ns, 5 + 7 + 3);
  EXPECT_DOUBLE_EQ(found.path.execution_ns, 30);
  EXPECT_DOUBLE_EQ(found.path.core_wait_ns, 0);
}

TEST(CriticalPath, GoesBackToTheProducerThatWasCompleteLast) {
  const Found found = find({
      {.id = 1, .submit = 1, .core = 1, .dispatch = 2, .start = 3, .end = 10, .finish = 11},
      {.id = 2, .submit = 1, .core = 2, .dispatch = 2, .start = 3, .end = 40, .finish = 42},
      {.id = 3,
       .submit = 5,
       .waits_for = {1, 2},
       .core = 1,
       .dispatch = 45,
       .start = 46,
       .end = 60,
       .finish = 61},
  });
  EXPECT_EQ(step_ids(found), (std::vector<std::uint64_t>{2, 3}));
  const PathStep& last = found.path.steps[1];
  EXPECT_DOUBLE_EQ(last.data_wait_ns, 42 - 5);
  EXPECT_DOUBLE_EQ(last.scheduler_ns, 3 + 1 + 1);
  EXPECT_DOUBLE_EQ(last.execution_ns, 14);
  EXPECT_DOUBLE_EQ(last.orchestrator_ns, 0);
  EXPECT_EQ(last.core, 1);
  EXPECT_DOUBLE_EQ(found.path.length_ns, 61);
  EXPECT_DOUBLE_EQ(found.parts_ns(), 61);
}

// One cluster has one AIC: the second task cannot run before the first is through.
TEST(CriticalPath, CountsTheWaitForABusyCore) {
  const Found found = find({
      {.id = 1, .submit = 0, .core = 0, .dispatch = 0, .start = 0, .end = 100, .finish = 100},
      {.id = 2, .submit = 10, .core = 0, .dispatch = 104, .start = 105, .end = 150, .finish = 150},
  });
  EXPECT_EQ(step_ids(found), (std::vector<std::uint64_t>{2}));
  EXPECT_DOUBLE_EQ(found.path.orchestrator_ns, 10);
  EXPECT_DOUBLE_EQ(found.path.core_wait_ns, 90);
  EXPECT_DOUBLE_EQ(found.path.scheduler_ns, 4 + 1);
  EXPECT_DOUBLE_EQ(found.path.execution_ns, 45);
  EXPECT_DOUBLE_EQ(found.parts_ns(), found.path.length_ns);
  // Idle beside the ready task from 100 to 105, on the one core of its type.
  EXPECT_DOUBLE_EQ(of_type(found, CoreType::kAic).wall_ns, 5);
  EXPECT_DOUBLE_EQ(of_type(found, CoreType::kAic).core_ns, 5);
  EXPECT_DOUBLE_EQ(of_type(found, CoreType::kAic).share, 5.0 / 150);
}

TEST(CriticalPath, CountsTheWaitBehindOtherWorkInTheMailbox) {
  const Found found = find({
      {.id = 1, .submit = 0, .core = 0, .dispatch = 0, .start = 0, .end = 100, .finish = 100},
      {.id = 2, .submit = 10, .core = 0, .dispatch = 12, .start = 103, .end = 150, .finish = 151},
  });
  EXPECT_EQ(step_ids(found), (std::vector<std::uint64_t>{2}));
  EXPECT_DOUBLE_EQ(found.path.core_wait_ns, 2 + 88);
  EXPECT_DOUBLE_EQ(found.path.scheduler_ns, 3 + 1);
  EXPECT_DOUBLE_EQ(found.parts_ns(), found.path.length_ns);
}

// Of the two AIV of a cluster one is idle: the wait is the scheduler's.
TEST(CriticalPath, BlamesTheSchedulerWhereACoreWasIdle) {
  const Found found = find({
      {.id = 1, .submit = 0, .core = 1, .dispatch = 0, .start = 0, .end = 100, .finish = 100},
      {.id = 2, .submit = 10, .core = 2, .dispatch = 60, .start = 60, .end = 150, .finish = 150},
  });
  EXPECT_EQ(step_ids(found), (std::vector<std::uint64_t>{2}));
  EXPECT_DOUBLE_EQ(found.path.core_wait_ns, 0);
  EXPECT_DOUBLE_EQ(found.path.scheduler_ns, 50);
  EXPECT_DOUBLE_EQ(found.parts_ns(), found.path.length_ns);
  const Starvation& aiv = of_type(found, CoreType::kAiv);
  EXPECT_DOUBLE_EQ(aiv.wall_ns, 50);
  EXPECT_DOUBLE_EQ(aiv.core_ns, 50);
  EXPECT_DOUBLE_EQ(aiv.share, 50.0 / (2 * 150));
  EXPECT_DOUBLE_EQ(of_type(found, CoreType::kAic).wall_ns, 0);
}

TEST(CriticalPath, CountsAsManyStarvedCoresAsThereAreTasksForThem) {
  const Found found = find({
      {.id = 1, .submit = 0, .core = 1, .dispatch = 20, .start = 20, .end = 50, .finish = 50},
      {.id = 2, .submit = 0, .core = 2, .dispatch = 30, .start = 30, .end = 50, .finish = 50},
      {.id = 3, .submit = 0, .core = 1, .dispatch = 50, .start = 50, .end = 80, .finish = 80},
  });
  // Three tasks wait beside two idle cores until 20, two beside one until 30; then all are busy.
  EXPECT_DOUBLE_EQ(of_type(found, CoreType::kAiv).wall_ns, 30);
  EXPECT_DOUBLE_EQ(of_type(found, CoreType::kAiv).core_ns, 2 * 20 + 10);
}

TEST(CriticalPath, BlamesTheOrchestratorForALateSubmit) {
  const Found found = find({
      {.id = 1, .submit = 0, .core = 0, .dispatch = 0, .start = 0, .end = 30, .finish = 30},
      {.id = 2,
       .submit = 80,
       .waits_for = {1},
       .core = 0,
       .dispatch = 80,
       .start = 80,
       .end = 90,
       .finish = 90},
  });
  EXPECT_EQ(step_ids(found), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_DOUBLE_EQ(found.path.orchestrator_ns, 50);
  EXPECT_DOUBLE_EQ(found.path.steps[1].orchestrator_ns, 50);
  EXPECT_DOUBLE_EQ(found.path.steps[1].data_wait_ns, 0);
  EXPECT_DOUBLE_EQ(found.path.execution_ns, 40);
  EXPECT_DOUBLE_EQ(found.path.scheduler_ns, 0);
  EXPECT_DOUBLE_EQ(found.path.core_wait_ns, 0);
  EXPECT_DOUBLE_EQ(of_type(found, CoreType::kAic).wall_ns, 0);
}

TEST(CriticalPath, PassesThroughTasksThatDoNotRun) {
  const Found found = find({
      {.id = 1, .submit = 0, .core = 0, .dispatch = 0, .start = 0, .end = 30, .finish = 33},
      {.id = 2, .submit = 5, .waits_for = {1}, .runs = false},
      {.id = 3,
       .submit = 6,
       .waits_for = {2},
       .core = 1,
       .dispatch = 35,
       .start = 36,
       .end = 40,
       .finish = 40},
  });
  EXPECT_EQ(step_ids(found), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_FALSE(found.path.steps[1].ran);
  EXPECT_DOUBLE_EQ(found.path.length_ns, 40);
  EXPECT_DOUBLE_EQ(found.parts_ns(), 40);
}

TEST(CriticalPath, IsEmptyWithoutTasks) {
  const Found found = find({});
  EXPECT_TRUE(found.path.steps.empty());
  EXPECT_DOUBLE_EQ(found.path.length_ns, 0);
}

// A scheduler that gives tasks to random cores, with delays everywhere.
std::vector<Task> random_run(std::mt19937_64& random, std::uint32_t clusters) {
  std::vector<Task> tasks;
  std::vector<std::uint64_t> dispatched(clusters * 3, 0), idle(clusters * 3, 0);
  std::vector<std::uint64_t> seen(clusters * 3, 0);
  const std::size_t count = 1 + random() % 60;
  std::uint64_t now = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Task task{.id = 1 + i, .submit = now += random() % 20};
    std::uint64_t ready = task.submit;
    for (int edges = static_cast<int>(random() % 3); edges > 0 && i > 0; --edges) {
      const Task& producer = tasks[random() % i];
      task.waits_for.push_back(producer.id);
      ready = std::max(ready, producer.finish);
    }
    task.runs = random() % 8 != 0;
    task.core = static_cast<std::uint16_t>(random() % idle.size());
    task.finish = ready;
    if (task.runs) {
      task.dispatch = std::max(ready, dispatched[task.core]) + random() % 10;
      task.start = std::max(task.dispatch, idle[task.core]) + random() % 5;
      task.end = task.start + 1 + random() % 50;
      task.finish = std::max(task.end, seen[task.core]) + random() % 10;
      dispatched[task.core] = task.dispatch;
      idle[task.core] = task.end;
      seen[task.core] = task.finish;
    }
    tasks.push_back(task);
  }
  return tasks;
}

void expect_no_part_is_negative(const Found& found) {
  for (const PathStep& step : found.path.steps) {
    EXPECT_GE(step.data_wait_ns, 0);
    EXPECT_GE(step.core_wait_ns, 0);
    EXPECT_GE(step.scheduler_ns, 0);
    EXPECT_GE(step.execution_ns, 0);
    EXPECT_GE(step.orchestrator_ns, 0);
  }
}

TEST(CriticalPath, HasPartsThatMakeUpItsLength) {
  std::mt19937_64 random(91);
  for (std::uint64_t i = 0; i < fewer_under_sanitizer(400) && !HasFailure(); ++i) {
    const std::uint32_t clusters = 1 + random() % 2;
    const std::vector<Task> tasks = random_run(random, clusters);
    const Found found = find(tasks, clusters);
    std::uint64_t last = 0;
    for (const Task& task : tasks) last = std::max(last, task.finish);
    EXPECT_NEAR(found.path.length_ns, static_cast<double>(last), 1e-6);
    EXPECT_NEAR(found.parts_ns(), found.path.length_ns, 1e-6);
    expect_no_part_is_negative(found);
  }
}

TEST(CriticalPath, HasPartsThatNeverExceedItsLengthWhateverIsLost) {
  std::mt19937_64 random(92);
  for (std::uint64_t i = 0; i < fewer_under_sanitizer(600) && !HasFailure(); ++i) {
    const std::uint32_t clusters = 1 + random() % 2;
    const Found found = find(random_run(random, clusters), clusters,
                             {.share = static_cast<double>(random() % 9) / 10, .seed = random()});
    EXPECT_LE(found.parts_ns(), found.path.length_ns + 1e-6);
    expect_no_part_is_negative(found);
  }
}

TEST(CriticalPath, PassesThroughAJointThatWasSubmittedAfterItsConsumer) {
  const Found found = find({
      {.id = 1, .submit = 0, .core = 0, .dispatch = 0, .start = 0, .end = 30, .finish = 30},
      {.id = 3,
       .submit = 1,
       .waits_for = {2},
       .core = 1,
       .dispatch = 35,
       .start = 36,
       .end = 40,
       .finish = 40},
      {.id = 2, .submit = 2, .waits_for = {1}, .runs = false},
  });
  EXPECT_EQ(step_ids(found), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_DOUBLE_EQ(found.path.length_ns, 40);
  EXPECT_DOUBLE_EQ(found.parts_ns(), 40);
}

}  // namespace
}  // namespace tidemark
