// SPDX-License-Identifier: Apache-2.0
// tidemark bench watched: whether pages that follow a run through `tidemark serve` disturb it.

#include <filesystem>
#include <thread>

#include "tidemark/base/human_text.h"
#include "tidemark/base/monotonic_clock.h"
#include "tidemark/bench/page_client.h"
#include "tidemark/bench/rounds.h"
#include "tidemark/bench/self_process.h"

namespace tidemark::bench {
namespace {

constexpr std::uint64_t kPatienceMs = 60'000;  // for the tiles of all of it, after the run's end

struct WatchedSample {
  double records_per_s = 0;
  double stall_share = 0;
  std::uint64_t records = 0;
  std::uint64_t lost = 0;
  // Of a run that was watched.
  std::vector<PageSeen> pages;
  double server_peak_bytes = 0;
  double server_processors = 0;  // that it had, over the run and until the last page had seen it
};

// Starts a server of the run as soon as there is one, and pages that follow it to its end.
class Watch {
 public:
  Watch(const WatchedBenchOptions& options, std::string directory)
      : options_(options), directory_(std::move(directory)), thread_([this] { look_on(); }) {}

  // The run is over. Waits until the pages have seen its end.
  Expected<void> end(WatchedSample& sample) {
    ended_ns_ = monotonic_ns();
    thread_.join();
    sample.pages = std::move(pages_);
    sample.server_peak_bytes = static_cast<double>(server_.peak_bytes);
    sample.server_processors =
        static_cast<double>(server_.processor_ns) / static_cast<double>(served_ns_);
    return sample.pages.empty()
               ? Expected<void>(failure(ErrorKind::kDevice, "'tidemark serve' did not begin"))
               : Expected<void>{};
  }

 private:
  void look_on() {
    while (!std::filesystem::exists(directory_ + "/run.json")) {
      if (ended_ns_ != 0) return;
      sleep_ms(1);
    }
    const std::uint64_t begin_ns = monotonic_ns();
    auto server = SelfProcess::start({"tidemark", "serve", directory_});
    if (!server) return;
    const std::string said = server->read("Ctrl-C");
    const std::size_t at = said.find("http://");
    if (at != std::string::npos) follow(said.substr(at, said.find('\n', at) - at));
    server->ask_to_end();
    server_ = server->wait();
    served_ns_ = monotonic_ns() - begin_ns;
  }

  void follow(const std::string& address) {
    std::atomic<std::uint32_t> following{options_.clients};
    std::atomic<bool> gives_up{false};
    pages_.resize(options_.clients);
    std::vector<std::jthread> clients;
    for (PageSeen& page : pages_)
      clients.emplace_back([&] {
        page = follow_run(address, options_.poll_ms, gives_up);
        --following;
      });
    while (following > 0) {
      sleep_ms(10);
      const std::uint64_t ended_ns = ended_ns_;
      gives_up = ended_ns != 0 && monotonic_ns() > ended_ns + kPatienceMs * 1'000'000;
    }
  }

  const WatchedBenchOptions& options_;
  std::string directory_;
  std::atomic<std::uint64_t> ended_ns_{0};
  std::vector<PageSeen> pages_;
  SelfProcess::End server_;
  std::uint64_t served_ns_ = 1;
  std::jthread thread_;  // last: it uses all of the above
};

Expected<WatchedSample> take_sample(const WatchedBenchOptions& options,
                                    const std::string& directory, bool watched) {
  std::error_code code;
  std::filesystem::remove_all(directory, code);  // before anybody looks for the next one
  std::optional<Watch> watch;
  if (watched) watch.emplace(options, directory);
  const double lane_rate = static_cast<double>(options.rate) / options.lanes;
  const auto ran =
      sample_run({"synthetic_producer", "-p", options.platform, "--lanes",
                  std::to_string(options.lanes), "--rate", fmt::format("{}", lane_rate),
                  "--records", fmt::format("{:.0f}", lane_rate * options.seconds), "--no-sync"},
                 directory);
  WatchedSample sample;
  if (watch) TM_TRY_DO(watch->end(sample));
  if (!ran) return tl::unexpected(ran.error());
  for (const auto& lane : ran->report.lanes)
    if (lane.stream == "swimlane") sample.records += lane.counts.delivered;
  sample.lost = ran->lost();
  sample.stall_share = ran->report.recorder.device_stall_share;
  sample.records_per_s = static_cast<double>(sample.records) * 1e9 /
                         static_cast<double>(std::max<std::uint64_t>(ran->report.device_ns, 1));
  return sample;
}

struct WatchedFigures {
  std::vector<WatchedSample> samples[3];  // alone, watched, alone again
  [[nodiscard]] double rate(std::size_t side) const {
    return median(samples[side], &WatchedSample::records_per_s) / 1e6;
  }
  [[nodiscard]] double stall(std::size_t side) const {
    return median(samples[side], &WatchedSample::stall_share);
  }
  // Of each round, of one of the sides to what was measured alone.
  [[nodiscard]] double ratio(bool watched) const {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < samples[0].size(); ++round) {
      const double before = samples[0][round].records_per_s,
                   after = samples[2][round].records_per_s;
      ratios.push_back(watched ? samples[1][round].records_per_s / ((before + after) / 2)
                               : after / before);
    }
    return median(ratios);
  }
  [[nodiscard]] std::uint64_t lost() const {
    std::uint64_t sum = 0;
    for (const auto& side : samples)
      for (const WatchedSample& sample : side) sum += sample.lost;
    return sum;
  }
};

// Of all pages of all rounds.
struct PagesSaw {
  std::uint64_t polls = 0, blobs = 0, blob_bytes = 0, failed = 0;
  std::uint64_t generations_least = ~std::uint64_t{0};
  std::uint64_t incomplete = 0;  // pages that did not see the end, with every record in it

