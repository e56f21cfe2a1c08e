// SPDX-License-Identifier: Apache-2.0
// A run that has only its run.json yet, neither capture nor region, has no lock that could protect
// it: a recovery asks whether its host lives, and leaves a live one alone.
#include <gtest/gtest.h>

#include "tidemark/base/process_identity.h"
#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/device/region_file.h"
#include "tidemark/session/recover.h"

namespace tidemark {
namespace {

RunReport beginning_run(const ProcessIdentity& host) {
  RunReport report;
  report.run_id = std::uint64_t{this_process().pid} << 32 | 0xBE61;
  report.workload = "w";
  report.case_name = "c";
  report.platform = "sim";
  report.status = RunStatus::kRunning;
  report.region_path = region_path(report.run_id);  // which it has not made yet
  report.boot_id = boot_id();
  report.host = host;
  report.host_id = host_id();
  report.host_name = host_name();
  report.pid_namespace = pid_namespace();
  return report;
}

TEST(BeginningRun, OfALiveHostIsNotRecovered) {
  samples::TemporaryDirectory directory;
  ASSERT_TRUE(write_run_report(directory.path(), beginning_run(this_process())));
  const auto before = samples::read_bytes(directory.file("run.json"));
  const auto recovered = recover_run(directory.path(), {});
  ASSERT_FALSE(recovered);
  EXPECT_EQ(recovered.error().kind, ErrorKind::kUsage);
  EXPECT_NE(recovered.error().message.find("still going on"), std::string::npos)
      << recovered.error().message;
  EXPECT_EQ(samples::read_bytes(directory.file("run.json")), before);
}

TEST(BeginningRun, OfADeadHostIsFinished) {
  samples::TemporaryDirectory directory;
  ProcessIdentity gone = this_process();
  ++gone.start_time;  // another process had this number
  ASSERT_TRUE(write_run_report(directory.path(), beginning_run(gone)));
  const auto recovered = recover_run(directory.path(), {});
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_EQ(read_run_report(directory.path()).value().status, RunStatus::kRecovered);
}

}  // namespace
}  // namespace tidemark
