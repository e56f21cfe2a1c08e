// SPDX-License-Identifier: Apache-2.0
// A kernel that hangs on a block of several threads, in this process: the autopsy reads the state
// of a device whose threads are still there, and what all of them have written.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "tidemark/analyze/check_run.h"
#include "tidemark/analyze/dump_index.h"
#include "tidemark/session/register_workload.h"
#include "tidemark/session/run_session.h"
#include "tidemark/session/runtime_lanes.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kElements = 3000, kWritten = 1700;
constexpr std::uint32_t kThreads = 3;
std::atomic<bool> may_leave{false};
std::atomic<std::uint32_t> inside{0};

// Its threads write a part of the output together, and stay.
struct Stay {
  static constexpr KernelInfo kInfo{
      .name = "stay", .core = CoreType::kAiv, .args = {in("x"), out("y")}};
  template <class Block>
  static void run(Block& block, const TaskArgs& args) {
    const auto x = args.tensor<float>(0), y = args.tensor<float>(1);
    for (std::uint64_t i = block.thread(); i < kWritten; i += block.threads()) y[i] = 2 * x[i];
    block.sync();
    inside.fetch_add(1);
    while (!may_leave.load()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    inside.fetch_sub(1);
  }
};

struct StayingProgram {
  static constexpr const char* kName = "staying_program";
  static constexpr const char* kDescription = "";
  using Kernels = KernelList<Stay>;
  static std::vector<WorkloadCase> cases() { return {{"default", ""}}; }
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    Scope root(orch);
    orch.template submit<Stay>(
        Args().in(entry.tensor(0)).out(TensorShape{1, {kElements}}, DType::kFloat32));
  }
  static void prepare(const WorkloadSetup&, EntryData& data) {
    data.add<float>({1, {kElements}}, [](std::uint64_t i) { return static_cast<float>(i % 100); });
  }
  static ResultCheck check(const WorkloadSetup&, const EntryData&) { return {}; }
};

class ThreadedHang : public testing::Test {
 protected:
  ThreadedHang()
      : directory_(std::filesystem::temp_directory_path() /
                   ("threaded_hang_" + std::to_string(::getpid()))) {
    if (find_registered_workload(StayingProgram::kName) == nullptr)
      register_workload<StayingProgram>();
  }
  ~ThreadedHang() override {
    may_leave.store(true);
    while (inside.load() > 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    // The device leaves by itself after that; what it uses it holds.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    std::filesystem::remove_all(directory_);
  }

  Expected<RunResult> run() {
    RuntimeConfig config;
    config.cluster_count = 1;
    config.scheduler_count = 1;
    config.block_threads = kThreads;
    config.task_timeout_ms = 400;
    config.dump.level = DumpLevel::kFull;
    config.streams[StreamId::kDump] = 1;
    config.streams[StreamId::kSwimlane] = 1;
    RunRequest request;
    request.workload = StayingProgram::kName;
    request.platform = find_platform("sim");
    request.isolation = Isolation::kThread;
    request.output_dir = directory_;
    request.sync = false;
    request.force = true;
    request.launch.program = StayingProgram::kName;
    request.launch.kernels = find_registered_workload(StayingProgram::kName)->kernels;
    request.launch.lanes = runtime_lanes(config);
    request.launch.runtime =
        find_registered_workload(StayingProgram::kName)->plan({.config = config});
    request.launch.args.resize(sizeof(RuntimeConfig));
    std::memcpy(request.launch.args.data(), &request.launch.runtime->config, sizeof(RuntimeConfig));
    return run_session(request);
  }

  std::string directory_;
};

TEST_F(ThreadedHang, TheAutopsyNamesTheKernelAndKeepsWhatAllItsThreadsWrote) {
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->exit_code, 3);
  EXPECT_EQ(to_text(result->report.status), "hang");
  ASSERT_TRUE(result->report.error);
  EXPECT_NE(result->report.error->message.find("in kernel `stay` of task t0"), std::string::npos)
      << result->report.error->message;
  EXPECT_EQ(inside.load(), kThreads) << "the kernel was left before anybody looked";
  const auto checked = check_run(directory_, {});
  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_EQ(checked->problems, std::vector<std::string>());
  auto run = RunCapture::open(directory_);
  ASSERT_TRUE(run) << run.error().message;
  const auto index = read_dump(*run);
  ASSERT_TRUE(index) << index.error().message;
  std::size_t before = 0, at_hang = 0;
  for (const DumpEntry& entry : index->entries) {
    const auto bytes = load_payload(*run, entry);
    ASSERT_TRUE(bytes) << bytes.error().message;
    ASSERT_EQ(bytes->size(), kElements * sizeof(float));
    const bool output = entry.header.stage == DumpStage::kAtHang;
    (output ? at_hang : before) += 1;
    for (std::uint64_t i = 0; i < (output ? kWritten : kElements); ++i) {
      float value = 0;
      std::memcpy(&value, bytes->data() + i * sizeof(value), sizeof(value));
      ASSERT_EQ(value, static_cast<float>(i % 100) * (output ? 2 : 1)) << i;
    }
  }
  EXPECT_EQ(before, 1u);
  EXPECT_EQ(at_hang, 1u);
}

}  // namespace
}  // namespace tidemark
