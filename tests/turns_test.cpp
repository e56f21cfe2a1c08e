// SPDX-License-Identifier: Apache-2.0
// Everyone's turn comes: a task that needs several cores gets them though many small ones wait, and
// no core is given a second task while another one has none. Units take turns and time is counted:
// the order of things decides, never how fast the machine is.
#include <sys/mman.h>

#include <cstring>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "tests/stepped_units.h"
#include "tidemark/session/workload_entry.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kMs = 1000;  // ticks

// What the kernels noted of one run. One unit runs at a time.
struct TurnNotes {
  struct Begin {
    std::uint64_t number;
    std::uint32_t core;
    std::uint64_t ticks = Stepper::current->clock();
  };
  std::vector<Begin> begins;
  std::uint32_t arrived = 0;
  std::function<bool()> failed;
  [[nodiscard]] std::size_t place_of(std::uint64_t number) const {
    return static_cast<std::size_t>(
        std::find_if(begins.begin(), begins.end(),
                     [&](const Begin& begin) { return begin.number == number; }) -
        begins.begin());
  }
};
TurnNotes* turn_notes = nullptr;

template <CoreType kCore>
struct Work {
  static constexpr KernelInfo kInfo{
      .name = "work", .core = kCore, .args = {scalar("number"), scalar("ticks")}};
  template <class Block>
  static void run(Block&, const TaskArgs& args) {
    turn_notes->begins.push_back({.number = args.scalar<std::uint64_t>(0), .core = args.core});
    SteppedEnv::work(args.scalar<std::uint64_t>(1));
  }
};
using AivWork = Work<CoreType::kAiv>;
using AicWork = Work<CoreType::kAic>;

// Its blocks wait for each other.
struct MeetAll {
  static constexpr KernelInfo kInfo{
      .name = "meet_all", .core = CoreType::kAiv, .args = {scalar("number")}};
  template <class Block>
  static void run(Block&, const TaskArgs& args) {
    turn_notes->begins.push_back({.number = args.scalar<std::uint64_t>(0), .core = args.core});
    ++turn_notes->arrived;
    while (turn_notes->arrived < args.block_count && !turn_notes->failed()) SteppedEnv::pause(0);
  }
};

struct TurnProgram {
  using Kernels = KernelList<AicWork, AivWork, MeetAll>;
  static inline std::function<void(void*)> program;
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs&) {
    program(&orch);
  }
};
using TurnOrchestrator = Orchestrator<TurnProgram::Kernels, SteppedEnv, NoWatch>;

