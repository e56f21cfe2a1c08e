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

struct Sample {
  double dump_bytes_per_s = 0, plain_bytes_per_s = 0;
  std::uint64_t bytes = 0, lost = 0, peak_bytes = 0, wrong = 0;
  double sync_ns = 0;
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

Expected<Sample> take_sample(const DumpBenchOptions& options, const std::string& scratch) {
  Sample sample;
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
  TM_TRY(const auto plain, plain_loop(scratch + "/plain", sample.bytes));
  sample.plain_bytes_per_s = plain;
  return sample;
}

}  // namespace

Expected<int> bench_dump(const DumpBenchOptions& options, const BenchOutput& out) {
  TM_TRY(const auto scratch, ScratchDirectory::create(options.directory));
  std::vector<double> ratios, dump, plain, syncs;
  Sample worst;
  for (std::uint32_t round = 0; round < options.rounds; ++round) {
    TM_TRY(const auto sample, take_sample(options, scratch.path()));
    ratios.push_back(sample.dump_bytes_per_s / sample.plain_bytes_per_s);
    dump.push_back(sample.dump_bytes_per_s);
    plain.push_back(sample.plain_bytes_per_s);
    syncs.push_back(sample.sync_ns);
    worst.bytes = sample.bytes;
    worst.lost += sample.lost;
    worst.wrong += sample.wrong;
    worst.peak_bytes = std::max(worst.peak_bytes, sample.peak_bytes);
  }
  if (options.json) {
    print_json(out, "dump", [&](JsonWriter& json) {
      put(json, "bytes", worst.bytes);
      put(json, "pool_bytes", options.pool_bytes);
      put(json, "dump_bytes_per_second", rounded(median(dump)));
      put(json, "plain_bytes_per_second", rounded(median(plain)));
      put(json, "ratio", rounded(median(ratios)));
      put(json, "sync_ms", rounded(median(syncs) / 1e6));
      put(json, "lost", worst.lost);
      put(json, "wrong", worst.wrong);
      put(json, "host_peak_bytes", worst.peak_bytes);
    });
  } else {
    out.print("{} of tensors through a pool of {}, medians of {} rounds, whole processes\n",
              human_bytes(worst.bytes), human_bytes(options.pool_bytes), options.rounds);
    out.print("  dump       {:.2f} GB/s end to end, {} lost, {} wrong, host at most {}\n",
              median(dump) / 1e9, worst.lost, worst.wrong, human_bytes(worst.peak_bytes));
    out.print("  plain loop {:.2f} GB/s: copied once and written, on the same file system\n",
              median(plain) / 1e9);
    out.print("  ratio      {:.3f}\n", median(ratios));
    out.print("  sync       {:.1f} ms more until the capture is on stable storage\n",
              median(syncs) / 1e6);
  }
  return worst.lost == 0 && worst.wrong == 0 ? 0 : 4;
}

}  // namespace tidemark::bench
