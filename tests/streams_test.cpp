// SPDX-License-Identifier: Apache-2.0
// The streams of the task runtime as a person meets them: capacity errors that name their culprit,
// marks in every export, policies per stream, commands that answer.
#include "tests/streams_fixture.h"

namespace tidemark {
namespace {

TEST_F(Streams, TensorIdsAreTheSameInEveryRun) {
  run_ok(fmt::format("run paged_attention --case Small2 {} --output-prefix one", kAllStreams));
  run_ok(
      fmt::format("run paged_attention --case Small2 -p a2a3sim --ring-heap 1048576 {} "
                  "--output-prefix two",
                  kAllStreams));
  const auto one = json_of("one/deps.json"), two = json_of("two/deps.json");
  ASSERT_EQ(one["tasks"].Size(), 33u);
  EXPECT_EQ(one["tasks"][0]["kernel"].GetString(), std::string("allocate"));
  for (unsigned i = 0; i < one["tasks"].Size(); ++i)
    for (unsigned k = 0; k < one["tasks"][i]["args"].Size(); ++k)
      EXPECT_STREQ(one["tasks"][i]["args"][k]["tensor_id"].GetString(),
                   two["tasks"][i]["args"][k]["tensor_id"].GetString());
  std::set<std::string> ids;
  for (const auto& tensor : one["tensors"].GetArray())
    EXPECT_TRUE(ids.insert(tensor["tensor_id"].GetString()).second) << "two tensors, one id";
}

TEST_F(Streams, LevelsSayWhatTheyPromise) {
  for (int level = 1; level <= 4; ++level) {
    run_ok(
        fmt::format("run vector_example --enable-l2-swimlane={} --output-prefix r --force", level));
    const auto json = json_of("r/l2_swimlane_records.json");
    EXPECT_EQ(json["l2_swimlane_level"].GetInt(), level);
    ASSERT_EQ(json["tasks"].Size(), 5u) << level;
    EXPECT_EQ(json["tasks"][0].HasMember("finish_time_us"), level >= 2);
    EXPECT_EQ(json["aicpu_scheduler_phases"].Size(), level >= 3 ? 1u : 0u);
    EXPECT_EQ(json["aicpu_orchestrator_phases"].Size(), level >= 4 ? 1u : 0u);
    EXPECT_FALSE(fs::exists(path("r/deps.json")));
    EXPECT_FALSE(fs::exists(path("r/scope_stats.json")));
  }
  expect_refused("run vector_example --enable-l2-swimlane=5 --output-prefix r --force", 2,
                 "--enable-l2-swimlane=5");
  expect_refused("run synthetic_producer --enable-dep-gen --records 10", 2, "--enable-dep-gen");
}

TEST_F(Streams, NoStreamLeavesNoCapture) {
  run_ok("run vector_example --output-prefix r");
  EXPECT_FALSE(fs::exists(path("r/capture.tide")));
  EXPECT_FALSE(fs::exists(path("r/l2_swimlane_records.json")));
  expect_refused("swimlane r", 2, "capture.tide is missing");
  run_ok("run vector_example --enable-scope-stats --output-prefix r --force");
  expect_refused("swimlane r", 2, "--enable-l2-swimlane");
  expect_refused("deps r", 2, "--enable-dep-gen");
  expect_refused("export r deps.json", 2, "edges");
  run_ok("run vector_example --enable-dep-gen --output-prefix r --force");
  expect_refused("scopes r", 2, "--enable-scope-stats");
}

// A capacity error names who filled what, and a setting that makes the same run pass.
TEST_F(Streams, CapacityErrorsNameTheirCulprit) {
  struct Fault {
    const char* workload;
    const char* resource;
    const char* flag;
  };
  for (const Fault& fault : {Fault{"scope_deadlock", "task window", "--ring-task-window"},
                             Fault{"heap_deadlock", "heap", "--ring-heap"},
                             Fault{"flow_control_deadlock", "task window", "--ring-task-window"},
                             Fault{"dep_pool_overflow", "fanin", "--ring-dep-pool"},
                             Fault{"tensormap_overflow", "tensor map", "--tensormap-pool"}})
    for (const char* platform : {"sim", "a5sim"}) {
      SCOPED_TRACE(std::string(fault.workload) + " on " + platform);
      const std::string command = fmt::format("run {} -p {} {} --output-prefix r --force",
                                              fault.workload, platform, kAllStreams);
      const Finished done = run(command);
      ASSERT_EQ(done.exit_code, 3) << done.out << done.error;
      const auto report = json_of("r/run.json");
      const auto& error = report["error"];
      expect_fields(error,
                    "code:i name:s message:s hint:s scope:s ring:i resource:s used:i "
                    "capacity:i setting:s");
      EXPECT_EQ(error["resource"].GetString(), std::string(fault.resource));
      const std::string scope = error["scope"].GetString(), setting = error["setting"].GetString();
      EXPECT_NE(done.out.find(scope), std::string::npos) << done.out;
      EXPECT_TRUE(setting.starts_with(fault.flag)) << setting;
      EXPECT_GE(error["used"].GetUint64() + 1, error["capacity"].GetUint64());
      EXPECT_TRUE(lines_of("r/scope_stats/scope_stats.jsonl")[0]["fatal"].GetBool());
      const auto summary = json_of("r/scope_stats.json");
      EXPECT_TRUE(summary["fatal"].GetBool());
      EXPECT_EQ(summary["culprit"]["scope"].GetString(), scope);
      EXPECT_EQ(summary["culprit"]["setting"].GetString(), setting);
      EXPECT_GT(summary["sites"].Size(), 0u) << "what came before it is kept";
      const Finished told = run("scopes r");
      EXPECT_EQ(told.exit_code, 0);
      for (const std::string& word :
           {scope, setting, std::string(fault.resource),
            fmt::format("{} of {}", error["used"].GetUint64(), error["capacity"].GetUint64())})
        EXPECT_NE(told.out.find(word), std::string::npos) << word << "\n" << told.out;
      const Finished again = run(command + " " + setting);
      EXPECT_EQ(again.exit_code, 0) << setting << "\n" << again.out << again.error;
    }
}

TEST_F(Streams, PoliciesArePerStream) {
  run_ok(
      fmt::format("run paged_attention --case VarSeq4 {} --page-bytes 4096 --policy drop "
                  "--policy scopes=wait --policy edges=keep-last --keep-pages 2 "
                  "--output-prefix r",
                  kAllStreams));
  const auto report = json_of("r/run.json");
  const auto policy = [&](const char* stream) {
    return std::string(report["streams"][stream]["lanes"][0]["policy"].GetString());
  };
  EXPECT_EQ(policy("scopes"), "wait");
  EXPECT_EQ(policy("edges"), "keep-last");
  EXPECT_EQ(policy("swimlane"), "drop");
  EXPECT_EQ(report["streams"]["scopes"]["delivered"].GetUint64(), 42u);
  EXPECT_GT(report["streams"]["edges"]["overwritten"].GetUint64(), 0u);
  // A graph that is not whole says so.
  const auto deps = json_of("r/deps.json");
  EXPECT_FALSE(deps["complete"].GetBool());
  EXPECT_EQ(deps["missing"]["records"].GetUint64(),
            report["streams"]["edges"]["overwritten"].GetUint64());
  EXPECT_NE(run("deps r").out.find("INCOMPLETE"), std::string::npos);
  EXPECT_EQ(run("check r").exit_code, 0);
  EXPECT_EQ(run("swimlane r --perfetto r/t.pftrace").exit_code, 0);
}

// Writers that the tensor map has no room for are edges that may be missing.
TEST_F(Streams, AGraphFromATooSmallTensorMapSaysSo) {
  run_ok("run bgemm --case Small --enable-dep-gen --output-prefix whole");
  EXPECT_TRUE(json_of("whole/deps.json")["complete"].GetBool());
  run_ok("run bgemm --case Small --enable-dep-gen --tensormap-pool 4 --output-prefix r");
  const auto deps = json_of("r/deps.json");
  EXPECT_FALSE(deps["complete"].GetBool());
  EXPECT_GT(deps["missing"]["tasks_after_evicted_writers"].GetUint64(), 0u);
  EXPECT_LT(deps["missing"]["tasks_after_evicted_writers"].GetUint64(), 64u);
  EXPECT_EQ(deps["missing"]["records"].GetUint64(), 0u);
  EXPECT_NE(run("deps r").out.find("the tensor map was too small"), std::string::npos);
}

// Marks and counters of kernels and of the orchestration stand in whatever is exported.
TEST_F(Streams, EventsAreInEveryExport) {
  struct Choice {
    const char* flag;
    const char* file;
  };
  for (const Choice& choice : {Choice{"--enable-l2-swimlane=1", "l2_swimlane_records.json"},
                               Choice{"--enable-dep-gen", "deps.json"},
                               Choice{"--enable-scope-stats", "scope_stats.json"}})
    for (const char* where : {"sim", "a5sim", "sim --runtime host_build_graph"}) {
      SCOPED_TRACE(std::string(choice.file) + " on " + where);
      run_ok(fmt::format("run spmd_blocks -p {} {} --output-prefix r --force", where, choice.flag));
      const auto report = json_of("r/run.json");
      const auto json = json_of(std::string("r/") + choice.file);
      std::map<std::string, std::vector<std::int64_t>> values;
      for (const auto& event : json["events"].GetArray()) {
        expect_fields(event, "name:s kind:s time_us:f value:i unit:i lane:i producer:s");
        values[event["name"].GetString()].push_back(event["value"].GetInt64());
        const std::string producer = event["producer"].GetString();
        EXPECT_EQ(producer == "orchestrator",
                  event["name"].GetString() == std::string("spmd.elements"));
      }
      EXPECT_EQ(json["events"].Size(), report["streams"]["events"]["delivered"].GetUint64());
      ASSERT_EQ(values["spmd.elements"].size(), 10u);
      ASSERT_EQ(values["spmd.visits"].size(), 1u);
      const auto blocks = static_cast<std::int64_t>(values["spmd.block"].size());
      EXPECT_EQ(values["spmd.elements"].back(), blocks) << "every block left its mark";
      EXPECT_EQ(values["spmd.visits"].back(), blocks);
    }
}

TEST_F(Streams, CommandsAnswerWhatTheyAreAskedFor) {
  run_ok(fmt::format("run vector_example {} --output-prefix r", kAllStreams));
  run_ok("deps r --why r1t3");
  EXPECT_NE(text_.find("t0 add"), std::string::npos) << text_;
  EXPECT_NE(text_.find("the last to be complete was r1t2 mul"), std::string::npos) << text_;
  run_ok("deps r --path t0 r1t2");
  EXPECT_NE(text_.find("-> r1t2 mul"), std::string::npos) << text_;
  run_ok("deps r --reduce --dot -");
  EXPECT_EQ(text_.find("\"t0\" -> \"r1t3\""), std::string::npos) << "implied by a longer chain";
  EXPECT_NE(text_.find("\"t0\" -> \"r1t0\""), std::string::npos) << text_;
  run_ok("deps r --dot r/graph.dot");
  EXPECT_NE(read(path("r/graph.dot")).find("\"t0\" -> \"r1t3\""), std::string::npos);
  expect_refused("deps r --why r1t99", 2, "r1t99");
  expect_refused("deps r --why nonsense", 2, "nonsense");
  run_ok("swimlane r");
  for (const char* part : {"Critical path: 4 of 5 tasks", "Idle core while a ready task exists",
                           "add_scalar", "Slowest", "busy"})
    EXPECT_NE(text_.find(part), std::string::npos) << part << "\n" << text_;
}

TEST_F(Streams, AFatalOrchestrationKeepsWhatWasRecorded) {
  const Finished done = run(fmt::format("run explicit_fatal {} --output-prefix r", kAllStreams));
  EXPECT_EQ(done.exit_code, 3);
  EXPECT_TRUE(lines_of("r/scope_stats/scope_stats.jsonl")[0]["fatal"].GetBool());
  EXPECT_EQ(run("check r").exit_code, 0);
}

}  // namespace
}  // namespace tidemark
