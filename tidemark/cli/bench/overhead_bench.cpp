// SPDX-License-Identifier: Apache-2.0
// tidemark bench overhead: what recording costs a workload. Every sample is a whole 'tidemark run'
// in a process of its own; off and on are interleaved, so that both see the same machine.
#include "tidemark/cli/bench/overhead_bench.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include <fmt/core.h>

#include "tidemark/cli/bench/bench_json.h"
#include "tidemark/cli/bench/self_run.h"
#include "tidemark/cli/command_line.h"
#include "tidemark/cli/terminal.h"
#include "tidemark/session/run_report.h"

namespace tidemark::cli {
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
  std::vector<std::string> args{"tidemark",       "run",    options.workload, "-p",
                                options.platform, "--json", "--no-check",     "--output-prefix",
                                directory};
  if (!options.case_name.empty()) args.insert(args.end(), {"--case", options.case_name});
  args.insert(args.end(), config.flags.begin(), config.flags.end());
  if (!config.syncs) args.emplace_back("--no-sync");
  Sample sample;
  const auto ran = run_self(args);
  std::error_code code;
  std::filesystem::remove_all(directory, code);
  if (!ran) return tl::unexpected(ran.error());
  sample.process_ns = ran->wall_ns;
  const auto report = parse_run_report(ran->out, "the output of 'tidemark run --json'");
  if (!report) return tl::unexpected(report.error());
  sample.device_ns = static_cast<double>(report->device_ns);
  const LaneCounts total = report->total();
  sample.records = total.produced;
  sample.lost = total.dropped + total.overwritten + total.unaccounted();
  rapidjson::Document document;
  document.Parse(ran->out.c_str());
  if (const auto* recorder = get_member(document, "recorder"); recorder != nullptr)
    if (const auto* cost = get_member(*recorder, "ns_per_record");
        cost != nullptr && cost->IsNumber())
      sample.ns_per_record = cost->GetDouble();
  return sample;
}

struct Measured {
  Configuration config;
  std::vector<double> device_ratios, process_ratios, device_ns, costs;
  std::uint64_t records = 0;
  std::uint64_t lost = 0;
};

void print_json(const OverheadBenchOptions& options, const std::vector<Measured>& all) {
  rapidjson::StringBuffer buffer;
  JsonWriter json(buffer);
  json.SetIndent(' ', 2);
  json.StartObject();
  put(json, "bench", std::string_view("overhead"));
  put(json, "workload", options.workload);
  put(json, "case", options.case_name);
  put(json, "platform", options.platform);
  put(json, "rounds", options.rounds);
  put(json, "ns_per_record", rounded(median(all.back().costs)));
  put_key(json, "streams");
  json.StartArray();
  for (const auto& one : all) {
    json.StartObject();
    put(json, "streams", std::string_view(one.config.name));
    put(json, "device_ms", rounded(median(one.device_ns) / 1e6));
    put(json, "ratio_device_time", rounded(median(one.device_ratios)));
    put(json, "ratio_process_time", rounded(median(one.process_ratios)));
    put(json, "records", one.records);
    put(json, "lost", one.lost);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  print_text(std::string(buffer.GetString()) + "\n");
}

void print_table(const OverheadBenchOptions& options, const std::vector<Measured>& all) {
  print(
      "{} {} on {}: medians of {} interleaved rounds, each beside the same round with "
      "everything off\n",
      options.workload, options.case_name, options.platform, options.rounds);
  print("  {:<12} {:>12} {:>14} {:>15} {:>12} {:>6}\n", "streams", "device ms", "device ratio",
        "process ratio", "records", "lost");
  for (const auto& one : all)
    print("  {:<12} {:>12.2f} {:>14.3f} {:>15.3f} {:>12} {:>6}\n", one.config.name,
          median(one.device_ns) / 1e6, median(one.device_ratios), median(one.process_ratios),
          one.records, one.lost);
  print("  a record costs its producer {:.2f} ns (calibrated in the same runs)\n",
        median(all.back().costs));
}

}  // namespace

int bench_overhead(const OverheadBenchOptions& asked) {
  OverheadBenchOptions options = asked;
  if (options.case_name.empty() && options.workload == "paged_attention")
    options.case_name = "Case2";
  const ScratchDirectory scratch(options.directory);
  if (!scratch.made())
    return report_error({ErrorKind::kFile, fmt::format("--dir {}: cannot make a directory there",
                                                       options.directory)});
  std::vector<Measured> all;
  for (const auto& config : configurations()) all.push_back({.config = config});
  const bool live = ::isatty(STDERR_FILENO) == 1;
  for (std::uint32_t round = 0; round < options.rounds; ++round) {
    // Every other round goes backwards: a drift of the machine hits both sides alike.
    std::vector<Sample> samples(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t at = round % 2 == 0 ? i : all.size() - 1 - i;
      if (live) {
        print_raw("\r\x1b[K", Stream::kError);
        print_error("  round {} of {}: {}", round + 1, options.rounds, all[at].config.name);
      }
      const auto sample = take_sample(options, all[at].config, scratch.path() + "/run");
      if (!sample) return report_error(sample.error());
      samples[at] = *sample;
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].device_ns.push_back(samples[i].device_ns);
      all[i].device_ratios.push_back(samples[i].device_ns / samples[0].device_ns);
      all[i].process_ratios.push_back(samples[i].process_ns / samples[0].process_ns);
      all[i].costs.push_back(samples[i].ns_per_record);
      all[i].records = samples[i].records;
      all[i].lost += samples[i].lost;
    }
  }
  if (live) print_raw("\r\x1b[K", Stream::kError);
  if (options.json)
    print_json(options, all);
  else
    print_table(options, all);
  return 0;
}

}  // namespace tidemark::cli
