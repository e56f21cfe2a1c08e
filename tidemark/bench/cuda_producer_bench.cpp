// SPDX-License-Identifier: Apache-2.0
// tidemark bench producer -p cuda | cuda-copy: lossless throughput out of a running kernel, beside
// what the link gives in the same run and beside the plain alternative.
#include <cstring>

#include "tidemark/bench/bench_sink.h"
#include "tidemark/bench/cuda_bench.h"
#include "tidemark/bench/recorder_rig.h"
#include "tidemark/bench/rounds.h"
#include "tidemark/device/supervisor.h"

namespace tidemark::bench {
namespace {

constexpr std::uint64_t kBytesPerRound = 8ull << 30;
constexpr std::uint64_t kFileBytesPerRound = 1ull << 30;
constexpr std::uint64_t kLinkBytes = 2ull << 30;
constexpr std::uint64_t kPlainEventsMax = 1ull << 30;
constexpr std::uint64_t kOneLaneRecords = 4'000'000;

std::uint64_t round_bytes(const BenchOptions& options, const CudaBenchArgs& args) {
  return args.records * args.lanes * options.record_bytes;
}

struct Round {
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

Expected<Round> run_round(const BenchOptions& options, const CudaBenchArgs& args, Device& device,
                          MemorySink* memory) {
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
  return Round{.end_to_end = done,
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

struct Summary {
  std::uint64_t records = 0;
  std::uint64_t lost = 0;
  std::uint64_t verified = 0;
  std::uint64_t wrong = 0;
  double ns_per_record = 0;
  double mrecords_per_s = 0;
  double gb_per_s = 0;
  double mapped_gb = 0;
  double copy_gb = 0;
  double plain_kernel_ns = 0;
  double plain_read_ns = 0;
  OneLane by_write_many;
  OneLane by_write;
  double ratio_link = 0;
  EndToEnd typical;
  std::string limited_by;
};

// A lane alone, one thread: what a record costs it.
Expected<double> one_lane_ns(BenchOptions options, bool each, bool stamped, Device& device,
                             MemorySink* memory, Summary& summary) {
  options.lanes = 1;
  const CudaBenchArgs args{.lanes = 1,
                           .record_bytes = options.record_bytes,
                           .one_thread = 1,
                           .each = each ? 1u : 0u,
                           .stamped = stamped ? 1u : 0u,
                           .records = kOneLaneRecords,
                           .link_bytes = 0,
                           .plain_events = 0};
  TM_TRY(auto round, run_round(options, args, device, memory));
  summary.lost += round.end_to_end.lost;
  summary.wrong += round.wrong;
  return round.kernel_ns / static_cast<double>(kOneLaneRecords);
}

Expected<Summary> measure(const BenchOptions& options, const Platform& platform, Device& device) {
  Summary summary;
  const std::uint64_t bytes = options.sink == "file" ? kFileBytesPerRound : kBytesPerRound;
  CudaBenchArgs args{.lanes = options.lanes,
                     .record_bytes = options.record_bytes,
                     .one_thread = options.one_thread ? 1u : 0u,
                     .each = options.one_thread ? 1u : 0u,
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
  std::vector<double> rates, kernel_ns, mapped, copies, plain_kernel, plain_read;
  std::vector<EndToEnd> runs;
  for (std::uint32_t number = 0; number < options.rounds; ++number) {
    TM_TRY(auto round, run_round(options, args, device, memory.get()));
    runs.push_back(round.end_to_end);
    rates.push_back(static_cast<double>(round.end_to_end.records) / round.end_to_end.seconds);
    kernel_ns.push_back(round.kernel_ns / static_cast<double>(args.records));
    mapped.push_back(round.mapped_gb);
    copies.push_back(round.copy_gb);
    plain_kernel.push_back(round.plain_kernel_ns);
    plain_read.push_back(round.plain_read_ns);
    summary.records += round.end_to_end.records;
    summary.lost += round.end_to_end.lost;
    summary.verified += round.verified;
    summary.wrong += round.wrong;
  }
  for (const bool each : {false, true})
    for (const bool stamped : {false, true}) {
      TM_TRY(auto ns, one_lane_ns(options, each, stamped, device, memory.get(), summary));
      OneLane& lane = each ? summary.by_write : summary.by_write_many;
      (stamped ? lane.stamped_ns : lane.plain_ns) = ns;
    }
  summary.ns_per_record = median(kernel_ns);
  summary.mrecords_per_s = median(rates) / 1e6;
  summary.gb_per_s = median(rates) * options.record_bytes / 1e9;
  summary.mapped_gb = median(mapped);
  summary.copy_gb = median(copies);
  summary.plain_kernel_ns = median(plain_kernel);
  summary.plain_read_ns = median(plain_read);
  const double link =
      platform.transport == Transport::kPulled ? summary.copy_gb : summary.mapped_gb;
  summary.ratio_link = link > 0 ? summary.gb_per_s / link : 0;
  summary.typical = typical_run(std::move(runs));
  summary.limited_by =
      summary.ratio_link > 0.9 ? "link" : decide_limit(summary.typical, options.sink);
  return summary;
}

void print_result(const BenchOptions& options, const Summary& summary, const BenchOutput& out) {
  print_json(out, "producer", [&](JsonWriter& json) {
    put_options(json, options);
    put(json, "writers", options.one_thread ? "thread" : "warp");
    put(json, "records", summary.records);
    put(json, "ns_per_record", rounded(summary.ns_per_record));
    put(json, "mrecords_per_s", rounded(summary.mrecords_per_s));
    put(json, "gb_per_s", rounded(summary.gb_per_s));
    put(json, "lost", summary.lost);
    put(json, "verified", summary.verified);
    put(json, "wrong", summary.wrong);
    put(json, "stall_share", rounded(summary.typical.stall_share));
    put(json, "host_cpu_share", rounded(summary.typical.host_cpu_share));
    put(json, "limited_by", summary.limited_by);
    put_object(json, "limited_by_numbers", [&] {
      put_shares(json, summary.typical);
      put(json, "ratio_link", rounded(summary.ratio_link));
    });
    put_object(json, "link", [&] {
      put(json, "mapped_store_gb_per_s", rounded(summary.mapped_gb));
      put(json, "copy_gb_per_s", rounded(summary.copy_gb));
    });
    put(json, "ratio_link", rounded(summary.ratio_link));
    put_object(json, "one_lane", [&] {
      put(json, "ns_per_record", rounded(summary.by_write_many.plain_ns));
      put(json, "ns_per_record_two_timestamps", rounded(summary.by_write_many.stamped_ns));
      put(json, "ns_per_write", rounded(summary.by_write.plain_ns));
      put(json, "ns_per_write_two_timestamps", rounded(summary.by_write.stamped_ns));
    });
    put_object(json, "reference", [&] {
      put(json, "what", "16-byte events in a global array with an atomic index");
      put(json, "ns_per_record", rounded(summary.plain_kernel_ns));
      put(json, "ns_per_record_with_read",
          rounded(summary.plain_kernel_ns + summary.plain_read_ns));
      put(json, "mrecords_per_s", rounded(1e3 / (summary.plain_kernel_ns + summary.plain_read_ns)));
      put(json, "gb_per_s", rounded(16 / (summary.plain_kernel_ns + summary.plain_read_ns)));
    });
    const double our_ns = 1e3 / summary.mrecords_per_s;
    put(json, "ns_per_event", rounded(our_ns));
    put(json, "ratio_ns", rounded(our_ns / (summary.plain_kernel_ns + summary.plain_read_ns)));
    put(json, "ratio_throughput",
        rounded((summary.plain_kernel_ns + summary.plain_read_ns) / our_ns));
  });
}

void print_table(const BenchOptions& options, const Summary& summary, const BenchOutput& out) {
  out.print(
      "{} lanes of {}-byte records from {}, each written by one {}, to {}, {} drain threads\n",
      options.lanes, options.record_bytes, options.platform, options.one_thread ? "thread" : "warp",
      options.sink, options.recorder.drain_threads);
  out.print("  lossless     {:.1f} Mrecords/s, {:.2f} GB/s = {:.2f} of the link; limited by {}\n",
            summary.mrecords_per_s, summary.gb_per_s, summary.ratio_link, summary.limited_by);
  out.print("  link         {:.2f} GB/s of plain stores, {:.2f} GB/s of plain copies\n",
            summary.mapped_gb, summary.copy_gb);
  out.print(
      "  one lane     one thread: {:.1f} ns per record ({:.1f} ns with two timestamps) by "
      "write_many, "
      "{:.1f} ns ({:.1f} ns) by write\n",
      summary.by_write_many.plain_ns, summary.by_write_many.stamped_ns, summary.by_write.plain_ns,
      summary.by_write.stamped_ns);
  out.print(
      "  without it   {:.2f} ns per 16-byte event in a global array with an atomic index, {:.2f} "
      "ns "
      "with reading it afterwards; the recorder: {:.2f} ns\n",
      summary.plain_kernel_ns, summary.plain_kernel_ns + summary.plain_read_ns,
      1e3 / summary.mrecords_per_s);
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
