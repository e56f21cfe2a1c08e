// SPDX-License-Identifier: Apache-2.0
// Options by what they do: each test looks at the effect that the help promises, not only at the
// exit code. And the help itself, of every command that the program has.
#include <map>
#include <set>

#include "tests/streams_fixture.h"

namespace tidemark {
namespace {

class Options : public Streams {
 protected:
  static std::size_t count_of(const std::string& text, const std::string& what) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++count;
    return count;
  }
  static void expect_in(const std::string& text, const std::string& what) {
    EXPECT_NE(text.find(what), std::string::npos) << what << " is not in\n" << text;
  }
  std::uint64_t count(const std::string& run, const char* stream, const char* key) {
    return json_of(run + "/run.json")["streams"][stream][key].GetUint64();
  }
  // The names under "Subcommands:" of a help text.
  static std::vector<std::string> subcommands_of(const std::string& help) {
    std::vector<std::string> names;
    std::stringstream lines(help.substr(std::min(help.size(), help.find("\nSubcommands:\n"))));
    bool within = false;
    for (std::string line; std::getline(lines, line);) {
      if (line == "Subcommands:") within = true;
      if (within && line.empty()) break;
      if (within && line.starts_with("  ") && line[2] != ' ')
        names.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
    return names;
  }
};

TEST_F(Options, HelpOfEveryCommandSaysWhatItIsForAndExplainsEveryOption) {
  std::vector<std::string> commands = {""};
  std::set<std::string> options;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const Finished done = run(commands[i] + " --help");
    SCOPED_TRACE(commands[i]);
    EXPECT_EQ(done.exit_code, 0);
    EXPECT_EQ(done.error, "");
    const std::string usage = "\nUsage: tidemark" + commands[i] + " ";
    expect_in(done.out, usage);
    EXPECT_GT(done.out.find(usage), 20u) << "a sentence comes first";
    expect_in(done.out, "  -h,--help  ");
    // The words of an option stand at column 30, on its line and on those below.
    std::stringstream lines(done.out);
    std::map<std::string, std::size_t> words;
    std::string option;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("  -")) option = line.substr(0, line.find(' ', 3));
      if (!line.starts_with("  ") || option.empty()) {
        option.clear();
        continue;
      }
      const std::size_t from = line.starts_with("  -") && line.size() > 29 && line[29] != ' ' &&
                                       line.find("  ", 3) == std::string::npos
                                   ? line.size()
                                   : std::min<std::size_t>(line.size(), 30);
      words[option] += line.size() - from;
    }
    for (const auto& [name, length] : words) EXPECT_GE(length, 8u) << name;
    for (const auto& [name, length] : words) options.insert(commands[i] + name);
    for (const auto& name : subcommands_of(done.out)) commands.push_back(commands[i] + " " + name);
  }
  EXPECT_GE(commands.size(), 1u + 13 + 1 + 7) << "13 commands, 'dump diff' and the benches";
  EXPECT_GE(options.size(), 120u);
  const std::set<std::string> known(commands.begin(), commands.end());
  for (const char* named : {" run", " check", " recover", " dump diff", " bench top", " replay"})
    EXPECT_TRUE(known.contains(named)) << named;
}

TEST_F(Options, VersionIsThatOfTheProject) {
  const std::string project = read(std::string(TIDEMARK_SOURCE_DIR) + "/CMakeLists.txt");
  const auto at = project.find("VERSION ", project.find("project("));
  ASSERT_NE(at, std::string::npos);
  const std::string version =
      project.substr(at + 8, project.find_first_not_of("0123456789.", at + 8) - at - 8);
  run_ok("--version");
  EXPECT_EQ(text_, "tidemark " + version + "\n");
}

TEST_F(Options, ListHasEverythingThatRunTakes) {
  run_ok("list");
  for (const char* head : {"workloads\n", "platforms (-p)\n", "runtimes (--runtime)\n", "streams (",
                           "policies (--policy)\n", "devices (-d)\n"})
    expect_in(text_, head);
  for (const char* name :
       {"vector_example", "paged_attention", "cases: Small1, Small2", "synthetic_producer", "sim",
        "a2a3sim", "a5sim", "cuda-copy", "tensormap_and_ringbuffer", "aicpu_build_graph",
        "host_build_graph", "swimlane", "phases", "edges", "scopes", "dump", "events", "keep-last"})
    expect_in(text_, fmt::format("  {}", name));
  EXPECT_GE(count_of(text_, "cases: "), 26u);
}

