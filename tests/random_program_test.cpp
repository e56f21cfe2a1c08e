// SPDX-License-Identifier: Apache-2.0
// Random programs on random machines: results as of serial execution, conflicting tasks in their
// order, edges only where there is a reason, nothing reclaimed too early and everything at the end.
#include <cstdlib>
#include <tuple>

#include <gtest/gtest.h>

#include "tests/random_program_generator.h"
#include "tests/random_program_machine.h"
#include "tidemark/base/testing/seed_range.h"
#include "tidemark/device/sim/sim_threads.h"
#include "tidemark/runtime/testing/thread_lanes.h"

namespace tidemark::random_program {
namespace {

constexpr SeedCounts kSeeds{.campaign = 2700, .quick = 120, .under_sanitizer = 40};

enum class Sizes { kRoomy, kTightRings, kTightEverything };

// Schedulers of several threads, as those of a GPU: fewer than a scheduler has cores, or more.
template <std::uint32_t kLanes>
struct LanesEnv : SimEnv {
  using Lanes = ThreadLanes<kLanes>;
};

using ToldEdge = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t, EdgeSource, ViewOverlap>;

// One program; it is run many times.
class Trial {
 public:
  Trial(std::uint64_t seed, Edges edges)
      : program_(Generator(seed, edges).make()),
        expected_(Reference(program_).run()),
        conflicts_(conflicts_of(program_)),
        random_(seed * 7 + 5) {}

  struct Result {
    PairSet pairs;
    std::vector<ToldEdge> edges;
  };

  // Runs it on a random machine and checks everything that one run shows.
  Result run(BuildKind build, bool track_war, Sizes sizes, const PairSet& known_pairs = {}) {
    const RuntimeConfig config = random_config(build, track_war, sizes, known_pairs);
    const bool by_lanes = random_.once_in(5);
    const std::string where = describe(config, sizes) + (by_lanes ? " by lanes" : "");
    SCOPED_TRACE(where);
    Machine machine(program_, config, random_.below(1 << 30));
    if (by_lanes)
      random_.once_in(3) ? machine.run<LanesEnv<3>>() : machine.run<LanesEnv<8>>();
    else
      machine.run();
    check_end(machine);
    if (testing::Test::HasFailure()) return {};
    check_values(machine);
    check_times(machine);
    check_edges(machine, sizes != Sizes::kTightEverything);
    Result result{machine.watch().pairs(), {}};
    for (const GraphEdge& edge : machine.watch().edges)
      result.edges.emplace_back(edge.producer.value, edge.consumer.value, edge.arg, edge.source,
                                edge.overlap);
    return result;
  }

  [[nodiscard]] const Program& program() const { return program_; }

 private:
  RuntimeConfig random_config(BuildKind build, bool track_war, Sizes sizes, const PairSet& pairs) {
    RuntimeConfig config;
    config.build = build;
    config.track_war = track_war ? 1 : 0;
    constexpr std::uint32_t kClusters[] = {1, 1, 1, 2, 2, 3, 4, 6};
    config.cluster_count = kClusters[random_.below(8)];
    if (random_.once_in(40))
      config.cluster_count = static_cast<std::uint32_t>(1 + random_.below(36));
    config.scheduler_count = static_cast<std::uint32_t>(1 + random_.below(4));
    config.mailbox_depth = 1u << random_.below(7);
    config.uniform_cores = program_.seed % 3 == 1 ? 1 : 0;
    config.tensormap_entries = 4096;
    for (RingSizes& ring : config.rings) ring = {1024, 16384, 4 << 20};
    if (sizes != Sizes::kRoomy) make_tight(config, pairs, sizes == Sizes::kTightEverything);
    return config;
  }
  void make_tight(RuntimeConfig& config, const PairSet& pairs, bool map_too) const {
    const Need need =
        NeedCount(program_, pairs, config.track_war != 0, config.build == BuildKind::kHostBuild)
            .count();
    for (std::uint32_t i = 0; i < kRingCount; ++i) {
      RingSizes& ring = config.rings[i];
      ring.task_window = kTaskWindowMin;
      while (ring.task_window < need.rings[i].tasks + 1) ring.task_window *= 2;
      ring.heap_bytes = std::max(need.rings[i].heap_bytes, kHeapBytesMin);
      ring.dep_pool = static_cast<std::uint32_t>(std::max<std::uint64_t>(
          std::max(need.rings[i].deps, need.rings[i].spilled), kDepPoolMin));
    }
    if (map_too)
      config.tensormap_entries =
          static_cast<std::uint32_t>(std::max<std::uint64_t>(need.map_entries, kTensormapMin));
  }
  std::string describe(const RuntimeConfig& config, Sizes sizes) const {
    return fmt::format(
        "seed {} edges {} build {} war {} clusters {} schedulers {} depth {} sizes {}",
        program_.seed, static_cast<int>(program_.edges), static_cast<int>(config.build),
        config.track_war, config.cluster_count, config.scheduler_count, config.mailbox_depth,
        static_cast<int>(sizes));
  }

