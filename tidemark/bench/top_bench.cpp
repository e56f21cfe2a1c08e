// SPDX-License-Identifier: Apache-2.0
// tidemark bench top: whether a live look from another process disturbs a run at full rate.

#include <atomic>
#include <thread>

#include "tidemark/base/human_text.h"
#include "tidemark/base/monotonic_clock.h"
#include "tidemark/bench/rounds.h"
#include "tidemark/session/live_view.h"

namespace tidemark::bench {
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

struct TopSample {
  double records_per_s = 0;
  std::uint64_t looks = 0;
};

Expected<TopSample> take_sample(const TopBenchOptions& options, const std::string& directory,
                                bool watched) {
  TopSample sample;
  std::atomic<bool> over{false};
  std::thread watcher;
  if (watched)
    watcher = std::thread([&] { sample.looks = look_on(directory, options.interval_ms, over); });
  const auto ran = sample_run(
      {"synthetic_producer", "-p", options.platform, "--lanes", std::to_string(options.lanes),
       "--records", std::to_string(options.records), "--no-sync"},
      directory);
  over = true;
  if (watcher.joinable()) watcher.join();
  if (!ran) return tl::unexpected(ran.error());
  sample.records_per_s = static_cast<double>(ran->report.total().delivered) * 1e9 /
                         static_cast<double>(std::max<std::uint64_t>(ran->report.device_ns, 1));
  return sample;
}

}  // namespace

Expected<int> bench_top(const TopBenchOptions& options, const BenchOutput& out) {
  TM_TRY(const auto scratch, ScratchDirectory::create(options.directory));
  std::vector<double> rates[3];  // alone, watched, alone again
  std::uint64_t looks = 0;
  TM_TRY_DO(take_turns(options.rounds, 3, [&](std::uint32_t, std::size_t side) -> Expected<void> {
    TM_TRY(const auto sample, take_sample(options, scratch.path() + "/run", side == 1));
    rates[side].push_back(sample.records_per_s);
    looks += sample.looks;
    return {};
  }));
  std::vector<double> ratios, noise;
  for (std::uint32_t round = 0; round < options.rounds; ++round) {
    ratios.push_back(rates[1][round] / ((rates[0][round] + rates[2][round]) / 2));
    noise.push_back(rates[2][round] / rates[0][round]);
  }
  if (options.json) {
    print_json(out, "top", [&](BenchFields& v) {
      v("mrecords_per_second_alone", median(rates[0]) / 1e6);
      v("mrecords_per_second_watched", median(rates[1]) / 1e6);
      v("ratio_watched", median(ratios));
      v("ratio_alone_again", median(noise));
      v("looks", looks);
    });
    return 0;
  }
  out.print("{} lanes at full rate on {}, a look every {} ms, medians of {} interleaved rounds\n",
            options.lanes, options.platform, options.interval_ms, options.rounds);
  out.print("  alone      {:.1f} M records/s, and again {:.1f}: ratio {:.3f}\n",
            median(rates[0]) / 1e6, median(rates[2]) / 1e6, median(noise));
  out.print("  watched    {:.1f} M records/s: ratio {:.3f}; {} looks\n", median(rates[1]) / 1e6,
            median(ratios), with_commas(looks));
  return 0;
}

}  // namespace tidemark::bench
