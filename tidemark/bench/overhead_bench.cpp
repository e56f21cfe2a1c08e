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

struct OverheadSample {
  double device_ns = 0;
  double process_ns = 0;
  double ns_per_record = 0;
  std::uint64_t records = 0;
  std::uint64_t lost = 0;
};

Expected<OverheadSample> take_sample(const OverheadBenchOptions& options,
                                     const Configuration& config, const std::string& directory) {
  std::vector<std::string> args{options.workload, "-p", options.platform, "--no-check"};
  if (!options.case_name.empty()) args.insert(args.end(), {"--case", options.case_name});
  args.insert(args.end(), config.flags.begin(), config.flags.end());
  if (!config.syncs) args.emplace_back("--no-sync");
  TM_TRY(const auto ran, sample_run(args, directory));
  return OverheadSample{.device_ns = static_cast<double>(ran.report.device_ns),
                        .process_ns = ran.wall_ns,
                        .ns_per_record = ran.report.recorder.ns_per_record,
                        .records = ran.report.total().produced,
                        .lost = ran.lost()};
}

// What a configuration took: medians over the rounds, each beside the same round of the first one.
struct Row {
  std::string streams;
  double device_ms = 0, ratio_device_time = 0, ratio_process_time = 0;
  std::uint64_t records = 0, lost = 0;
};
void fields(auto& v, const Row& row) {
  TM_FIELDS(v, row, streams, device_ms, ratio_device_time, ratio_process_time, records, lost);
}

Row make_row(const char* name, const std::vector<OverheadSample>& samples,
             const std::vector<OverheadSample>& off) {
  Row row{.streams = name, .records = samples.back().records};
  std::vector<double> device_ratios, process_ratios;
  for (std::size_t round = 0; round < samples.size(); ++round) {
    device_ratios.push_back(samples[round].device_ns / off[round].device_ns);
    process_ratios.push_back(samples[round].process_ns / off[round].process_ns);
    row.lost += samples[round].lost;
  }
  row.device_ms = median(samples, &OverheadSample::device_ns) / 1e6;
  row.ratio_device_time = median(device_ratios);
  row.ratio_process_time = median(process_ratios);
  return row;
}

void print_result(const OverheadBenchOptions& options, const std::vector<Row>& rows,
                  double ns_per_record, const BenchOutput& out) {
  print_json(out, "overhead", [&](BenchFields& v) {
    v("workload", options.workload);
    v("case", options.case_name);
    TM_FIELDS(v, options, platform, rounds);
    v("ns_per_record", ns_per_record);
    v("streams", rows);
  });
}

void print_table(const OverheadBenchOptions& options, const std::vector<Row>& rows,
                 double ns_per_record, const BenchOutput& out) {
  out.print(
      "{} {} on {}: medians of {} interleaved rounds, each beside the same round with "
      "everything off\n",
      options.workload, options.case_name, options.platform, options.rounds);
  out.print("  {:<12} {:>12} {:>14} {:>15} {:>12} {:>6}\n", "streams", "device ms", "device ratio",
            "process ratio", "records", "lost");
  for (const auto& row : rows)
    out.print("  {:<12} {:>12.2f} {:>14.3f} {:>15.3f} {:>12} {:>6}\n", row.streams, row.device_ms,
              row.ratio_device_time, row.ratio_process_time, row.records, row.lost);
  out.print("  a record costs its producer {:.2f} ns (calibrated in the same runs)\n",
            ns_per_record);
}

}  // namespace

Expected<int> bench_overhead(const OverheadBenchOptions& asked, const BenchOutput& out) {
  OverheadBenchOptions options = asked;
  if (options.case_name.empty() && options.workload == "paged_attention")
    options.case_name = "Case2";
  TM_TRY(const auto scratch, ScratchDirectory::create(options.directory));
  const auto all = configurations();
  std::vector<std::vector<OverheadSample>> samples(all.size());  // by configuration, then by round
  const auto take = [&](std::uint32_t round, std::size_t side) -> Expected<void> {
    out.progress(fmt::format("  round {} of {}: {}", round + 1, options.rounds, all[side].name));
    TM_TRY(samples[side].emplace_back(), take_sample(options, all[side], scratch.path() + "/run"));
    return {};
  };
  TM_TRY_DO(take_turns(options.rounds, all.size(), take));
  out.progress("");
  std::vector<Row> rows;
  for (std::size_t i = 0; i < all.size(); ++i)
    rows.push_back(make_row(all[i].name, samples[i], samples[0]));
  const double ns_per_record = median(samples.back(), &OverheadSample::ns_per_record);
  options.json ? print_result(options, rows, ns_per_record, out)
               : print_table(options, rows, ns_per_record, out);
  return 0;
}

}  // namespace tidemark::bench
