// SPDX-License-Identifier: Apache-2.0
// What dump() in an orchestration asks for: at level marked exactly that, at level meta the payload
// of exactly that and the rest without.
#include <cmath>

#include "tests/dump_fixture.h"

namespace tidemark {
namespace {

using Key = std::tuple<std::string, std::string, int>;  // task, stage, argument

// c = a + s, elements of `from` and `to` which are slices of one buffer; `sum` gathers.
struct Shift {
  static constexpr KernelInfo kInfo{
      .name = "shift",
      .core = CoreType::kAiv,
      .args = {in("from", DType::kFloat32), out("to", DType::kFloat32),
               inout("sum", DType::kFloat32), scalar("s", DType::kFloat32),
               scalar("times", DType::kInt32)}};
  template <class Block>
  static void run(Block&, const TaskArgs& args) {
    const auto from = args.tensor<float>(0), to = args.tensor<float>(1),
               sum = args.tensor<float>(2);
    for (std::uint64_t i = 0; i < to.size(); ++i) {
      to[i] = from[i] + args.scalar<float>(0) * static_cast<float>(args.scalar<std::int32_t>(1));
      sum[i] += to[i];
    }
  }
};

// One task for each way to mark.
struct MarkedTasks {
  static constexpr const char* kName = "marked_tasks";
  static constexpr const char* kDescription = "";
  using Kernels = KernelList<Shift>;
  static constexpr std::uint64_t kElements = 48;

  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    Scope root(orch);
    const TensorRef rows = entry.tensor(0), sum = entry.tensor(1);
    const auto row = [&](std::uint64_t i) { return rows.slice(0, i, 1).reshape({1, {kElements}}); };
    TaskHandle before;
    for (std::uint64_t i = 0; i < 7; ++i) {
      Args args;
      args.in(row(i))
          .out_existing(row(i + 1))
          .inout(sum)
          .scalar(0.5f)
          .scalar(static_cast<std::int32_t>(i));
      if (i > 0) args.after(before);
      if (i == 1) args.dump();
      if (i == 2) args.dump("sum", "s");
      if (i == 3) args.dump(0, 4);
      if (i == 4) args.dump(row(5));
      if (i == 5) args.dump(row(5)).dump("times");
      before = orch.template submit<Shift>(args);
    }
  }
  static std::vector<WorkloadCase> cases() { return {{"default", ""}}; }
  static void prepare(const WorkloadSetup&, EntryData& data) {
    data.add<float>({2, {8, kElements}}, [](std::uint64_t i) { return static_cast<float>(i); });
    data.add<float>({1, {kElements}}, [](std::uint64_t) { return 0.0f; });
  }
  static ResultCheck check(const WorkloadSetup&, const EntryData&) { return {}; }
};

const char* const kBefore = "before_dispatch";
const char* const kAfter = "after_completion";

std::string id(int task) { return fmt::format("0x{:016x}", task); }

class DumpMarks : public DumpFixture {
 protected:
  static std::set<Key> keys_of(const rapidjson::Document& manifest, bool with_payload) {
    std::set<Key> keys;
    for (const auto& entry : manifest["tensors"].GetArray()) {
      if (with_payload && entry["bin_size"].GetUint64() == 0) continue;
      EXPECT_TRUE(keys.emplace(entry["task_id"].GetString(), entry["stage"].GetString(),
                               entry["arg_index"].GetInt())
                      .second);
    }
    return keys;
  }
  // Metadata and scalars of both levels are as in a full dump; payload is whole or not there.
  void expect_like_full(const rapidjson::Document& some, const std::string& bin,
                        const rapidjson::Document& full, const std::string& full_bin) {
    std::map<Key, const rapidjson::Value*> known;
    for (const auto& entry : full["tensors"].GetArray())
      known[{entry["task_id"].GetString(), entry["stage"].GetString(),
             entry["arg_index"].GetInt()}] = &entry;
    for (const auto& entry : some["tensors"].GetArray()) {
      const Key key{entry["task_id"].GetString(), entry["stage"].GetString(),
                    entry["arg_index"].GetInt()};
      ASSERT_TRUE(known.contains(key));
      const rapidjson::Value& whole = *known[key];
      for (const char* field : {"kernel", "role", "kind", "dtype", "shape", "strides",
                                "start_offset", "is_contiguous", "value", "scalar_value"}) {
        ASSERT_EQ(entry.HasMember(field), whole.HasMember(field)) << field;
        if (entry.HasMember(field)) {
          EXPECT_EQ(entry[field], whole[field]) << field;
        }
      }
      if (entry.HasMember("stats")) expect_same_stats(entry["stats"], whole["stats"]);
      const std::uint64_t size = entry["bin_size"].GetUint64();
      EXPECT_FALSE(entry["truncated"].GetBool());
      if (size == 0) continue;
      ASSERT_EQ(size, whole["bin_size"].GetUint64());
      EXPECT_EQ(bin.substr(entry["bin_offset"].GetUint64(), size),
                full_bin.substr(whole["bin_offset"].GetUint64(), size));
    }
  }
  // Sums depend on the pieces in which they were made, in their last digits.
  static void expect_same_stats(const rapidjson::Value& one, const rapidjson::Value& other) {
    for (const char* field : {"min", "max", "nan", "inf", "zero", "hash"})
      EXPECT_EQ(one[field], other[field]) << field;
    for (const char* field : {"mean", "l2"}) {
      const double value = other[field].GetDouble();
      EXPECT_NEAR(one[field].GetDouble(), value, std::abs(value) * 1e-12) << field;
    }
  }
  std::string bin_of(const std::string& directory) {
    return read(path(directory + "/tensor_dump/tensor_dump.bin"));
  }
};

TEST_F(DumpMarks, EachWayToMarkTakesWhatItNames) {
  std::set<Key> marked;
  for (const int arg : {0, 2, 3, 4}) marked.emplace(id(1), kBefore, arg);
  for (const int arg : {1, 2}) marked.emplace(id(1), kAfter, arg);
  for (const char* stage : {kBefore, kAfter}) marked.emplace(id(2), stage, 2);
  marked.emplace(id(2), kBefore, 3);
  marked.emplace(id(3), kBefore, 0);
  marked.emplace(id(3), kBefore, 4);
  marked.emplace(id(4), kAfter, 1);   // the row it writes, not the one it reads
  marked.emplace(id(5), kBefore, 0);  // the row it reads, not the one it writes
  marked.emplace(id(5), kBefore, 4);
  std::set<Key> payload = marked;
  std::erase_if(payload, [](const Key& key) { return std::get<2>(key) >= 3; });
  const SerialExecutor expected = serial<MarkedTasks>("default");
  for (const char* platform : {"sim", "a2a3sim", "a5sim"})
    for (const BuildKind build :
         {BuildKind::kTensorMap, BuildKind::kExplicit, BuildKind::kHostBuild}) {
      SCOPED_TRACE(fmt::format("{} {}", platform, static_cast<int>(build)));
      const auto dump = [&](const char* directory, DumpLevel level) {
        const RunResult done = run_here<MarkedTasks>(
            {.directory = directory, .platform = platform, .build = build, .level = level});
        EXPECT_EQ(done.exit_code, 0);
        return json_of(fmt::format("{}/tensor_dump/tensor_dump.json", directory));
      };
      const auto full = dump("full", DumpLevel::kFull);
      expect_manifest("full", expected, expect_truth("full", expected));
      const auto some = dump("marked", DumpLevel::kMarked);
      EXPECT_STREQ(some["dump_level"].GetString(), "marked");
      EXPECT_EQ(keys_of(some, false), marked);
      EXPECT_EQ(keys_of(some, true), payload);
      expect_like_full(some, bin_of("marked"), full, bin_of("full"));
      const auto meta = dump("meta", DumpLevel::kMeta);
      EXPECT_STREQ(meta["dump_level"].GetString(), "meta");
      EXPECT_EQ(keys_of(meta, false), keys_of(full, false));
      EXPECT_EQ(keys_of(meta, true), payload);
      EXPECT_EQ(bin_of("meta"), bin_of("marked"));
      expect_like_full(meta, bin_of("meta"), full, bin_of("full"));
      if (HasFailure()) return;
    }
}

// Of each of the four iterations: task 4 whole, and what the iteration leaves.
TEST_F(DumpMarks, OfMixedExampleAreWhatAnIterationLeaves) {
  run_ok("run mixed_example --dump-tensor --output-prefix full");
  const auto full = json_of("full/tensor_dump/tensor_dump.json");
  for (const char* platform : {"sim", "a2a3sim", "a5sim"}) {
    SCOPED_TRACE(platform);
    run_ok(fmt::format("run mixed_example -p {} --dump-tensor=marked --output-prefix m --force",
                       platform));
    const auto some = json_of("m/tensor_dump/tensor_dump.json");
    std::map<std::string, std::set<std::pair<std::string, int>>> by_task;
    for (const auto& entry : some["tensors"].GetArray())
      by_task[fmt::format("{} {}", entry["task_id"].GetString(), entry["kernel"].GetString())]
          .emplace(entry["stage"].GetString(), entry["arg_index"].GetInt());
    std::map<std::string, std::set<std::pair<std::string, int>>> wanted;
    for (std::uint64_t t = 0; t < 4; ++t) {
      const std::uint64_t first = (std::uint64_t{1} << 32) + t * 5;
      wanted[fmt::format("0x{:016x} mean_upper+mean_lower", first + 3)] = {
          {kBefore, 0}, {kBefore, 1}, {kAfter, 2}};
      wanted[fmt::format("0x{:016x} finish_product+finish_row_sums", first + 4)] = {{kAfter, 2},
                                                                                    {kAfter, 3}};
    }
    EXPECT_EQ(by_task, wanted);
    expect_like_full(some, bin_of("m"), full, bin_of("full"));
    run_ok(fmt::format("run mixed_example -p {} --dump-tensor=meta --output-prefix m --force",
                       platform));
    const auto meta = json_of("m/tensor_dump/tensor_dump.json");
    EXPECT_EQ(keys_of(meta, false), keys_of(full, false));
    EXPECT_EQ(keys_of(meta, true), keys_of(some, true));
    expect_like_full(meta, bin_of("m"), full, bin_of("full"));
    // A selection narrows the marks, it does not replace them.
    run_ok(
        fmt::format("run mixed_example -p {} --dump-tensor=marked --dump-select "
                    "kernel=finish_product,arg=3 --output-prefix m --force",
                    platform));
    EXPECT_EQ(json_of("m/tensor_dump/tensor_dump.json")["tensors"].Size(), 4u);
  }
}

}  // namespace
}  // namespace tidemark
