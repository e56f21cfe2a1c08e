// SPDX-License-Identifier: Apache-2.0
// tidemark bench dump: how fast tensors come into a capture, beside a plain loop that copies the
// same bytes once and writes them to the same file system. On a GPU also how fast its cores store
// them, beside plain copies over the same link: give it a pool that holds everything.

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>

#include "tidemark/analyze/dump_index.h"
#include "tidemark/base/human_text.h"
#include "tidemark/base/monotonic_clock.h"
#include "tidemark/base/unique_fd.h"
#include "tidemark/bench/cuda_bench.h"
#include "tidemark/bench/figure_launch.h"
#include "tidemark/bench/rounds.h"
#include "tidemark/device/supervisor.h"
#include "tidemark/run/output_directory.h"
#include "workloads/wide_tensors.h"

namespace tidemark::bench {
namespace {

struct DumpSample {
  double dump_bytes_per_s = 0, plain_bytes_per_s = 0;
  std::uint64_t bytes = 0, lost = 0, peak_bytes = 0, wrong = 0;
  double sync_ns = 0;
  double device_bytes_per_s = 0;                             // from launch to end
  double link_stores_bytes_per_s = 0, link_bytes_per_s = 0;  // 0: not on a GPU
  [[nodiscard]] double ratio_link() const { return device_bytes_per_s / link_bytes_per_s; }
  [[nodiscard]] double ratio() const { return dump_bytes_per_s / plain_bytes_per_s; }
};

constexpr std::uint32_t kLinkLanes = 128;
constexpr std::uint64_t kLinkCopyBytes = 2ull << 30;

// The same bytes, copied once and written: nothing of a recorder.
Expected<double> plain_loop(const std::string& path, std::uint64_t bytes) {
  constexpr std::size_t kPiece = 1 << 20, kSource = 32 << 20;
  const auto source = std::make_unique<unsigned char[]>(kSource);
  const auto piece = std::make_unique<unsigned char[]>(kPiece);
  for (std::size_t i = 0; i < kSource; ++i) source[i] = static_cast<unsigned char>(i * 31);
  UniqueFd file(::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600));
  if (!file.valid()) return file_failure("open", path);
  const std::uint64_t begin_ns = monotonic_ns();
  for (std::uint64_t done = 0; done < bytes; done += kPiece) {
    std::memcpy(piece.get(), source.get() + done % kSource, kPiece);
    if (::write(file.get(), piece.get(), kPiece) != static_cast<ssize_t>(kPiece))
      return file_failure("write", path);
  }
  const auto elapsed_ns = static_cast<double>(monotonic_ns() - begin_ns);
  file.reset();
  ::unlink(path.c_str());
  return static_cast<double>(bytes) * 1e9 / elapsed_ns;
}

// Every tensor in the capture holds the elements it must hold.
Expected<std::uint64_t> count_wrong(const std::string& directory, std::uint64_t& bytes) {
  TM_TRY(auto run, RunCapture::open(directory));
  TM_TRY(const auto index, read_dump(run));
  std::uint64_t wrong = index.dropped + index.malformed + index.overwritten;
  for (const auto& entry : index.entries) {
    bytes += entry.header.payload_bytes;
    if (entry.header.arg_index != 0) continue;
    std::uint64_t at = entry.header.start_offset;
    bool same = entry.header.payload_bytes == entry.header.logical_bytes;
    TM_TRY_DO(read_payload(run, entry, [&](std::span<const unsigned char> part) {
      for (std::size_t i = 0; i + 4 <= part.size(); i += 4, ++at) {
        float value = 0;
        std::memcpy(&value, part.data() + i, 4);
        same = same && value == WideTensors::element(at);
      }
    }));
    wrong += same ? 0 : 1;
  }
  return wrong;
}

// What a run without --no-sync would have waited for.
double sync_time_ns(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const std::uint64_t begin_ns = monotonic_ns();
  if (fd.valid()) ::fdatasync(fd.get());
  return static_cast<double>(monotonic_ns() - begin_ns);
}

// What the link gives to plain copies to the host, and to plain stores into its memory.
Expected<void> measure_link(Device& device, DumpSample& sample) {
  TM_TRY(auto launch, FigureLaunch::create(device.ticks_per_second()));
  const CudaBenchArgs args{.lanes = kLinkLanes,
                           .record_bytes = 0,
                           .one_thread = 0,
                           .by = CudaBenchBy::kWriteMany,
                           .stamped = 0,
                           .records = 0,
                           .link_bytes = kLinkCopyBytes,
                           .plain_events = 0};
  TM_TRY_DO(launch.run(device, {.program = kCudaLinkProgram,
                                .args = std::as_bytes(std::span(&args, 1)),
                                .region = nullptr}));
  sample.link_stores_bytes_per_s = launch.figure(kFigureMappedGb) * 1e9;
  sample.link_bytes_per_s = launch.figure(kFigureCopyGb) * 1e9;
  return {};
}

Expected<DumpSample> take_sample(const DumpBenchOptions& options, const std::string& scratch) {
  DumpSample sample;
  const std::string directory = scratch + "/run";
  TM_TRY(
      const auto ran,
      sample_run({"wide_tensors", "--case", options.case_name, "-p", options.platform,
                  "--dump-tensor", "--no-check", "--pool-bytes", std::to_string(options.pool_bytes),
                  "--page-bytes", std::to_string(options.page_bytes), "--drain-threads",
                  std::to_string(options.drain_threads), "--export-limit", "0", "--no-sync"},
                 directory));
  sample.sync_ns = sync_time_ns(directory + "/" + kCaptureFile);
  sample.lost = ran.lost();
  sample.peak_bytes = ran.peak_bytes;
  const WideTensors::Size size = WideTensors::size_of(options.case_name);
  sample.bytes = size.tasks * size.elements * 4;
  if (options.verify) {
    std::uint64_t found = 0;
    TM_TRY(const auto wrong, count_wrong(directory, found));
    sample.wrong = wrong + (found < sample.bytes ? 1 : 0);
  }
  std::error_code code;
  std::filesystem::remove_all(directory, code);
  sample.device_bytes_per_s =
      static_cast<double>(sample.bytes) * 1e9 / static_cast<double>(ran.report.device_ns);
  // From launch to the last byte in the file: the process less its start would be kinder.
  sample.dump_bytes_per_s = static_cast<double>(sample.bytes) * 1e9 / ran.wall_ns;
  TM_TRY(sample.plain_bytes_per_s, plain_loop(scratch + "/plain", sample.bytes));
  return sample;
}

struct DumpSummary {
  std::uint64_t bytes = 0, lost = 0, wrong = 0, peak_bytes = 0;
  double dump = 0, plain = 0, ratio = 0, sync_ms = 0;
  double device = 0, link = 0, link_stores = 0, ratio_link = 0;  // the link's: 0: not on a GPU
};

DumpSummary summary_of(const std::vector<DumpSample>& samples, bool on_gpu) {
  DumpSummary summary{.bytes = samples.front().bytes};
  for (const DumpSample& sample : samples) {
    summary.lost += sample.lost;
    summary.wrong += sample.wrong;
    summary.peak_bytes = std::max(summary.peak_bytes, sample.peak_bytes);
  }
  summary.dump = median(samples, &DumpSample::dump_bytes_per_s);
  summary.plain = median(samples, &DumpSample::plain_bytes_per_s);
  summary.ratio = median(samples, &DumpSample::ratio);
  summary.sync_ms = median(samples, &DumpSample::sync_ns) / 1e6;
  summary.device = median(samples, &DumpSample::device_bytes_per_s);
  if (!on_gpu) return summary;
  summary.link = median(samples, &DumpSample::link_bytes_per_s);
  summary.link_stores = median(samples, &DumpSample::link_stores_bytes_per_s);
  summary.ratio_link = median(samples, &DumpSample::ratio_link);
  return summary;
}

void print_fields(const DumpSummary& summary, const DumpBenchOptions& options,
                  const BenchOutput& out) {
  print_json(out, "dump", [&](BenchFields& v) {
    v("bytes", summary.bytes);
    v("pool_bytes", options.pool_bytes);
    v("dump_bytes_per_second", summary.dump);
    v("plain_bytes_per_second", summary.plain);
    v("ratio", summary.ratio);
    v("sync_ms", summary.sync_ms);
    v("device_bytes_per_second", summary.device);
    if (summary.link > 0) {
      v("link_copy_bytes_per_second", summary.link);
      v("link_store_bytes_per_second", summary.link_stores);
      v("ratio_link", summary.ratio_link);
    }
    v("lost", summary.lost);
    v("wrong", summary.wrong);
    v("host_peak_bytes", summary.peak_bytes);
  });
}

void print_text(const DumpSummary& summary, const DumpBenchOptions& options,
                const BenchOutput& out) {
  out.print("{} of tensors through a pool of {}, medians of {} rounds, whole processes\n",
            human_bytes(summary.bytes), human_bytes(options.pool_bytes), options.rounds);
  out.print("  dump       {:.2f} GB/s end to end, {} lost, {} wrong, host at most {}\n",
            summary.dump / 1e9, summary.lost, summary.wrong, human_bytes(summary.peak_bytes));
  if (summary.link > 0)
    out.print(
        "  device     {:.2f} GB/s from launch to end, {:.3f} of the {:.2f} GB/s of plain "
        "copies to the host ({:.2f} GB/s of plain stores)\n",
        summary.device / 1e9, summary.ratio_link, summary.link / 1e9, summary.link_stores / 1e9);
  out.print("  plain loop {:.2f} GB/s: copied once and written, on the same file system\n",
            summary.plain / 1e9);
  out.print("  ratio      {:.3f}\n", summary.ratio);
  out.print("  sync       {:.1f} ms more until the capture is on stable storage\n",
            summary.sync_ms);
}

}  // namespace

Expected<int> bench_dump(const DumpBenchOptions& options, const BenchOutput& out) {
  TM_TRY(const auto scratch, ScratchDirectory::create(options.directory));
  const Platform* platform = find_platform(options.platform);
  std::unique_ptr<Device> gpu;
  if (platform != nullptr && platform->device == DeviceKind::kCuda) {
    TM_TRY_DO(Supervisor::start());
    TM_TRY(gpu, open_device(*platform, 0, Isolation::kProcess));
  }
  std::vector<DumpSample> samples;
  for (std::uint32_t round = 0; round < options.rounds; ++round) {
    TM_TRY(samples.emplace_back(), take_sample(options, scratch.path()));
    if (gpu != nullptr) TM_TRY_DO(measure_link(*gpu, samples.back()));
  }
  const DumpSummary summary = summary_of(samples, gpu != nullptr);
  if (options.json)
    print_fields(summary, options, out);
  else
    print_text(summary, options, out);
  return summary.lost == 0 && summary.wrong == 0 ? 0 : 4;
}

}  // namespace tidemark::bench
