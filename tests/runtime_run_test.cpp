// SPDX-License-Identifier: Apache-2.0
// `tidemark run` with the task runtime, as a person meets it: results and counts on every platform
// and runtime, every error with its code, message and hint, and a hint that works when followed.
#include <regex>

#include "tests/command_line_fixture.h"
#include "tidemark/run/json.h"
#include "tidemark/run/run_report.h"

namespace tidemark {
namespace {

class RuntimeRun : public CommandLine {
 protected:
  struct Outcome {
    int exit_code = 0;
    rapidjson::Document json;
    std::string text;
  };

  // Runs with --json and reads what it printed.
  Outcome outcome(const std::string& arguments, const std::string& before = "") {
    Outcome got;
    const Finished done =
        run(fmt::format("run {} --json --output-prefix run --force", arguments), before);
    got.exit_code = done.exit_code;
    got.text = done.out + done.error;
    got.json.Parse(done.out.c_str());
    EXPECT_FALSE(got.json.HasParseError()) << arguments << "\n" << got.text;
    EXPECT_EQ(done.out, read(path("run/run.json"))) << "run.json is what was printed";
    return got;
  }

  static std::uint64_t tasks(const Outcome& got, const char* which) {
    return got.json["tasks"][which].GetUint64();
  }

  void expect_error(const std::string& arguments, int code, const std::string& name,
                    const std::string& message) {
    const Outcome got = outcome(arguments);
    EXPECT_EQ(got.exit_code, 3) << got.text;
    EXPECT_STREQ(got.json["status"].GetString(), "fatal") << got.text;
    ASSERT_TRUE(got.json["error"].IsObject()) << got.text;
    EXPECT_EQ(got.json["error"]["code"].GetInt(), code);
    EXPECT_EQ(got.json["error"]["name"].GetString(), name);
    EXPECT_TRUE(std::regex_search(got.json["error"]["message"].GetString(), std::regex(message)))
        << got.json["error"]["message"].GetString();
    EXPECT_NE(std::string(got.json["error"]["hint"].GetString()), "");
    hint_ = got.json["error"]["hint"].GetString();
    setting_ = got.json["error"].HasMember("setting") && got.json["error"]["setting"].IsString()
                   ? got.json["error"]["setting"].GetString()
                   : "";
  }

  // That this setting makes the run pass is shown by Streams.CapacityErrorsNameTheirCulprit.
  void expect_hint_is_the_setting() {
    EXPECT_FALSE(setting_.empty());
    EXPECT_TRUE(hint_.starts_with(setting_)) << hint_ << " does not begin with " << setting_;
  }

  // The flag and value at the beginning of the hint make the same run pass.
  void expect_hint_helps(const std::string& workload) {
    std::smatch flag;
    ASSERT_TRUE(std::regex_search(hint_, flag, std::regex("^(--[a-z-]+ [0-9]+)"))) << hint_;
    const Outcome got = outcome(workload + " " + flag[1].str());
    EXPECT_EQ(got.exit_code, 0) << flag[1].str() << "\n" << got.text;
    EXPECT_EQ(tasks(got, "completed"), tasks(got, "submitted"));
    EXPECT_GT(tasks(got, "submitted"), 0u);
  }

