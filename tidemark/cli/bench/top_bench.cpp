// SPDX-License-Identifier: Apache-2.0
#include "tidemark/cli/bench/top_bench.h"

#include <atomic>
#include <filesystem>
#include <thread>

#include <fmt/core.h>

#include "tidemark/base/monotonic_clock.h"
#include "tidemark/cli/bench/bench_json.h"
#include "tidemark/cli/bench/self_run.h"
#include "tidemark/cli/command_line.h"
#include "tidemark/cli/run_summary.h"
#include "tidemark/cli/terminal.h"
#include "tidemark/session/live_view.h"

namespace tidemark::cli {
namespace {

// Attaches as soon as there is a run, and looks until it is gone.
std::uint64_t look_on(const std::string& directory, std::uint32_t interval_ms,
                      const std::atomic<bool>& over) {
  std::uint64_t looks = 0;
  while (!over) {
    auto run = LiveRun::attach(directory);
    while (run && !over && run->look()) {
      ++looks;
      sleep_ms(interval_ms);
    }
    if (looks == 0) sleep_ms(1);
  }
  return looks;
}

struct Sample {
  double records_per_s = 0;
  std::uint64_t looks = 0;
};

Expected<Sample> take_sample(const TopBenchOptions& options, const std::string& directory,
                             bool watched) {
  Sample sample;
  std::atomic<bool> over{false};
  std::thread watcher;
  if (watched)
    watcher = std::thread([&] { sample.looks = look_on(directory, options.interval_ms, over); });
  const auto ran =
      run_self({"tidemark", "run", "synthetic_producer", "-p", options.platform, "--lanes",
                std::to_string(options.lanes), "--records", std::to_string(options.records),
                "--json", "--no-sync", "--output-prefix", directory});
  over = true;
  if (watcher.joinable()) watcher.join();
  std::error_code code;
  std::filesystem::remove_all(directory, code);
  if (!ran) return tl::unexpected(ran.error());
  const auto report = parse_run_report(ran->out, "the output of 'tidemark run --json'");
  if (!report) return tl::unexpected(report.error());
  sample.records_per_s = static_cast<double>(report->total().delivered) * 1e9 /
                         static_cast<double>(std::max<std::uint64_t>(report->device_ns, 1));
  return sample;
}

}  // namespace

int bench_top(const TopBenchOptions& options) {
  const ScratchDirectory scratch(options.directory);
  if (!scratch.made())
    return report_error(Error{ErrorKind::kFile, fmt::format("--dir {}: cannot make a directory "
                                                            "there",
                                                            options.directory)});
  std::vector<double> alone, watched, again, ratios, noise;
  std::uint64_t looks = 0;
  for (std::uint32_t round = 0; round < options.rounds; ++round) {
    double rates[3] = {};
    // Alone, watched, alone again; every other round backwards.
    for (int step = 0; step < 3; ++step) {
      const int which = round % 2 == 0 ? step : 2 - step;
      const auto sample = take_sample(options, scratch.path() + "/run", which == 1);
      if (!sample) return report_error(sample.error());
      rates[which] = sample->records_per_s;
      looks += sample->looks;
    }
    alone.push_back(rates[0]);
    watched.push_back(rates[1]);
    again.push_back(rates[2]);
    ratios.push_back(rates[1] / ((rates[0] + rates[2]) / 2));
    noise.push_back(rates[2] / rates[0]);
  }
  if (options.json) {
    rapidjson::StringBuffer buffer;
    JsonWriter json(buffer);
    json.StartObject();
    put(json, "bench", std::string_view("top"));
    put(json, "mrecords_per_second_alone", rounded(median(alone) / 1e6));
    put(json, "mrecords_per_second_watched", rounded(median(watched) / 1e6));
    put(json, "ratio_watched", rounded(median(ratios)));
    put(json, "ratio_alone_again", rounded(median(noise)));
    put(json, "looks", looks);
    json.EndObject();
    print_text(std::string(buffer.GetString()) + "\n");
    return 0;
  }
  print("{} lanes at full rate on {}, a look every {} ms, medians of {} interleaved rounds\n",
        options.lanes, options.platform, options.interval_ms, options.rounds);
  print("  alone      {:.1f} M records/s, and again {:.1f}: ratio {:.3f}\n", median(alone) / 1e6,
        median(again) / 1e6, median(noise));
  print("  watched    {:.1f} M records/s: ratio {:.3f}; {} looks\n", median(watched) / 1e6,
        median(ratios), with_commas(looks));
  return 0;
}

}  // namespace tidemark::cli
