// SPDX-License-Identifier: Apache-2.0
// run.json comes back as it was written, is replaced whole, and hostile text in it is an error.
#include "tidemark/run/run_report.h"

#include <gtest/gtest.h>

#include "tidemark/base/testing/temporary_directory.h"

namespace tidemark {
namespace {

RunReport full_report() {
  RunReport report;
  report.run_id = 0xFEDCBA9876543210ull;
  report.workload = "vector \"example\"";
  report.case_name = "small";
  report.platform = "a5sim";
  report.runtime = "tensormap_and_ringbuffer";
  report.transport = "copied";
  report.seed = ~0ull;
  report.status = RunStatus::kHang;
  report.rank = 2;
  report.device = 7;
  report.host_id = "host";
  report.region_path = "/dev/shm/tidemark-x.region";
  report.region_bytes = 1ull << 40;
  report.boot_id = "boot";
  report.exit_code = 3;
  report.error = RunError{.code = 12,
                          .name = "TASK_TIMEOUT",
                          .error_class = "hang",
                          .message = "task 42 never returned",
                          .hint = "look at hang.txt"};
  report.warnings = {{.code = 0, .name = "BACKPRESSURE", .message = "held", .hint = "raise it"}};
  report.result_ok = false;
  report.result = "element 3 differs";
  report.device_ns = 123;
  report.host_ns = 456;
  report.loss_known = false;
  report.ticks_per_second = 2'000'000'000;
  LaneCounts counts{.produced = 100, .delivered = 50, .recovered = 20, .dropped = 25};
  counts.dropped_by = {5, 5, 5, 5, 5};
  counts.overwritten = 5;
  counts.incomplete = 3;
  counts.missing = 1;
  counts.contradictory = 2;
  counts.bytes = 3200;
  counts.pages = 4;
  counts.gaps = 2;
  counts.gap_lost = 25;
  report.lanes = {{.lane = 0,
                   .stream = "swimlane",
                   .producer = "worker 0",
                   .state = "closed",
                   .policy = "wait",
                   .counts = counts},
                  {.lane = 1,
                   .stream = "events",
                   .producer = "driver",
                   .state = "open",
                   .policy = "drop",
                   .counts = {.produced = ~0ull, .delivered = ~0ull}}};
  return report;
}

TEST(RunReport, ComesBackFieldByField) {
  const RunReport said = full_report();
  const auto read = parse_run_report(to_json(said), "run.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->run_id, said.run_id);
  EXPECT_EQ(read->workload, said.workload);
  EXPECT_EQ(read->case_name, said.case_name);
  EXPECT_EQ(read->platform, said.platform);
  EXPECT_EQ(read->runtime, said.runtime);
  EXPECT_EQ(read->transport, said.transport);
  EXPECT_EQ(read->seed, said.seed);
  EXPECT_EQ(read->status, said.status);
  EXPECT_EQ(read->rank, said.rank);
  EXPECT_EQ(read->device, said.device);
  EXPECT_EQ(read->host_id, said.host_id);
  EXPECT_EQ(read->region_path, said.region_path);
  EXPECT_EQ(read->region_bytes, said.region_bytes);
  EXPECT_EQ(read->boot_id, said.boot_id);
  EXPECT_EQ(read->exit_code, said.exit_code);
  ASSERT_TRUE(read->error);
  EXPECT_EQ(read->error->code, said.error->code);
  EXPECT_EQ(read->error->name, said.error->name);
  EXPECT_EQ(read->error->error_class, said.error->error_class);
  EXPECT_EQ(read->error->message, said.error->message);
  EXPECT_EQ(read->error->hint, said.error->hint);
  ASSERT_EQ(read->warnings.size(), 1u);
  EXPECT_EQ(read->warnings[0].name, said.warnings[0].name);
  EXPECT_EQ(read->warnings[0].message, said.warnings[0].message);
  EXPECT_EQ(read->warnings[0].hint, said.warnings[0].hint);
  EXPECT_EQ(read->result_ok, said.result_ok);
  EXPECT_EQ(read->result, said.result);
  EXPECT_EQ(read->device_ns, said.device_ns);
  EXPECT_EQ(read->host_ns, said.host_ns);
  EXPECT_EQ(read->loss_known, said.loss_known);
  EXPECT_EQ(read->ticks_per_second, said.ticks_per_second);
}

TEST(RunReport, LanesComeBackWithEveryCount) {
  const RunReport said = full_report();
  const auto read = parse_run_report(to_json(said), "run.json");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->lanes.size(), said.lanes.size());
  for (std::size_t i = 0; i < said.lanes.size(); ++i) {
    const LaneReport &found = read->lanes[i], &lane = said.lanes[i];
    EXPECT_EQ(found.lane, lane.lane);
    EXPECT_EQ(found.stream, lane.stream);
    EXPECT_EQ(found.producer, lane.producer);
    EXPECT_EQ(found.state, lane.state);
    EXPECT_EQ(found.policy, lane.policy);
    EXPECT_EQ(found.counts.produced, lane.counts.produced);
    EXPECT_EQ(found.counts.delivered, lane.counts.delivered);
    EXPECT_EQ(found.counts.recovered, lane.counts.recovered);
    EXPECT_EQ(found.counts.dropped, lane.counts.dropped);
    EXPECT_EQ(found.counts.dropped_by, lane.counts.dropped_by);
    EXPECT_EQ(found.counts.overwritten, lane.counts.overwritten);
    EXPECT_EQ(found.counts.incomplete, lane.counts.incomplete);
    EXPECT_EQ(found.counts.missing, lane.counts.missing);
    EXPECT_EQ(found.counts.contradictory, lane.counts.contradictory);
    EXPECT_EQ(found.counts.bytes, lane.counts.bytes);
    EXPECT_EQ(found.counts.pages, lane.counts.pages);
    EXPECT_EQ(found.counts.gaps, lane.counts.gaps);
    EXPECT_EQ(found.counts.gap_lost, lane.counts.gap_lost);
  }
  EXPECT_FALSE(read->ledger_closes());
}

TEST(RunReport, WhatWasNotComparedIsNotAResult) {
  RunReport said = full_report();
  said.result_ok.reset();
  const auto read = parse_run_report(to_json(said), "run.json");
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->result_ok);
}

TEST(RunReport, AFinishedRunNamesNoRegionAndNoError) {
  RunReport said = full_report();
  said.region_path.clear();
  said.error.reset();
  const std::string text = to_json(said);
  EXPECT_EQ(text.find("\"region\""), std::string::npos);
  const auto read = parse_run_report(text, "run.json");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->region_path, "");
  EXPECT_FALSE(read->error);
}

