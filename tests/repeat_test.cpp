// SPDX-License-Identifier: Apache-2.0
// `tidemark run --repeat`: the records of every iteration are there, told apart by the id of the
// task, and say that it did what the first one did; a hang says in which iteration it is.
#include "tests/dump_fixture.h"
#include "tidemark/analyze/check_run.h"
#include "tidemark/schema/task_id.h"

namespace tidemark {
namespace {

constexpr const char* kRepeated = "--runtime host_build_graph --repeat";

class Repeat : public DumpFixture {
 protected:
  void expect_sound(const std::string& directory) {
    const auto checked = check_run(path(directory), {});
    ASSERT_TRUE(checked) << checked.error().message;
    EXPECT_EQ(checked->problems, std::vector<std::string>());
  }
  // How often each task of an iteration ran, by its id in the first one.
  std::map<std::uint64_t, std::map<std::uint64_t, int>> rows_of(const std::string& directory) {
    std::map<std::uint64_t, std::map<std::uint64_t, int>> rows;
    const auto json = json_of(directory + "/l2_swimlane_records.json");
    for (const auto& row : json["tasks"].GetArray()) {
      const TaskId id{row["task_id"].GetUint64()};
      EXPECT_EQ(row["iteration"].GetUint64(), id.lap());
      ++rows[id.lap()][id.without_lap().value];
    }
    return rows;
  }
  static std::size_t occurrences(const std::string& text, const std::string& what) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; ++at) ++count;
    return count;
  }
};

TEST_F(Repeat, CountsAndTimesAreThoseOfAllIterations) {
  for (const char* platform : {"sim", "a5sim"}) {
    run_ok(fmt::format("run bgemm {} 5 -p {} --output-prefix r --force", kRepeated, platform));
    EXPECT_NE(text_.find("320 of 320 complete, 9 scopes, host_build_graph"), text_.npos) << text_;
    EXPECT_NE(text_.find("iterations 5 of 5 complete; the first "), text_.npos) << text_;
    const auto json = json_of("r/run.json");
    EXPECT_EQ(json["tasks"]["submitted"].GetUint64(), 320u);
    EXPECT_EQ(json["tasks"]["completed"].GetUint64(), 320u);
    expect_fields(json["iterations"], "asked:i completed:i first_ns:i next_ns:i");
    EXPECT_EQ(json["iterations"]["asked"].GetUint64(), 5u);
    EXPECT_EQ(json["iterations"]["completed"].GetUint64(), 5u);
    EXPECT_TRUE(json["result"]["passed"].GetBool());
    const std::uint64_t first_ns = json["iterations"]["first_ns"].GetUint64();
    const std::uint64_t next_ns = json["iterations"]["next_ns"].GetUint64();
    EXPECT_GT(first_ns, 0u);
    EXPECT_GT(next_ns, 0u);
    EXPECT_LE(first_ns + 4 * next_ns, json["device_ns"].GetUint64());
  }
  run_ok("run bgemm --runtime host_build_graph --output-prefix once");
  EXPECT_FALSE(json_of("once/run.json").HasMember("iterations"));
}

TEST_F(Repeat, EveryIterationHasTheRecordsOfTheFirst) {
  run_ok(
      fmt::format("run paged_attention --case Small2 {} 100 --enable-l2-swimlane=2 "
                  "--enable-dep-gen --enable-scope-stats --output-prefix r",
                  kRepeated));
  const auto rows = rows_of("r");
  ASSERT_EQ(rows.size(), 100u);
  EXPECT_EQ(rows.at(0).size(), 32u) << "all but the one that is complete at once";
  for (const auto& [iteration, tasks] : rows) EXPECT_EQ(tasks, rows.at(0)) << iteration;
  // The graph is one, and is told once.
  const auto deps = json_of("r/deps.json");
  EXPECT_EQ(deps["tasks"].Size(), 33u);
  EXPECT_TRUE(deps["complete"].GetBool());
  expect_sound("r");
  run_ok("swimlane r");
  EXPECT_NE(text_.find("Critical path of the first iteration: "), text_.npos) << text_;
  run_ok("deps r --why r2t3");
  expect_refused("deps r --why r2t3l7", 2,
                 "r2t3l7: the graph is recorded once for all iterations; name r2t3, its times are "
                 "those of the first one");
}

