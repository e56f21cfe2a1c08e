// SPDX-License-Identifier: Apache-2.0
#include "tidemark/cli/runtime_options.h"

#include <charconv>
#include <cstdlib>
#include <vector>

#include "tidemark/base/align.h"
#include "tidemark/base/nearest_name.h"

namespace tidemark::cli {
namespace {

// A size of the rings: its flag, its variable, and what it may be.
struct RingSetting {
  const char* flag;
  const char* variable;
  std::uint64_t least;
  std::uint64_t most;
  bool power_of_two;
};

constexpr RingSetting kTaskWindow{"--ring-task-window", "PTO2_RING_TASK_WINDOW", kTaskWindowMin,
                                  kTaskWindowMax, true};
constexpr RingSetting kHeap{"--ring-heap", "PTO2_RING_HEAP", kHeapBytesMin, kHeapBytesMax, false};
constexpr RingSetting kArgs{"--ring-args", "PTO2_RING_ARGS", kArgsBytesMin, kArgsBytesMost, false};
constexpr RingSetting kDepPool{"--ring-dep-pool", "PTO2_RING_DEP_POOL", kDepPoolMin, kDepPoolMax,
                               false};

// A host that builds the graph keeps all of it.
constexpr RingSizes kHostBuildSizes{
    .task_window = 1u << 17, .dep_pool = 1u << 19, .heap_bytes = 2ull << 30};

Expected<std::uint64_t> parse_size(std::string_view text, const std::string& what,
                                   const RingSetting& setting) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || code != std::errc() || end != text.data() + text.size())
    return failure(ErrorKind::kUsage, "{}: '{}' is not a number", what, text);
  if (value < setting.least || value > setting.most)
    return failure(ErrorKind::kUsage, "{}: {} is not from {} to {}", what, value, setting.least,
                   setting.most);
  if (setting.power_of_two && !is_power_of_two(value))
    return failure(ErrorKind::kUsage, "{}: {} is not a power of two", what, value);
  return value;
}

// One value for all rings, or one for each. The flag wins over the variable.
template <class Size>
Expected<void> apply(const RingSetting& setting, const std::string& flag_text,
                     Size RingSizes::*size, RuntimeConfig& config) {
  const char* variable = std::getenv(setting.variable);
  if (flag_text.empty() && variable == nullptr) return {};
  const std::string text = flag_text.empty() ? variable : flag_text;
  const std::string what = flag_text.empty() ? setting.variable : setting.flag;
  std::vector<std::uint64_t> values;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    TM_TRY(const auto value,
           parse_size(std::string_view(text).substr(at, comma - at), what, setting));
    values.push_back(value);
    at = comma + 1;
  }
  if (values.size() != 1 && values.size() != kRingCount)
    return failure(ErrorKind::kUsage, "{} {}: one value, or {} separated by commas", what, text,
                   kRingCount);
  for (std::uint32_t ring = 0; ring < kRingCount; ++ring)
    config.rings[ring].*size = static_cast<Size>(values.size() == 1 ? values[0] : values[ring]);
  return {};
}

}  // namespace

