// SPDX-License-Identifier: Apache-2.0
// Random programs with blocks, mixes, blocks that start together and slow kernels: no task is
// overtaken for ever, no run that is well is called hung, and a kernel that hangs is found.
#include <sys/mman.h>

#include <cstring>

#include <gtest/gtest.h>

#include "tests/turns_watch.h"
#include "tidemark/base/testing/seed_range.h"

namespace tidemark {
namespace {

constexpr SeedCounts kFairSeeds{.campaign = 500, .quick = 15, .under_sanitizer = 1};
constexpr std::uint64_t kTicksPerMs = 1000;
constexpr std::uint64_t kLimitMs = 1000;
constexpr std::uint64_t kForever = ~0ull;

struct FairTask {
  std::uint32_t cores = 0;  // which of the ways to submit
  std::uint32_t blocks = 1;
  bool together = false;
  std::uint64_t ticks = 0;
  std::vector<std::uint32_t> afters;
  std::uint64_t pause = 0;  // of the orchestration, before it
};

struct FairRun {
  std::vector<FairTask> tasks;
  TurnsWatch* watch = nullptr;
  const RuntimeMemory* memory = nullptr;
  std::uint32_t begun_too_early = 0;
  std::uint64_t units = 0;
};
FairRun* fair_run = nullptr;

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(mix(seed + 77)) {}
  std::uint64_t below(std::uint64_t limit) {
    state_ += 0x9E3779B97F4A7C15ull;
    return mix(state_) % limit;
  }
  bool once_in(std::uint64_t limit) { return below(limit) == 0; }

 private:
  std::uint64_t state_;
};

template <CoreType kCore, int kPlace = 0>
struct FairWork {
  static constexpr KernelInfo kInfo{.name = "fair_work", .core = kCore, .args = {scalar("number")}};
  template <class Block>
  static void run(Block&, const TaskArgs& args) {
    FairRun& run = *fair_run;
    const FairTask& task = run.tasks[args.scalar<std::uint64_t>(0)];
    ++run.units;
    const SeenTask& seen = run.watch->tasks().at(args.task.value);
    run.watch->see_start(args.task.value);
    if (task.together && seen.given < seen.units) ++run.begun_too_early;
    if (task.ticks != kForever) return SteppedEnv::work(task.ticks);
    while (run.memory->control().error.load_acquire() == ErrorCode::kNone)
      SteppedEnv::work(kTicksPerMs);
  }
};
using FairAic = FairWork<CoreType::kAic>;
using FairAiv = FairWork<CoreType::kAiv>;
using FairAiv1 = FairWork<CoreType::kAiv, 1>;

struct FairProgram {
  using Kernels = KernelList<FairAic, FairAiv, FairAiv1>;
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope<Orch> root(orch);
    std::vector<TaskHandle> handles;
    for (std::uint64_t i = 0; i < fair_run->tasks.size(); ++i) {
      const FairTask& task = fair_run->tasks[i];
      if (task.pause > 0) SteppedEnv::work(task.pause);
      std::vector<TaskHandle> before;
      for (const std::uint32_t after : task.afters) before.push_back(handles[after]);
      Args args = Args()
                      .scalar(i)
                      .blocks(task.blocks)
                      .after(before.data(), static_cast<std::uint32_t>(before.size()));
      if (task.together) args.start_together();
      handles.push_back(submit(orch, args, task.cores).task);
    }
  }
  template <class Orch>
  static Submitted submit(Orch& orch, Args& args, std::uint32_t cores) {
    if (cores < 4) return orch.template submit<FairAiv>(args);
    if (cores < 6) return orch.template submit<FairAic>(args);
    if (cores < 7) return orch.template submit_mix<FairAic, FairAiv>(args);
    if (cores < 8) return orch.template submit_mix<void, FairAiv, FairAiv1>(args);
    return orch.template submit_mix<FairAic, FairAiv, FairAiv1>(args);
  }
};

std::vector<FairTask> random_tasks(Dice& dice, const RuntimeConfig& config) {
  std::vector<FairTask> tasks(30 + dice.below(120));
  const std::uint64_t edges = 1 + dice.below(6), pauses = 1 + dice.below(40);
  for (std::uint32_t i = 0; i < tasks.size(); ++i) {
    FairTask& task = tasks[i];
    task.cores = static_cast<std::uint32_t>(dice.below(9));
    const std::uint32_t most = task.cores < 4   ? config.core_count(CoreType::kAiv)
                               : task.cores < 6 ? config.core_count(CoreType::kAic)
                                                : config.cluster_count;
    if (dice.once_in(4)) task.blocks = static_cast<std::uint32_t>(1 + dice.below(2 * most));
    if (dice.once_in(6)) {
      task.blocks = static_cast<std::uint32_t>(1 + dice.below(most));
      task.together = true;
    }
    task.ticks = dice.once_in(20)  ? 300 * kTicksPerMs
                 : dice.once_in(4) ? kTicksPerMs * (1 + dice.below(9))
                                   : 1 + dice.below(500);
    if (dice.once_in(pauses)) task.pause = 1 + dice.below(3 * kTicksPerMs);
    for (std::uint64_t edge = dice.below(edges); edge > 0 && i > 0; --edge) {
      const auto before = static_cast<std::uint32_t>(i - 1 - dice.below(std::min(i, 20u)));
      if (std::find(task.afters.begin(), task.afters.end(), before) == task.afters.end())
        task.afters.push_back(before);
    }
  }
  return tasks;
}

