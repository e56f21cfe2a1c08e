// SPDX-License-Identifier: Apache-2.0
// paged_attention everywhere: results, task and scope counts, the same edges however the graph is
// built, and rings so small that the orchestrator is held back.
#include "workloads/paged_attention.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "workloads/testing/workload_trial.h"

namespace tidemark {
namespace {

// Sequence by sequence: an allocation and its blocks of four tasks.
TaskPairs expected_pairs(const std::vector<std::uint32_t>& blocks_of_sequences) {
  TaskPairs pairs;
  std::uint32_t allocated = 0, submitted = 0;
  for (const std::uint32_t blocks : blocks_of_sequences) {
    const std::uint64_t running = TaskId::make(1, allocated++).value;
    for (std::uint32_t block = 0; block < blocks; ++block, submitted += 4) {
      const auto task = [&](std::uint32_t i) { return TaskId::make(2, submitted + i).value; };
      pairs.insert({{task(0), task(1)}, {task(1), task(2)}, {task(1), task(3)}});
      pairs.insert({{task(2), task(3)}, {running, task(3)}});
      if (block > 0) pairs.emplace(task(3) - 4, task(3));
    }
  }
  return pairs;
}

TEST(PagedAttention, GivesTheSameTasksAndEdgesOnEveryMachineAndWithEveryBuild) {
  const auto run = &try_everywhere<PagedAttention>;
  EXPECT_EQ(run("Small1", {.tasks = 13, .scopes = 5}), expected_pairs({3}));
  EXPECT_EQ(run("Small2", {.tasks = 33, .scopes = 10}), expected_pairs({8}));
  EXPECT_EQ(run("VarSeq2", {.tasks = 22, .scopes = 8}), expected_pairs({3, 2}));
  EXPECT_EQ(run("VarSeq4", {.tasks = 68, .scopes = 21}), expected_pairs({3, 4, 8, 1}));
}

TEST(PagedAttention, GivesTheSameEdgesThroughRingsOfSixteenTasks) {
  for (const TrialMachine machine : kTrialMachines)
    for (const BuildKind build : {BuildKind::kTensorMap, BuildKind::kExplicit}) {
      WorkloadSetup setup = trial_setup("VarSeq4", machine, build);
      for (RingSizes& ring : setup.config.rings)
        ring = {.task_window = 16, .dep_pool = 64, .heap_bytes = 16 << 10};
      EXPECT_EQ(try_workload<PagedAttention>(setup, {.tasks = 68, .scopes = 21}),
                expected_pairs({3, 4, 8, 1}));
    }
}

TEST(PagedAttention, HoldsItsToleranceWithManySeeds) {
  for (std::uint64_t seed = 100; seed < 150; ++seed) {
    WorkloadSetup setup = trial_setup("VarSeq4", {1, 1}, BuildKind::kTensorMap);
    setup.seed = seed;
    try_workload<PagedAttention>(setup, {.tasks = 68, .scopes = 21});
  }
}

TEST(PagedAttention, ScattersTheBlocksOfASequenceOverTheCache) {
  for (const char* name : {"VarSeq4", "Case1", "Case2"}) {
    const AttentionCase shape = find_attention_case(name);
    EntryData data;
    prepare_attention({.case_name = name, .seed = 7, .config = {}}, data);
    const auto table = data.values<std::int32_t>(AttentionData::kTable);
    const std::uint64_t sequences = shape.contexts.size(), width = table.size() / sequences;
    for (std::uint64_t sequence = 0; sequence < sequences; ++sequence) {
      const auto row = table.subspan(sequence * width, width);
      const std::uint64_t used = shape.blocks_of(shape.contexts[sequence]);
      const std::set<std::int32_t> blocks(row.begin(), row.begin() + static_cast<long>(used));
      EXPECT_EQ(blocks.size(), used) << "a block twice in one sequence";
      EXPECT_GE(*blocks.begin(), 0);
      EXPECT_TRUE(std::all_of(row.begin() + static_cast<long>(used), row.end(),
                              [](std::int32_t block) { return block == -1; }));
    }
    EXPECT_FALSE(std::is_sorted(table.begin(), table.begin() + 3));
    EXPECT_LT(data.buffers()[AttentionData::kKeys].bytes.size() * 2, 64u << 20);
  }
}

TEST(PagedAttention, SaysWhatWasNotWritten) {
  EntryData data;
  prepare_attention({.case_name = "Small1", .seed = 1, .config = {}}, data);
  const ResultCheck check = check_attention(1, data);
  EXPECT_FALSE(check.passed);
  EXPECT_EQ(check.text, "256 of 256 elements of out are not finite or were not written");
}

// Too much for a sanitizer; the command line's tests compare the results of these cases too.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
TEST(PagedAttention, GivesTheSameEdgesInTheLargeCasesAlsoWhereTheHostBuildsTheGraph) {
  struct Large {
    const char* name;
    TrialMachine machine;
    BuildKind build;
    TrialCounts expected;
    std::uint32_t sequences, blocks;
  };
  for (const Large& large :
       {Large{"Case1", {1, 1}, BuildKind::kExplicit, {.tasks = 65792, .scopes = 16641}, 256, 64},
        {"Case2", {24, 3}, BuildKind::kTensorMap, {.tasks = 32832, .scopes = 8257}, 64, 128},
        {"Case2", {1, 1}, BuildKind::kHostBuild, {.tasks = 32832, .scopes = 8257}, 64, 128}}) {
    WorkloadSetup setup = trial_setup(large.name, large.machine, large.build);
    if (large.build == BuildKind::kHostBuild)  // all of the graph at once
      setup.config.rings[2] = {
          .task_window = 1 << 17, .dep_pool = 1 << 18, .heap_bytes = std::uint64_t{1} << 30};
    EXPECT_TRUE(try_workload<PagedAttention>(setup, large.expected) ==
                expected_pairs(std::vector<std::uint32_t>(large.sequences, large.blocks)));
  }
}
#endif

}  // namespace
}  // namespace tidemark
