// SPDX-License-Identifier: Apache-2.0
// The rows of dumped arguments against the frames that they were written from: order, statistics,
// buffers, and which bytes are kept.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tidemark/tiles/testing/documented_run.h"
#include "tidemark/tiles/testing/dumped_argument.h"

namespace tidemark {
namespace {

using samples::all_streams;
using samples::document;
using samples::DocumentedRun;
using samples::DumpedArgument;
using samples::HandCapture;
using samples::kLaunchTicks;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::uint64_t kRing1 = std::uint64_t{1} << 32;

class Dump {
 public:
  explicit Dump(bool with_graph = true) : capture_(config_of(with_graph)) {}

  void add(const DumpedArgument& argument) {
    capture_.write_frame(capture_.lanes().dump(1), argument.frame());
    arguments_.push_back(argument);
  }
  // A task with one tensor argument of a buffer.
  void task(std::uint64_t id, Access access, std::uint64_t owner, std::uint64_t start,
            std::uint64_t buffer = 0x1000) {
    const std::uint32_t lane = capture_.lanes().edges();
    capture_.write(lane, GraphTask{.task_id = id,
                                   .time_ticks = kLaunchTicks,
                                   .submit_line = 7,
                                   .kernels = {0, kNoKernel, kNoKernel},
                                   .submit_file = 0xF11E,
                                   .tensor_count = 1});
    capture_.write(lane, GraphArgument{.task_id = id,
                                       .start_offset = start,
                                       .buffer = buffer,
                                       .owner = owner,
                                       .access = access,
                                       .dtype = DType::kFloat32,
                                       .rank = 1});
    capture_.write(lane, GraphDimensions{.task_id = id, .extent = {4, 0}, .stride = {1, 0}});
  }
  [[nodiscard]] HandCapture& capture() { return capture_; }
  [[nodiscard]] const std::vector<DumpedArgument>& arguments() const { return arguments_; }
  [[nodiscard]] const DumpedArgument& find(const std::string& id, std::uint64_t arg,
                                           const std::string& stage) const {
    for (const auto& one : arguments_)
      if (one.task == std::strtoull(id.c_str(), nullptr, 16) && one.arg == arg &&
          to_text(one.stage) == stage)
        return one;
    TM_CHECK(false);
  }