  explicit PagesSaw(const std::vector<WatchedSample>& samples) {
    for (const WatchedSample& sample : samples)
      for (const PageSeen& page : sample.pages) {
        polls += page.polls;
        blobs += page.blobs;
        blob_bytes += page.blob_bytes;
        failed += page.failed;
        generations_least = std::min(generations_least, page.generations);
        incomplete += !page.saw_end || page.records != sample.records;
      }
  }
};
void fields(auto& v, const PagesSaw& pages) {
  TM_FIELDS(v, pages, polls, blobs, blob_bytes, failed, generations_least, incomplete);
}

void print_figures(const WatchedBenchOptions& options, const WatchedFigures& all,
                   const PagesSaw& pages, const BenchOutput& out) {
  out.print(
      "{} records/s on {} lanes on {} for {} s, {} pages that ask every {} ms, medians of {} "
      "interleaved rounds\n",
      with_commas(options.rate), options.lanes, options.platform, options.seconds, options.clients,
      options.poll_ms, options.rounds);
  out.print(
      "  alone      {:.4f} M records/s, and again {:.4f}: ratio {:.4f}; producers waited {:.2f} "
      "%\n",
      all.rate(0), all.rate(2), all.ratio(false), all.stall(0) * 100);
  out.print(
      "  watched    {:.4f} M records/s: ratio {:.4f}; producers waited {:.2f} %; {} lost in all\n",
      all.rate(1), all.ratio(true), all.stall(1) * 100, with_commas(all.lost()));
  out.print(
      "  pages      {} generations at least, {} looks, {} blobs of {}; {} answers failed, {} "
      "pages incomplete at the end\n",
      pages.generations_least, with_commas(pages.polls), with_commas(pages.blobs),
      human_bytes(pages.blob_bytes), pages.failed, pages.incomplete);
  out.print("  server     {} of memory, {:.2f} processors\n",
            human_bytes(static_cast<std::uint64_t>(
                median(all.samples[1], &WatchedSample::server_peak_bytes))),
            median(all.samples[1], &WatchedSample::server_processors));
}

}  // namespace

Expected<int> bench_watched(const WatchedBenchOptions& options, const BenchOutput& out) {
  TM_TRY(const auto scratch, ScratchDirectory::create(options.directory));
  WatchedFigures all;
  TM_TRY_DO(take_turns(options.rounds, 3, [&](std::uint32_t, std::size_t side) -> Expected<void> {
    TM_TRY(auto sample, take_sample(options, scratch.path() + "/run", side == 1));
    all.samples[side].push_back(std::move(sample));
    return {};
  }));
  const PagesSaw pages(all.samples[1]);
  if (!options.json) {
    print_figures(options, all, pages, out);
    return 0;
  }
  print_json(out, "watched", [&](BenchFields& v) {
    TM_FIELDS(v, options, platform, lanes, rate, seconds, clients, poll_ms, rounds);
    v("mrecords_per_second_alone", all.rate(0));
    v("mrecords_per_second_watched", all.rate(1));
    v("ratio_watched", all.ratio(true));
    v("ratio_alone_again", all.ratio(false));
    v("stall_share_alone", all.stall(0));
    v("stall_share_watched", all.stall(1));
    v("lost", all.lost());
    v("pages", pages);
    v("server_peak_bytes", median(all.samples[1], &WatchedSample::server_peak_bytes));
    v("server_processors", median(all.samples[1], &WatchedSample::server_processors));
  });
  return 0;
}

}  // namespace tidemark::bench