// What the tasks read and wrote is the same in every iteration, element by element.
TEST_F(Repeat, EveryIterationHasTheResultsOfTheFirst) {
  for (const char* workload : {"paged_attention --case Small2", "bgemm"}) {
    SCOPED_TRACE(workload);
    run_ok(fmt::format("run {} {} 4 --dump-tensor --output-prefix r --force", workload, kRepeated));
    auto run = RunCapture::open(path("r"));
    ASSERT_TRUE(run) << run.error().message;
    const auto index = read_dump(*run);
    ASSERT_TRUE(index) << index.error().message;
    using Dumped = std::tuple<std::uint64_t, DumpStage, std::uint8_t>;
    std::map<Dumped, std::uint64_t> all[4], fresh[4];
    const auto json = json_of("r/tensor_dump/tensor_dump.json");
    ASSERT_EQ(json["tensors"].Size(), index->entries.size());
    std::uint64_t last_task = 0;
    for (std::size_t i = 0; i < index->entries.size(); ++i) {
      const DumpEntry& entry = index->entries[i];
      const TaskId id{entry.header.task_id};
      ASSERT_LT(id.lap(), 4u);
      EXPECT_EQ(json["tensors"][static_cast<unsigned>(i)]["iteration"].GetUint64(), id.lap());
      if (!entry.is_tensor()) continue;
      const Dumped key{id.without_lap().value, entry.header.stage, entry.header.arg_index};
      all[id.lap()][key] = entry.stats.hash;
      if (entry.header.access != Access::kInout) fresh[id.lap()][key] = entry.stats.hash;
      last_task = std::max(last_task, id.without_lap().value);
    }
    // What an inout holds that nobody has written yet is another thing in the first iteration. At
    // the end of it, all is as later.
    for (const auto& [key, hash] : all[0]) {
      if (std::get<0>(key) != last_task || std::get<1>(key) != DumpStage::kAfterCompletion)
        continue;
      EXPECT_EQ(all[1].at(key), hash);
    }
    ASSERT_GT(fresh[0].size(), 50u);
    EXPECT_EQ(fresh[1], fresh[0]);
    EXPECT_EQ(all[2], all[1]);
    EXPECT_EQ(all[3], all[1]);
    expect_sound("r");
  }
}

TEST_F(Repeat, ATaskIsChosenInOneIterationOrInAll) {
  const std::string command = fmt::format(
      "run vector_example {} 3 --dump-tensor --force --output-prefix r --dump-select ", kRepeated);
  run_ok(command + "task=t0");
  EXPECT_EQ(json_of("r/tensor_dump/tensor_dump.json")["total_tensors"].GetUint(), 9u);
  run_ok(command + "task=t0l1");
  EXPECT_EQ(json_of("r/tensor_dump/tensor_dump.json")["total_tensors"].GetUint(), 3u);
  run_ok("dump r --task t0l1");
  EXPECT_EQ(occurrences(text_, "t0l1 "), 3u) << text_;
}

TEST_F(Repeat, IsForGraphsOfTheHost) {
  expect_refused("run vector_example --repeat 2", 2,
                 "--repeat 2: only a graph that is built on the host can run again "
                 "(--runtime host_build_graph)");
  expect_refused(fmt::format("run vector_example {} 0", kRepeated), 2,
                 "--repeat: 0 is not from 1 to 100000");
  expect_refused(fmt::format("run vector_example {} 100001", kRepeated), 2, "100001 is not from");
}

