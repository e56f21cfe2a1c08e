// SPDX-License-Identifier: Apache-2.0
// A device that is lost does not take the next run with it: both in one process, under the same
// supervisor.
#include "tests/dump_fixture.h"
#include "tests/mappings_watch.h"
#include "tidemark/analyze/check_run.h"
#include "workloads/hang_programs.h"
#include "workloads/vector_example.h"

namespace tidemark {

namespace {

// The supervisor forks devices that know what was registered before it: before main.
template <class Workload>
bool known() {
  if (find_registered_workload(Workload::kName) == nullptr) register_workload<Workload>();
  return true;
}
const bool kKnown = known<HangKernel>() && known<CrashKernel>() && known<VectorExample>();

class HangSession : public DumpFixture {
 protected:
  template <class Workload>
  RunResult run_isolated(const std::string& directory, const char* platform) {
    return run_here<Workload>(
        {.directory = directory, .platform = platform, .change = [](RunRequest& request) {
           request.isolation = Isolation::kProcess;
           request.launch.runtime->config.task_timeout_ms = 700;
           std::memcpy(request.launch.args.data(), &request.launch.runtime->config,
                       sizeof(RuntimeConfig));
         }});
  }
  void expect_checked(const std::string& directory) {
    const auto checked = check_run(path(directory), {});
    ASSERT_TRUE(checked) << checked.error().message;
    EXPECT_EQ(checked->problems, std::vector<std::string>());
  }
  template <class Lost>
  void lose_then_run(const char* platform, const std::string& status) {
    ASSERT_TRUE(kKnown);
    SCOPED_TRACE(fmt::format("{} on {}", Lost::kName, platform));
    const RunResult lost = run_isolated<Lost>("lost", platform);
    EXPECT_EQ(lost.exit_code, 3);
    EXPECT_EQ(to_text(lost.report.status), status);
    EXPECT_TRUE(fs::exists(path("lost/hang.txt")));
    expect_checked("lost");
    const RunResult next = run_isolated<VectorExample>("next", platform);
    EXPECT_EQ(next.exit_code, 0);
    EXPECT_EQ(next.report.status, RunStatus::kOk);
    EXPECT_FALSE(next.report.error);
    EXPECT_TRUE(next.report.ledger_closes());
    EXPECT_EQ(next.report.total().recovered, 0u);
    EXPECT_FALSE(fs::exists(path("next/hang.txt")));
    EXPECT_TRUE(json_of("next/run.json")["result"]["passed"].GetBool());
    const SerialExecutor expected = serial<VectorExample>("default");
    expect_manifest("next", expected, expect_truth("next", expected));
    expect_checked("next");
  }
};

TEST_F(HangSession, TheNextRunIsWellAfterAHang) {
  for (const char* platform : {"sim", "a2a3sim", "a5sim"})
    lose_then_run<HangKernel>(platform, "hang");
}

TEST_F(HangSession, TheNextRunIsWellAfterACrash) {
  for (const char* platform : {"sim", "a2a3sim", "a5sim"})
    lose_then_run<CrashKernel>(platform, "device_fault");
}

// By copies alone the snapshot still has what the task had written.
void expect_snapshot(const std::string& directory) {
  auto run = RunCapture::open(directory);
  ASSERT_TRUE(run) << run.error().message;
  const auto index = read_dump(*run);
  ASSERT_TRUE(index) << index.error().message;
  std::size_t found = 0;
  for (const DumpEntry& entry : index->entries) {
    if (entry.header.stage != DumpStage::kAtHang) continue;
    ++found;
    const auto bytes = load_payload(*run, entry);
    ASSERT_TRUE(bytes) << bytes.error().message;
    ASSERT_EQ(bytes->size(), HangKernel::kElements * sizeof(float));
    for (std::uint64_t i = 0; i < HangKernel::kElements / 2; ++i) {
      float value = 0;
      std::memcpy(&value, bytes->data() + i * sizeof(value), sizeof(value));
      ASSERT_EQ(value, static_cast<float>(i % 64));
    }
  }
  EXPECT_EQ(found, 1u);
}

TEST_F(HangSession, TheHostOfACopiedPlatformNeverMapsTheMemoryOfTheDevice) {
  for (const char* platform : {"a2a3sim", "a5sim"}) {
    if (find_platform(platform)->transport != Transport::kCopied) continue;
    SCOPED_TRACE(platform);
    device_memory_seen = mappings_seen = 0;
    watches_mappings = true;
    const RunResult hung = run_isolated<HangKernel>(platform, platform);
    watches_mappings = false;
    EXPECT_EQ(hung.report.status, RunStatus::kHang);
    EXPECT_GT(mappings_seen, 0u) << "nobody looked";
    EXPECT_EQ(device_memory_seen, 0u);
    expect_snapshot(path(platform));
  }
  EXPECT_GT(mappings_seen, 0u) << "there is no copied platform";
}

}  // namespace
}  // namespace tidemark