void bind_runtime_options(Command& command, RuntimeOptions& options) {
  command.group = "Task runtime";
  command.option("--runtime", &options.runtime, "How the graph is built; see 'tidemark list'",
                 kShowsDefault);
  command.option("--ring-task-window", &options.task_window,
                 "Task slots, a power of two: one value, or four for rings 0..3, comma separated "
                 "(default 16384; variable PTO2_RING_TASK_WINDOW)");
  command.option("--ring-heap", &options.heap,
                 "Bytes for outputs, likewise (default 268435456; PTO2_RING_HEAP)");
  command.option("--ring-args", &options.args,
                 "Bytes for the arguments of live tasks, likewise (default 16777216, more from "
                 "16384 slots on, less for a few; PTO2_RING_ARGS)");
  command.option("--ring-dep-pool", &options.dep_pool,
                 "Dependency entries, likewise (default 16384; PTO2_RING_DEP_POOL)");
  command.option("--tensormap-pool", &options.tensormap_pool,
                 "Entries of the tensor map (default 65536)");
  command.flag("--track-war", &options.track_war,
               "Writers also wait for the readers of what they overwrite");
  command.option("--scheduler-timeout-ms", &options.scheduler_timeout_ms,
                 "How long a task may run, and how long the orchestration waits for an element",
                 kShowsDefault);
  command.option("--block-threads", &options.block_threads,
                 "Threads of the block that runs a kernel, 1 to 16; only on simulated platforms, "
                 "to find missing barriers with a sanitizer",
                 kShowsDefault);
  command.option("--repeat", &options.repeat,
                 "With --runtime host_build_graph: how often the graph runs, in one launch; task "
                 "r1t2 of iteration 3 is r1t2l3",
                 kShowsDefault);
}

Expected<RuntimeConfig> plan_runtime(const RuntimeOptions& options, const Platform& platform) {
  const BuildInfo* build = find_build(options.runtime);
  if (build == nullptr)
    return failure(ErrorKind::kUsage, "--runtime {}: no such runtime; see 'tidemark list'{}",
                   options.runtime, did_you_mean(options.runtime, kBuilds, &BuildInfo::name));
  RuntimeConfig config;
  config.build = build->kind;
  config.cluster_count = cluster_count_of(platform);
  config.scheduler_count = platform.scheduler_count;
  // A multiprocessor is as good as another one.
  config.uniform_cores = platform.device == DeviceKind::kCuda ? 1 : 0;
  config.track_war = options.track_war ? 1 : 0;
  if (build->kind == BuildKind::kHostBuild)
    for (auto& ring : config.rings) ring = kHostBuildSizes;
  TM_TRY_DO(apply(kTaskWindow, options.task_window, &RingSizes::task_window, config));
  TM_TRY_DO(apply(kHeap, options.heap, &RingSizes::heap_bytes, config));
  TM_TRY_DO(apply(kArgs, options.args, &RingSizes::args_bytes, config));
  TM_TRY_DO(apply(kDepPool, options.dep_pool, &RingSizes::dep_pool, config));
  if (options.tensormap_pool) {
    const std::uint32_t entries = *options.tensormap_pool;
    if (entries < kTensormapMin || entries > kTensormapMax)
      return failure(ErrorKind::kUsage, "--tensormap-pool: {} is not from {} to {}", entries,
                     kTensormapMin, kTensormapMax);
    config.tensormap_entries = entries;
  }
  if (options.scheduler_timeout_ms == 0)
    return failure(ErrorKind::kUsage, "--scheduler-timeout-ms 0: a task needs some time");
  config.task_timeout_ms = options.scheduler_timeout_ms;
  if (options.block_threads == 0 || options.block_threads > kBlockThreadsMax)
    return failure(ErrorKind::kUsage, "--block-threads: {} is not from 1 to {}",
                   options.block_threads, kBlockThreadsMax);
  if (options.block_threads > 1 && platform.device == DeviceKind::kCuda)
    return failure(ErrorKind::kUsage,
                   "--block-threads {}: only simulated platforms can choose; "
                   "{} is none",
                   options.block_threads, platform.name);
  config.block_threads = options.block_threads;
  if (options.repeat == 0 || options.repeat > kRepeatMax)
    return failure(ErrorKind::kUsage, "--repeat: {} is not from 1 to {}", options.repeat,
                   kRepeatMax);
  if (options.repeat > 1 && config.reclaims())
    return failure(ErrorKind::kUsage,
                   "--repeat {}: only a graph that is built on the host can run again "
                   "(--runtime host_build_graph)",
                   options.repeat);
  config.repeat = options.repeat;
  return config;
}

}  // namespace tidemark::cli
