// SPDX-License-Identifier: Apache-2.0
// tidemark bench producer: cost of a record, lossless throughput, and what limits it, each beside
// the reference in the same process, round by round.

#include "tidemark/bench/bench_sink.h"
#include "tidemark/bench/recorder_rig.h"
#include "tidemark/bench/reference_rig.h"
#include "tidemark/bench/rounds.h"
#include "tidemark/device/sim/sim_clock.h"
#include "workloads/record_widths.h"

namespace tidemark::bench {
namespace {

// Written by all lanes together in a round: long enough that the milliseconds in which the system
// spreads new threads over the cores do not decide.
constexpr std::uint64_t kMemoryBytesPerRound = 2ull << 30;
constexpr std::uint64_t kFileBytesPerRound = 512ull << 20;

struct Summary {
  Rates ours;
  Rates reference;
  EndToEnd typical;  // of the rounds: the one in the middle
  std::uint64_t records = 0;
  std::uint64_t lost = 0;
  double ratio_ns = 0, ratio_throughput = 0;
  std::string limited_by;
};

// One lane into memory that is always free.
Expected<void> measure_bursts(const BenchOptions& memory, std::vector<double>& our_ns,
                              std::vector<double>& their_ns) {
  TM_TRY(auto sink, make_bench_sink(memory));
  BenchOptions one_lane = memory;
  one_lane.lanes = 1;
  TM_TRY(auto rig, RecorderRig::create(one_lane, sink.get(), sim_ticks_per_second()));
  our_ns.push_back(rig->burst_ns_per_record());
  their_ns.push_back(reference_ns_per_record(
      memory, rig->pool_pages(), static_cast<double>(sim_ticks_per_second()) / 1e9, sink.get()));
  return {};
}

Expected<Summary> measure(const BenchOptions& options) {
  Summary summary;
  std::vector<double> our_ns, their_ns, their_rate;
  std::vector<EndToEnd> runs;
  const std::uint64_t round_bytes =
      options.sink == "file" ? kFileBytesPerRound : kMemoryBytesPerRound;
  const std::uint64_t records =
      options.records > 0 ? options.records : round_bytes / options.record_bytes / options.lanes;
  BenchOptions memory = options;
  memory.sink = "memory";
  std::uint32_t page_count = 0;  // of the recorder's first round
  const auto take = [&](std::size_t side) -> Expected<void> {
    TM_TRY(auto sink, make_bench_sink(options));
    if (side == 1) {
      const double seconds = reference_end_to_end(options, page_count, records, sink.get());
      their_rate.push_back(static_cast<double>(records * options.lanes) / seconds);
      return {};
    }
    TM_TRY(auto rig, RecorderRig::create(options, sink.get(), sim_ticks_per_second()));
    page_count = rig->pool_pages();
    runs.push_back(rig->run(records));
    summary.lost += runs.back().lost;
    summary.records += runs.back().records;
    return {};
  };
  // The recorder and the reference take turns at going first, so that neither always follows the
  // other's cache and clock. Then bursts of both.
  TM_TRY_DO(
      take_turns(options.rounds, 2, [&](std::uint32_t round, std::size_t side) -> Expected<void> {
        TM_TRY_DO(take(side));
        if (side == round % 2) return {};  // the first of the two
        return measure_bursts(memory, our_ns, their_ns);
      }));
  summary.ours = {median(our_ns), median(runs, &EndToEnd::per_second), options.record_bytes};
  summary.reference = {median(their_ns), median(their_rate), options.record_bytes};
  summary.ratio_ns = summary.ours.ns_per_record / summary.reference.ns_per_record;
  summary.ratio_throughput = summary.ours.mrecords_per_s / summary.reference.mrecords_per_s;
  summary.typical = middle(runs, &EndToEnd::seconds);
  summary.limited_by = decide_limit(summary.typical, options.sink);
  return summary;
}

void print_result(const BenchOptions& options, const Summary& summary, const BenchOutput& out) {
  print_json(out, "producer", [&](BenchFields& v) {
    put_options(v, options);
    v("records", summary.records);
    fields(v, summary.ours);
    v("lost", summary.lost);
    TM_FIELDS(v, summary.typical, stall_share, host_cpu_share);
    v("limited_by", summary.limited_by);
    v.object("limited_by_numbers", [&](BenchFields& shares) {
      TM_FIELDS(shares, summary.typical, stall_share, drain_busy_share, sink_share);
    });
    TM_FIELDS(v, summary, reference, ratio_ns, ratio_throughput);
  });
}

void print_table(const BenchOptions& options, const Summary& summary, const BenchOutput& out) {
  out.print("{} lanes of {}-byte records to {}, median of {} rounds\n", options.lanes,
            options.record_bytes, options.sink, options.rounds);
  out.print("               {:>12} {:>12} {:>8}\n", "recorder", "reference", "ratio");
  out.print("  ns/record    {:>12.2f} {:>12.2f} {:>8.2f}\n", summary.ours.ns_per_record,
            summary.reference.ns_per_record, summary.ratio_ns);
  out.print("  Mrecords/s   {:>12.1f} {:>12.1f} {:>8.2f}\n", summary.ours.mrecords_per_s,
            summary.reference.mrecords_per_s, summary.ratio_throughput);
  out.print("  GB/s         {:>12.2f} {:>12.2f}\n", summary.ours.gb_per_s,
            summary.reference.gb_per_s);
  out.print(
      "  lost {}; producers waited {:.1f} % of the time; drain threads busy {:.1f} %, of "
      "that {:.1f} % in the sink; limited by {}\n",
      summary.lost, summary.typical.stall_share * 100, summary.typical.drain_busy_share * 100,
      summary.typical.sink_share * 100, summary.limited_by);
}

}  // namespace

Expected<int> bench_producer(const BenchOptions& options, const BenchOutput& out) {
  if (options.disabled) return bench_disabled(options, out);
  if (options.rounds < 5) return failure(ErrorKind::kUsage, "--rounds: a median needs at least 5");
  if (!is_record_width(options.record_bytes))
    return failure(ErrorKind::kUsage, "--record-bytes: must be 32, 64 or 128");
  if (options.lanes < 1) return failure(ErrorKind::kUsage, "--lanes: at least 1");
  const Platform* platform = find_platform(options.platform);
  if (platform != nullptr && platform->device == DeviceKind::kCuda)
    return bench_producer_on_cuda(options, out);
  TM_TRY(const auto summary, measure(options));
  options.json ? print_result(options, summary, out) : print_table(options, summary, out);
  return summary.lost == 0 ? 0 : 4;
}

}  // namespace tidemark::bench
