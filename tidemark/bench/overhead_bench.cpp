// SPDX-License-Identifier: Apache-2.0
// tidemark bench overhead: what recording costs a workload. Every sample is a whole 'tidemark run'
// in a process of its own; off and on are interleaved, so that both see the same machine.
#include <vector>

#include <fmt/core.h>

#include "tidemark/bench/rounds.h"

namespace tidemark::bench {
namespace {

struct Configuration {
  const char* name;
  std::vector<std::string> flags;
  bool syncs = false;  // until the files are on stable storage; the others leave that to the system
};

// The first one is what the others are compared with.
std::vector<Configuration> configurations() {
  return {
      {"off", {}},
      {"off again", {}},
      {"scopes", {"--enable-scope-stats"}},
      {"swimlane 1", {"--enable-l2-swimlane=1"}},
      {"swimlane 4", {"--enable-l2-swimlane"}},
      {"edges", {"--enable-dep-gen"}},
      {"all", {"--enable-l2-swimlane", "--enable-dep-gen", "--enable-scope-stats"}},
      {"all, synced", {"--enable-l2-swimlane", "--enable-dep-gen", "--enable-scope-stats"}, true},
      {"dump stats", {"--dump-tensor=stats"}}};
}

struct Sample {
  double device_ns = 0;
  double process_ns = 0;
  double ns_per_record = 0;
  std::uint64_t records = 0;
  std::uint64_t lost = 0;
};

Expected<Sample> take_sample(const OverheadBenchOptions& options, const Configuration& config,
                             const std::string& directory) {
  std::vector<std::string> args{options.workload, "-p", options.platform, "--no-check"};
  if (!options.case_name.empty()) args.insert(args.end(), {"--case", options.case_name});
  args.insert(args.end(), config.flags.begin(), config.flags.end());
  if (!config.syncs) args.emplace_back("--no-sync");
  TM_TRY(const auto ran, sample_run(args, directory));
  return Sample{.device_ns = static_cast<double>(ran.report.device_ns),
                .process_ns = ran.wall_ns,
                .ns_per_record = ran.report.recorder.ns_per_record,
                .records = ran.report.total().produced,
                .lost = ran.lost()};
}

struct Measured {
  Configuration config;
  std::vector<double> device_ratios, process_ratios, device_ns, costs;
  std::uint64_t records = 0;
  std::uint64_t lost = 0;

  void add(const Sample& sample, const Sample& off) {
    device_ns.push_back(sample.device_ns);
    device_ratios.push_back(sample.device_ns / off.device_ns);
    process_ratios.push_back(sample.process_ns / off.process_ns);
    costs.push_back(sample.ns_per_record);
    records = sample.records;
    lost += sample.lost;
  }
};

void print_result(const OverheadBenchOptions& options, const std::vector<Measured>& all,
                  const BenchOutput& out) {
  print_json(out, "overhead", [&](JsonWriter& json) {
    put(json, "workload", options.workload);
    put(json, "case", options.case_name);
    put(json, "platform", options.platform);
    put(json, "rounds", options.rounds);
    put(json, "ns_per_record", rounded(median(all.back().costs)));
    put_list(json, "streams", all, [&](const Measured& one) {
      put(json, "streams", one.config.name);
      put(json, "device_ms", rounded(median(one.device_ns) / 1e6));
      put(json, "ratio_device_time", rounded(median(one.device_ratios)));
      put(json, "ratio_process_time", rounded(median(one.process_ratios)));
      put(json, "records", one.records);
      put(json, "lost", one.lost);
    });
  });
}

void print_table(const OverheadBenchOptions& options, const std::vector<Measured>& all,
                 const BenchOutput& out) {
  out.print(
      "{} {} on {}: medians of {} interleaved rounds, each beside the same round with "
      "everything off\n",
      options.workload, options.case_name, options.platform, options.rounds);
  out.print("  {:<12} {:>12} {:>14} {:>15} {:>12} {:>6}\n", "streams", "device ms", "device ratio",
            "process ratio", "records", "lost");
  for (const auto& one : all)
    out.print("  {:<12} {:>12.2f} {:>14.3f} {:>15.3f} {:>12} {:>6}\n", one.config.name,
              median(one.device_ns) / 1e6, median(one.device_ratios), median(one.process_ratios),
              one.records, one.lost);
  out.print("  a record costs its producer {:.2f} ns (calibrated in the same runs)\n",
            median(all.back().costs));
}

}  // namespace

Expected<int> bench_overhead(const OverheadBenchOptions& asked, const BenchOutput& out) {
  OverheadBenchOptions options = asked;
  if (options.case_name.empty() && options.workload == "paged_attention")
    options.case_name = "Case2";
  TM_TRY(const auto scratch, ScratchDirectory::create(options.directory));
  std::vector<Measured> all;
  for (const auto& config : configurations()) all.push_back({.config = config});
  std::vector<Sample> samples(all.size());
  std::size_t taken = 0;
  const auto take = [&](std::uint32_t round, std::size_t side) -> Expected<void> {
    out.progress(
        fmt::format("  round {} of {}: {}", round + 1, options.rounds, all[side].config.name));
    TM_TRY(const auto sample, take_sample(options, all[side].config, scratch.path() + "/run"));
    samples[side] = sample;
    if (++taken % all.size() != 0) return {};
    for (std::size_t i = 0; i < all.size(); ++i) all[i].add(samples[i], samples[0]);
    return {};
  };
  TM_TRY_DO(take_turns(options.rounds, all.size(), take));
  out.progress("");
  options.json ? print_result(options, all, out) : print_table(options, all, out);
  return 0;
}

}  // namespace tidemark::bench