TEST(RunReport, IsReplacedWholeAndLeavesNoPart) {
  const samples::TemporaryDirectory directory;
  ASSERT_TRUE(write_run_report(directory.path(), full_report()));
  RunReport next = full_report();
  next.status = RunStatus::kOk;
  ASSERT_TRUE(write_run_report(directory.path(), next));
  EXPECT_EQ(read_run_report(directory.path())->status, RunStatus::kOk);
  EXPECT_FALSE(std::filesystem::exists(directory.file("run.json.part")));
}

TEST(RunReport, WhatCannotBeWrittenIsAFileErrorWithItsPath) {
  const auto written = write_run_report("/nonexistent/run", full_report());
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::kFile);
  EXPECT_NE(written.error().message.find("/nonexistent/run"), std::string::npos);
}

TEST(RunReport, HostileTextIsAnErrorThatNamesTheFile) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "{\"streams\":";
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{"), std::string("{}"), deep,
        std::string(500'000, '['), std::string(R"({"run_id":17})"),
        std::string(R"({"run_id":"not hex"})"), std::string(R"({"run_id":""})"),
        std::string(R"({"run_id":"0000000000000000"})"), std::string("\0\0\0", 3)}) {
    const auto read = parse_run_report(text, "the/run.json");
    ASSERT_FALSE(read) << text.substr(0, 40);
    EXPECT_EQ(read.error().kind, ErrorKind::kDamage);
    EXPECT_NE(read.error().message.find("the/run.json"), std::string::npos);
  }
}

TEST(RunReport, ANewerVersionIsRefusedWithBothVersions) {
  const auto read = parse_run_report(R"({"schema_version":7,"id":"1"})", "the/run.json");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::kDamage);
  EXPECT_EQ(read.error().message,
            "the/run.json has schema version 7; this tidemark reads up to version 1");
  for (const char* old : {R"({"run_id":"1"})", R"({"run_id":"1","schema_version":1})"})
    EXPECT_TRUE(parse_run_report(old, "run.json"));
}

TEST(RunReport, AStatusThatNobodyKnowsIsNotRunning) {
  const auto status_of = [](const char* text) {
    return parse_run_report(text, "run.json").value().status;
  };
  EXPECT_EQ(status_of(R"({"run_id":"1","status":"resting"})"), RunStatus::kUnknown);
  EXPECT_EQ(status_of(R"({"run_id":"1","status":17})"), RunStatus::kMissing);
  EXPECT_EQ(status_of(R"({"run_id":"1"})"), RunStatus::kMissing);
  EXPECT_EQ(status_of(R"({"run_id":"1","status":"interrupted"})"), RunStatus::kInterrupted);
}

TEST(RunReport, MembersOfTheWrongTypeReadAsAbsent) {
  const auto read = parse_run_report(
      R"({"run_id":"1","workload":[],"seed":-1,"region":7,"error":[],"exit_code":"x",)"
      R"("loss_known":3,"clock":null,"streams":{"swimlane":{"lanes":[null,7,{"lane":-1,)"
      R"("dropped_by":[1],"produced":1.5}]},"events":[],"dump":{"lanes":{}}}})",
      "run.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->workload, "");
  EXPECT_EQ(read->seed, 0u);
  EXPECT_FALSE(read->error);
  EXPECT_TRUE(read->loss_known);
  ASSERT_EQ(read->lanes.size(), 3u);
  for (const auto& lane : read->lanes) {
    EXPECT_EQ(lane.lane, 0u);
    EXPECT_EQ(lane.counts.produced, 0u);
  }
  EXPECT_TRUE(parse_run_report(R"({"run_id":"1","streams":[]})", "run.json"));
}

TEST(RunReport, DeepButWellFormedNestingIsRead) {
  const std::string deep =
      R"({"run_id":"1","streams":)" + std::string(300'000, '[') + std::string(300'000, ']') + "}";
  const auto read = parse_run_report(deep, "run.json");
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->lanes.empty());
}

TEST(RunReport, ADirectoryWithoutRunJsonIsNotARun) {
  const samples::TemporaryDirectory directory;
  const auto read = read_run_report(directory.path());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::kUsage);
  std::filesystem::create_directory(directory.file("run.json"));
  EXPECT_FALSE(read_run_report(directory.path()));
}

}  // namespace
}  // namespace tidemark