class TurnsTest : public testing::Test {
 protected:
  TurnsTest() {
    config_.tensormap_entries = 64;
    for (RingSizes& ring : config_.rings) ring = {4096, 1024, 1 << 12};
  }
  // Returns the error.
  ErrorCode run(std::uint64_t seed, const std::function<void(TurnOrchestrator&)>& program) {
    const RuntimeLayout layout = lay_out(config_);
    void* base = ::mmap(nullptr, layout.total_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    TM_CHECK(base != MAP_FAILED);
    const RuntimeMemory memory(base, layout);
    std::vector<UnitProgress> lines(status_bytes(config_.units()) / sizeof(UnitProgress) + 1);
    std::memset(static_cast<void*>(lines.data()), 0, lines.size() * sizeof(UnitProgress));
    auto* status = reinterpret_cast<RuntimeStatus*>(lines.data());
    notes_ = {};
    notes_.failed = [&] { return memory.control().error.load_acquire() != ErrorCode::kNone; };
    turn_notes = &notes_;
    TurnProgram::program = [&](void* orch) { program(*static_cast<TurnOrchestrator*>(orch)); };
    Stepper stepper(seed);
    stepper.busy_givers = busy_givers_;
    run_stepped<TurnProgram>(memory, status, stepper);
    completed_ = memory.control().completed.load_acquire();
    EXPECT_EQ(completed_, status->submitted.load_acquire());
    end_ticks_ = stepper.clock();
    ::munmap(base, layout.total_bytes);
    return status->error.code.load_acquire();
  }
  static Args work(std::uint64_t number, std::uint64_t ticks) {
    return Args().scalar(number).scalar(ticks);
  }

  [[nodiscard]] std::uint64_t slow_began(std::uint64_t one, std::uint64_t other) const {
    return std::min(notes_.begins[notes_.place_of(one)].ticks,
                    notes_.begins[notes_.place_of(other)].ticks);
  }
  // Where tasks become ready in the order of their numbers.
  [[nodiscard]] std::uint64_t most_begun_before_an_older_one() const {
    std::uint64_t most = 0;
    for (std::size_t place = 1; place < notes_.begins.size(); ++place) {
      std::uint64_t younger = 0;
      for (std::size_t before = 0; before < place; ++before)
        younger += notes_.begins[before].number > notes_.begins[place].number ? 1 : 0;
      most = std::max(most, younger);
    }
    return most;
  }

  RuntimeConfig config_;
  bool busy_givers_ = false;
  TurnNotes notes_;
  std::uint64_t completed_ = 0, end_ticks_ = 0;
};

TEST_F(TurnsTest, BlocksThatStartTogetherGetTheirCoresBeforeThreeThousandTasks) {
  config_.cluster_count = 2;
  config_.task_timeout_ms = 1000;
  config_.task_timeout_ticks = 1000 * kMs;
  for (const std::uint32_t schedulers : {1u, 2u}) {
    config_.scheduler_count = schedulers;
    const ErrorCode error = run(schedulers, [](TurnOrchestrator& orch) {
      Scope root(orch);
      orch.submit<AivWork>(work(0, 50 * kMs));
      orch.submit<MeetAll>(Args().scalar(std::uint64_t{1}).blocks(4).start_together());
      for (std::uint64_t i = 0; i < 3000; ++i) {
        Scope inner(orch);
        orch.submit<AivWork>(work(2 + i, kMs));
      }
    });
    EXPECT_EQ(to_text(error), "NONE");
    EXPECT_EQ(completed_, 3002u);
    EXPECT_EQ(notes_.arrived, 4u);
    EXPECT_LT(notes_.place_of(1), 10u);
  }
}

// The time of a block begins with the kernel: it is not charged for the core that comes last.
TEST_F(TurnsTest, BlocksThatWaitForALateCoreAreNotLate) {
  config_.cluster_count = 2;
  config_.task_timeout_ms = 100;
  config_.task_timeout_ticks = 100 * kMs;
  const ErrorCode error = run(3, [](TurnOrchestrator& orch) {
    Scope root(orch);
    const TaskHandle first = orch.submit<AivWork>(work(0, 90 * kMs)).task;
    orch.submit<AivWork>(work(1, 90 * kMs).after(first));  // none of them alone is late
    orch.submit<MeetAll>(Args().scalar(std::uint64_t{2}).blocks(4).start_together());
    for (std::uint64_t i = 0; i < 8; ++i) orch.submit<AivWork>(work(3 + i, 90 * kMs));
  });
  EXPECT_EQ(to_text(error), "NONE");
  EXPECT_EQ(notes_.arrived, 4u);
}

TEST_F(TurnsTest, ATaskOfFourBlocksBeginsInItsTurn) {
  config_.cluster_count = 2;
  for (const std::uint32_t schedulers : {1u, 2u})
    for (const std::uint32_t depth : {1u, 16u}) {
      config_.scheduler_count = schedulers;
      config_.mailbox_depth = depth;
      const ErrorCode error = run(schedulers * depth, [](TurnOrchestrator& orch) {
        Scope root(orch);
        for (std::uint64_t i = 0; i < 2041; ++i)
          orch.submit<AivWork>(work(i, kMs).blocks(i == 40 ? 4 : 1));
      });
      EXPECT_EQ(to_text(error), "NONE");
      EXPECT_LT(notes_.place_of(40), 100u) << schedulers << " schedulers, depth " << depth;
    }
}

// A mix that becomes ready when all cores have much to do, and none of them is idle by chance.
TEST_F(TurnsTest, AMixBeginsInItsTurn) {
  config_.cluster_count = 2;
  for (const std::uint32_t schedulers : {1u, 2u}) {
    config_.scheduler_count = schedulers;
    const ErrorCode error = run(schedulers, [](TurnOrchestrator& orch) {
      Scope root(orch);
      const TaskHandle first = orch.submit<AivWork>(work(0, 10 * kMs)).task;
      orch.submit_mix<AicWork, AivWork, AivWork>(work(5000, kMs).after(first));
      for (std::uint64_t i = 1; i < 1000; ++i) {
        orch.submit<AicWork>(work(i, kMs + i % 7));
        orch.submit<AivWork>(work(i, kMs + i % 5));
        if (i % 20 == 0) SteppedEnv::work(5 * kMs);  // they are not all older than the mix
      }
    });
    EXPECT_EQ(to_text(error), "NONE");
    // At 10 ms 40 of each kind are there; then one for each place in each mailbox may go first.
    EXPECT_LE(notes_.place_of(5000), 2 * 60u + 2 * kCoresPerCluster * config_.mailbox_depth);
  }
}

// Small tasks that were given to the core of a slow kernel, behind it, while the others went on: at
// most K = 5 x cores x depth tasks that became ready later begin before one of them.
TEST_F(TurnsTest, ATaskBehindASlowKernelBeginsInItsTurn) {
  config_.cluster_count = 2;
  for (const std::uint32_t schedulers : {1u, 2u})
    for (const std::uint32_t depth : {2u, 16u})
      for (const std::uint64_t slow : {1000u, 150u, 60u, 25u}) {
        config_.scheduler_count = schedulers;
        config_.mailbox_depth = depth;
        const ErrorCode error = run(schedulers * depth, [&](TurnOrchestrator& orch) {
          Scope root(orch);
          for (std::uint64_t i = 0; i < 3000; ++i)
            orch.submit<AivWork>(work(i, i % slow == 20 ? 300 * kMs : kMs));
        });
        EXPECT_EQ(to_text(error), "NONE");
        EXPECT_EQ(completed_, 3000u);
        EXPECT_LE(most_begun_before_an_older_one(), 5 * config_.core_count(CoreType::kAiv) * depth)
            << schedulers << " schedulers, depth " << depth << ", one of " << slow << " is slow";
      }
}

// The last small tasks: nothing younger comes, and cores are idle. The first and the last one are
// slow, whichever of them becomes ready first.
TEST_F(TurnsTest, NothingWaitsBehindAKernelBesideAnIdleCore) {
  config_.cluster_count = 2;
  for (const auto& [schedulers, depth] :
       {std::pair{1u, 4u}, {2u, 4u}, {1u, 16u}, {2u, 16u}, {1u, 64u}, {2u, 64u}}) {
    SCOPED_TRACE(fmt::format("{} schedulers, depth {}", schedulers, depth));
    config_.scheduler_count = schedulers;
    config_.mailbox_depth = depth;
    const ErrorCode error = run(schedulers, [](TurnOrchestrator& orch) {
      Scope root(orch);
      const TaskHandle first = orch.submit<AicWork>(work(9999, 5 * kMs)).task;
      for (std::uint64_t i = 0; i < 64; ++i)
        orch.submit<AivWork>(work(i, i % 63 == 0 ? 900 * kMs : kMs).after(first));
    });
    EXPECT_EQ(to_text(error), "NONE");
    for (std::uint64_t i = 1; i < 63; ++i)
      EXPECT_LT(notes_.begins[notes_.place_of(i)].ticks, slow_began(0, 63) + 500 * kMs) << i;
  }
}

// The same while the scheduler always has something to do, for cores of the other type: others run
// on while it gives, so that no look of its falls into a pause.
TEST_F(TurnsTest, NothingWaitsBehindAKernelWhileOtherCoresAreBusy) {
  busy_givers_ = true;
  config_.cluster_count = 2;
  config_.mailbox_depth = 16;
  const ErrorCode error = run(5, [](TurnOrchestrator& orch) {
    Scope root(orch);
    const TaskHandle first = orch.submit<AicWork>(work(9999, 5 * kMs)).task;
    for (std::uint64_t i = 0; i < 20; ++i)
      orch.submit<AivWork>(work(i, i % 19 == 0 ? 900 * kMs : kMs).after(first));
    for (std::uint64_t i = 0; i < 40000; ++i) {
      Scope inner(orch);
      orch.submit<AicWork>(work(10000 + i, 2));
    }
  });
  EXPECT_EQ(to_text(error), "NONE");
  EXPECT_GT(notes_.begins.back().ticks, slow_began(0, 19) + 100 * kMs);
  for (std::uint64_t i = 1; i < 19; ++i)
    EXPECT_LT(notes_.begins[notes_.place_of(i)].ticks, slow_began(0, 19) + 90 * kMs) << i;
}

// Mixes that want no AIC core do not wait because tasks for AIC cores were overtaken.
TEST_F(TurnsTest, AMixThatWantsOtherCoresDoesNotWaitForThoseThatWereOvertaken) {
  config_.cluster_count = 2;
  config_.mailbox_depth = 4;
  const ErrorCode error = run(6, [](TurnOrchestrator& orch) {
    Scope root(orch);
    for (std::uint64_t i = 0; i < 6; ++i) orch.submit<AicWork>(work(i, 900 * kMs));
    for (std::uint64_t i = 0; i < 300; ++i)
      orch.submit_mix<void, AivWork, AivWork>(work(100 + i, 10));
  });
  EXPECT_EQ(to_text(error), "NONE");
  const std::uint64_t slow_began = notes_.begins[notes_.place_of(0)].ticks;
  EXPECT_LT(notes_.begins[notes_.place_of(399)].ticks, slow_began + 500 * kMs);
}

// As many tasks as cores: each core gets one, whoever is first to look. On a graph that is whole
// before anything runs, the first one sees them all. Where cores are uniform, each gets one
// whatever type it names.
TEST_F(TurnsTest, NoCoreGetsASecondTaskWhileAnotherHasNone) {
  struct Case {
    std::uint32_t clusters, schedulers, uniform;
  };
  for (const Case& device :
       {Case{8, 4, 0}, {24, 3, 0}, {36, 4, 0}, {5, 3, 0}, {8, 4, 1}, {5, 3, 1}})
    for (const BuildKind build : {BuildKind::kExplicit, BuildKind::kTensorMap}) {
      config_.cluster_count = device.clusters;
      config_.scheduler_count = device.schedulers;
      config_.uniform_cores = device.uniform;
      config_.build = build;
      const std::uint32_t tasks = config_.core_count(CoreType::kAiv);
      const ErrorCode error = run(device.clusters, [&](TurnOrchestrator& orch) {
        Scope root(orch);
        // All at once, when the first is over.
        const TaskHandle first = orch.submit<AicWork>(work(9999, 5 * kMs)).task;
        for (std::uint64_t i = 0; i < tasks; ++i)
          if (device.uniform != 0 && i % 3 == 0)
            orch.submit<AicWork>(work(i, 100 * kMs).after(first));
          else
            orch.submit<AivWork>(work(i, 100 * kMs).after(first));
      });
      EXPECT_EQ(to_text(error), "NONE");
      std::vector<std::uint32_t> tasks_of(config_.core_count());
      for (const auto& begin : notes_.begins) tasks_of[begin.core] += begin.number != 9999;
      for (std::uint32_t core = 0; core < config_.core_count(); ++core)
        EXPECT_EQ(tasks_of[core], config_.type_of(core) == CoreType::kAiv ? 1u : 0u)
            << "core " << core << " of " << device.clusters;
    }
}

}  // namespace
}  // namespace tidemark
