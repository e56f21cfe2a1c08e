// SPDX-License-Identifier: Apache-2.0
// Every way a device is lost, on every platform: the exit code, the diagnosis, and that nothing
// that was accepted before is missing from the files.
#include "tests/hang_fixture.h"
#include "tidemark/schema/phase_span.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kElements = 4096;  // of the programs' tensors

struct Wanted {
  const char* program;
  const char* status;
  unsigned code;
  const char* hang_class;
  const char* task;  // nullptr: the oldest that is not complete
  const char* kernel;
  unsigned limit_ms = 1500;  // also the time for the program to begin
};

constexpr Wanted kKernel{"hang_kernel", "hang", 100, "running stalled", "t12", "copy_or_hang"};
constexpr Wanted kCrash{"crash_kernel", "device_fault",  102, "signal",
                        "t12",          "copy_or_crash", 8000};
constexpr Wanted kOrchestration{"hang_orchestration",   "hang", 100,
                                "orchestrator stalled", "t11",  "copy_or_hang"};
constexpr Wanted kScheduler{"hang_scheduler",     "hang",  100,
                            "ready but all idle", nullptr, "copy_or_hang"};

class Hang : public HangFixture, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    // The name of the instance has a slash.
    directory_ = fmt::format("{}/hang_{}_{}", testing::TempDir(), ::getpid(), GetParam());
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }

  void run_until_stopped(const Wanted& wanted) {
    AuditWords audit(path("audit"));
    const int code = finish(start(
        fmt::format("run {} -p {} {} --dump-tensor --scheduler-timeout-ms {} --output-prefix r",
                    wanted.program, GetParam(), kAllStreams, wanted.limit_ms)));
    EXPECT_EQ(code, 3) << read(path("log.txt"));
    const auto report = read_run_report(path("r"));
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(to_text(report->status), wanted.status);
    EXPECT_EQ(report->exit_code, 3);
    EXPECT_FALSE(fs::exists(region_path(report->run_id)));
    EXPECT_TRUE(report->ledger_closes());
    ASSERT_TRUE(report->error);
    EXPECT_EQ(report->error->code, wanted.code);
    EXPECT_EQ(report->error->error_class, wanted.hang_class);
    expect_everything_accepted(*report, audit);
    expect_check_passes("r");
    expect_fatal_scopes();
    json_ = json_of("r/hang.json");
    ASSERT_TRUE(json_.IsObject());
    text_ = read(path("r/hang.txt"));
    expect_diagnosis(wanted);
    const Finished shown = run("hang r");
    EXPECT_EQ(shown.exit_code, 0) << shown.error;
    EXPECT_EQ(shown.out, read(path("r/hang.txt")));
    EXPECT_EQ(run("hang r --json").exit_code, 0);
  }

  void expect_fatal_scopes() {
    const auto lines = lines_of("r/scope_stats/scope_stats.jsonl");
    ASSERT_FALSE(lines.empty());
    EXPECT_TRUE(lines[0]["fatal"].GetBool());
    EXPECT_TRUE(json_of("r/scope_stats.json")["fatal"].GetBool());
  }

  void expect_diagnosis(const Wanted& wanted) {
    EXPECT_STREQ(json_["class"].GetString(), wanted.hang_class);
    EXPECT_EQ(json_["code"].GetUint(), wanted.code);
    EXPECT_GT(json_["detected_ns"].GetUint64(), 0u);
    ASSERT_GE(json_["stuck"].Size(), 1u);
    const auto& stuck = json_["stuck"][0];
    const std::string task = wanted.task != nullptr
                                 ? std::string(wanted.task)
                                 : fmt::format("t{}", json_["completed"].GetUint64());
    EXPECT_EQ(stuck["task"].GetString(), task);
    EXPECT_STREQ(stuck["kernel"].GetString(), wanted.kernel);
    const std::string site = stuck["site"].GetString();
    ASSERT_TRUE(site.starts_with("hang_programs.h:")) << site;
    const auto submits = lines_with("workloads/hang_programs.h", "submit<");
    EXPECT_EQ(std::count(submits.begin(), submits.end(), std::stoul(site.substr(16))), 1) << site;
    EXPECT_EQ(std::count(text_.begin(), text_.end(), '\n') <= 14, true) << text_;
    for (const std::string& word : {std::string(wanted.hang_class), task, site,
                                    std::string(wanted.kernel), std::to_string(wanted.code)})
      EXPECT_NE(text_.find(word), std::string::npos) << word << " is not in\n" << text_;
  }

  unsigned stuck_core() {
    EXPECT_TRUE(json_["stuck"][0]["core"].IsUint());
    return json_["stuck"][0]["core"].IsUint() ? json_["stuck"][0]["core"].GetUint() : ~0u;
  }

  // The program submits 18 tasks, t12 is the 13th, and all behind it wait for it. How far the
  // orchestration had come when t12 went wrong is what its own records say; the task it was just
  // submitting is counted, and may not wait yet.
  void expect_submitted() {
    auto run = RunCapture::open(path("r"));
    ASSERT_TRUE(run) << run.error().message;
    std::uint64_t recorded = 0;
    for (const LaneIndex lane : run->lanes_of(StreamId::kPhases)) {
      RecordCursor cursor = run->records(lane);
      while (cursor.next()) recorded += phase_kind(cursor.words()) == PhaseKind::kSubmit;
    }
    const std::uint64_t submitted = json_["submitted"].GetUint64();
    const std::uint64_t waiters = json_["stuck"][0]["waiters"].Size();
    ASSERT_GE(submitted, 13u);
    EXPECT_LE(submitted, 18u);
    EXPECT_TRUE(submitted == recorded || submitted == recorded + 1)
        << submitted << " submitted, " << recorded << " recorded";
    EXPECT_TRUE(waiters == submitted - 13 || (submitted > recorded && waiters + 14 == submitted))
        << waiters << " wait of " << submitted;
  }

  // The arguments of t12 came from the core that is named, and are what the program makes.
  void expect_stuck_kernel(const Wanted& wanted) {
    const unsigned core = stuck_core();
    ASSERT_LT(core, json_["cores"].Size());
    EXPECT_STREQ(json_["cores"][core]["state"].GetString(), "busy");
    EXPECT_STREQ(json_["cores"][core]["task"].GetString(), "t12");
    EXPECT_STREQ(json_["cores"][core]["kernel"].GetString(), wanted.kernel);
    EXPECT_NE(text_.find(fmt::format("core {} ", core)), std::string::npos) << text_;
    expect_submitted();
    // A scheduler counts a task after it let the next one go. A hang is found long after that; at a
    // crash every scheduler but the one that gave t12 away may be one behind.
    const unsigned behind = wanted.code == kCrash.code ? json_["schedulers"].Size() - 1 : 0;
    EXPECT_LE(json_["completed"].GetUint(), 12u);
    EXPECT_GE(json_["completed"].GetUint() + behind, 12u);
    auto run = RunCapture::open(path("r"));
    ASSERT_TRUE(run) << run.error().message;
    const auto index = read_dump(*run);
    ASSERT_TRUE(index) << index.error().message;
    bool has_input = false;
    for (const DumpEntry& entry : index->entries) {
      if (entry.header.task_id != 12) continue;
      EXPECT_EQ(entry.header.core, core);
      if (!entry.is_tensor()) continue;
      const auto bytes = load_payload(*run, entry);
      ASSERT_TRUE(bytes) << bytes.error().message;
      ASSERT_EQ(bytes->size(), kElements * sizeof(float));
      std::vector<float> values(kElements);
      std::memcpy(values.data(), bytes->data(), bytes->size());
      const bool at_hang = entry.header.stage == DumpStage::kAtHang;
      ASSERT_TRUE(at_hang || entry.header.stage == DumpStage::kBeforeDispatch)
          << "t12 did not complete";
      // It had written half of its output.
      for (std::uint64_t i = 0; i < (at_hang ? kElements / 2 : kElements); ++i)
        ASSERT_EQ(values[i], static_cast<float>(i % 64)) << i;
      has_input = has_input || entry.header.arg_index == 0;
      if (!at_hang) continue;
      EXPECT_EQ(entry.header.arg_index, 1);
      at_hang_flags_.push_back(entry.header.flags);
    }
    EXPECT_TRUE(has_input);
  }

  // The span of a task says which core ran it.
  void expect_ran_on(std::uint64_t task, unsigned core) {
    auto run = RunCapture::open(path("r"));
    ASSERT_TRUE(run) << run.error().message;
    std::size_t found = 0;
    for (const LaneIndex lane : run->lanes_of(StreamId::kSwimlane)) {
      if (run->lanes()[lane].unit < run->runtime()->units().core(0)) continue;  // of a scheduler
      RecordCursor cursor = run->records(lane);
      while (cursor.next()) {
        const auto span = cursor.as<TaskSpan>();
        if (span.task_id != task) continue;
        ++found;
        EXPECT_EQ(span.core, core);
      }
    }
    EXPECT_EQ(found, 1u);
  }

  rapidjson::Document json_;
  std::vector<std::uint8_t> at_hang_flags_;
};

