// SPDX-License-Identifier: Apache-2.0
// --block-threads, as a person meets it: results, and that a block's hang or crash is its core's.
#include "tests/command_line_fixture.h"
#include "tidemark/run/json.h"
#include "tidemark/run/run_report.h"

namespace tidemark {
namespace {

class BlockThreads : public CommandLine {
 protected:
  void expect_run(const std::string& arguments, int exit_code, const std::string& says) {
    const Finished done = run("run " + arguments + " --no-sync --output-prefix r --force");
    EXPECT_EQ(done.exit_code, exit_code) << arguments << "\n" << done.out << done.error;
    EXPECT_NE(done.out.find(says), std::string::npos) << arguments << "\n" << done.out;
  }
};

TEST_F(BlockThreads, EveryWorkloadGivesTheSameResult) {
  expect_run("vector_example --block-threads 4 --dump-tensor", 0, "as expected");
  expect_run("paged_attention --block-threads 4 -p a2a3sim", 0, "as expected");
  expect_run("bgemm --case Small --block-threads 4", 0, "as expected");
  expect_run("mixed_example --block-threads 3 --runtime aicpu_build_graph", 0, "as expected");
  expect_run("spmd_blocks --block-threads 4 --enable-l2-swimlane", 0, "blocks ran once each");
  expect_run("nan_producer --case healthy --block-threads 16", 0, "as expected");
  expect_run("nan_producer --block-threads 4", 1, "nan");
}

TEST_F(BlockThreads, AKernelThatNeverReturnsIsNamedWithItsCore) {
  expect_run("hang_kernel --block-threads 4 --scheduler-timeout-ms 1000", 3,
             "in kernel `copy_or_hang` of task t12");
}

// It is the last thread that crashes, not the one that the core began with.
TEST_F(BlockThreads, ACrashOfAnyThreadIsItsCores) {
  expect_run("crash_kernel --block-threads 4", 3, "was in kernel `copy_or_crash` of task t12");
}

TEST_F(BlockThreads, WhatCannotBeIsRefused) {
  expect_refused("run vector_example --block-threads 0", 2,
                 "--block-threads: 0 is not from 1 to 16");
  expect_refused("run vector_example --block-threads 17", 2, "17 is not from 1 to 16");
  expect_refused("run synthetic_producer --block-threads 2", 2,
                 "--block-threads 2: synthetic_producer has no kernels of tasks");
}

}  // namespace
}  // namespace tidemark
