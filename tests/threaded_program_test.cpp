// SPDX-License-Identifier: Apache-2.0
// Workloads whose kernels run on blocks of several threads: the results are right, and under
// ThreadSanitizer a barrier that a kernel lacks is a race. With TIDEMARK_CAMPAIGN all of them but
// the largest cases and those that hang or crash.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <set>

#include <gtest/gtest.h>

#include "tests/small_workload.h"
#include "tidemark/device/program.h"
#include "tidemark/device/region_file.h"
#include "tidemark/device/sim/sim_clock.h"
#include "tidemark/session/plan_workload.h"
#include "tidemark/session/run_request.h"
#include "workloads/workload_table.h"

namespace tidemark {
namespace {

struct ThreadedOutcome {
  ErrorCode error = ErrorCode::kNone;
  bool passed = false;
  std::string text;
};

// A registered workload on threads of this process: its program, as a device would run it.
class ThreadedPrograms : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (find_registered_workload("vector_example") != nullptr) return;
    register_vector_example();
    register_paged_attention();
    register_bgemm();
    register_mixed_example();
    register_spmd_blocks();
    register_wide_tensors();
    register_slow_programs();
    register_nan_producer();
    register_capacity_faults();
    register_refused_submits();
  }

  static RegionFile region_for(const RuntimeConfig& config) {
    RegionRequest request;
    request.lanes = {{.overflow = Overflow::kKeepLast}};
    request.recorder.page_bytes = 1024;
    request.status_bytes = status_bytes(config.units());
    request.ticks_per_second = sim_ticks_per_second();
    request.run_id = std::uint64_t{this_process().pid} << 32 | 0x7B10C;
    ::unlink(region_path(request.run_id).c_str());
    RegionFile file = std::move(*create_region_file(*plan_region(request)));
    ::unlink(file.path.c_str());
    return file;
  }

  static ThreadedOutcome run(const std::string& workload, const std::string& case_name,
                             std::uint32_t threads, BuildKind build = BuildKind::kTensorMap) {
    WorkloadSetup setup;
    setup.case_name = case_name;
    setup.config.build = build;
    setup.config.cluster_count = 2;
    setup.config.block_threads = threads;
    setup.config.task_timeout_ms = 10'000;
    RuntimeLaunch launch = find_registered_workload(workload)->plan(setup);
    const RegionFile file = region_for(launch.config);
    const MappedMemory region = std::move(*map_region(file.fd.get(), file.path, file.bytes));
    DeviceMemory memory = std::move(*DeviceMemory::create(launch.memory_bytes));
    const auto status = std::move(*launch.prepare(memory, nullptr));
    const RegionView view(region.base());
    if (!status.empty()) std::memcpy(view.status(), status.data(), status.size());
    const MappedMemory mapped = std::move(*map_device_memory(memory.fd(), launch.memory_bytes));
    DeviceContext context(view, std::as_bytes(std::span(&launch.config, 1)), mapped.base());
    find_device_program(workload)(context);
    ThreadedOutcome outcome{.error = context.status()->error.code.load_acquire()};
    if (outcome.error != ErrorCode::kNone) return outcome;
    const ResultCheck check = std::move(*launch.check(memory));
    outcome.passed = check.passed;
    outcome.text = check.text;
    return outcome;
  }

  // Every element is computed by one thread in the same order, however many there are.
  static ThreadedOutcome expect_same(const std::string& workload, const std::string& case_name,
                                     BuildKind build = BuildKind::kTensorMap) {
    SCOPED_TRACE(workload + " " + case_name);
    const ThreadedOutcome one = run(workload, case_name, 1, build),
                          four = run(workload, case_name, 4, build);
    EXPECT_EQ(to_text(one.error), to_text(four.error));
    EXPECT_EQ(one.passed, four.passed);
    EXPECT_EQ(one.text, four.text);
    return four;
  }
};

TEST_F(ThreadedPrograms, GiveTheRightResultOnBlocksOfFour) {
  struct Case {
    const char *workload, *name;
  };
  for (const Case one : {Case{"vector_example", "default"},
                         {"paged_attention", "Small1"},
                         {"paged_attention", "VarSeq2"},
                         {"mixed_example", "default"},
                         {"spmd_blocks", "default"},
                         {"nan_producer", "healthy"},
                         {"wide_tensors", "Small"}}) {
    const ThreadedOutcome four = run(one.workload, one.name, 4);
    EXPECT_TRUE(four.passed) << one.workload << " " << to_text(four.error) << " " << four.text;
  }
}

TEST_F(ThreadedPrograms, GiveTheRightResultOnBlocksOfAnySize) {
  for (const std::uint32_t threads : {2u, 3u, 7u})
    EXPECT_TRUE(run("paged_attention", "Small1", threads).passed) << threads;
  EXPECT_TRUE(run("vector_example", "default", 4, BuildKind::kHostBuild).passed);
}

TEST_F(ThreadedPrograms, EndAsOnOneThreadWhateverTheyAre) {
  if (std::getenv("TIDEMARK_CAMPAIGN") == nullptr) return;
  const std::set<std::string> largest = {"Case0", "Case1", "Case2", "Large"};
  for (const WorkloadEntry& entry : registered_workloads()) {
    if (!entry.plan || entry.device_builds) continue;  // no tasks; hangs and crashes
    for (const WorkloadCase& one : entry.cases) {
      if (largest.contains(one.name)) continue;
      if (expect_same(entry.name, one.name).error != ErrorCode::kNone) continue;
      expect_same(entry.name, one.name, BuildKind::kExplicit);
      expect_same(entry.name, one.name, BuildKind::kHostBuild);
    }
  }
}

// Declares 64 bytes and asks for 4 x 20.
struct Greedy {
  static constexpr KernelInfo kInfo{.name = "greedy", .args = {}, .shared_bytes = 64};
  template <class Block>
  static void run(Block& block, const TaskArgs&) {
    auto* mine = block.template shared<float>(20);
    if (block.thread() == 0) mine[19] = 1;
    block.sync();
  }
};
struct GreedyProgram : small::SmallWorkload {
  using Kernels = KernelList<small::Nop, Greedy>;
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch);
    orch.template submit<small::Nop>(Args());
    orch.template submit<Greedy>(Args());
  }
};

TEST(SharedMemory, AKernelThatAsksForMoreThanItDeclaredIsNamed) {
  for (const std::uint32_t threads : {1u, 4u}) {
    WorkloadSetup setup = small::small_setup(1);
    setup.config.block_threads = threads;
    SimMachine<GreedyProgram> sim(setup);
    threads == 1 ? sim.run() : sim.run_threaded();
    EXPECT_EQ(to_text(sim.error()), "INVALID_ARGS");
    const LatchedError& error = sim.status().error;
    EXPECT_STREQ(error.kernel, "greedy");
    EXPECT_EQ(error.requested.load_relaxed(), 80u);
    EXPECT_EQ(error.capacity.load_relaxed(), 64u);
    EXPECT_EQ(error.task_id.load_relaxed(), TaskId::make(0, 1).value);
  }
}

}  // namespace
}  // namespace tidemark