TEST_F(Options, NoCheckComparesNothing) {
  EXPECT_EQ(run("run nan_producer --output-prefix checked").exit_code, 1);
  EXPECT_FALSE(json_of("checked/run.json")["result"]["passed"].GetBool());
  run_ok("run nan_producer --no-check --output-prefix r");
  EXPECT_TRUE(json_of("r/run.json")["result"].IsNull());
  EXPECT_EQ(text_.find("\n  result "), std::string::npos) << text_;
}

TEST_F(Options, HangAfterKeepsExactlySoManyRecords) {
  const Finished hung =
      run("run synthetic_producer --lanes 2 --hang-after 700 --op-timeout-ms 200 "
          "--output-prefix r");
  EXPECT_EQ(hung.exit_code, 3);
  expect_in(hung.out, "101 OP_TIMEOUT: the launch exceeded its limit of 200 ms");
  EXPECT_EQ(count("r", "swimlane", "produced"), 1400u);
  EXPECT_EQ(count("r", "swimlane", "delivered") + count("r", "swimlane", "recovered"), 1400u);
  EXPECT_EQ(json_of("r/run.json")["error"]["code"].GetInt(), 101);
  run_ok("check r");
  expect_in(text_, "content    1,400 records verified\n");
}

TEST_F(Options, OfTheSyntheticProducerShapeWhatItWrites) {
  run_ok("run synthetic_producer --lanes 3 --writing-lanes 2 --records 100 --output-prefix w");
  const auto writing = json_of("w/run.json");
  const auto& lanes = writing["streams"]["swimlane"]["lanes"];
  ASSERT_EQ(lanes.Size(), 3u);
  EXPECT_EQ(lanes[0]["produced"].GetInt(), 100);
  EXPECT_EQ(lanes[1]["produced"].GetInt(), 100);
  EXPECT_EQ(lanes[2]["produced"].GetInt(), 0);
  // For CUDA; elsewhere a lane has one thread anyway.
  run_ok("run synthetic_producer --one-thread --lanes 2 --records 100 --output-prefix o");
  EXPECT_EQ(count("o", "swimlane", "delivered"), 200u);
  run_ok("run synthetic_producer --record-bytes 128 --lanes 1 --records 100 --output-prefix b");
  EXPECT_EQ(count("b", "swimlane", "bytes"), 12'800u);
  // A burst is 16,384 records; a millisecond of silence is before each but the first.
  run_ok("run synthetic_producer --burst --lanes 1 --records 327681 --output-prefix burst");
  EXPECT_EQ(count("burst", "swimlane", "delivered"), 327'681u);
  EXPECT_GE(json_of("burst/run.json")["device_ns"].GetUint64(), 20'000'000u);
}

TEST_F(Options, OfListsSayHowManyAreShown) {
  run_ok(fmt::format("run paged_attention --case Small2 {} --output-prefix r", kAllStreams));
  const auto lines_below = [&](const std::string& head) {
    std::stringstream lines(text_.substr(std::min(text_.size(), text_.find(head))));
    std::string line;
    std::getline(lines, line);
    std::size_t count = 0;
    while (std::getline(lines, line) && !line.empty()) ++count;
    return count;
  };
  run_ok("swimlane r --slowest 3 --steps 2");
  EXPECT_EQ(lines_below("Slowest\n"), 3u) << text_;
  EXPECT_EQ(lines_below("Critical path:"), 2u + 3) << "shares, head, what is left out\n" << text_;
  expect_in(text_, "earlier steps (--steps N shows more)");
  run_ok("swimlane r --slowest 7 --steps 3");
  EXPECT_EQ(lines_below("Slowest\n"), 7u) << text_;
  EXPECT_EQ(lines_below("Critical path:"), 3u + 3) << "four tasks depend on each other\n" << text_;
  run_ok("scopes r --top 1");
  EXPECT_EQ(lines_below("Scopes, closest"), 1u + 2) << text_;
  expect_in(text_, "more (--top N shows them)");
  run_ok("scopes r --top 100");
  EXPECT_EQ(text_.find("(--top N shows them)"), std::string::npos) << text_;
}

TEST_F(Options, ExportLimitHoldsForARecoveryToo) {
  const Finished killed =
      run("run vector_example --enable-scope-stats --inject kill@report:1 --output-prefix r");
  EXPECT_NE(killed.exit_code, 0);
  fs::remove_all(path("r/scope_stats"));
  fs::remove(path("r/scope_stats.json"));
  run_ok("recover r --export-limit 3");
  EXPECT_FALSE(fs::exists(path("r/scope_stats.json"))) << "four boundaries are more than three";
  const auto json = json_of("r/run.json");
  ASSERT_GT(json["not_exported"].Size(), 0u);
  expect_in(json["not_exported"][0]["reason"].GetString(), "4 records, more than --export-limit 3");
}

TEST_F(Options, BenchesMeasureWhatTheySayAndLoseNothing) {
  const auto bench = [&](const std::string& arguments) {
    run_ok("bench " + arguments + " --json");
    return parse(text_);
  };
  const auto drain = bench("drain --rounds 1 --pool-bytes 1048576");
  expect_fields(drain, "bench:s platform:s sink:s lanes:i rounds:i gb_per_s:f reference:o");
  EXPECT_GT(drain["gb_per_s"].GetDouble(), 0);
  EXPECT_GT(drain["reference"]["memcpy_gb_per_s"].GetDouble(), 0);
  const auto runtime = bench("runtime --rounds 1 --tasks 100");
  ASSERT_EQ(runtime["graphs"].Size(), 10u);
  std::multiset<int> tasks;
  std::set<std::string> shapes;
  for (const auto& graph : runtime["graphs"].GetArray()) {
    expect_fields(graph, "graph:s dependencies:s tasks:i ns_per_task:f tasks_per_s:f reference:O");
    EXPECT_GT(graph["ns_per_task"].GetDouble(), 0);
    tasks.insert(graph["tasks"].GetInt());
    shapes.insert(graph["graph"].GetString());
  }
  EXPECT_EQ(tasks, (std::multiset<int>{10, 100, 100, 100, 100, 100, 100, 100, 100, 1000}));
  EXPECT_EQ(shapes.size(), 4u);
  EXPECT_EQ(bench("runtime --graph chain --rounds 1 --tasks 100")["graphs"].Size(), 2u);
  const auto cores = bench("runtime --graph cores --rounds 1");
  ASSERT_EQ(cores["cores"].Size(), 2u);
  for (const auto& row : cores["cores"].GetArray()) {
    EXPECT_GE(row["one_ms"].GetDouble(), row["kernel_ms"].GetDouble());
    EXPECT_GE(row["all_ms"].GetDouble(), row["kernel_ms"].GetDouble());
  }
  const auto overhead = bench("overhead vector_example --rounds 1");
  ASSERT_GE(overhead["streams"].Size(), 5u);
  EXPECT_STREQ(overhead["streams"][0]["streams"].GetString(), "off");
  EXPECT_EQ(overhead["streams"][0]["records"].GetInt(), 0);
  std::uint64_t most = 0;
  for (const auto& streams : overhead["streams"].GetArray())
    most = std::max(most, streams["records"].GetUint64());
  EXPECT_GE(most, 30u) << "spans, edges and scopes of five tasks";
  const auto dump = bench("dump --case Small --rounds 1");
  EXPECT_EQ(dump["bytes"].GetUint64(), 4u << 20);
  EXPECT_EQ(dump["lost"].GetInt(), 0);
  EXPECT_EQ(dump["wrong"].GetInt(), 0);
  const auto top = bench("top --records 100000 --rounds 1");
  EXPECT_GT(top["looks"].GetInt(), 0);
  EXPECT_GT(top["mrecords_per_second_watched"].GetDouble(), 0);
  const auto watched = bench("watched --rounds 1 --seconds 1 --rate 100000 --poll-ms 50");
  EXPECT_GT(watched["mrecords_per_second_alone"].GetDouble(), 0);
  EXPECT_GT(watched["mrecords_per_second_watched"].GetDouble(), 0);
  EXPECT_EQ(watched["lost"].GetInt(), 0);
  EXPECT_GE(watched["pages"]["generations_least"].GetInt(), 1);
  EXPECT_GE(watched["pages"]["blobs"].GetInt(), 2 * 4 * 2) << "two pages, four lanes";
  EXPECT_EQ(watched["pages"]["failed"].GetInt(), 0);
  EXPECT_EQ(watched["pages"]["incomplete"].GetInt(), 0) << "a page did not see every record";
  EXPECT_GT(watched["server_peak_bytes"].GetDouble(), 0);
  expect_refused("bench producer --rounds 4", 2, "--rounds");
}

}  // namespace
}  // namespace tidemark
