// SPDX-License-Identifier: Apache-2.0
// Dumps of runs that follow each other in one process, of tasks whose arguments are raw words, and
// of a run that dumps nothing.
#include "tests/dump_fixture.h"
#include "tidemark/cli/run_summary.h"
#include "workloads/capacity_faults.h"
#include "workloads/nan_producer.h"
#include "workloads/vector_example.h"

namespace tidemark {
namespace {

// Two tasks that run, then the program gives up.
struct FatalBehindTwo {
  static constexpr const char* kName = "fatal_behind_two";
  static constexpr const char* kDescription = "";
  using Kernels = KernelList<AddMaybeNan>;
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    Scope root(orch);
    TensorRef last = entry.tensor(0);
    for (int i = 0; i < 2; ++i)
      last = orch.template submit<AddMaybeNan>(Args()
                                                   .in(last)
                                                   .out(last.view.shape, DType::kFloat32)
                                                   .scalar(1.0f)
                                                   .scalar(std::int32_t{0}))
                 .output(0);
    if (orch.template value<float>(last, 0) > 0) orch.fatal("had enough");
  }
  static std::vector<WorkloadCase> cases() { return {{"default", ""}}; }
  static void prepare(const WorkloadSetup&, EntryData& data) {
    data.add<float>({1, {5000}}, [](std::uint64_t i) { return static_cast<float>(i); });
  }
  static ResultCheck check(const WorkloadSetup&, const EntryData&) { return {}; }
};

class DumpSession : public DumpFixture {
 protected:
  // The second run says only what it did itself, wherever its files stand.
  void expect_nothing_left(const char* platform) {
    for (const char* directory : {"first", "second"}) {
      SCOPED_TRACE(fmt::format("{} in {}", platform, directory));
      const RunResult second =
          run_here<VectorExample>({.directory = directory, .platform = platform});
      EXPECT_EQ(second.exit_code, 0);
      EXPECT_EQ(second.report.status, RunStatus::kOk);
      EXPECT_TRUE(second.report.ledger_closes());
      EXPECT_EQ(second.report.total().incomplete, 0u);
      const SerialExecutor expected = serial<VectorExample>("default");
      expect_manifest(directory, expected, expect_truth(directory, expected));
      const auto json = json_of(fmt::format("{}/tensor_dump/tensor_dump.json", directory));
      EXPECT_FALSE(json.HasMember("note"));
      EXPECT_FALSE(json.HasMember("skipped_tasks"));
      for (const auto& entry : json["tensors"].GetArray()) {
        const std::string kernel = entry["kernel"].GetString();
        EXPECT_TRUE(kernel == "add" || kernel == "add_scalar" || kernel == "mul") << kernel;
      }
    }
  }
};

TEST_F(DumpSession, SecondRunOfAProcessHasNothingOfTheFirst) {
  for (const char* platform : {"sim", "a2a3sim", "a5sim"}) {
    const RunResult healthy =
        run_here<NanProducer>({.directory = "first", .case_name = "healthy", .platform = platform});
    EXPECT_EQ(healthy.exit_code, 0);
    expect_truth("first", serial<NanProducer>("healthy"));
    expect_nothing_left(platform);

    const RunResult mismatch =
        run_here<NanProducer>({.directory = "first", .case_name = "broken", .platform = platform});
    EXPECT_EQ(mismatch.exit_code, 1);
    EXPECT_EQ(mismatch.report.status, RunStatus::kMismatch);
    const auto of_mismatch = RunCapture::open(path("first"));
    ASSERT_TRUE(of_mismatch && of_mismatch->outcome());
    EXPECT_EQ(of_mismatch->outcome()->status, RunStatus::kMismatch) << "as run.json says";
    expect_truth("first", serial<NanProducer>("broken"));
    expect_nothing_left(platform);

    const RunResult fatal = run_here<FatalBehindTwo>({.directory = "first", .platform = platform});
    EXPECT_EQ(fatal.report.status, RunStatus::kFatal);
    auto run = RunCapture::open(path("first"));
    ASSERT_TRUE(run);
    const auto index = read_dump(*run);
    ASSERT_TRUE(index);
    EXPECT_EQ(index->entries.size(), 8u) << "of two tasks: a tensor each way, two scalars";
    expect_nothing_left(platform);

    const RunResult deadlock =
        run_here<HeapDeadlock>({.directory = "first", .platform = platform, .max_bytes = 4096});
    EXPECT_EQ(deadlock.report.status, RunStatus::kFatal);
    expect_nothing_left(platform);
  }
}

// A manifest without entries says why, and not always the same.
TEST_F(DumpSession, EmptyManifestOfARunThatFailedEarlySaysSo) {
  const Finished done = run("run explicit_fatal --dump-tensor --output-prefix r");
  EXPECT_EQ(done.exit_code, 3) << done.error;
  const auto json = json_of("r/tensor_dump/tensor_dump.json");
  EXPECT_EQ(json["tensors"].Size(), 0u);
  EXPECT_STREQ(json["note"].GetString(), "the run ended before anything was dumped");
}

// No lane, no page, no file, no byte of the region more than a run that cannot dump.
TEST_F(DumpSession, RunWithoutADumpHasNoPlaceForIt) {
  const auto regions = [&](DumpLevel level) {
    std::uint64_t region_bytes = 0;
    const RunResult result = run_here<VectorExample>(
        {.level = level, .change = [&](RunRequest& request) {
           const auto prepare = request.launch.runtime->prepare;
           request.launch.runtime->prepare = [&, prepare](DeviceMemory& memory,
                                                          const RegionView* region) {
             const auto report = read_run_report(path("r"));
             region_bytes = report ? report->region_bytes : 0;
             return prepare(memory, region);
           };
         }});
    EXPECT_EQ(result.exit_code, 0);
    return std::pair(result, region_bytes);
  };
  const auto [off, off_bytes] = regions(DumpLevel::kOff);
  EXPECT_EQ(off.report.lanes.size(), 0u);
  EXPECT_FALSE(fs::exists(path("r/tensor_dump")));
  EXPECT_FALSE(fs::exists(path("r/capture.tide")));
  const auto [on, on_bytes] = regions(DumpLevel::kFull);
  std::size_t dump_lanes = 0;
  for (const LaneReport& lane : on.report.lanes) dump_lanes += lane.stream == "dump";
  EXPECT_EQ(dump_lanes, cluster_count_of(*find_platform("sim")) * kCoresPerCluster);
  EXPECT_GT(on_bytes, 0u);
  EXPECT_EQ(off.report.recorder.pool_bytes, 0u);
  EXPECT_GE(on.report.recorder.pool_bytes, dump_lanes * kPageBytesDefault);
  EXPECT_GE(on_bytes, off_bytes + on.report.recorder.pool_bytes);
  EXPECT_GT(off_bytes, 0u);
  EXPECT_LT(off_bytes, 256u << 10) << "the status of the runtime, and no page";
  // Other streams alone have no lane for it either.
  run_ok(fmt::format("run vector_example {} --output-prefix streams", kAllStreams));
  const auto report = read_run_report(path("streams"));
  ASSERT_TRUE(report);
  EXPECT_GT(report->lanes.size(), 0u);
  for (const LaneReport& lane : report->lanes) EXPECT_NE(lane.stream, "dump");
  EXPECT_FALSE(fs::exists(path("streams/tensor_dump")));
}

// x = 3 x + v, element by element, on numbers whose place in device memory is the first word.
struct TripleWords {
  static constexpr KernelInfo kInfo{
      .name = "triple_words", .core = CoreType::kAiv, .args = {scalar("at"), scalar("v")}};
  template <class Block>
  static void run(Block&, const TaskArgs& args) {
    auto* numbers = reinterpret_cast<std::int64_t*>(args.memory() + args.word(0));
    for (int i = 0; i < 24; ++i)
      numbers[i] = 3 * numbers[i] + static_cast<std::int64_t>(args.word(1));
  }
};
struct DoubleWords {
  static constexpr KernelInfo kInfo{
      .name = "double_words", .core = CoreType::kAiv, .args = {scalar("at")}};
  template <class Block>
  static void run(Block&, const TaskArgs& args) {
    auto* numbers = reinterpret_cast<std::int64_t*>(args.memory() + args.word(0));
    for (int i = 0; i < 24; ++i) numbers[i] *= 2;
  }
};

constexpr int kWordTasks = 9;
constexpr bool kDescribed[kWordTasks] = {true, false, true, false, false, true, false, true, true};

// A chain of tasks of raw words on 4 x 6 numbers; some are described, in one of three ways.
struct WordTasks {
  static constexpr const char* kName = "word_tasks";
  static constexpr const char* kDescription = "";
  using Kernels = KernelList<TripleWords, DoubleWords>;

  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    Scope root(orch);
    const TensorRef numbers = entry.tensor(0);
    const TensorInfo whole{numbers, Access::kInout};
    const TensorInfo turned{numbers.transpose(0, 1), Access::kInout};
    TaskHandle before;
    for (int i = 0; i < kWordTasks; ++i) {
      Args words;
      words.scalar(numbers.view.buffer);
      const TensorInfo& info = i == 7 ? turned : whole;
      TaskHandle task;
      if (i == 3) {  // another kernel that nobody described
        task = orch.template add_task<DoubleWords>(words);
      } else {
        words.scalar(static_cast<std::uint64_t>(i));
        task = kDescribed[i] && i != 0
                   ? orch.template add_task_with_tensor_info<TripleWords>(words, &info, 1)
                   : orch.template add_task<TripleWords>(words);
      }
      if (i > 0) orch.add_successor(before, task);
      if (i == 0) orch.set_tensor_info_to_task(task, &info, 1);
      before = task;
    }
  }

