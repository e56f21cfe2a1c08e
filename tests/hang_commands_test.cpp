// SPDX-License-Identifier: Apache-2.0
// A hung run and the commands around it: signals to its host, a look from another process, what is
// refused, and runs that are slow or wait for the recorder and must not be taken for hung.
#include "tests/hang_fixture.h"

namespace tidemark {
namespace {

class HangCommands : public HangFixture {
 protected:
  // The limit is out of the way: the signal comes first.
  std::string hung_run(const char* platform) {
    return fmt::format(
        "run hang_kernel -p {} {} --dump-tensor --scheduler-timeout-ms 100000 --output-prefix r "
        "--force",
        platform, kAllStreams);
  }
  void interrupt(const char* platform, int signal, int exit_code) {
    SCOPED_TRACE(fmt::format("{} signal {}", platform, signal));
    AuditWords audit(path("audit"));
    const pid_t pid = start(hung_run(platform));
    const auto core = wait_until_stuck("r", 12);
    ::kill(pid, signal);
    EXPECT_EQ(finish(pid), exit_code) << read(path("log.txt"));
    ASSERT_TRUE(core) << "it never came to the task that hangs";
    const auto report = read_run_report(path("r"));
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->status, RunStatus::kInterrupted);
    EXPECT_EQ(report->exit_code, exit_code);
    EXPECT_FALSE(report->error);
    EXPECT_FALSE(fs::exists(region_path(report->run_id)));
    expect_everything_accepted(*report, audit);
    expect_check_passes("r");
    const auto json = json_of("r/hang.json");
    EXPECT_STREQ(json["class"].GetString(), "interrupted");
    ASSERT_GE(json["stuck"].Size(), 1u);
    EXPECT_STREQ(json["stuck"][0]["task"].GetString(), "t12");
    EXPECT_EQ(json["stuck"][0]["core"].GetUint(), *core);
    const std::string text = read(path("r/hang.txt"));
    EXPECT_NE(text.find("interrupted"), std::string::npos) << text;
    EXPECT_NE(text.find("t12 copy_or_hang on core"), std::string::npos) << text;
    fs::remove_all(path("r"));
  }

  // All lanes have one page, and the drainer is slow: producers wait nearly always.
  void starve(const char* platform, std::uint32_t slow_us, std::uint64_t stall_ns) {
    SCOPED_TRACE(fmt::format("{} {}", platform, slow_us));
    const std::string common = fmt::format(
        "run paged_attention --case Small2 -p {} {} --dump-tensor --page-bytes 4096 "
        "--output-prefix r --force",
        platform, kAllStreams);
    const Finished refused = run(common + " --pool-bytes 4096");
    ASSERT_EQ(refused.exit_code, 2);
    const std::size_t from = refused.error.rfind('(');
    ASSERT_NE(from, std::string::npos) << refused.error;
    const std::uint64_t least = std::stoull(refused.error.substr(from + 1));
    ASSERT_GT(least, 4096u);
    EXPECT_EQ(run(fmt::format("{} --pool-bytes {}", common, least - 4096)).exit_code, 2);
    const Finished done =
        run(fmt::format("{} --pool-bytes {} --inject drain_slow={} --scheduler-timeout-ms 400",
                        common, least, slow_us));
    EXPECT_EQ(done.exit_code, 0) << done.out << done.error;
    const auto report = read_run_report(path("r"));
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->status, RunStatus::kOk);
    EXPECT_TRUE(report->ledger_closes());
    EXPECT_EQ(report->total().dropped, 0u);
    EXPECT_EQ(report->total().delivered, report->total().produced);
    const auto json = json_of("r/run.json");
    EXPECT_EQ(json["recorder"]["pool_bytes"].GetUint64(), least);
    EXPECT_GT(json["recorder"]["device_stall_share"].GetDouble(), 0.0);
    EXPECT_GT(json["streams"]["dump"]["stall_ns"].GetUint64(), stall_ns);
    EXPECT_TRUE(json["result"]["passed"].GetBool());
    EXPECT_FALSE(fs::exists(path("r/hang.txt")));
    expect_check_passes("r");
  }
};

TEST_F(HangCommands, AnInterruptedRunIsKeptAndShowsWhereItStood) {
  // Which signal it was is the host's affair, and the host is the same everywhere.
  interrupt("sim", SIGINT, 130);
  interrupt("a2a3sim", SIGTERM, 143);
  interrupt("a5sim", SIGINT, 130);
}

