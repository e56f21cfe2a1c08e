// SPDX-License-Identifier: Apache-2.0
// tidemark bench runtime --graph tiles: what a submit costs by the number of live writers of the
// buffer it writes. The few writers are the reference of the many. Counted is the processor time of
// the orchestrator, which a real device does not share with its cores.

#include "tidemark/bench/tiles_bench.h"

#include <algorithm>
#include <ctime>

#include "tidemark/base/human_text.h"
#include "tidemark/bench/bench_memory.h"
#include "tidemark/bench/rounds.h"
#include "tidemark/bench/tile_graph.h"

namespace tidemark::bench {
namespace {

constexpr std::uint64_t kWriters[] = {64, 512, 2048, 8192};
constexpr std::uint64_t kMeasured = 16'384;  // submits, after every tile has a writer
constexpr std::uint32_t kTileWindow = 32'768;

struct TilesMeasured {
  TileShape shape;
  std::uint64_t writers = 0;
  double ns_per_submit = 0;
};

std::uint64_t processor_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// The time when a number of submits was done.
class SubmitTimes : public NoWatch {
 public:
  explicit SubmitTimes(std::uint64_t first) : first_(first) {}
  template <class Rings>
  void submit_ends(TaskId, Rings&) {
    if (++count_ == first_) begin_ns_ = processor_ns();
    if (count_ == first_ + kMeasured) end_ns_ = processor_ns();
  }
  [[nodiscard]] double ns_per_submit() const {
    return static_cast<double>(end_ns_ - begin_ns_) / kMeasured;
  }

 private:
  std::uint64_t first_, count_ = 0;
  std::uint64_t begin_ns_ = 0, end_ns_ = 0;
};

Expected<double> time_tiles(TileShape shape, std::uint64_t writers, const Platform& platform) {
  const TensorShape buffer = tiled_buffer(shape, writers);
  RuntimeConfig config;
  config.cluster_count = cluster_count_of(platform);
  config.scheduler_count = platform.scheduler_count;
  config.entry_bytes = round_up(buffer.element_count(), kEntryAlign);
  config.rings[0].task_window = kTileWindow;
  config.rings[0].dep_pool = 1u << 19;  // no scope ends, so none is given back
  BenchMemory held(config, true);
  const RuntimeMemory memory = held.memory();
  EntryArgs& entry = memory.control().entry;
  entry.tensor_count = 1;
  entry.tensors[0] = TensorView::row_major(memory.layout().entry_offset, DType::kUint8, buffer);
  entry.number_count = 3;
  entry.numbers[0] = static_cast<std::int64_t>(shape);
  entry.numbers[1] = static_cast<std::int64_t>(writers);
  entry.numbers[2] = static_cast<std::int64_t>(writers + kMeasured);
  SubmitTimes watch(writers);
  run_sim_units<TileGraph>(memory, held.status(), watch, [] { return false; });
  if (const ErrorCode code = held.status()->error.code.load_acquire(); code != ErrorCode::kNone)
    return failure(ErrorKind::kDevice, "the graph 'tiles' ended with error {}", to_text(code));
  return watch.ns_per_submit();
}

double ratio_of(const std::vector<TilesMeasured>& all, TileShape shape) {
  double few = 0, most = 0;
  for (const TilesMeasured& one : all) {
    if (one.shape != shape) continue;
    if (few <= 0) few = one.ns_per_submit;
    most = std::max(most, one.ns_per_submit);
  }
  return few > 0 ? most / few : 0;
}

void fields(auto& v, const TilesMeasured& one) {
  v("tiles", kTileNames[static_cast<std::size_t>(one.shape)]);
  v("writers", one.writers);
  v("ns_per_submit", one.ns_per_submit);
}

}  // namespace

Expected<int> bench_tiles(const RuntimeBenchOptions& options, const BenchOutput& out) {
  const Platform& platform = *find_platform(options.platform);
  std::vector<TilesMeasured> all;
  for (const auto shape : {TileShape::kRows, TileShape::kColumns, TileShape::kMixed})
    for (const std::uint64_t writers : kWriters) all.push_back({shape, writers});
  std::vector<std::vector<double>> samples(all.size());
  TM_TRY_DO(
      take_turns(options.rounds, all.size(), [&](std::uint32_t, std::size_t i) -> Expected<void> {
        TM_TRY(const double ns, time_tiles(all[i].shape, all[i].writers, platform));
        samples[i].push_back(ns);
        return {};
      }));
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].ns_per_submit = median(samples[i]);
    if (!options.json)
      out.print("{:<8} {:>6} live writers  {:>7.0f} ns per submit\n",
                kTileNames[static_cast<std::size_t>(all[i].shape)], with_commas(all[i].writers),
                all[i].ns_per_submit);
  }
  const double rows = ratio_of(all, TileShape::kRows);
  const double columns = ratio_of(all, TileShape::kColumns);
  const double mixed = ratio_of(all, TileShape::kMixed);
  if (options.json)
    print_json(out, "runtime", [&](BenchFields& v) {
      TM_FIELDS(v, options, platform, rounds, graph);
      v("tiles", all);
      v("ratio_rows", rows);
      v("ratio_columns", columns);
      v("ratio_mixed", mixed);
    });
  else
    out.print(
        "cost of a submit from {} to {} live writers: rows within {:.2f} x, columns {:.2f} x, "
        "mixed {:.2f} x\n",
        kWriters[0], with_commas(kWriters[std::size(kWriters) - 1]), rows, columns, mixed);
  return 0;
}

}  // namespace tidemark::bench