  static std::vector<std::int64_t> first() {
    std::vector<std::int64_t> numbers;
    for (int i = 0; i < 24; ++i) numbers.push_back(i * 7 - 60);
    return numbers;
  }
  static void apply(int task, std::vector<std::int64_t>& numbers) {
    for (auto& number : numbers) number = task == 3 ? number * 2 : 3 * number + task;
  }
  static std::vector<WorkloadCase> cases() { return {{"default", ""}}; }
  static void prepare(const WorkloadSetup&, EntryData& data) {
    const auto numbers = first();
    data.add<std::int64_t>({2, {4, 6}}, [&](std::uint64_t i) { return numbers[i]; });
  }
  static ResultCheck check(const WorkloadSetup&, const EntryData& data) {
    auto numbers = first();
    for (int i = 0; i < kWordTasks; ++i) apply(i, numbers);
    const auto got = data.values<std::int64_t>(0);
    return {std::equal(numbers.begin(), numbers.end(), got.begin()), "the last numbers"};
  }
};

class DumpWords : public DumpFixture {
 protected:
  // Described tasks, both ends, and no other.
  void expect_words(RunCapture& run, const DumpIndex& index) {
    auto numbers = WordTasks::first();
    std::size_t at = 0;
    for (int task = 0; task < kWordTasks; ++task)
      for (const int stage : {0, 1}) {
        if (stage == 1) WordTasks::apply(task, numbers);
        if (!kDescribed[task]) continue;
        SCOPED_TRACE(fmt::format("task {} stage {}", task, stage));
        ASSERT_LT(at, index.entries.size());
        const DumpEntry& entry = index.entries[at++];
        EXPECT_EQ(entry.header.task_id, static_cast<std::uint64_t>(task));
        EXPECT_EQ(entry.header.stage, static_cast<DumpStage>(stage));
        EXPECT_EQ(entry.header.access, Access::kInout);
        EXPECT_EQ(entry.header.extent[0], task == 7 ? 6u : 4u);
        const auto bytes = load_payload(run, entry);
        ASSERT_TRUE(bytes);
        std::vector<std::int64_t> logical(24);
        for (std::size_t i = 0; i < 24; ++i)
          logical[i] = task == 7 ? numbers[i % 4 * 6 + i / 4] : numbers[i];
        ASSERT_EQ(bytes->size(), sizeof(std::int64_t) * logical.size());
        EXPECT_EQ(std::memcmp(bytes->data(), logical.data(), bytes->size()), 0);
      }
    EXPECT_EQ(at, index.entries.size());
  }
};

