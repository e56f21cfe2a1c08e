// SPDX-License-Identifier: Apache-2.0
// A device that is lost does not take the next run with it: both in one process, under the same
// supervisor.
#include "tests/dump_fixture.h"
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
    EXPECT_EQ(lost.report.status, status);
    EXPECT_TRUE(fs::exists(path("lost/hang.txt")));
    expect_checked("lost");
    const RunResult next = run_isolated<VectorExample>("next", platform);
    EXPECT_EQ(next.exit_code, 0);
    EXPECT_EQ(next.report.status, "ok");
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

}  // namespace
}  // namespace tidemark