  std::string hint_, setting_;
};

TEST_F(RuntimeRun, VectorExampleGives47OnEveryPlatformWithEveryRuntime) {
  for (const char* platform : {"sim", "a2a3sim", "a5sim"})
    for (const char* runtime :
         {"tensormap_and_ringbuffer", "aicpu_build_graph", "host_build_graph"}) {
      const Outcome got =
          outcome(fmt::format("vector_example -p {} --runtime {}", platform, runtime));
      EXPECT_EQ(got.exit_code, 0) << got.text;
      EXPECT_STREQ(got.json["status"].GetString(), "ok");
      EXPECT_STREQ(got.json["runtime"].GetString(), runtime);
      EXPECT_EQ(tasks(got, "submitted"), 5u);
      EXPECT_EQ(tasks(got, "completed"), 5u);
      EXPECT_EQ(got.json["scopes"].GetInt(), 2);
      EXPECT_TRUE(got.json["result"]["passed"].GetBool());
      EXPECT_TRUE(got.json["error"].IsNull());
      EXPECT_FALSE(fs::exists(path("run/capture.tide"))) << "no stream was on";
    }
}

TEST_F(RuntimeRun, RunsInThisProcessTooAndItsRunIsSound) {
  EXPECT_EQ(outcome("vector_example --isolation thread").exit_code, 0);
  EXPECT_EQ(run("check run").exit_code, 0);
}

TEST_F(RuntimeRun, CapacityFaultsNameTheCulpritAndTheirHintIsASetting) {
  expect_error("scope_deadlock", 1, "SCOPE_DEADLOCK",
               "proven deadlock.*scope at capacity_faults.h:[0-9]+ alone holds all 16383.*ring 0");
  expect_hint_is_the_setting();
  expect_error("heap_deadlock", 2, "HEAP_RING_DEADLOCK",
               "heap of ring 0 is full \\(268435456 of 268435456\\).*67108864 bytes more");
  expect_hint_is_the_setting();
  expect_error("flow_control_deadlock", 3, "FLOW_CONTROL_DEADLOCK",
               "task window of ring 3 is full \\(16383 of 16384\\)");
  expect_hint_is_the_setting();
  expect_error("dep_pool_overflow", 4, "DEP_POOL_OVERFLOW",
               "fanin.* of ring 0 .*full \\(16384 of 16384\\)");
  expect_hint_is_the_setting();
  expect_error("tensormap_overflow", 11, "TENSORMAP_OVERFLOW", "tensor map is full \\(16 of 16\\)");
  expect_hint_is_the_setting();
}

TEST_F(RuntimeRun, RefusedSubmitsSayWhatAndWhere) {
  expect_error("invalid_args", 5, "INVALID_ARGS",
               "kernel 'touch', argument 0 at refused_submits.h:[0-9]+ .*another access");
  expect_error("request_too_large", 6, "REQUEST_TOO_LARGE",
               "asks for 3221225472 bytes.*has 268435456 bytes");
  expect_hint_helps("request_too_large");
  expect_error("sync_start_invalid", 7, "SYNC_START_INVALID", "to start together; the device has");
  expect_error("tensor_wait_timeout --scheduler-timeout-ms 1000", 8, "TENSOR_WAIT_TIMEOUT",
               "waited too long for an element at slow_programs.h:[0-9]+ of what task t0 writes");
  expect_error("explicit_fatal", 9, "EXPLICIT_ORCH_FATAL",
               "gave up at refused_submits.h:[0-9]+: the program found its input unusable");
  expect_error("scope_depth_exceeded", 10, "SCOPE_DEPTH_EXCEEDED", "nested deeper than 64");
}

TEST_F(RuntimeRun, ErrorsAreTheSameWhereTheHostBuildsTheGraph) {
  expect_error("heap_deadlock --runtime host_build_graph --ring-heap 268435456", 2,
               "HEAP_RING_DEADLOCK", "host_build_graph keeps the whole graph");
  expect_error("explicit_fatal --runtime host_build_graph", 9, "EXPLICIT_ORCH_FATAL", "gave up");
  expect_error("invalid_args --runtime aicpu_build_graph -p a5sim", 5, "INVALID_ARGS", "touch");
}

TEST_F(RuntimeRun, ASlowKernelOnAFullRingPassesAndBackPressureIsAWarning) {
  const Outcome got = outcome("slow_kernel");
  EXPECT_EQ(got.exit_code, 0) << got.text;
  EXPECT_EQ(tasks(got, "completed"), 20'481u);
  EXPECT_FALSE(fs::exists(path("run/hang.txt")));
  ASSERT_EQ(got.json["warnings"].Size(), 1u);
  EXPECT_EQ(got.json["warnings"][0]["code"].GetInt(), 20);
  EXPECT_STREQ(got.json["warnings"][0]["name"].GetString(), "RING_BUFFER_BACKPRESSURE");
  EXPECT_TRUE(std::regex_search(got.json["warnings"][0]["message"].GetString(),
                                std::regex("task window of ring 1 .*slow_programs.h:[0-9]+")));
}

// The large cases in rings of the usual size are in workloads/paged_attention_test.cpp.
TEST_F(RuntimeRun, TheLargestCaseOfPagedAttentionPassesThroughSmallRings) {
  const Outcome got = outcome(
      "paged_attention --case Case1 --ring-task-window 64 --ring-heap 4194304 "
      "--ring-dep-pool 256");
  EXPECT_EQ(got.exit_code, 0) << got.text;
  EXPECT_EQ(tasks(got, "completed"), 65'792u);
  EXPECT_EQ(tasks(got, "submitted"), 65'792u);
  EXPECT_EQ(got.json["scopes"].GetUint64(), 16'641u);
}

TEST_F(RuntimeRun, NothingToDoEndsAtOnceAndAWrongResultIsExitCodeOne) {
  const Outcome empty = outcome("empty");
  EXPECT_EQ(empty.exit_code, 0);
  EXPECT_EQ(tasks(empty, "submitted"), 0u);
  const Outcome broken = outcome("nan_producer");
  EXPECT_EQ(broken.exit_code, 1);
  EXPECT_STREQ(broken.json["status"].GetString(), "mismatch");
  EXPECT_FALSE(broken.json["result"]["passed"].GetBool());
  EXPECT_EQ(outcome("nan_producer --case healthy").exit_code, 0);
}

TEST_F(RuntimeRun, BadSizesAreRefusedByTheFlagOrTheVariableThatHasThem) {
  expect_refused("run vector_example --ring-task-window 100", 2, "--ring-task-window: 100");
  expect_refused("run vector_example --ring-task-window 64,64", 2, "--ring-task-window 64,64");
  expect_refused("run vector_example --ring-heap 64k", 2, "--ring-heap: '64k'");
  expect_refused("run vector_example --ring-heap 1,2,3,", 2, "--ring-heap");
  expect_refused("run vector_example --ring-dep-pool -4", 2, "--ring-dep-pool");
  expect_refused("run vector_example --tensormap-pool 0", 2, "--tensormap-pool");
  expect_refused("run vector_example --runtime fast", 2, "--runtime fast");
  expect_refused("run vector_example --case big", 2, "--case big");
  // Before any GPU is asked.
  expect_refused("run vector_example -p cuda --ring-heap 64k", 2, "--ring-heap");
  expect_refused("run vector_example -p cuda --block-threads 4", 2, "--block-threads");
  const Finished bad = run("run vector_example", "PTO2_RING_HEAP=lots");
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_NE(bad.error.find("PTO2_RING_HEAP: 'lots'"), std::string::npos) << bad.error;
}

TEST_F(RuntimeRun, SizesComeFromTheEnvironmentUnlessAFlagSaysOtherwise) {
  const std::string small = "PTO2_RING_TASK_WINDOW=16384,32768,16384,16384";
  EXPECT_EQ(outcome("scope_deadlock", small).exit_code, 3);
  EXPECT_EQ(outcome("scope_deadlock", "PTO2_RING_TASK_WINDOW=32768").exit_code, 0);
  EXPECT_EQ(outcome("scope_deadlock --ring-task-window 32768", small).exit_code, 0);
  EXPECT_EQ(outcome("heap_deadlock", "PTO2_RING_HEAP=536870912").exit_code, 0);
  EXPECT_EQ(outcome("dep_pool_overflow", "PTO2_RING_DEP_POOL=30000").exit_code, 0);
}

}  // namespace
}  // namespace tidemark