TEST_F(DumpWords, AreDumpedWhereDescribedAndElseCountedAndNamed) {
  for (const char* platform : {"sim", "a2a3sim", "a5sim"}) {
    SCOPED_TRACE(platform);
    const RunResult result =
        run_here<WordTasks>({.platform = platform, .build = BuildKind::kHostBuild});
    EXPECT_EQ(result.exit_code, 0) << result.report.result;
    EXPECT_EQ(result.report.result_ok, true);
    auto run = RunCapture::open(path("r"));
    ASSERT_TRUE(run);
    const auto index = read_dump(*run);
    ASSERT_TRUE(index) << index.error().message;
    EXPECT_EQ(index->skipped_tasks, 4u);
    EXPECT_EQ(index->skipped_kernels, (std::vector<std::string>{"double_words", "triple_words"}));
    expect_words(*run, *index);
    const auto json = json_of("r/tensor_dump/tensor_dump.json");
    EXPECT_EQ(json["total_tensors"].GetUint(), 10u);
    EXPECT_EQ(json["skipped_tasks"].GetUint(), 4u);
    ASSERT_EQ(json["skipped_kernels"].Size(), 2u);
    EXPECT_STREQ(json["skipped_kernels"][0].GetString(), "double_words");
    EXPECT_STREQ(json["skipped_kernels"][1].GetString(), "triple_words");
    run_ok("dump r");
    EXPECT_NE(text_.find("4 tasks were skipped, their arguments are words that nobody described: "
                         "double_words, triple_words\n"),
              std::string::npos)
        << text_;
    ASSERT_EQ(result.report.warnings.size(), 1u);
    EXPECT_EQ(result.report.warnings[0].message,
              "4 tasks of double_words, triple_words not dumped: the arguments are words that "
              "nobody described");
    EXPECT_NE(cli::summarize(result.report, "r").find(result.report.warnings[0].message),
              std::string::npos);
    EXPECT_NE(read(path("r/run.json")).find("DUMP_SKIPPED"), std::string::npos);
  }
}

