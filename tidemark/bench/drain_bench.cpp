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

using Copy = void (*)(unsigned char* to, const unsigned char* from, std::size_t bytes);

// Ways to copy one page, each with the name of its figure.
constexpr std::pair<const char*, Copy> kCopies[] = {
    {"memcpy_gb_per_s", [](unsigned char* to, const unsigned char* from,
                           std::size_t bytes) { std::memcpy(to, from, bytes); }},
    {"streaming_copy_gb_per_s", &streaming_copy},
    {"streaming_copy_with_checksum_gb_per_s",
     [](unsigned char* to, const unsigned char* from, std::size_t bytes) {
       copy_with_checksum(to, from, kPageHeaderBytes, from + kPageHeaderBytes,
                          bytes - kPageHeaderBytes);
     }}};

// Copies `bytes` of a region-sized source into fresh places of a large target.
double copy_gb_per_s(std::uint64_t source_bytes, std::uint32_t page_bytes, double bytes,
                     Copy copy) {
  constexpr int kFlags = MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE;
  const MappedMemory source(source_bytes, kFlags), target(kTargetBytes, kFlags);
  TM_CHECK(source.valid() && target.valid());
  std::memset(source.base(), 1, source_bytes);
  const std::uint64_t begin_ns = monotonic_ns();
  for (std::uint64_t at = 0; at < static_cast<std::uint64_t>(bytes); at += page_bytes)
    copy(target.data() + at % (kTargetBytes - page_bytes) / 64 * 64,
         source.data() + at % source_bytes, page_bytes);
  return bytes / static_cast<double>(monotonic_ns() - begin_ns);
}

}  // namespace

Expected<int> bench_drain(const BenchOptions& options, const BenchOutput& out) {
  const Platform* platform = find_platform(options.platform);
  if (platform != nullptr && platform->device != DeviceKind::kSimulated)
    return failure(
        ErrorKind::kUsage,
        "--platform {}: bench drain fills its pages from threads of this machine; name a "
        "simulated platform",
        options.platform);
  std::vector<double> drained, copied[std::size(kCopies)];
  const std::uint32_t page_bytes = options.recorder.page_bytes;
  for (std::uint32_t round = 0; round < options.rounds; ++round) {
    TM_TRY(auto sink, make_bench_sink(options));
    TM_TRY(auto rig, RecorderRig::create(options, sink.get(), sim_ticks_per_second()));
    const auto moved = rig->drain_full_pages(400);
    drained.push_back(moved.bytes / moved.seconds / 1e9);
    const std::uint64_t source_bytes = std::uint64_t{rig->pool_pages()} * page_bytes;
    for (std::size_t i = 0; i < std::size(kCopies); ++i)
      copied[i].push_back(copy_gb_per_s(source_bytes, page_bytes, moved.bytes, kCopies[i].second));
  }
  const double drain = median(drained), ratio = drain / median(copied[2]);
  if (!options.json) {
    out.print("drain of full pages, {} lanes, {} drain threads, to {}: {:.2f} GB/s\n",
              options.lanes, options.recorder.drain_threads, options.sink, drain);
    out.print(
        "  beside it, one thread: memcpy {:.2f}, streaming copy {:.2f}, streaming copy with "
        "checksum {:.2f} GB/s; ratio to the last {:.2f}\n",
        median(copied[0]), median(copied[1]), median(copied[2]), ratio);
    return 0;
  }
  print_json(out, "drain", [&](BenchFields& v) {
    put_options(v, options);
    v("gb_per_s", drain);
    v("mrecords_per_s", drain * 1e3 / options.record_bytes);
    v.object("reference", [&](BenchFields& reference) {
      for (std::size_t i = 0; i < std::size(kCopies); ++i)
        reference(kCopies[i].first, median(copied[i]));
    });
    v("ratio_throughput", ratio);
  });
  return 0;
}

}  // namespace tidemark::bench