struct FairPlatform {
  const char* name;
  std::uint32_t clusters, schedulers;
};

class FairTrial {
 public:
  FairTrial(std::uint64_t seed, const FairPlatform& platform) : dice_(seed), seed_(seed) {
    config_.cluster_count = platform.clusters;
    config_.scheduler_count = platform.schedulers;
    config_.mailbox_depth = 1u << dice_.below(7);
    config_.build = dice_.once_in(2) ? BuildKind::kExplicit : BuildKind::kTensorMap;
    config_.tensormap_entries = 64;
    config_.task_timeout_ms = kLimitMs;
    config_.task_timeout_ticks = kLimitMs * kTicksPerMs;
    for (RingSizes& ring : config_.rings) ring = {256, 4096, 1 << 12};
    run_.tasks = random_tasks(dice_, config_);
  }

  void expect_fair() {
    run();
    EXPECT_EQ(to_text(error_), "NONE");
    EXPECT_EQ(completed_, run_.tasks.size());
    EXPECT_EQ(run_.begun_too_early, 0u) << "blocks that start together";
    moves_ = watch_->moves;
    for (const auto& problem : watch_->problems) ADD_FAILURE() << problem;
    for (const auto& [id, task] : watch_->tasks()) {
      // A mix may be overtaken, until its cores are free, by one task for each place in a mailbox.
      const std::uint32_t most = task.mix ? config_.core_count() * config_.mailbox_depth : 0;
      EXPECT_LE(watch_->overtakers_of(task), most)
          << TaskId{id}.local() << (task.mix ? " mix" : "") << (task.together ? " together" : "");
      // K: what may begin before it, also where it was given to a core behind a slow kernel.
      const std::uint32_t cores =
          task.mix ? config_.core_count()
                   : config_.core_count(task.parts == 1 ? CoreType::kAic : CoreType::kAiv);
      EXPECT_GT(task.first_start, 0u);
      EXPECT_LE(watch_->started_before(task), 5 * cores * config_.mailbox_depth)
          << TaskId{id}.local() << (task.mix ? " mix" : "") << (task.together ? " together" : "");
    }
  }
  [[nodiscard]] std::uint64_t moves() const { return moves_; }
  void expect_hang_found() {
    const auto stuck = static_cast<std::uint32_t>(dice_.below(run_.tasks.size()));
    run_.tasks[stuck].ticks = kForever;
    run();
    EXPECT_EQ(to_text(error_), "SCHEDULER_TIMEOUT");
    EXPECT_EQ(to_text(hang_), to_text(HangClass::kRunningStalled));
    EXPECT_EQ(TaskId{stuck_task_}.local(), stuck);
  }

 private:
  void run() {
    const RuntimeLayout layout = lay_out(config_);
    void* base = ::mmap(nullptr, layout.total_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    TM_CHECK(base != MAP_FAILED);
    const RuntimeMemory memory(base, layout);
    std::vector<UnitProgress> lines(status_bytes(config_.units()) / sizeof(UnitProgress) + 1);
    std::memset(static_cast<void*>(lines.data()), 0, lines.size() * sizeof(UnitProgress));
    auto* status = reinterpret_cast<RuntimeStatus*>(lines.data());
    watch_.emplace(memory);
    run_.watch = &*watch_;
    run_.memory = &memory;
    fair_run = &run_;
    Stepper stepper(seed_);
    stepper.watch = [&] { watch_->look(); };
    run_stepped<FairProgram>(memory, status, stepper);
    completed_ = memory.control().completed.load_acquire();
    error_ = status->error.code.load_acquire();
    hang_ = status->error.hang_class.load_relaxed();
    stuck_task_ = status->error.task_id.load_relaxed();
    ::munmap(base, layout.total_bytes);
  }

  Dice dice_;
  std::uint64_t seed_;
  RuntimeConfig config_;
  FairRun run_;
  std::optional<TurnsWatch> watch_;
  ErrorCode error_{};
  HangClass hang_{};
  std::uint64_t completed_ = 0, stuck_task_ = 0, moves_ = 0;
};

class FairnessTest : public testing::TestWithParam<FairPlatform> {};

TEST_P(FairnessTest, NobodyIsOvertakenForEver) {
  std::uint64_t moves = 0;
  for (std::uint64_t seed = 0; seed < seed_count(kFairSeeds) && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {} on {}", seed, GetParam().name));
    FairTrial trial(seed, GetParam());
    trial.expect_fair();
    moves += trial.moves();
  }
  RecordProperty("moves", static_cast<int>(moves));
  if (seed_count(kFairSeeds) > 10) {
    EXPECT_GT(moves, 0u) << "nothing was taken from behind a kernel";
  }
}

TEST_P(FairnessTest, AHangIsFound) {
  for (std::uint64_t seed = 0; seed < seed_count(kFairSeeds) && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {} on {}", seed, GetParam().name));
    FairTrial(seed, GetParam()).expect_hang_found();
  }
}

INSTANTIATE_TEST_SUITE_P(, FairnessTest,
                         testing::Values(FairPlatform{"sim", 2, 1}, FairPlatform{"a2a3sim", 24, 3},
                                         FairPlatform{"a5sim", 36, 4}),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace tidemark
