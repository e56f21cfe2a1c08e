// SPDX-License-Identifier: Apache-2.0
// Not compiled by the build: tests/wrong_programs/check gives it to the compiler and looks at what
// the compiler says. Each line marked `expects` is one error, which names the concept and the
// member that is missing.
#include "tidemark/cli/tidemark_main.h"

namespace wrong {

using namespace tidemark;

struct NoPause {
  static std::uint64_t now_ticks() { return 0; }
};
Recorder<TaskSpan, NoPause>* no_pause;  // expects: DeviceEnv, Env::pause

struct NoSleep : NoPause {
  static void pause(std::uint32_t) {}
  static std::uint64_t ordered_ticks() { return 0; }
  static void take_turn(std::uint32_t) {}
  static void wait_for_space(std::uint32_t) {}
  static void wake(DeviceWord<std::uint32_t>&) {}
};
Scheduler<NoSleep>* no_sleep;  // expects: UnitEnv, Env::sleep

struct NoSync {
  static constexpr std::uint32_t kThreads = 1;
  std::uint32_t thread() const { return 0; }
  std::uint32_t threads() const { return 1; }
  std::uint64_t broadcast(std::uint64_t value) const { return value; }
};
Pen<TaskSpan, SimEnv, NoSync>* no_sync;  // expects: Block, block.sync

struct NoEdge {
  void submit_begins() {}
};
using Submitter = TaskSubmitter<SimEnv, NoEdge>;  // expects: GraphWatch, watch.edge

struct NoInfo {
  template <class B>
  static void run(B&, const TaskArgs&) {}
};
KernelList<NoInfo>* no_info;  // expects: Kernel, K::kInfo

struct NoRun {
  static constexpr KernelInfo kInfo{"no_run", CoreType::kAiv, {}};
};
void no_run(SimBlock& block, const TaskArgs& args) {
  KernelList<NoRun>::run(0, block, args);  // expects: RunsOn, K::run
}

struct TooMuchShared {
  static constexpr KernelInfo kInfo{.name = "too_much", .shared_bytes = kSharedBytesMax + 1};
  template <class B>
  static void run(B&, const TaskArgs&) {}
};
std::uint16_t too_much() {
  return KernelList<TooMuchShared>::kCount;  // expects: shared_bytes, kSharedBytesMax
}

template <CoreType kCore>
struct OfCore {
  static constexpr KernelInfo kInfo{.name = "of_core", .core = kCore};
  template <class B>
  static void run(B&, const TaskArgs&) {}
};
using Aic = OfCore<CoreType::kAic>;
using Aiv = OfCore<CoreType::kAiv>;
void turned_around(Orchestrator<KernelList<Aic, Aiv>, SimEnv>& orch) {
  orch.submit_mix<Aiv, Aic>(Args());  // expects: submit_mix, kInfo.core
}

struct NoPrepare {
  using Kernels = KernelList<>;
  static constexpr const char* kName = "no_prepare";
  static constexpr const char* kDescription = "lacks its inputs";
  static std::vector<WorkloadCase> cases() { return {}; }
  template <class Orch>
  static void orchestrate(Orch&, const EntryArgs&) {}
  static Expected<ResultCheck> check(const WorkloadSetup&, EntryData&) { return ResultCheck{}; }
};
int no_prepare(int argc, char** argv) {
  return tidemark_main<NoPrepare>(argc, argv);  // expects: Workload, W::prepare
}

struct NoOrchestrate : NoPrepare {
  static void prepare(const WorkloadSetup&, EntryData&) {}
  static void orchestrate() = delete;
};
int no_orchestrate(int argc, char** argv) {
  return tidemark_main<NoOrchestrate>(argc, argv);  // expects: Orchestrates, W::orchestrate
}

}  // namespace wrong
