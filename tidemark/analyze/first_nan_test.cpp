// SPDX-License-Identifier: Apache-2.0
// Who made the first NaN, of dumps that were made up here.
#include "tidemark/analyze/first_nan.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

constexpr auto kBefore = DumpStage::kBeforeDispatch;
constexpr auto kAfter = DumpStage::kAfterCompletion;

struct DumpedArgument {
  std::uint64_t task;
  DumpStage stage;
  std::uint64_t time;
  std::uint64_t nan = 0, inf = 0;
  DumpKind kind = DumpKind::kTensor;
};

DumpIndex index_of(const std::vector<DumpedArgument>& arguments) {
  DumpIndex index;
  for (const DumpedArgument& argument : arguments) {
    DumpEntry entry;
    entry.header.task_id = argument.task;
    entry.header.stage = argument.stage;
    entry.header.time_ticks = argument.time;
    entry.header.kind = argument.kind;
    entry.stats.nan = argument.nan;
    entry.stats.inf = argument.inf;
    index.entries.push_back(entry);
  }
  return index;
}

TEST(FirstNan, IsOfTheEarliestTaskWhoseInputsWereClean) {
  const DumpIndex index =
      index_of({{.task = 1, .stage = kBefore, .time = 50, .nan = 1},
                {.task = 1, .stage = kAfter, .time = 60, .nan = 1},
                {.task = 2, .stage = kAfter, .time = 40, .nan = 3},
                {.task = 3, .stage = kBefore, .time = 10},
                {.task = 3, .stage = kBefore, .time = 11, .kind = DumpKind::kScalar},
                {.task = 3, .stage = kAfter, .time = 30},
                {.task = 3, .stage = kAfter, .time = 31, .inf = 2}});
  const NanReport both = find_first_nan(index);
  EXPECT_EQ(both.made, 6u) << "of task 3";
  EXPECT_EQ(both.seen, 6u);
  EXPECT_EQ(both.clean_inputs, std::vector<std::size_t>{3});
  EXPECT_EQ(both.tasks_wrote, 3u);
  const NanReport nan = find_first_nan(index, NotFinite::kNan);
  EXPECT_EQ(nan.made, 2u) << "infinities are no news";
  EXPECT_TRUE(nan.clean_inputs.empty());
  EXPECT_EQ(nan.tasks_wrote, 2u);
}

TEST(FirstNan, IsNotMadeByWhoReadOne) {
  const DumpIndex index = index_of({{.task = 1, .stage = kBefore, .time = 50, .nan = 1},
                                    {.task = 1, .stage = kAfter, .time = 60, .nan = 1}});
  const NanReport report = find_first_nan(index);
  EXPECT_FALSE(report.made);
  EXPECT_EQ(report.seen, 0u);
  EXPECT_EQ(report.tasks_wrote, 1u);
}

TEST(FirstNan, IsNowhereInACleanRun) {
  const NanReport report = find_first_nan(index_of({{.task = 1, .stage = kAfter, .time = 5}}));
  EXPECT_FALSE(report.made);
  EXPECT_FALSE(report.seen);
  EXPECT_EQ(report.tasks_wrote, 0u);
}

}  // namespace
}  // namespace tidemark
