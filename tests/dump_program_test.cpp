// SPDX-License-Identifier: Apache-2.0
// What the dump says of random programs: every argument of every task, slices, transposes and all,
// equals what the naive reference has at that moment. On every platform and with every way to build
// a graph, by one thread of a core and by several, in pages that hold a frame and in pages that do
// not.
#include <gtest/gtest.h>

#include "tests/recorded_program.h"
#include "tidemark/analyze/dump_index.h"
#include "tidemark/base/testing/seed_range.h"

namespace tidemark::random_program {
namespace {

using Bytes = std::vector<unsigned char>;
using Key = std::tuple<std::uint64_t, int, std::uint32_t>;  // task, stage, argument

// A no_dep argument that is there for its creator only may be changing while it is captured.
bool is_still(const Arg& arg) { return arg.access != Access::kNoDep || arg.looked_at; }

bool is_still(const Program& program) {
  for (const Task& task : program.tasks)
    for (const Arg& arg : task.args)
      if (!is_still(arg)) return false;
  return true;
}

RuntimeConfig config_for(const char* platform, BuildKind build, bool track_war,
                         const Program& program) {
  RuntimeConfig config;
  config.build = build;
  config.track_war = track_war ? 1 : 0;
  config.cluster_count = cluster_count_of(*find_platform(platform));
  config.scheduler_count = find_platform(platform)->scheduler_count;
  config.tensormap_entries = 4096;
  for (RingSizes& ring : config.rings) ring = {1024, 16384, 4 << 20};
  config.streams[StreamId::kDump] = 1;
  config.dump.level = DumpLevel::kFull;
  if (is_still(program)) return config;
  config.dump.rule_count = 1;
  config.dump.rules[0].roles = ~(1u << static_cast<std::uint32_t>(Access::kNoDep));
  return config;
}

Bytes bytes_of(DType dtype, const std::vector<std::uint64_t>& elements) {
  Bytes bytes;
  const auto add = [&](const auto& value) {
    const auto* first = reinterpret_cast<const unsigned char*>(&value);
    bytes.insert(bytes.end(), first, first + sizeof(value));
  };
  for (const std::uint64_t element : elements) {
    if (dtype == DType::kFloat32)
      add(static_cast<float>(element));
    else
      add(element);
  }
  return bytes;
}

struct Wanted {
  const Arg* arg;
  const Task* task;
  Bytes bytes;
};

std::map<Key, Wanted> wanted_of(const Program& program) {
  std::map<Key, Wanted> wanted;
  const bool no_dep_too = is_still(program);
  Reference reference(program);
  reference.look_at = [&](std::uint32_t index, bool after, std::uint32_t i,
                          const std::vector<std::uint64_t>& elements) {
    const Task& task = program.tasks[index];
    const Arg& arg = task.args[i];
    if (arg.access == Access::kNoDep && !no_dep_too) return;
    if (after ? !arg.writes() : arg.writes() && arg.access != Access::kInout) return;
    wanted[{task.id.value, after ? 1 : 0, i}] = {&arg, &task, bytes_of(arg.view.dtype, elements)};
  };
  reference.run();
  return wanted;
}

void expect_view(const DumpHeader& header, const Wanted& wanted) {
  const TensorView& view = wanted.arg->view;
  EXPECT_EQ(header.access, wanted.arg->access);
  EXPECT_EQ(header.dtype, view.dtype);
  EXPECT_EQ(header.start_offset, view.offset);
  EXPECT_EQ(header.block_count, wanted.task->blocks);
  ASSERT_EQ(header.rank, view.shape.rank);
  for (std::uint32_t dim = 0; dim < view.shape.rank; ++dim) {
    EXPECT_EQ(header.extent[dim], view.shape.extent[dim]);
    EXPECT_EQ(header.stride[dim], view.stride[dim]);
  }
}

// As threads that share the work must find them: counts and extremes are exact.
void expect_same_stats(const DumpStats& stats, const DumpStats& counted) {
  EXPECT_EQ(stats.hash, counted.hash);
  EXPECT_EQ(stats.min, counted.min);
  EXPECT_EQ(stats.max, counted.max);
  EXPECT_EQ(stats.nan, counted.nan);
  EXPECT_EQ(stats.inf, counted.inf);
  EXPECT_EQ(stats.zero, counted.zero);
  EXPECT_NEAR(stats.mean, counted.mean, counted.l2 * 1e-12);
  EXPECT_NEAR(stats.l2, counted.l2, counted.l2 * 1e-12);
}

// Every tensor and scalar of the program once, and nothing else. Counts those with holes.
void check_dump(RunCapture& run, const Program& program, std::size_t& with_holes) {
  std::map<Key, Wanted> wanted = wanted_of(program);
  std::map<Key, std::uint64_t> scalars;
  for (std::uint32_t i = 0; i < program.tasks.size(); ++i)
    if (program.tasks[i].has_kernel())
      scalars[{program.tasks[i].id.value, 0, program.tasks[i].args.size()}] = i;
  const auto index = read_dump(run);
  ASSERT_TRUE(index) << index.error().message;
  EXPECT_EQ(index->dropped + index->overwritten + index->malformed + index->skipped_tasks, 0u);
  for (const DumpEntry& entry : index->entries) {
    const DumpHeader& header = entry.header;
    const Key key{header.task_id, static_cast<int>(header.stage), header.arg_index};
    SCOPED_TRACE(fmt::format("task {:#x} stage {} argument {}", header.task_id,
                             to_text(header.stage), header.arg_index));
    if (!entry.is_tensor()) {
      ASSERT_TRUE(scalars.contains(key));
      EXPECT_EQ(header.scalar, scalars.at(key));
      EXPECT_EQ(header.dtype, DType::kUint64);
      scalars.erase(key);
      continue;
    }
    ASSERT_TRUE(wanted.contains(key)) << "no such argument, or twice";
    expect_view(header, wanted.at(key));
    const auto bytes = load_payload(run, entry);
    ASSERT_TRUE(bytes) << bytes.error().message;
    ASSERT_EQ(*bytes, wanted.at(key).bytes);
    TensorStats stats(header.dtype);
    stats.add(bytes->data(), bytes->size());
    expect_same_stats(entry.stats, stats.result());
    with_holes += !wanted.at(key).arg->view.is_contiguous();
    wanted.erase(key);
  }
  EXPECT_EQ(wanted.size(), 0u) << "tensors are missing";
  EXPECT_EQ(scalars.size(), 0u) << "scalars are missing";
}

class DumpedPrograms : public testing::TestWithParam<std::tuple<const char*, BuildKind>> {};

TEST_P(DumpedPrograms, HaveEveryArgumentAsTheReferenceHasIt) {
  const auto [platform, build] = GetParam();
  const bool is_explicit = build == BuildKind::kExplicit;
  const std::uint64_t seeds =
      std::string_view(platform) == "sim"
          ? seed_count({.campaign = 150, .quick = 50, .under_sanitizer = 20})
          : seed_count({.campaign = 20, .quick = 8, .under_sanitizer = 4});
  std::size_t with_holes = 0;
  for (std::uint64_t seed = 0; seed < seeds && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {} on {}", seed, platform));
    const bool track_war = !is_explicit && seed % 2 == 0;
    const Program program = Generator(seed, is_explicit ? Edges::kAllExplicit
                                            : track_war ? Edges::kTracked
                                                        : Edges::kWarExplicit)
                                .make();
    RuntimeConfig config = config_for(platform, build, track_war, program);
    if (seed % 4 == 1) config.block_threads = 2 + static_cast<std::uint32_t>(seed / 4 % 4);
    RecordedRun recorded(program, config, platform, seed * 37);
    const RunResult result = recorded.run([&](RunRequest& request) {
      if (seed % 3 == 0) request.recorder.page_bytes = 4096;
    });
    ASSERT_EQ(result.exit_code, 0) << (result.report.error ? result.report.error->message : "");
    EXPECT_TRUE(result.report.ledger_closes());
    EXPECT_EQ(result.report.tasks.completed, program.tasks.size());
    auto run = RunCapture::open(recorded.directory());
    ASSERT_TRUE(run) << run.error().message;
    check_dump(*run, program, with_holes);
  }
  EXPECT_GT(with_holes, 0u);
}

std::string dump_name_of(const testing::TestParamInfo<DumpedPrograms::ParamType>& param) {
  const char* const builds[] = {"tensormap", "explicit", "host"};
  return fmt::format("{}_{}", std::get<0>(param.param),
                     builds[static_cast<std::size_t>(std::get<1>(param.param))]);
}

INSTANTIATE_TEST_SUITE_P(EveryPlatformAndRuntime, DumpedPrograms,
                         testing::Combine(testing::Values("sim", "a2a3sim", "a5sim"),
                                          testing::Values(BuildKind::kTensorMap,
                                                          BuildKind::kExplicit,
                                                          BuildKind::kHostBuild)),
                         dump_name_of);

}  // namespace
}  // namespace tidemark::random_program