 private:
  static RuntimeConfig config_of(bool with_graph) {
    RuntimeConfig config = all_streams();
    if (!with_graph) config.streams[StreamId::kEdges] = 0;
    return config;
  }
  HandCapture capture_;
  std::vector<DumpedArgument> arguments_;
};

// A number, or the text that stands for what is none.
double number(const rapidjson::Value& json) {
  if (json.IsNumber()) return json.GetDouble();
  const std::string text = json.GetString();
  return text == "nan" ? std::nan("") : text == "inf" ? HUGE_VAL : text == "-inf" ? -HUGE_VAL : 0;
}

TEST(TensorsDocument, HasEveryArgumentWithItsStatistics) {
  Dump dump;
  for (std::uint64_t task = 0; task < 3000; ++task) {
    std::vector<float> values;
    for (std::uint64_t i = 0; i <= task % 5; ++i)
      values.push_back(static_cast<float>(task) / 7 - static_cast<float>(i));
    if (task % 100 == 3) values[0] = kInfinity;
    if (task % 100 == 5) values[0] = -kInfinity;
    if (task % 100 == 9) values.assign(values.size(), kNan);
    dump.add({.task = task, .values = values, .has_stats = task % 3 != 0});
  }
  const DocumentedRun made = document(dump.capture());
  EXPECT_EQ(made.list.tensors, 3000u);
  const auto rows = made.rows("tensors/", "rows");
  ASSERT_EQ(rows.size(), 3000u);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& row = rows[i];
    EXPECT_EQ(row["row"].GetUint64(), i);
    EXPECT_EQ(row["core"].GetUint64(), 1u);
    EXPECT_EQ(row["track"].GetUint64(), 1u);
    const DumpedArgument& said =
        dump.find(row["task"].GetString(), row["arg"].GetUint64(), row["stage"].GetString());
    const DumpStats stats = said.stats();
    const auto& found = row["stats"];
    ASSERT_TRUE(found.IsObject()) << "taken by the device, or here";
    EXPECT_EQ(number(found["min"]), stats.min);
    EXPECT_EQ(number(found["max"]), stats.max);
    EXPECT_EQ(number(found["l2"]), stats.l2);
    EXPECT_EQ(found["nan"].GetUint64(), stats.nan);
    EXPECT_EQ(found["inf"].GetUint64(), stats.inf);
    EXPECT_EQ(found["zero"].GetUint64(), stats.zero);
    EXPECT_EQ(std::strtoull(found["hash"].GetString(), nullptr, 16), stats.hash);
    EXPECT_EQ(row["shape"][0].GetUint64(), said.values.size());
    EXPECT_EQ(made.tiles.bytes("payload/" + std::to_string(i)), said.payload());
  }
  const auto about = made.tiles.json("doc/tensors");
  EXPECT_EQ(about["rows"].GetUint64(), 3000u);
  EXPECT_EQ(about["nan_first"].GetUint64(), 9u);
  EXPECT_EQ(about["index"].Size(), 2u);
  EXPECT_STREQ(about["payload_note"].GetString(), "");
  EXPECT_EQ(made.list.kept_payloads, 3000u);
}

TEST(TensorsDocument, ComputesNoStatisticsBeyondItsBudget) {
  Dump dump;
  dump.add({.task = 1, .values = std::vector<float>(10, 1), .has_stats = false});
  dump.add({.task = 2, .values = std::vector<float>(10, 1), .has_stats = false});
  dump.add({.task = 3, .values = {1, 2}, .has_stats = false, .has_payload = false});
  const DocumentedRun made = document(dump.capture(), {}, nullptr, {.stats_bytes = 50});
  const auto rows = made.rows("tensors/", "rows");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_TRUE(rows[0]["stats"].IsObject());
  EXPECT_TRUE(rows[1]["stats"].IsNull());
  EXPECT_TRUE(rows[2]["stats"].IsNull()) << "there are no bytes";
  EXPECT_EQ(made.tiles.json("doc/tensors")["stats_unknown"].GetUint64(), 2u);
}

TEST(TensorsDocument, RowsComeInTheOrderOfSubmitsWithTheirBuffers) {
  Dump dump;
  // Submitted first, although its id is larger; both look at parts of what it allocates.
  dump.task(kRing1, Access::kOutput, kRing1, 0);
  dump.task(2, Access::kInput, kRing1, 4);
  dump.task(3, Access::kInput, kNoOwner, 0, 0x9000);
  dump.task(4, Access::kInput, kNoOwner, 8, 0xA000);
  dump.task(5, Access::kInput, kNoOwner, 2, 0x9000);
  for (const std::uint64_t task :
       {std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{4}, std::uint64_t{5}, std::uint64_t{77}})
    dump.add({.task = task, .values = {1, 2, 3, 4}, .start_offset = task * 2});
  dump.add({.task = kRing1,
            .stage = DumpStage::kAfterCompletion,
            .values = {1, 2, 3, 4},
            .access = Access::kOutput});
  const DocumentedRun made = document(dump.capture());
  const auto rows = made.rows("tensors/", "rows");
  ASSERT_EQ(rows.size(), 6u);
  const char* texts[] = {"r1t0", "t2", "t3", "t4", "t5", "t77"};
  const char* buffers[] = {"r1t0 output 0", "r1t0 output 0", "caller's 0", "caller's 1",
                           "caller's 0"};
  const std::uint64_t elements[] = {8, 8, 6, 12, 6};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_STREQ(rows[i]["text"].GetString(), texts[i]);
    if (i == 5) {
      EXPECT_TRUE(rows[i]["buffer"].IsNull()) << "the graph does not know this task";
      continue;
    }
    EXPECT_STREQ(rows[i]["buffer"].GetString(), buffers[i]);
    EXPECT_EQ(rows[i]["buffer_elements"].GetUint64(), elements[i]);
  }
  EXPECT_STREQ(rows[0]["role"].GetString(), "output");
  EXPECT_STREQ(rows[0]["stage"].GetString(), "after_completion");
  EXPECT_EQ(rows[1]["start_offset"].GetUint64(), 4u);
}