TEST_F(HangCommands, TopShowsTheHungKernelFromOutsideAndDisturbsNothing) {
  for (const char* platform : {"sim", "a5sim"}) {
    SCOPED_TRACE(platform);
    AuditWords audit(path("audit"));
    const pid_t pid = start(hung_run(platform));
    const auto core = wait_until_stuck("r", 12);
    const Finished json_look = run("top r --once --json");
    const Finished text_look = run("top r --once");
    for (int i = 0; i < 5; ++i) EXPECT_EQ(run("top r --once --json").exit_code, 0);
    ::kill(pid, SIGTERM);
    EXPECT_EQ(finish(pid), 143) << read(path("log.txt"));
    ASSERT_TRUE(core);
    ASSERT_EQ(json_look.exit_code, 0) << json_look.error;
    const auto json = parse(json_look.out);
    EXPECT_STREQ(json["workload"].GetString(), "hang_kernel");
    EXPECT_STREQ(json["platform"].GetString(), platform);
    EXPECT_TRUE(json["host_alive"].GetBool());
    EXPECT_TRUE(json["device_alive"].GetBool());
    EXPECT_EQ(json["error_code"].GetUint(), 0u);
    EXPECT_EQ(json["submitted"].GetUint(), 18u);
    EXPECT_EQ(json["completed"].GetUint(), 12u);
    EXPECT_TRUE(json["orchestration_done"].GetBool());
    ASSERT_LT(*core, json["cores"].Size());
    const auto& busy = json["cores"][*core];
    EXPECT_STREQ(busy["state"].GetString(), "busy");
    EXPECT_STREQ(busy["task"].GetString(), "t12");
    EXPECT_STREQ(busy["kernel"].GetString(), "copy_or_hang");
    EXPECT_GT(busy["for_ns"].GetUint64(), 0u);
    ASSERT_EQ(json["rings"].Size(), 4u);
    EXPECT_EQ(json["rings"][0]["tasks"].GetUint(), 13u);
    EXPECT_EQ(json["rings"][1]["tasks"].GetUint(), 5u);
    EXPECT_EQ(json["rings"][0]["task_window"].GetUint(), 16384u);
    std::set<std::string> streams;
    for (const auto& stream : json["streams"].GetArray())
      streams.insert(stream["stream"].GetString());
    for (const char* name : {"swimlane", "edges", "scopes", "dump"})
      EXPECT_EQ(streams.count(name), 1u) << name;
    ASSERT_EQ(text_look.exit_code, 0) << text_look.error;
    for (const std::string& word :
         {fmt::format("core {}", *core), std::string("copy_or_hang"), std::string("t12"),
          std::string("12 of 18 complete"), std::string("ring 0"), std::string("ring 1")})
      EXPECT_NE(text_look.out.find(word), std::string::npos) << word << "\n" << text_look.out;
    const auto report = read_run_report(path("r"));
    ASSERT_TRUE(report);
    EXPECT_EQ(report->status, RunStatus::kInterrupted);
    expect_everything_accepted(*report, audit);
    expect_check_passes("r");
    const Finished over = run("top r --once --json");
    EXPECT_EQ(over.exit_code, 2);
    EXPECT_EQ(over.out, "");
    EXPECT_NE(over.error.find("the run is over (status 'interrupted')"), std::string::npos)
        << over.error;
  }
}

TEST_F(HangCommands, AHealthyRunHasNothingToShow) {
  run_ok("run vector_example --output-prefix r");
  expect_refused("hang r", 2, "nothing hung");
  expect_refused("top r --once", 2, "the run is over (status 'ok')");
  run_ok(fmt::format("run vector_example {} --output-prefix s", kAllStreams));
  expect_refused("hang s", 2, "nothing hung");
  EXPECT_FALSE(fs::exists(path("s/hang.txt")));
}

TEST_F(HangCommands, LimitsAndFaultsThatMakeNoSenseAreRefused) {
  const std::string limits =
      "run hang_kernel --op-timeout-ms 500 --scheduler-timeout-ms 700 --output-prefix r";
  expect_refused(limits, 2, "--op-timeout-ms 500");
  expect_refused(limits, 2, "--scheduler-timeout-ms 700");
  expect_refused("run hang_kernel --runtime host_build_graph --output-prefix r", 2,
                 "--runtime host_build_graph");
  expect_refused("run vector_example --inject nonsense@publish:1 --output-prefix r", 2,
                 "--inject nonsense@publish:1");
  expect_refused("run vector_example --inject crash@nowhere --output-prefix r", 2,
                 "--inject crash@nowhere");
  expect_refused("run vector_example --inject crash@publish:0 --output-prefix r", 2,
                 "--inject crash@publish:0");
  EXPECT_FALSE(fs::exists(path("r")));
}

TEST_F(HangCommands, ARecorderThatIsSlowIsNeverAHang) {
  for (const char* platform : {"sim", "a2a3sim", "a5sim"}) starve(platform, 100, 0);
  // Here units wait for a page much longer than a kernel may take.
  starve("sim", 100'000, 1'000'000'000);
}

// And a slow kernel: RuntimeRun.ASlowKernelOnAFullRing...
TEST_F(HangCommands, AProgramThatIsOnlySlowPasses) {
  run_ok("run backpressure --ring-task-window 64 --output-prefix full");
  const auto json = json_of("full/run.json");
  EXPECT_STREQ(json["status"].GetString(), "ok");
  EXPECT_TRUE(json["error"].IsNull());
  ASSERT_EQ(json["warnings"].Size(), 1u);
  EXPECT_EQ(json["warnings"][0]["code"].GetUint(), 20u);
  EXPECT_STREQ(json["warnings"][0]["name"].GetString(), "RING_BUFFER_BACKPRESSURE");
}

}  // namespace
}  // namespace tidemark
