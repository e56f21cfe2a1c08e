// SPDX-License-Identifier: Apache-2.0
// Descriptions that no tensor can have: the task runs, its dump names the argument and reads
// nothing outside of the device's memory.
#include <random>

#include "tests/dump_fixture.h"

namespace tidemark {
namespace {

struct NoWords {
  static constexpr KernelInfo kInfo{
      .name = "no_words", .core = CoreType::kAiv, .args = {scalar("at")}};
  template <class Block>
  static void run(Block&, const TaskArgs&) {}
};

constexpr int kTasks = 200;

// Every fourth task is described rightly, the others by views of random nonsense.
struct WrongWords {
  static constexpr const char* kName = "wrong_words";
  static constexpr const char* kDescription = "";
  using Kernels = KernelList<NoWords>;

  static bool is_right(int task) { return task % 4 == 0; }
  static TensorRef wrong(const TensorRef& right, int task) {
    std::mt19937_64 random(static_cast<std::uint64_t>(task));
    TensorRef ref = right;
    TensorView& view = ref.view;
    switch (random() % 6) {
      case 0:
        view.shape.rank = static_cast<std::uint32_t>(6 + random() % 100);
        break;
      case 1:
        view.shape.extent[random() % 2] = random() | std::uint64_t{1} << 40;
        break;
      case 2:
        view.stride[0] = random() | std::uint64_t{1} << 50;
        break;
      case 3:
        view.offset = random() | std::uint64_t{1} << 60;
        break;
      case 4:
        view.buffer = ~std::uint64_t{0} - random() % 512;
        break;
      default:
        view.dtype = static_cast<DType>(kDTypeCount + random() % 100);
    }
    return ref;
  }

  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    Scope root(orch);
    for (int i = 0; i < kTasks; ++i) {
      Args words;
      words.scalar(entry.tensor(0).view.buffer);
      const TensorRef ref = is_right(i) ? TensorRef(entry.tensor(0)) : wrong(entry.tensor(0), i);
      const TensorInfo info{ref, i % 3 == 0 ? Access::kInput : Access::kInout};
      orch.template add_task_with_tensor_info<NoWords>(words, &info, 1);
    }
  }
  static std::vector<WorkloadCase> cases() { return {{"default", ""}}; }
  static void prepare(const WorkloadSetup&, EntryData& data) {
    data.add<float>({2, {4, 6}}, [](std::uint64_t i) { return static_cast<float>(i); });
  }
  static ResultCheck check(const WorkloadSetup&, const EntryData&) { return {true, "ran"}; }
};

class DumpInvalid : public DumpFixture {};

TEST_F(DumpInvalid, ViewsThatPointNowhereAreNamedAndNotFollowed) {
  const std::vector<std::vector<DumpRule>> rules{
      {}, {{.when = DumpWhen::kNan}}, {{.when = DumpWhen::kAbsMaxAbove, .above = 1}}};
  for (const char* platform : {"sim", "a5sim"})
    for (const auto& rule : rules) {
      SCOPED_TRACE(fmt::format("{} with {} rules", platform, rule.size()));
      const RunResult result = run_here<WrongWords>(
          {.platform = platform, .build = BuildKind::kHostBuild, .rules = rule});
      EXPECT_EQ(result.exit_code, 0);
      auto run = RunCapture::open(path("r"));
      ASSERT_TRUE(run);
      const auto index = read_dump(*run);
      ASSERT_TRUE(index) << index.error().message;
      EXPECT_EQ(index->malformed, 0u);
      std::set<std::uint64_t> right;
      for (const auto& entry : index->entries) right.insert(entry.header.task_id);
      EXPECT_EQ(right.size(), static_cast<std::size_t>(kTasks / 4));
      for (const std::uint64_t task : right)
        EXPECT_TRUE(WrongWords::is_right(static_cast<int>(task)));
      std::set<std::string> named(index->invalid.begin(), index->invalid.end());
      EXPECT_EQ(named.size(), static_cast<std::size_t>(kTasks - kTasks / 4));
      EXPECT_TRUE(named.contains("t1 no_words, argument 0"));
      ASSERT_EQ(result.report.warnings.size(), 1u);
      EXPECT_EQ(result.report.warnings[0].name, "DUMP_INVALID");
      EXPECT_TRUE(json_of("r/tensor_dump/tensor_dump.json").HasMember("invalid"));
    }
}

}  // namespace
}  // namespace tidemark
