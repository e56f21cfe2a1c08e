// SPDX-License-Identifier: Apache-2.0
// What the benches share: rounds that take turns, medians, whole runs of this program in a folder
// of their own, and the JSON object.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tidemark/bench/bench_options.h"
#include "tidemark/run/json_fields.h"
#include "tidemark/run/run_report.h"

namespace tidemark::bench {

// The sample in the middle, by one of its figures; an empty one if there is none.
template <class Sample, class Of = std::identity>
Sample middle(std::vector<Sample> samples, Of of = {}) {
  std::ranges::sort(samples, {}, of);
  return samples.empty() ? Sample() : samples[samples.size() / 2];
}
template <class Sample, class Of = std::identity>
double median(const std::vector<Sample>& samples, Of of = {}) {
  return std::invoke(of, middle(samples, of));
}

// Takes one sample of every side in each round. Every other round goes backwards: a drift of the
// machine hits all sides alike.
template <class Take>
Expected<void> take_turns(std::uint32_t rounds, std::size_t sides, const Take& take) {
  for (std::uint32_t round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < sides; ++i)
      TM_TRY_DO(take(round, round % 2 == 0 ? i : sides - 1 - i));
  return {};
}

// One lossless run end to end.
struct EndToEnd {
  std::uint64_t records = 0;
  std::uint64_t lost = 0;
  double seconds = 0;
  double stall_share = 0;       // of the producers' time
  double host_cpu_share = 0;    // processor time of the drain threads over the time
  double drain_busy_share = 0;  // of the drain threads' time, moving pages
  double sink_share = 0;        // of the busy time, inside the sink
  [[nodiscard]] double per_second() const { return static_cast<double>(records) / seconds; }
};

// `pages`: producers starve while the drainer idles. Otherwise the busy drainer is the limit, or
// within it the file.
std::string decide_limit(const EndToEnd& run, const std::string& sink);

// What records cost their producer, and how many come to the sink.
struct Rates {
  Rates() = default;
  Rates(double ns, double per_second, std::uint32_t record_bytes)
      : ns_per_record(ns),
        mrecords_per_s(per_second / 1e6),
        gb_per_s(per_second * record_bytes / 1e9) {}
  double ns_per_record = 0;
  double mrecords_per_s = 0;
  double gb_per_s = 0;
};
void fields(auto& v, const Rates& rates) {
  TM_FIELDS(v, rates, ns_per_record, mrecords_per_s, gb_per_s);
}

// What was measured has three decimals.
class BenchJson : public JsonWriter {
 public:
  using JsonWriter::JsonWriter;
  bool Double(double value) { return JsonWriter::Double(std::round(value * 1000) / 1000); }
};
using BenchFields = FieldWriter<BenchJson>;

// Prints one JSON object whose first member is the name; `fill(v)` names the others.
template <class Fill>
void print_json(const BenchOutput& out, std::string_view bench, const Fill& fill) {
  const auto put_all = [&](BenchJson& json) {
    BenchFields v(json);
    v("bench", bench);
    fill(v);
  };
  out.text(json_text<BenchJson>(put_all, 2) + "\n");
}
void put_options(BenchFields& v, const BenchOptions& options);

// A folder that is removed with everything in it.
class ScratchDirectory {
 public:
  // The error names --dir.
  static Expected<ScratchDirectory> create(const std::string& parent);
  ScratchDirectory(ScratchDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ~ScratchDirectory();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit ScratchDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// A whole 'tidemark run', in a process of its own.
struct SampleRun {
  RunReport report;
  double wall_ns = 0;
  std::uint64_t peak_bytes = 0;  // of memory, resident, in the started process alone
  [[nodiscard]] std::uint64_t lost() const {
    const LaneCounts total = report.total();
    return total.dropped + total.overwritten + total.unaccounted();
  }
};
// `args` as somebody would type them after 'tidemark run'; what `directory` held is removed first.
Expected<SampleRun> sample_run(std::vector<std::string> args, const std::string& directory);

}  // namespace tidemark::bench
