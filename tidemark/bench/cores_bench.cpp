// SPDX-License-Identifier: Apache-2.0
// tidemark bench runtime --graph cores: as many slow tasks as the device has cores of their type.
// They take as long as one of them if each core gets one; a core that gets two doubles the time.
// The reference is one task alone, in the same round.

#include "tidemark/bench/cores_bench.h"

#include <algorithm>

#include "tidemark/bench/bench_memory.h"
#include "tidemark/bench/rounds.h"
#include "tidemark/device/sim/sim_clock.h"
#include "tidemark/device/sim/sim_units.h"

namespace tidemark::bench {
namespace {

struct SlowTask {
  static constexpr KernelInfo kInfo{
      .name = "slow", .core = CoreType::kAiv, .args = {scalar("ns", DType::kInt64)}};
  template <class Block>
  static void run(Block& block, const TaskArgs& args) {
    block.wait_ns(static_cast<std::uint64_t>(args.scalar<std::int64_t>(0)));
  }
};

struct SlowTasks {
  using Kernels = KernelList<SlowTask>;

  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    Scope root(orch);
    for (std::int64_t i = 0; i < entry.number(0); ++i)
      orch.template submit<SlowTask>(Args().scalar(entry.number(1)));
  }
};

struct CoresRow {
  const char* platform;
  std::uint32_t clusters, schedulers;
  std::uint64_t kernel_ms;
  double all_ms = 0, one_ms = 0;  // medians

  [[nodiscard]] std::uint32_t cores() const { return clusters * 2; }  // AIV
  [[nodiscard]] double ratio() const { return all_ms / one_ms; }
};

// Milliseconds from the first submit to the last completion.
Expected<double> time_tasks(const CoresRow& row, std::uint32_t tasks) {
  RuntimeConfig config;
  config.cluster_count = row.clusters;
  config.scheduler_count = row.schedulers;
  config.entry_bytes = kEntryAlign;
  BenchMemory held(config);
  EntryArgs& entry = held.memory().control().entry;
  entry.number_count = 2;
  entry.numbers[0] = tasks;
  entry.numbers[1] = static_cast<std::int64_t>(row.kernel_ms * 1'000'000);
  NoWatch watch;
  RuntimeStatus* status = held.status();
  run_sim_units<SlowTasks>(held.memory(), status, watch, [] { return false; });
  if (const ErrorCode code = status->error.code.load_acquire(); code != ErrorCode::kNone)
    return failure(ErrorKind::kDevice, "the graph 'cores' ended with error {}", to_text(code));
  std::uint64_t end_ticks = 0;
  for (std::uint32_t i = 0; i < config.scheduler_count; ++i)
    end_ticks = std::max(
        end_ticks, unit_lines(status)[config.units().scheduler(i)].since_ticks.load_acquire());
  return static_cast<double>(end_ticks - status->begin_ticks.load_acquire()) * 1e3 /
         static_cast<double>(sim_ticks_per_second());
}

void fields(auto& v, const CoresRow& row) {
  TM_FIELDS(v, row, platform, schedulers, kernel_ms, one_ms, all_ms);
  v("cores", row.cores());
  v("ratio_one", row.ratio());
}

}  // namespace

Expected<int> bench_cores(const RuntimeBenchOptions& options, const BenchOutput& out) {
  const Platform& large = *find_platform("a2a3sim");
  CoresRow rows[] = {{"sim", 8, 4, 100},
                     {"a2a3sim", cluster_count_of(large), large.scheduler_count, 50}};
  std::vector<double> all[std::size(rows)], one[std::size(rows)];
  TM_TRY_DO(take_turns(options.rounds, std::size(rows),
                       [&](std::uint32_t, std::size_t i) -> Expected<void> {
                         TM_TRY(const double one_ms, time_tasks(rows[i], 1));
                         TM_TRY(const double all_ms, time_tasks(rows[i], rows[i].cores()));
                         one[i].push_back(one_ms);
                         all[i].push_back(all_ms);
                         return {};
                       }));
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    rows[i].one_ms = median(one[i]);
    rows[i].all_ms = median(all[i]);
    if (!options.json)
      out.print(
          "{:<8} {:>2} tasks of {:>3} ms on {:>2} cores under {} schedulers  {:>7.1f} ms, one "
          "task {:>7.1f} ms, ratio {:.2f}\n",
          rows[i].platform, rows[i].cores(), rows[i].kernel_ms, rows[i].cores(), rows[i].schedulers,
          rows[i].all_ms, rows[i].one_ms, rows[i].ratio());
  }
  if (options.json)
    print_json(out, "runtime", [&](BenchFields& v) {
      TM_FIELDS(v, options, rounds, graph);
      v("cores", std::vector<CoresRow>(std::begin(rows), std::end(rows)));
    });
  return 0;
}

}  // namespace tidemark::bench
