// SPDX-License-Identifier: Apache-2.0
// tidemark bench dump: how fast tensors come into a capture, beside a plain loop that copies the
// same bytes once and writes them to the same file system.

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>

#include "tidemark/analyze/dump_index.h"
#include "tidemark/base/human_text.h"
#include "tidemark/base/monotonic_clock.h"
#include "tidemark/base/unique_fd.h"
#include "tidemark/bench/rounds.h"
#include "tidemark/run/output_directory.h"
#include "workloads/wide_tensors.h"

namespace tidemark::bench {
namespace {

struct DumpSample {
  double dump_bytes_per_s = 0, plain_bytes_per_s = 0;
  std::uint64_t bytes = 0, lost = 0, peak_bytes = 0, wrong = 0;
  double sync_ns = 0;
  [[nodiscard]] double ratio() const { return dump_bytes_per_s / plain_bytes_per_s; }
};

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

Expected<DumpSample> take_sample(const DumpBenchOptions& options, const std::string& scratch) {
  DumpSample sample;
  const std::string directory = scratch + "/run";
  TM_TRY(const auto ran,
         sample_run({"wide_tensors", "--case", options.case_name, "-p", options.platform,
                     "--dump-tensor", "--no-check", "--pool-bytes",
                     std::to_string(options.pool_bytes), "--export-limit", "0", "--no-sync"},
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
  // From launch to the last byte in the file: the process less its start would be kinder.
  sample.dump_bytes_per_s = static_cast<double>(sample.bytes) * 1e9 / ran.wall_ns;
  TM_TRY(sample.plain_bytes_per_s, plain_loop(scratch + "/plain", sample.bytes));
  return sample;
}

}  // namespace

Expected<int> bench_dump(const DumpBenchOptions& options, const BenchOutput& out) {
  TM_TRY(const auto scratch, ScratchDirectory::create(options.directory));
  std::vector<DumpSample> samples;
  std::uint64_t lost = 0, wrong = 0;
  for (std::uint32_t round = 0; round < options.rounds; ++round) {
    TM_TRY(samples.emplace_back(), take_sample(options, scratch.path()));
    lost += samples.back().lost;
    wrong += samples.back().wrong;
  }
  const double dump = median(samples, &DumpSample::dump_bytes_per_s);
  const double plain = median(samples, &DumpSample::plain_bytes_per_s);
  const double ratio = median(samples, &DumpSample::ratio);
  const double sync_ms = median(samples, &DumpSample::sync_ns) / 1e6;
  const std::uint64_t bytes = samples.front().bytes;
  const std::uint64_t peak = std::ranges::max(samples, {}, &DumpSample::peak_bytes).peak_bytes;
  if (options.json) {
    print_json(out, "dump", [&](BenchFields& v) {
      v("bytes", bytes);
      v("pool_bytes", options.pool_bytes);
      v("dump_bytes_per_second", dump);
      v("plain_bytes_per_second", plain);
      v("ratio", ratio);
      v("sync_ms", sync_ms);
      v("lost", lost);
      v("wrong", wrong);
      v("host_peak_bytes", peak);
    });
  } else {
    out.print("{} of tensors through a pool of {}, medians of {} rounds, whole processes\n",
              human_bytes(bytes), human_bytes(options.pool_bytes), options.rounds);
    out.print("  dump       {:.2f} GB/s end to end, {} lost, {} wrong, host at most {}\n",
              dump / 1e9, lost, wrong, human_bytes(peak));
    out.print("  plain loop {:.2f} GB/s: copied once and written, on the same file system\n",
              plain / 1e9);
    out.print("  ratio      {:.3f}\n", ratio);
    out.print("  sync       {:.1f} ms more until the capture is on stable storage\n", sync_ms);
  }
  return lost == 0 && wrong == 0 ? 0 : 4;
}

}  // namespace tidemark::bench