TEST_F(DumpWords, AreReportedOnlyWhereTheyWereAskedFor) {
  const auto dump = [&](DumpLevel level, const std::vector<DumpRule>& rules) {
    const RunResult result =
        run_here<WordTasks>({.build = BuildKind::kHostBuild, .level = level, .rules = rules});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.report.result_ok, true);
    return json_of("r/tensor_dump/tensor_dump.json");
  };
  const auto one = dump(DumpLevel::kFull, {{.kernels = 0b10}});  // double_words
  EXPECT_EQ(one["skipped_tasks"].GetUint(), 1u);
  EXPECT_EQ(one["tensors"].Size(), 0u);
  EXPECT_NE(std::string(one["note"].GetString()).find("skipped_kernels"), std::string::npos);
  const auto early = dump(DumpLevel::kStats, {{.last_task = 2}});
  EXPECT_EQ(early["skipped_tasks"].GetUint(), 1u);
  EXPECT_EQ(early["tensors"].Size(), 4u) << "of tasks 0 and 2, both ends";
  const auto marked = dump(DumpLevel::kMarked, {});
  EXPECT_FALSE(marked.HasMember("skipped_tasks")) << "nothing is marked";
  EXPECT_EQ(marked["tensors"].Size(), 0u);
  EXPECT_NE(std::string(marked["note"].GetString()).find("no argument was selected"),
            std::string::npos);
}

}  // namespace
}  // namespace tidemark