// Returns in its first two iterations only.
struct HangLater {
  static constexpr KernelInfo kInfo{
      .name = "hang_later", .core = CoreType::kAiv, .args = {inout("x", DType::kInt32)}};
  template <class Block>
  static void run(Block& block, const TaskArgs& args) {
    args.tensor<std::int32_t>(0).data()[0] += 1;
    while (args.task.lap() == 2 && args.task.local() == 7) block.wait_ns(1'000'000);
  }
};
struct HangInIteration {
  static constexpr const char* kName = "hang_in_iteration";
  static constexpr const char* kDescription = "";
  static constexpr std::uint64_t kTasks = 10;
  using Kernels = KernelList<HangLater>;
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    Scope root(orch);
    for (std::uint64_t i = 0; i < kTasks; ++i)
      orch.template submit<HangLater>(Args().inout(entry.tensor(0)));
  }
  static std::vector<WorkloadCase> cases() { return {{"default", ""}}; }
  static void prepare(const WorkloadSetup&, EntryData& data) {
    data.add<std::int32_t>({1, {1}}, [](std::uint64_t) { return 0; });
  }
  static ResultCheck check(const WorkloadSetup&, const EntryData&) { return {false, ""}; }
};
// The supervisor forks devices that know what was registered before it: before main.
const bool kRepeatKnown = (register_workload<HangInIteration>(), true);

TEST_F(Repeat, AHangNamesItsIteration) {
  ASSERT_TRUE(kRepeatKnown);
  for (const char* platform : {"sim", "a5sim"}) {
    SCOPED_TRACE(platform);
    const RunResult hung = run_here<HangInIteration>(
        {.platform = platform,
         .build = BuildKind::kHostBuild,
         .repeat = 5,
         .level = DumpLevel::kFull,
         .change = [](RunRequest& request) {
           request.isolation = Isolation::kProcess;
           request.launch.runtime->config.task_timeout_ms = 700;
           std::memcpy(request.launch.args.data(), &request.launch.runtime->config,
                       sizeof(RuntimeConfig));
         }});
    EXPECT_EQ(hung.exit_code, 3);
    EXPECT_EQ(hung.report.status, RunStatus::kHang);
    // Two iterations, and seven tasks of the third.
    EXPECT_EQ(hung.report.tasks.completed, 27u);
    EXPECT_EQ(hung.report.tasks.submitted, 50u);
    ASSERT_TRUE(hung.report.iterations);
    EXPECT_EQ(hung.report.iterations->completed, 2u);
    EXPECT_EQ(hung.report.iterations->asked, 5u);
    const auto json = json_of("r/hang.json");
    ASSERT_EQ(json["stuck"].Size(), 1u);
    const auto& stuck = json["stuck"][0];
    EXPECT_STREQ(stuck["task"].GetString(), "t7l2");
    EXPECT_STREQ(stuck["kernel"].GetString(), "hang_later");
    EXPECT_TRUE(stuck["core"].IsUint());
    EXPECT_EQ(json["incomplete_tasks"].GetUint(), 3u) << "of the iteration that hangs";
    std::set<std::string> waiters;
    for (const auto& waiter : stuck["waiters"].GetArray()) waiters.insert(waiter.GetString());
    EXPECT_EQ(waiters, (std::set<std::string>{"t8l2", "t9l2"}));
    EXPECT_NE(read(path("r/hang.txt")).find("task t7l2 "), std::string::npos);
    // What the stuck task wrote in this iteration: one more than the 27 before.
    auto run = RunCapture::open(path("r"));
    ASSERT_TRUE(run) << run.error().message;
    const auto index = read_dump(*run);
    ASSERT_TRUE(index) << index.error().message;
    std::size_t found = 0;
    for (const DumpEntry& entry : index->entries) {
      if (entry.header.stage != DumpStage::kAtHang) continue;
      ++found;
      EXPECT_EQ(task_text(entry.header.task_id), "t7l2");
      const auto bytes = load_payload(*run, entry);
      ASSERT_TRUE(bytes) << bytes.error().message;
      std::int32_t value = 0;
      std::memcpy(&value, bytes->data(), sizeof(value));
      EXPECT_EQ(value, 28);
    }
    EXPECT_EQ(found, 1u);
    expect_sound("r");
  }
}

}  // namespace
}  // namespace tidemark