// Of 40 bytes each; the one with a NaN is larger and comes last.
TEST(TensorsDocument, KeepsTheBytesThatMatterWithinTheBudget) {
  Dump dump;
  for (std::uint64_t task = 0; task < 5; ++task)
    dump.add({.task = task, .values = std::vector<float>(10, 1)});
  dump.add({.task = 5, .values = std::vector<float>(2, 1)});
  std::vector<float> poisoned(15, 1);
  poisoned[7] = kNan;
  dump.add({.task = 6, .values = poisoned});
  dump.add({.task = 7, .values = std::vector<float>(100, kNan)});
  dump.add({.task = 8, .values = {1}, .has_payload = false});
  const DocumentedRun made =
      document(dump.capture(), {}, nullptr, {.payload_bytes = 150, .payload_bytes_each = 100});
  std::vector<bool> kept;
  const auto rows = made.rows("tensors/", "rows");
  for (const auto& row : rows) {
    const bool said = row["payload"].GetBool();
    kept.push_back(said);
    EXPECT_EQ(made.tiles.has("payload/" + std::to_string(kept.size() - 1)), said);
  }
  // 60 with the NaN, 8, then two of 40.
  EXPECT_EQ(kept, (std::vector<bool>{true, true, false, false, false, true, true, false, false}));
  EXPECT_EQ(made.list.kept_payloads, 4u);
  EXPECT_EQ(made.list.payload_note,
            "the bytes of 4 of 8 dumped tensors are here; not kept: 1 larger than 100 B, 3 beyond "
            "150 B in all");
  EXPECT_STREQ(made.tiles.json("doc/tensors")["payload_note"].GetString(),
               made.list.payload_note.c_str());
}

TEST(TensorsDocument, OfStatisticsAloneSaysSo) {
  Dump dump;
  dump.add({.task = 1, .values = {1, 2}, .has_payload = false});
  const DocumentedRun made = document(dump.capture());
  EXPECT_EQ(made.list.kept_payloads, 0u);
  EXPECT_EQ(made.list.payload_note, "the run dumped no bytes, only statistics");
  EXPECT_EQ(made.rows("tensors/", "rows")[0]["bytes"].GetUint64(), 0u);
}

TEST(TensorsDocument, NamesTheTaskThatMadeTheFirstNan) {
  for (const bool with_graph : {true, false}) {
    Dump dump(with_graph);
    if (with_graph) dump.task(4, Access::kInout, 4, 0), dump.task(3, Access::kInout, 4, 0);
    const auto out = DumpStage::kAfterCompletion;
    dump.add({.task = 3, .time_ticks = 200, .values = {kNan}, .access = Access::kInout});
    dump.add({.task = 3, .stage = out, .time_ticks = 300, .values = {kNan, kNan}});
    dump.add({.task = 4, .arg = 1, .time_ticks = 100, .values = {1}});
    dump.add({.task = 4, .arg = 2, .time_ticks = 100, .values = {kInfinity}});
    dump.add({.task = 4,
              .stage = out,
              .time_ticks = 150,
              .values = {1, kNan, 3},
              .access = Access::kInout});
    dump.add({.task = 9, .stage = out, .time_ticks = 160, .values = {kNan}});
    const DocumentedRun made = document(dump.capture(), {.names = {{0xF11E, "a.h"}}});
    const auto row = made.tiles.json("doc/tensors")["nan_first"].GetUint64();
    const auto rows = made.rows("tensors/", "rows");
    EXPECT_STREQ(rows[row]["text"].GetString(), "t4");
    EXPECT_STREQ(rows[row]["stage"].GetString(), "after_completion");
    const auto overview = made.tiles.json("doc/overview");
    std::string said;
    for (const auto& finding : overview["findings"].GetArray()) {
      if (finding["link"]["panel"] != "tensors") continue;
      said = finding["text"].GetString();
      EXPECT_EQ(finding["link"]["row"].GetUint64(), row);
    }
    EXPECT_EQ(said, std::string("The first NaN was made by `add` of task t4") +
                        (with_graph ? " (a.h:7)" : "") +
                        ": 1 of 3 elements in argument 0 (inout); what it read (arguments 1 and 2) "
                        "was clean; 3 tasks wrote one in all.");
  }
}

}  // namespace
}  // namespace tidemark
