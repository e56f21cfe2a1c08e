// SPDX-License-Identifier: Apache-2.0
// tidemark bench drain: how fast full pages leave the region, beside plain copies of the same bytes
// in the same run.

#include <cstring>

#include "tidemark/base/check.h"
#include "tidemark/base/mapped_memory.h"
#include "tidemark/bench/bench_sink.h"
#include "tidemark/bench/recorder_rig.h"
#include "tidemark/bench/rounds.h"
#include "tidemark/capture/streaming_copy.h"
#include "tidemark/device/sim/sim_clock.h"
#include "tidemark/device/sim/sim_env.h"

namespace tidemark::bench {
namespace {

constexpr std::uint64_t kTargetBytes = 128ull << 20;

// Copies `bytes` of a region-sized source into fresh places of a large target.
template <class Copy>
double copy_gb_per_s(std::uint64_t source_bytes, std::uint32_t page_bytes, std::uint64_t bytes,
                     const Copy& copy) {
  constexpr int kFlags = MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE;
  const MappedMemory source(source_bytes, kFlags), target(kTargetBytes, kFlags);
  TM_CHECK(source.valid() && target.valid());
  std::memset(source.base(), 1, source_bytes);
  const std::uint64_t begin_ns = monotonic_ns();
  for (std::uint64_t at = 0; at < bytes; at += page_bytes)
    copy(target.data() + at % (kTargetBytes - page_bytes) / 64 * 64,
         source.data() + at % source_bytes, page_bytes);
  const auto ns = static_cast<double>(monotonic_ns() - begin_ns);
  return static_cast<double>(bytes) / ns;
}

struct DrainRates {
  double drain = 0;
  double memcpy_rate = 0;
  double streaming = 0;
  double checksummed = 0;
};

}  // namespace

Expected<int> bench_drain(const BenchOptions& options, const BenchOutput& out) {
  const Platform* platform = find_platform(options.platform);
  if (platform != nullptr && platform->device != DeviceKind::kSimulated)
    return failure(
        ErrorKind::kUsage,
        "--platform {}: bench drain fills its pages from threads of this machine; name a "
        "simulated platform",
        options.platform);
  std::vector<double> drained, copied, streamed, summed;
  for (std::uint32_t round = 0; round < options.rounds; ++round) {
    TM_TRY(auto sink, make_bench_sink(options));
    TM_TRY(auto rig, RecorderRig::create(options, sink.get(), sim_ticks_per_second()));
    const auto moved = rig->drain_full_pages(400);
    drained.push_back(moved.bytes / moved.seconds / 1e9);
    const std::uint64_t source_bytes =
        std::uint64_t{rig->pool_pages()} * options.recorder.page_bytes;
    const auto bytes = static_cast<std::uint64_t>(moved.bytes);
    copied.push_back(copy_gb_per_s(source_bytes, options.recorder.page_bytes, bytes,
                                   [](unsigned char* to, const unsigned char* from,
                                      std::size_t size) { std::memcpy(to, from, size); }));
    streamed.push_back(
        copy_gb_per_s(source_bytes, options.recorder.page_bytes, bytes, &streaming_copy));
    summed.push_back(
        copy_gb_per_s(source_bytes, options.recorder.page_bytes, bytes,
                      [](unsigned char* to, const unsigned char* from, std::size_t size) {
                        copy_with_checksum(to, from, kPageHeaderBytes, from + kPageHeaderBytes,
                                           size - kPageHeaderBytes);
                      }));
  }
  const DrainRates rates{median(drained), median(copied), median(streamed), median(summed)};
  if (!options.json) {
    out.print("drain of full pages, {} lanes, {} drain threads, to {}: {:.2f} GB/s\n",
              options.lanes, options.recorder.drain_threads, options.sink, rates.drain);
    out.print(
        "  beside it, one thread: memcpy {:.2f}, streaming copy {:.2f}, streaming copy with "
        "checksum {:.2f} GB/s; ratio to the last {:.2f}\n",
        rates.memcpy_rate, rates.streaming, rates.checksummed, rates.drain / rates.checksummed);
    return 0;
  }
  print_json(out, "drain", [&](JsonWriter& json) {
    put_options(json, options);
    put(json, "gb_per_s", rounded(rates.drain));
    put(json, "mrecords_per_s", rounded(rates.drain * 1e3 / options.record_bytes));
    put_object(json, "reference", [&] {
      put(json, "memcpy_gb_per_s", rounded(rates.memcpy_rate));
      put(json, "streaming_copy_gb_per_s", rounded(rates.streaming));
      put(json, "streaming_copy_with_checksum_gb_per_s", rounded(rates.checksummed));
    });
    put(json, "ratio_throughput", rounded(rates.drain / rates.checksummed));
  });
  return 0;
}

}  // namespace tidemark::bench