  void check_end(Machine& machine) const {
    const auto error = machine.status().error.code.load_acquire();
    EXPECT_EQ(to_text(error), to_text(ErrorCode::kNone));
    for (const std::string& problem : machine.watch().problems) ADD_FAILURE() << problem;
    EXPECT_EQ(machine.watch().submitted_count(), program_.tasks.size());
    EXPECT_EQ(machine.memory().control().completed.load_acquire(), program_.tasks.size());
    EXPECT_EQ(machine.status().scopes.load_relaxed(), program_.scope_count);
    if (machine.config().build != BuildKind::kHostBuild) {
      EXPECT_TRUE(machine.all_returned());
    }
    for (std::size_t i = 0; i < program_.tasks.size(); ++i)
      for (std::uint32_t unit = 0; unit < program_.tasks[i].unit_count(); ++unit)
        EXPECT_EQ(machine.notes().tasks[i].runs[unit].load(), 1u)
            << text_of(program_.tasks[i].id) << " unit " << unit;
  }

  void check_values(const Machine& machine) const {
    for (std::size_t i = 0; i < program_.tasks.size(); ++i)
      ASSERT_EQ(machine.notes().tasks[i].digest.load(), expected_.digests[i])
          << text_of(program_.tasks[i].id) << " read something else";
    EXPECT_EQ(machine.external(), expected_.external);
    if (machine.notes().looks_allowed) {
      EXPECT_EQ(machine.notes().looks, expected_.looks);
    }
  }

  // Nothing begins before what it must wait for has ended.
  void check_times(const Machine& machine) const {
    const auto& runs = machine.notes().tasks;
    const auto check = [&](std::uint32_t first, std::uint32_t second, const char* why) {
      if (!program_.tasks[first].has_kernel() || !program_.tasks[second].has_kernel()) return;
      ASSERT_LT(runs[first].last_end.load(), runs[second].first_begin.load())
          << why << " " << text_of(program_.tasks[first].id) << " -> "
          << text_of(program_.tasks[second].id);
    };
    for (const auto& [first, second] : machine.watch().pairs()) check(first, second, "edge");
    for (const Pair& pair : conflicts_) check(pair.first, pair.second, "conflict");
  }

  void check_edges(const Machine& machine, bool all_told) const {
    std::set<std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>> told;
    for (const GraphEdge& edge : machine.watch().edges) {
      ASSERT_TRUE(told.emplace(edge.producer.value, edge.consumer.value, edge.arg).second)
          << "told twice: " << text_of(edge.producer) << " -> " << text_of(edge.consumer);
      ASSERT_TRUE(has_reason(machine, edge))
          << "without a reason: " << text_of(edge.producer) << " -> " << text_of(edge.consumer)
          << " argument " << edge.arg;
    }
    if (!all_told) return;
    const auto before = closure_of(machine.watch().pairs(), program_.tasks.size());
    for (const Pair& pair : conflicts_)
      ASSERT_TRUE(before[pair.second].test(pair.first))
          << "no path: " << text_of(program_.tasks[pair.first].id) << " -> "
          << text_of(program_.tasks[pair.second].id);
  }

