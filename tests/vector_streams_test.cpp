// SPDX-License-Identifier: Apache-2.0
// What the streams must say of vector_example, compared with its source and with arithmetic, every
// artifact field by field, on every platform and runtime.
#include <thread>

#include "tests/streams_fixture.h"

namespace tidemark {
namespace {

class VectorExampleStreams
    : public Streams,
      public testing::WithParamInterface<std::tuple<const char*, const char*>> {
 protected:
  void expect_swimlane();
  void expect_dependencies();
  void expect_scopes();
};

// c = a + b; d = c + 1; e = c + 2; g = d * e; f = g + c: task ids by ring, names by kernel.
constexpr std::uint64_t kC = 0, kD = 1ull << 32, kE = kD + 1, kG = kD + 2, kF = kD + 3;

// Five rows in the order of their times.
void VectorExampleStreams::expect_swimlane() {
  const auto json = json_of("r/l2_swimlane_records.json");
  expect_fields(json,
                "schema_version:i l2_swimlane_level:i tasks:a aicpu_scheduler_phases:a "
                "aicpu_orchestrator_phases:a core_to_thread:a gaps:a events:a");
  EXPECT_EQ(json["l2_swimlane_level"].GetInt(), 4);
  const std::map<std::uint64_t, std::string> names{
      {kC, "add"}, {kD, "add_scalar"}, {kE, "add_scalar"}, {kG, "mul"}, {kF, "add"}};
  std::map<std::uint64_t, std::pair<double, double>> times;  // start, finish
  ASSERT_EQ(json["tasks"].Size(), 5u);
  for (const auto& row : json["tasks"].GetArray()) {
    expect_fields(
        row,
        "task_id:i ring_id:i func_id:i func_name:s core_id:i core_type:s block:i "
        "start_time_us:f end_time_us:f duration_us:f dispatch_time_us:f finish_time_us:f");
    const std::uint64_t id = row["task_id"].GetUint64();
    ASSERT_TRUE(names.contains(id));
    EXPECT_EQ(row["func_name"].GetString(), names.at(id));
    EXPECT_EQ(row["ring_id"].GetUint64(), id >> 32);
    EXPECT_STREQ(row["core_type"].GetString(), "aiv");
    EXPECT_NE(row["core_id"].GetUint() % 3, 0u) << "an AIV";
    EXPECT_EQ(row["block"].GetUint(), 0u);
    const double dispatch = row["dispatch_time_us"].GetDouble(),
                 start = row["start_time_us"].GetDouble(), end = row["end_time_us"].GetDouble(),
                 finish = row["finish_time_us"].GetDouble();
    EXPECT_GT(dispatch, 0);
    EXPECT_LE(dispatch, start);
    EXPECT_LT(start, end);
    EXPECT_LE(end, finish);
    EXPECT_NEAR(row["duration_us"].GetDouble(), end - start, 1.01e-4);
    EXPECT_TRUE(times.emplace(id, std::pair{start, finish}).second);
  }
  for (const auto& [first, second] : {std::pair{kC, kD}, std::pair{kC, kE}, std::pair{kC, kF},
                                      std::pair{kD, kG}, std::pair{kE, kG}, std::pair{kG, kF}})
    EXPECT_LE(times[first].second, times[second].first) << first << " -> " << second;
  EXPECT_EQ(json["gaps"].Size(), 0u);
  const std::string platform = std::get<0>(GetParam());
  check_phases(json, platform == "sim" ? 1 : platform == "a2a3sim" ? 3 : 4);
  // 'sim' leaves two processors to the others, and has one cluster of three cores at least.
  const unsigned processors = std::thread::hardware_concurrency();
  EXPECT_EQ(json["core_to_thread"].Size(), platform == "a2a3sim" ? 72u
                                           : platform == "a5sim" ? 108u
                                           : processors < 5      ? 3u
                                                                 : (processors - 2) / 3 * 3);
  const auto map = json_of("r/name_map.json");
  EXPECT_STREQ(map["callable_id_to_name"]["0"].GetString(), "add");
  EXPECT_STREQ(map["callable_id_to_name"]["1"].GetString(), "add_scalar");
  EXPECT_STREQ(map["callable_id_to_name"]["2"].GetString(), "mul");
  EXPECT_STREQ(map["orchestrator_name"].GetString(), "vector_example");
  EXPECT_EQ(map["level"].GetInt(), 2);
}

// The six of the program.
void VectorExampleStreams::expect_dependencies() {
  const bool manual = std::string(std::get<1>(GetParam())) == "aicpu_build_graph";
  const auto json = json_of("r/deps.json");
  EXPECT_TRUE(json["complete"].GetBool());
  ASSERT_EQ(json["tasks"].Size(), 5u);
  const char* const ids[] = {"0", "4294967296", "4294967297", "4294967298", "4294967299"};
  const char* const kernels[] = {"add", "add_scalar", "add_scalar", "mul", "add"};
  const unsigned arg_counts[] = {3, 2, 2, 3, 3};
  for (unsigned i = 0; i < 5; ++i) {
    const auto& task = json["tasks"][i];
    expect_fields(task, "task_id:s scope:s kernel:s kernel_ids:a block_num:i args:a");
    EXPECT_STREQ(task["task_id"].GetString(), ids[i]);
    EXPECT_STREQ(task["kernel"].GetString(), kernels[i]);
    EXPECT_STREQ(task["scope"].GetString(), manual ? "manual" : "auto");
    ASSERT_EQ(task["kernel_ids"].Size(), 3u);
    EXPECT_EQ(task["kernel_ids"][0].GetInt(), -1);
    EXPECT_EQ(task["block_num"].GetInt(), 1);
    ASSERT_EQ(task["args"].Size(), arg_counts[i]);
    for (const auto& arg : task["args"].GetArray()) {
      expect_fields(arg, "idx:i type:s tensor_id:s dtype:s shape:a start_offset:i strides:a");
      EXPECT_STREQ(arg["dtype"].GetString(), "float32");
      ASSERT_EQ(arg["shape"].Size(), 1u);
      EXPECT_EQ(arg["shape"][0].GetInt(), 16384);
      EXPECT_EQ(arg["strides"][0].GetInt(), 1);
      EXPECT_EQ(arg["start_offset"].GetInt(), 0);
    }
  }
  EXPECT_STREQ(json["tasks"][4]["args"][2]["type"].GetString(), "output_existing");
  // c is read by three tasks and by nobody else: one tensor.
  const std::string c = json["tasks"][0]["args"][2]["tensor_id"].GetString();
  EXPECT_EQ(c, json["tasks"][1]["args"][0]["tensor_id"].GetString());
  EXPECT_EQ(c, json["tasks"][4]["args"][1]["tensor_id"].GetString());
  EXPECT_EQ(json["tensors"].Size(), 7u);  // a, b, c, d, e, g, f
  for (const auto& tensor : json["tensors"].GetArray()) {
    expect_fields(tensor, "tensor_id:s buffer_addr:s version:i dtype:s buffer_numel:s");
    EXPECT_STREQ(tensor["buffer_numel"].GetString(), "16384");
    EXPECT_EQ(tensor["version"].GetInt(), 0);
  }
  std::set<std::tuple<std::string, std::string, int>> edges;
  for (const auto& edge : json["edges"].GetArray()) {
    expect_fields(edge,
                  "pred:s succ:s arg:i source:s overlap:s tensor_id:S consumer_dtype:S "
                  "consumer_shape:A consumer_start_offset:I consumer_strides:A producer_shape:A "
                  "producer_start_offset:I producer_strides:A");
    edges.emplace(edge["pred"].GetString(), edge["succ"].GetString(), edge["arg"].GetInt());
    EXPECT_STREQ(edge["source"].GetString(), manual ? "explicit" : "creator");
    if (manual) continue;
    EXPECT_STREQ(edge["overlap"].GetString(), "covered");
    EXPECT_EQ(edge["producer_shape"][0].GetInt(), 16384);
    EXPECT_EQ(edge["consumer_shape"][0].GetInt(), 16384);
    EXPECT_STREQ(edge["consumer_dtype"].GetString(), "float32");
  }
  const auto arg = [&](int number) { return manual ? -1 : number; };
  const std::set<std::tuple<std::string, std::string, int>> expected{
      {ids[0], ids[1], arg(0)}, {ids[0], ids[2], arg(0)}, {ids[0], ids[4], arg(1)},
      {ids[1], ids[3], arg(0)}, {ids[2], ids[3], arg(1)}, {ids[3], ids[4], arg(0)}};
  EXPECT_EQ(edges, expected);
  EXPECT_EQ(json["edges"].Size(), 6u);
}

// Peaks by arithmetic, and sites of the source.
void VectorExampleStreams::expect_scopes() {
  const std::string runtime = std::get<1>(GetParam());
  const auto root = lines_with("workloads/vector_example.h", "Scope root(orch)");
  const auto inner = lines_with("workloads/vector_example.h", "Scope inner(orch)");
  ASSERT_EQ(root.size(), 1u);
  ASSERT_EQ(inner.size(), 1u);
  const auto lines = lines_of("r/scope_stats/scope_stats.jsonl");
  ASSERT_EQ(lines.size(), 5u);
  expect_fields(lines[0],
                "version:i fatal:b dropped:i total:i task_window_max:a heap_max:a dep_pool_max:a "
                "tensormap_max:i");
  EXPECT_EQ(lines[0]["version"].GetInt(), 6);
  EXPECT_FALSE(lines[0]["fatal"].GetBool());
  EXPECT_EQ(lines[0]["total"].GetInt(), 4);
  const bool host = runtime == "host_build_graph";
  EXPECT_EQ(lines[0]["task_window_max"][0].GetInt(), host ? 131072 : 16384);
  EXPECT_EQ(lines[0]["heap_max"][3].GetInt64(), host ? 2ll << 30 : 268435456);
  EXPECT_EQ(lines[0]["tensormap_max"].GetInt(), 65536);
  const auto site = [](unsigned line) { return fmt::format("vector_example.h:{}", line); };
  const std::string sites[] = {"", site(root[0]), site(inner[0]), site(inner[0]), site(root[0])};
  const char* const phases[] = {"", "begin", "begin", "end", "end"};
  const int depths[] = {0, 0, 1, 1, 0};
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
  for (unsigned i = 1; i <= 4; ++i) {
    expect_fields(lines[i],
                  "site:s phase:s depth:i ring:i time_ns:i task_window_start:i task_window_end:i "
                  "heap_start:i heap_end:i dep_pool_start:i dep_pool_end:i fanin_start:i "
                  "fanin_end:i tensormap:i");
    EXPECT_EQ(lines[i]["site"].GetString(), sites[i]);
    EXPECT_STREQ(lines[i]["phase"].GetString(), phases[i]);
    EXPECT_EQ(lines[i]["depth"].GetInt(), depths[i]);
    EXPECT_EQ(lines[i]["ring"].GetInt(), depths[i]);
    EXPECT_GE(lines[i]["time_ns"].GetInt64(), last_ns);
    last_ns = lines[i]["time_ns"].GetInt64();
    EXPECT_EQ(lines[i].HasMember("task_window"), i >= 3);
  }
  const std::string window = host ? "/131072" : "/16384";
  const std::string heap = host ? "/2147483648" : "/268435456";
  for (unsigned i = 3; i <= 4; ++i) {
    expect_fields(lines[i], "task_window:a heap:a dep_pool:a fanin:a tensormap_peak:s");
    EXPECT_EQ(lines[i]["task_window"][0].GetString(), "1" + window);
    EXPECT_EQ(lines[i]["task_window"][1].GetString(), "4" + window);
    EXPECT_EQ(lines[i]["task_window"][2].GetString(), "0" + window);
    EXPECT_EQ(lines[i]["heap"][0].GetString(), "65536" + heap);
    EXPECT_EQ(lines[i]["heap"][1].GetString(), "196608" + heap);
    EXPECT_EQ(lines[i]["tensormap_peak"].GetString(),
              std::string(runtime == "aicpu_build_graph" ? "0" : "1") + "/65536");
  }
  EXPECT_EQ(lines[3]["heap_end"].GetInt64(), 196608);
  EXPECT_EQ(lines[4]["heap_end"].GetInt64(), 65536);
  const auto summary = json_of("r/scope_stats.json");
  EXPECT_FALSE(summary["fatal"].GetBool());
  ASSERT_EQ(summary["sites"].Size(), 2u);
  ASSERT_EQ(summary["resources"].Size(), 21u);
  for (const auto& use : summary["resources"].GetArray())
    if (use["resource"].GetString() == std::string("heap") && use["ring"].GetInt() == 0) {
      EXPECT_EQ(use["peak"].GetInt(), 65536);
      EXPECT_EQ(use["site"].GetString(), site(root[0])) << "where it was allocated";
    }
}

TEST_P(VectorExampleStreams, SayWhatTheProgramDid) {
  run_ok(fmt::format("run vector_example -p {} --runtime {} {} --output-prefix r",
                     std::get<0>(GetParam()), std::get<1>(GetParam()), kAllStreams));
  expect_swimlane();
  expect_dependencies();
  expect_scopes();
}

std::string name_of(const testing::TestParamInfo<VectorExampleStreams::ParamType>& param) {
  return fmt::format("{}_{}", std::get<0>(param.param), std::get<1>(param.param));
}

INSTANTIATE_TEST_SUITE_P(EveryPlatformAndRuntime, VectorExampleStreams,
                         testing::Combine(testing::Values("sim", "a2a3sim", "a5sim"),
                                          testing::Values("tensormap_and_ringbuffer",
                                                          "aicpu_build_graph", "host_build_graph")),
                         name_of);

}  // namespace
}  // namespace tidemark