INSTANTIATE_TEST_SUITE_P(Platforms, Hang, testing::Values("sim", "a2a3sim", "a5sim"));

TEST_P(Hang, AKernelThatNeverReturnsIsNamedWithWhatItRead) {
  run_until_stopped(kKernel);
  if (HasFatalFailure()) return;
  expect_stuck_kernel(kKernel);
  ASSERT_EQ(at_hang_flags_.size(), 1u);
  EXPECT_NE(at_hang_flags_[0] & kDumpTorn, 0);
  const auto manifest = json_of("r/tensor_dump/tensor_dump.json");
  std::size_t at_hang = 0;
  for (const auto& entry : manifest["tensors"].GetArray()) {
    if (entry["stage"].GetString() != std::string("at_hang")) continue;
    ++at_hang;
    EXPECT_TRUE(entry["torn"].GetBool());
    EXPECT_STREQ(entry["task_id"].GetString(), "0x000000000000000c");
  }
  EXPECT_EQ(at_hang, 1u);
}

TEST_P(Hang, AKernelThatCrashesIsNamedAndTheHostSurvives) {
  run_until_stopped(kCrash);
  if (HasFatalFailure()) return;
  expect_stuck_kernel(kCrash);
  // Nobody writes any more: what is there is whole.
  ASSERT_EQ(at_hang_flags_.size(), 1u);
  EXPECT_EQ(at_hang_flags_[0] & kDumpTorn, 0);
  // The thread that crashed said who it was: that it is the only busy one is luck.
  auto run = RunCapture::open(path("r"));
  ASSERT_TRUE(run) << run.error().message;
  const auto state = run->hang();
  ASSERT_TRUE(state.has_value());
  ASSERT_TRUE(state->has_unit);
  EXPECT_EQ(state->unit, state->units.core(stuck_core()));
}

