// SPDX-License-Identifier: Apache-2.0
// l2_swimlane_records.json holds the spans, events and gaps that were recorded, field by field.
#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include "tidemark/export/artifact.h"
#include "tidemark/export/export_run.h"
#include "tidemark/session/testing/sample_run.h"

namespace tidemark {
namespace {

constexpr double kTenthOfNs = 1.001e-4;  // the digits that times are written with

constexpr const char* kSwimlaneFile = "l2_swimlane_records.json";

rapidjson::Document parse_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  rapidjson::Document document;
  document.Parse<rapidjson::kParseValidateEncodingFlag>(text.str().c_str());
  EXPECT_FALSE(document.HasParseError()) << path << " at " << document.GetErrorOffset();
  return document;
}

double us(std::uint64_t ticks) {
  return static_cast<double>(ticks - samples::kLaunchTicks) / 1000.0;
}

class SwimlaneJsonTest : public ::testing::Test {
 protected:
  rapidjson::Document record(const samples::SampleRecording::Options& options) {
    run_ = samples::write_sample_run(directory_.path(), options);
    const auto written = export_files(directory_.path(), {kSwimlaneFile});
    EXPECT_TRUE(written) << written.error().message;
    return parse_file(directory_.file(kSwimlaneFile));
  }

  samples::TemporaryDirectory directory_;
  samples::SampleRun run_;
};

TEST_F(SwimlaneJsonTest, HasOneRowPerSpanWithItsFields) {
  const auto json = record({.spans = 200});
  EXPECT_EQ(json["schema_version"].GetInt(), 1);
  std::map<std::uint64_t, const rapidjson::Value*> rows;
  for (const auto& row : json["tasks"].GetArray())
    EXPECT_TRUE(rows.emplace(row["task_id"].GetUint64(), &row).second) << "a row stands twice";
  std::uint64_t expected = 0;
  const auto& keeps = run_.report.lanes[samples::kKeeps].counts;
  for (const LaneIndex lane : {samples::kWaits, samples::kDrops, samples::kKeeps})
    for (std::uint64_t number = 0; number < 200; ++number) {
      if (lane == samples::kDrops && !run_.accepted[number]) continue;
      if (lane == samples::kKeeps && number < keeps.overwritten) continue;
      ++expected;
      const TaskSpan span = samples::sample_span(lane, number);
      const auto found = rows.find(span.task_id);
      ASSERT_NE(found, rows.end()) << "lane " << lane << " number " << number;
      const auto& row = *found->second;
      EXPECT_EQ(row["ring_id"].GetUint64(), lane % kRingCount);
      EXPECT_EQ(row["func_id"].GetUint(), span.kernel);
      const char* const kernels[] = {"add", "mul", "exp"};
      EXPECT_STREQ(row["func_name"].GetString(), kernels[span.kernel]);
      EXPECT_EQ(row["core_id"].GetUint(), span.core);
      EXPECT_EQ(row["block"].GetUint(), span.block);
      EXPECT_NEAR(row["start_time_us"].GetDouble(), us(span.begin_ticks), kTenthOfNs);
      EXPECT_NEAR(row["end_time_us"].GetDouble(), us(span.end_ticks), kTenthOfNs);
      EXPECT_NEAR(row["duration_us"].GetDouble(), (50 + lane) / 1000.0, kTenthOfNs);
    }
  EXPECT_EQ(rows.size(), expected);
  EXPECT_GT(keeps.overwritten, 0u);
}

TEST_F(SwimlaneJsonTest, ShowsEveryLossWithItsPlaceAndReason) {
  const auto json = record({.spans = 500});
  std::uint64_t lost = 0;
  double last_to = 0;
  for (const auto& gap : json["gaps"].GetArray()) {
    EXPECT_EQ(gap["lane"].GetUint(), static_cast<unsigned>(samples::kDrops));
    EXPECT_STREQ(gap["reason"].GetString(), "no_page");
    EXPECT_GT(gap["from"].GetDouble(), last_to) << "gaps stand in order";
    EXPECT_GE(gap["to"].GetDouble(), gap["from"].GetDouble());
    last_to = gap["to"].GetDouble();
    lost += gap["lost"].GetUint64();
  }
  const auto& counts = run_.report.lanes[samples::kDrops].counts;
  EXPECT_GT(counts.dropped, 0u);
  EXPECT_EQ(lost, counts.dropped);
  EXPECT_EQ(json["gaps"].Size(), counts.gaps);
}

TEST_F(SwimlaneJsonTest, ShowsEventsByTheirNames) {
  const auto json = record({.spans = 10, .frames = 5});
  const auto& events = json["events"].GetArray();
  ASSERT_EQ(events.Size(), 7u);
  EXPECT_STREQ(events[0]["name"].GetString(), "sample.begin");
  EXPECT_STREQ(events[0]["kind"].GetString(), "mark");
  EXPECT_EQ(events[0]["value"].GetInt64(), 7);
  for (unsigned i = 1; i <= 5; ++i) {
    EXPECT_STREQ(events[i]["name"].GetString(), "sample.frames");
    EXPECT_STREQ(events[i]["kind"].GetString(), "counter");
    EXPECT_EQ(events[i]["value"].GetInt64(), static_cast<std::int64_t>(i) - 3);
    EXPECT_GT(events[i]["time_us"].GetDouble(), events[i - 1]["time_us"].GetDouble());
    EXPECT_EQ(events[i]["unit"].GetUint(), 3u);
    EXPECT_EQ(events[i]["lane"].GetUint(), static_cast<unsigned>(samples::kEvents));
  }
  EXPECT_STREQ(events[6]["name"].GetString(), "sample.end");
}

TEST_F(SwimlaneJsonTest, AnEventWhoseNameIsLostShowsItsHash) {
  run_ = samples::write_sample_run(directory_.path(), {.spans = 1, .frames = 0});
  auto run = RunCapture::open(directory_.path()).value();
  run.replace_names({});
  ASSERT_TRUE(write_swimlane_json(run, directory_.file("nameless.json")));
  const auto json = parse_file(directory_.file("nameless.json"));
  const Name begin("sample.begin");
  EXPECT_EQ(json["events"][0]["name"].GetString(), fmt::format("0x{:016x}", begin.hash));
}

// The name table cuts long texts, also in the middle of a character, and a device may write what
// it likes into it.
TEST_F(SwimlaneJsonTest, NamesThatAreNoTextStillGiveValidJson) {
  run_ = samples::write_sample_run(directory_.path(), {.spans = 1, .frames = 0});
  auto run = RunCapture::open(directory_.path()).value();
  const Name begin("sample.begin");
  for (const std::string text :
       {"caf\xC3", "\xFF", "\xED\xA0\x80", "\xC0\xAF", "a\xE2\x82", "\xF5xyz"}) {
    run.replace_names({{begin.hash, text}});
    ASSERT_TRUE(write_swimlane_json(run, directory_.file("odd.json")));
    const auto json = parse_file(directory_.file("odd.json"));
    ASSERT_TRUE(json.IsObject());
    EXPECT_EQ(json["events"][0]["name"].GetStringLength(), text.size());
  }
  for (const std::string text : {"Übung", "海", "\xF0\x9F\x8C\x8A", "line\nbreak"}) {
    run.replace_names({{begin.hash, text}});
    ASSERT_TRUE(write_swimlane_json(run, directory_.file("odd.json")));
    EXPECT_EQ(parse_file(directory_.file("odd.json"))["events"][0]["name"].GetString(), text);
  }
}

TEST_F(SwimlaneJsonTest, ARunWithoutRecordsIsAValidFile) {
  const auto json = record({.spans = 0, .frames = 0});
  EXPECT_EQ(json["tasks"].Size(), 0u);
  EXPECT_EQ(json["gaps"].Size(), 0u);
}

TEST_F(SwimlaneJsonTest, LanesKnownOnlyFromTheLanesChunkAreExportedToo) {
  const auto json = record({.spans = 20, .frames = 1, .late_lanes = true});
  EXPECT_EQ(json["tasks"].Size(), 60u);
  EXPECT_EQ(json["events"].Size(), 3u);
}

TEST_F(SwimlaneJsonTest, OpenPagesAreExportedRecordByRecord) {
  const auto json = record({.spans = 20, .frames = 1, .closed = false});
  EXPECT_EQ(json["tasks"].Size(), 60u);
}

TEST_F(SwimlaneJsonTest, NameMapHasTheKernelsByNumber) {
  (void)record({.spans = 1});
  ASSERT_TRUE(export_files(directory_.path(), {"name_map.json"}));
  const auto json = parse_file(directory_.file("name_map.json"));
  EXPECT_STREQ(json["callable_id_to_name"]["0"].GetString(), "add");
  EXPECT_STREQ(json["callable_id_to_name"]["2"].GetString(), "exp");
  EXPECT_STREQ(json["orchestrator_name"].GetString(), "sample");
}

TEST_F(SwimlaneJsonTest, AnUnknownFileIsRefusedByName) {
  (void)record({.spans = 1});
  const auto written = export_files(directory_.path(), {"nonsense.json"});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::kUsage);
  EXPECT_NE(written.error().message.find("nonsense.json"), std::string::npos);
  EXPECT_NE(written.error().message.find(kSwimlaneFile), std::string::npos);
}

TEST_F(SwimlaneJsonTest, AboveTheLimitTheFileIsLeftOutAndNamed) {
  run_ = samples::write_sample_run(directory_.path(), {.spans = 100});
  ASSERT_TRUE(export_automatically(directory_.path(), run_.report, {.limit = 10}));
  ASSERT_EQ(run_.report.not_exported.size(), 2u);
  EXPECT_EQ(run_.report.not_exported[0].file, kSwimlaneFile);
  EXPECT_FALSE(std::filesystem::exists(directory_.file(kSwimlaneFile)));
  ASSERT_TRUE(export_automatically(directory_.path(), run_.report, {}));
  EXPECT_TRUE(run_.report.not_exported.empty());
  EXPECT_TRUE(std::filesystem::exists(directory_.file(kSwimlaneFile)));
  EXPECT_FALSE(std::filesystem::exists(directory_.file(std::string(kSwimlaneFile) + ".part")));
}

}  // namespace
}  // namespace tidemark
