// SPDX-License-Identifier: Apache-2.0
// tidemark bench producer -p cuda | cuda-copy: lossless throughput out of a running kernel, beside
// what the link gives in the same run and beside the plain alternative.

#include "tidemark/bench/bench_sink.h"
#include "tidemark/bench/cuda_bench.h"
#include "tidemark/bench/recorder_rig.h"
#include "tidemark/bench/rounds.h"
#include "tidemark/device/supervisor.h"

namespace tidemark::bench {
namespace {

constexpr std::uint64_t kCudaBytesPerRound = 8ull << 30;
constexpr std::uint64_t kCudaFileBytesPerRound = 1ull << 30;
constexpr std::uint64_t kLinkBytes = 2ull << 30;
constexpr std::uint64_t kPlainEventsMax = 1ull << 30;
constexpr std::uint64_t kOneLaneRecords = 4'000'000;

std::uint64_t round_bytes(const BenchOptions& options, const CudaBenchArgs& args) {
  return args.records * args.lanes * options.record_bytes;
}

struct CudaRound {
  EndToEnd end_to_end;
  double kernel_ns = 0;
  double mapped_gb = 0;
  double copy_gb = 0;
  double plain_kernel_ns = 0;
  double plain_read_ns = 0;
  std::uint64_t verified = 0;
  std::uint64_t wrong = 0;
};

// What does not fit is compared as it comes.
constexpr std::uint64_t kKeepBytesMax = 12ull << 30;

Expected<CudaRound> run_round(const BenchOptions& options, const CudaBenchArgs& args,
                              Device& device, MemorySink* memory) {
  std::unique_ptr<PageSink> file;
  if (memory == nullptr) {
    TM_TRY(file, make_bench_sink(options));
  } else {
    memory->restart(round_bytes(options, args) > kKeepBytesMax ? MemorySink::Verify::kOnTheFly
                                                               : MemorySink::Verify::kSecondPass,
                    args.stamped != 0);
  }
  PageSink* sink = memory == nullptr ? file.get() : memory;
  TM_TRY(auto rig, RecorderRig::create(options, sink, device.ticks_per_second()));
  TM_TRY(auto done, rig->run_on(device,
                                {.program = kCudaBenchProgram,
                                 .args = std::as_bytes(std::span(&args, 1)),
                                 .region = nullptr},
                                args.records));
  if (memory != nullptr) memory->second_pass(options.recorder.drain_threads);
  return CudaRound{.end_to_end = done,
                   .kernel_ns = rig->figure(kFigureKernelNs),
                   .mapped_gb = rig->figure(kFigureMappedGb),
                   .copy_gb = rig->figure(kFigureCopyGb),
                   .plain_kernel_ns = rig->figure(kFigurePlainKernelNs),
                   .plain_read_ns = rig->figure(kFigurePlainReadNs),
                   .verified = memory == nullptr ? 0 : memory->verified_records(),
                   .wrong = memory == nullptr ? 0 : memory->wrong_records()};
}

// One thread, one lane: nanoseconds per record without and with two readings of the clock.
struct OneLane {
  double plain_ns = 0;
  double stamped_ns = 0;
};

struct CudaSummary {
  std::uint64_t records = 0, lost = 0, verified = 0, wrong = 0;
  Rates rates;
  double mapped_gb = 0, copy_gb = 0;
  double plain_kernel_ns = 0, plain_ns = 0;  // of an event; the second with reading it
  OneLane by_write_many;
  OneLane by_write;
  OneLane by_recorder;  // by write, too, but without a pen
  double ratio_link = 0;
  EndToEnd typical;
  std::string limited_by;
};

// A lane alone, one thread: what a record costs it.
Expected<double> one_lane_ns(BenchOptions options, CudaBenchBy by, bool stamped, Device& device,
                             MemorySink* memory, CudaSummary& summary) {
  options.lanes = 1;
  const CudaBenchArgs args{.lanes = 1,
                           .record_bytes = options.record_bytes,
                           .one_thread = 1,
                           .by = by,
                           .stamped = stamped ? 1u : 0u,
                           .records = kOneLaneRecords,
                           .link_bytes = 0,
                           .plain_events = 0};
  TM_TRY(auto round, run_round(options, args, device, memory));
  summary.lost += round.end_to_end.lost;
  summary.wrong += round.wrong;
  return round.kernel_ns / static_cast<double>(kOneLaneRecords);
}

Expected<CudaSummary> measure(const BenchOptions& options, const Platform& platform,
                              Device& device) {
  CudaSummary summary;
  const std::uint64_t bytes = options.sink == "file" ? kCudaFileBytesPerRound : kCudaBytesPerRound;
  CudaBenchArgs args{.lanes = options.lanes,
                     .record_bytes = options.record_bytes,
                     .one_thread = options.one_thread ? 1u : 0u,
                     .by = options.one_thread ? CudaBenchBy::kPen : CudaBenchBy::kWriteMany,
                     .stamped = 0,
                     .records = options.records,
                     .link_bytes = kLinkBytes,
                     .plain_events = 0};
  if (args.records == 0) args.records = bytes / options.record_bytes / options.lanes;
  args.plain_events = std::min(args.records * args.lanes, kPlainEventsMax);
  std::unique_ptr<MemorySink> memory;
  if (options.sink == "memory") {
    const std::uint64_t keep = round_bytes(options, args);
    memory =
        std::make_unique<MemorySink>(options.recorder.page_bytes, keep > kKeepBytesMax ? 0 : keep);
  }
  std::vector<CudaRound> rounds;
  for (std::uint32_t number = 0; number < options.rounds; ++number) {
    TM_TRY(auto round, run_round(options, args, device, memory.get()));
    rounds.push_back(round);
    summary.records += round.end_to_end.records;
    summary.lost += round.end_to_end.lost;
    summary.verified += round.verified;
    summary.wrong += round.wrong;
  }
  const std::pair<CudaBenchBy, OneLane*> ways[] = {
      {CudaBenchBy::kWriteMany, &summary.by_write_many},
      {CudaBenchBy::kPen, &summary.by_write},
      {CudaBenchBy::kRecorder, &summary.by_recorder}};
  for (const auto& [by, lane_of_way] : ways)
    for (const bool stamped : {false, true}) {
      TM_TRY(auto ns, one_lane_ns(options, by, stamped, device, memory.get(), summary));
      OneLane& lane = *lane_of_way;
      (stamped ? lane.stamped_ns : lane.plain_ns) = ns;
    }
  summary.rates = {median(rounds, &CudaRound::kernel_ns) / static_cast<double>(args.records),
                   median(rounds, [](const CudaRound& one) { return one.end_to_end.per_second(); }),
                   options.record_bytes};
  summary.mapped_gb = median(rounds, &CudaRound::mapped_gb);
  summary.copy_gb = median(rounds, &CudaRound::copy_gb);
  summary.plain_kernel_ns = median(rounds, &CudaRound::plain_kernel_ns);
  summary.plain_ns = summary.plain_kernel_ns + median(rounds, &CudaRound::plain_read_ns);
  const double link =
      platform.transport == Transport::kPulled ? summary.copy_gb : summary.mapped_gb;
  summary.ratio_link = link > 0 ? summary.rates.gb_per_s / link : 0;
  const auto seconds_of = [](const CudaRound& one) { return one.end_to_end.seconds; };
  summary.typical = middle(rounds, seconds_of).end_to_end;
  summary.limited_by =
      summary.ratio_link > 0.9 ? "link" : decide_limit(summary.typical, options.sink);
  return summary;
}

void print_result(const BenchOptions& options, const CudaSummary& summary, const BenchOutput& out) {
  print_json(out, "producer", [&](BenchFields& v) {
    put_options(v, options);
    v("writers", options.one_thread ? "thread" : "warp");
    v("records", summary.records);
    fields(v, summary.rates);
    TM_FIELDS(v, summary, lost, verified, wrong);
    TM_FIELDS(v, summary.typical, stall_share, host_cpu_share);
    v("limited_by", summary.limited_by);
    v.object("limited_by_numbers", [&](BenchFields& numbers) {
      TM_FIELDS(numbers, summary.typical, stall_share, drain_busy_share, sink_share);
      numbers("ratio_link", summary.ratio_link);
    });
    v.object("link", [&](BenchFields& link) {
      link("mapped_store_gb_per_s", summary.mapped_gb);
      link("copy_gb_per_s", summary.copy_gb);
    });
    v("ratio_link", summary.ratio_link);
    v.object("one_lane", [&](BenchFields& lane) {
      lane("ns_per_record", summary.by_write_many.plain_ns);
      lane("ns_per_record_two_timestamps", summary.by_write_many.stamped_ns);
      lane("ns_per_write", summary.by_write.plain_ns);
      lane("ns_per_write_two_timestamps", summary.by_write.stamped_ns);
      lane("ns_per_recorder_write", summary.by_recorder.plain_ns);
      lane("ns_per_recorder_write_two_timestamps", summary.by_recorder.stamped_ns);
    });
    v.object("reference", [&](BenchFields& reference) {
      reference("what", "16-byte events in a global array with an atomic index");
      reference("ns_per_record", summary.plain_kernel_ns);
      reference("ns_per_record_with_read", summary.plain_ns);
      reference("mrecords_per_s", 1e3 / summary.plain_ns);
      reference("gb_per_s", 16 / summary.plain_ns);
    });
    const double our_ns = 1e3 / summary.rates.mrecords_per_s;
    v("ns_per_event", our_ns);
    v("ratio_ns", our_ns / summary.plain_ns);
    v("ratio_throughput", summary.plain_ns / our_ns);
  });
}

void print_table(const BenchOptions& options, const CudaSummary& summary, const BenchOutput& out) {
  out.print(
      "{} lanes of {}-byte records from {}, each written by one {}, to {}, {} drain threads\n",
      options.lanes, options.record_bytes, options.platform, options.one_thread ? "thread" : "warp",
      options.sink, options.recorder.drain_threads);
  out.print("  lossless     {:.1f} Mrecords/s, {:.2f} GB/s = {:.2f} of the link; limited by {}\n",
            summary.rates.mrecords_per_s, summary.rates.gb_per_s, summary.ratio_link,
            summary.limited_by);
  out.print("  link         {:.2f} GB/s of plain stores, {:.2f} GB/s of plain copies\n",
            summary.mapped_gb, summary.copy_gb);
  out.print(
      "  one lane     one thread: {:.1f} ns per record ({:.1f} ns with two timestamps) by "
      "write_many, {:.1f} ns ({:.1f} ns) by a pen's write, {:.1f} ns ({:.1f} ns) by a recorder's\n",
      summary.by_write_many.plain_ns, summary.by_write_many.stamped_ns, summary.by_write.plain_ns,
      summary.by_write.stamped_ns, summary.by_recorder.plain_ns, summary.by_recorder.stamped_ns);
  out.print(
      "  without it   {:.2f} ns per 16-byte event in a global array with an atomic index, {:.2f} "
      "ns "
      "with reading it afterwards; the recorder: {:.2f} ns\n",
      summary.plain_kernel_ns, summary.plain_ns, 1e3 / summary.rates.mrecords_per_s);
  out.print("  {} records: {} lost, {} compared with what was written, {} wrong\n", summary.records,
            summary.lost, summary.verified, summary.wrong);
}

}  // namespace

Expected<int> bench_producer_on_cuda(const BenchOptions& options, const BenchOutput& out) {
  const Platform* platform = find_platform(options.platform);
  TM_TRY_DO(Supervisor::start());
  TM_TRY(auto device, open_device(*platform, options.device, Isolation::kProcess));
  TM_TRY(const auto summary, measure(options, *platform, *device));
  options.json ? print_result(options, summary, out) : print_table(options, summary, out);
  return summary.lost == 0 && summary.wrong == 0 ? 0 : 4;
}

}  // namespace tidemark::bench
