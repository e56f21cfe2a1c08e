// SPDX-License-Identifier: Apache-2.0
// run.json as a claim: the first one to put it into a directory has the directory, also where
// directories cannot be locked.
#include <filesystem>

#include <gtest/gtest.h>

#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/run/run_report.h"

namespace tidemark {
namespace {

RunReport report_of(std::uint64_t run_id) {
  RunReport report;
  report.run_id = run_id;
  report.workload = "w";
  report.platform = "sim";
  report.status = RunStatus::kRunning;
  return report;
}

TEST(ReportFile, TheFirstOneInADirectoryStaysAndTheSecondIsToldSo) {
  samples::TemporaryDirectory directory;
  auto first = ReportFile::reserve(directory.path(), 11, 0).value();
  auto second = ReportFile::reserve(directory.path(), 22, 0).value();
  ASSERT_TRUE(first.put_first(report_of(11)));
  const auto put = second.put_first(report_of(22));
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(read_run_report(directory.path()).value().run_id, 11u);
}

TEST(ReportFile, WhatIsReservedAndNotUsedGoes) {
  samples::TemporaryDirectory directory;
  {
    auto file = ReportFile::reserve(directory.path(), 33, 10).value();
    EXPECT_FALSE(std::filesystem::is_empty(directory.path()));
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(ReportFile, ReplacesTheReportOfTheRunWhole) {
  samples::TemporaryDirectory directory;
  ASSERT_TRUE(ReportFile::reserve(directory.path(), 44, 0).value().put_first(report_of(44)));
  auto file = ReportFile::reserve(directory.path(), 44, 0).value();
  RunReport ended = report_of(44);
  ended.status = RunStatus::kOk;
  ASSERT_TRUE(file.replace(ended, true));
  EXPECT_EQ(read_run_report(directory.path()).value().status, RunStatus::kOk);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    ++files;
    EXPECT_EQ(entry.path().filename(), "run.json");
  }
  EXPECT_EQ(files, 1u);
}

}  // namespace
}  // namespace tidemark