  bool has_reason(const Machine& machine, const GraphEdge& edge) const {
    const std::uint32_t first = machine.watch().number_of(edge.producer);
    const std::uint32_t second = machine.watch().number_of(edge.consumer);
    if (first >= second) return false;
    const Task& producer = program_.tasks[first];
    const Task& consumer = program_.tasks[second];
    if (edge.source == EdgeSource::kExplicit)
      return std::count(consumer.afters.begin(), consumer.afters.end(), first) > 0;
    const Arg& arg = consumer.args.at(edge.arg);
    if (edge.source == EdgeSource::kCreator) return program_.bases[arg.base].owner == first;
    for (const Arg& other : producer.args) {
      if (other.base != arg.base || other.access == Access::kOutput) continue;
      const bool reader = machine.config().track_war != 0 && other.access == Access::kInput;
      if (!other.writes() && !(reader && arg.writes())) continue;
      // Slices of one whole are told apart exactly; of others, only ranges are known.
      if (arg.sliced_only && other.sliced_only ? (arg.elements & other.elements).any()
                                               : ranges_meet(arg.view, other.view))
        return true;
    }
    return false;
  }
  static bool ranges_meet(const TensorView& one, const TensorView& other) {
    return one.offset < other.end_element() && other.offset < one.end_element();
  }

  Program program_;
  Expected expected_;
  std::vector<Pair> conflicts_;
  Random random_;
};

// A seed of the environment runs alone: TIDEMARK_SEED=17 tidemark_system_tests --gtest_filter=...
template <class Check>
void for_seeds(const Check& check) {
  if (const char* only = std::getenv("TIDEMARK_SEED"))
    return check(std::strtoull(only, nullptr, 10));
  for (std::uint64_t seed = 0; seed < seed_count(kSeeds) && !testing::Test::HasFailure(); ++seed)
    check(seed);
}

void check_automatic(std::uint64_t seed, Edges edges) {
  const bool track_war = edges == Edges::kTracked;
  Trial trial(seed, edges);
  const auto roomy = trial.run(BuildKind::kTensorMap, track_war, Sizes::kRoomy);
  if (testing::Test::HasFailure()) return;
  const auto tight = trial.run(BuildKind::kTensorMap, track_war, Sizes::kTightRings, roomy.pairs);
  EXPECT_EQ(tight.edges, roomy.edges) << "seed " << seed;
  if (seed % 2 == 0)
    trial.run(BuildKind::kTensorMap, track_war, Sizes::kTightEverything, roomy.pairs);
  if (seed % 4 != 0) return;
  const auto host = trial.run(BuildKind::kHostBuild, track_war,
                              seed % 8 == 0 ? Sizes::kRoomy : Sizes::kTightRings, roomy.pairs);
  EXPECT_EQ(host.pairs, roomy.pairs) << "seed " << seed;
  EXPECT_EQ(host.edges, roomy.edges) << "seed " << seed;
}

TEST(RandomPrograms, RunAsIfSerialWithTrackedReaders) {
  for_seeds([](std::uint64_t seed) { check_automatic(seed, Edges::kTracked); });
}

TEST(RandomPrograms, RunAsIfSerialWhenWritersNameTheReadersBeforeThem) {
  for_seeds([](std::uint64_t seed) { check_automatic(seed, Edges::kWarExplicit); });
}

TEST(RandomPrograms, RunAsIfSerialWithExplicitEdgesOnly) {
  for_seeds([](std::uint64_t seed) {
    Trial trial(seed, Edges::kAllExplicit);
    const auto roomy = trial.run(BuildKind::kExplicit, false, Sizes::kRoomy);
    if (testing::Test::HasFailure()) return;
    const auto tight = trial.run(BuildKind::kExplicit, false, Sizes::kTightRings, roomy.pairs);
    EXPECT_EQ(tight.edges, roomy.edges) << "seed " << seed;
    PairSet named;
    for (std::uint32_t i = 0; i < trial.program().tasks.size(); ++i)
      for (const std::uint32_t before : trial.program().tasks[i].afters) named.emplace(before, i);
    EXPECT_EQ(roomy.pairs, named) << "seed " << seed;
    // The same program with edges from both sides.
    if (seed % 3 == 0) trial.run(BuildKind::kTensorMap, seed % 2 == 0, Sizes::kRoomy);
    if (seed % 3 == 1) trial.run(BuildKind::kHostBuild, seed % 2 == 0, Sizes::kRoomy);
  });
}

}  // namespace
}  // namespace tidemark::random_program