TEST_P(Hang, AnOrchestrationThatNeverReturnsIsNamedByItsLastSubmit) {
  run_until_stopped(kOrchestration);
  if (HasFatalFailure()) return;
  EXPECT_EQ(json_["submitted"].GetUint(), 12u);
  EXPECT_EQ(json_["completed"].GetUint(), 12u);
  EXPECT_STREQ(json_["orchestrator"]["state"].GetString(), "busy");
  EXPECT_STREQ(json_["orchestrator"]["last_submitted"].GetString(), "t11");
  EXPECT_EQ(json_["stuck"][0]["waiters"].Size(), 0u);
  expect_ran_on(11, stuck_core());
}

TEST_P(Hang, ASchedulerThatStopsPollingIsFound) {
  run_until_stopped(kScheduler);
  if (HasFatalFailure()) return;
  const std::uint64_t completed = json_["completed"].GetUint64();
  EXPECT_GE(completed, 4u);
  EXPECT_LT(completed, json_["submitted"].GetUint64());
  EXPECT_NE(text_.find("scheduler 0 has not polled"), std::string::npos) << text_;
  EXPECT_EQ(json_["stuck"][0]["waiters"].Size(), json_["submitted"].GetUint64() - completed - 1);
}

}  // namespace
}  // namespace tidemark
