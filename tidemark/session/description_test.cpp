// SPDX-License-Identifier: Apache-2.0
// What a capture says about itself comes back as it was said; what is hostile becomes an error or
// is not believed.
#include "tidemark/run/description.h"

#include <gtest/gtest.h>

#include "tidemark/session/testing/sample_run.h"

namespace tidemark {
namespace {

class DescriptionTest : public ::testing::Test {
 protected:
  // A capture that holds these texts and nothing else.
  CaptureReader capture(const std::vector<std::pair<ChunkType, std::string>>& texts) {
    const std::string path = directory_.file(fmt::format("{}.tide", ++count_));
    auto writer = CaptureWriter::create(path, samples::kRunId).value();
    for (const auto& [type, text] : texts) EXPECT_TRUE(writer->append_text(type, text));
    EXPECT_TRUE(writer->finish());
    return CaptureReader::open(path).value();
  }
  Expected<CaptureDescription> describe(const std::string& text) {
    auto reader = capture({{ChunkType::kDescription, text}});
    return read_description(reader);
  }

  samples::TemporaryDirectory directory_;
  int count_ = 0;
};

TEST_F(DescriptionTest, ComesBackFieldByField) {
  const RegionPlan plan = samples::plan_sample(2048);
  const CaptureDescription said = samples::sample_description(plan);
  const auto read = describe(describe_capture(said));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->run.run_id, said.run.run_id);
  EXPECT_EQ(read->run.workload, said.run.workload);
  EXPECT_EQ(read->run.case_name, said.run.case_name);
  EXPECT_EQ(read->run.platform, said.run.platform);
  EXPECT_EQ(read->run.runtime, said.run.runtime);
  EXPECT_EQ(read->run.transport, said.run.transport);
  EXPECT_EQ(read->run.seed, said.run.seed);
  EXPECT_EQ(read->run.rank, said.run.rank);
  EXPECT_EQ(read->run.device, said.run.device);
  EXPECT_EQ(read->run.host_id, said.run.host_id);
  EXPECT_EQ(read->run.ticks_per_second, said.run.ticks_per_second);
  EXPECT_EQ(read->page_bytes, said.page_bytes);
  EXPECT_EQ(read->kernels, said.kernels);
  ASSERT_EQ(read->lanes.size(), said.lanes.size());
  for (std::size_t i = 0; i < said.lanes.size(); ++i) {
    EXPECT_EQ(read->lanes[i].stream, said.lanes[i].stream);
    EXPECT_EQ(read->lanes[i].overflow, said.lanes[i].overflow);
    EXPECT_EQ(read->lanes[i].record_bytes, said.lanes[i].record_bytes);
    EXPECT_EQ(read->lanes[i].unit, said.lanes[i].unit);
    EXPECT_STREQ(read->lanes[i].producer, said.lanes[i].producer);
  }
}

TEST_F(DescriptionTest, TextSurvivesQuotesAndOtherAlphabetsAndLosesControlBytes) {
  CaptureDescription said = samples::sample_description(samples::plan_sample(1024));
  said.run.workload = "a \"quoted\" \\ \n\t\x01 Übung 海";
  said.kernels = {"", "\"", "\n"};
  const auto read = describe(describe_capture(said));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->run.workload, "a \"quoted\" \\ ??? Übung 海");
  EXPECT_EQ(read->kernels, (std::vector<std::string>{"", "\"", "?"}));
}

TEST_F(DescriptionTest, HostileTextIsAnErrorNotACrash) {
  const std::string deep(200'000, '[');
  std::string deep_objects;
  for (int i = 0; i < 100'000; ++i) deep_objects += "{\"lanes\":";
  for (const std::string& text :
       {std::string(), std::string("null"), std::string("[]"), std::string("17"),
        std::string("\"text\""), std::string("{"), std::string("{\"lanes\":[}"), deep, deep_objects,
        std::string("{\"page_bytes\":1e99999}"), std::string(1, '\0'), std::string("\xff\xfe{}")}) {
    const auto read = describe(text);
    ASSERT_FALSE(read) << text.substr(0, 40);
    EXPECT_EQ(read.error().kind, ErrorKind::kDamage);
  }
}

TEST_F(DescriptionTest, DeepButWellFormedNestingIsRead) {
  const std::string deep =
      "{\"lanes\":" + std::string(300'000, '[') + std::string(300'000, ']') + "}";
  const auto read = describe(deep);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->lanes.size(), 1u);
  EXPECT_EQ(read->lanes[0].stream, StreamId::kNone);
}

TEST_F(DescriptionTest, MembersOfTheWrongTypeReadAsAbsent) {
  const auto read = describe(
      R"({"workload":7,"seed":"x","page_bytes":-1,"ticks_per_second":[],"kernels":[1,null,"k"],)"
      R"("lanes":[null,[],{"stream":"swimlane"},{"stream":1,"record_bytes":-32},)"
      R"({"stream":1,"record_bytes":18446744073709551615,"producer":{}}]})");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->run.workload, "");
  EXPECT_EQ(read->run.seed, 0u);
  EXPECT_EQ(read->page_bytes, 0u);
  EXPECT_EQ(read->kernels, (std::vector<std::string>{"", "", "k"}));
  ASSERT_EQ(read->lanes.size(), 5u);
  for (const auto& lane : read->lanes) EXPECT_EQ(lane.stream, StreamId::kNone);
  for (const char* wrong : {R"({"kernels":{},"lanes":{}})", R"({"kernels":1,"lanes":"x"})", "{}"}) {
    const auto empty = describe(wrong);
    ASSERT_TRUE(empty);
    EXPECT_TRUE(empty->lanes.empty() && empty->kernels.empty());
  }
}

TEST_F(DescriptionTest, ALaneThatCannotBeIsNotBelieved) {
  for (const int record_bytes : {0, 8, 16, 33, 40, 1024, 100'000}) {
    const auto read = describe(fmt::format(
        R"({{"page_bytes":1024,"lanes":[{{"stream":1,"record_bytes":{}}}]}})", record_bytes));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->lanes[0].stream, StreamId::kNone) << record_bytes;
    EXPECT_EQ(read->lanes[0].record_bytes, 0u) << record_bytes;
  }
  EXPECT_EQ(
      describe(R"({"page_bytes":1024,"lanes":[{"stream":5,"record_bytes":32}]})")->lanes[0].stream,
      StreamId::kNone);
}

TEST_F(DescriptionTest, WithoutADescriptionSaysSo) {
  auto reader = capture({{ChunkType::kNames, "{}"}});
  const auto read = read_description(reader);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "the capture's description is lost");
}

TEST_F(DescriptionTest, ClockChunksAddUp) {
  const ClockSample first{1'000, 5, 18'000'000'000'000'000'000ull, 40};
  const ClockSample second{2'000, 6, 7, 50};
  auto reader = capture(
      {{ChunkType::kClock, describe_clock({.ticks_per_second = 1'000'000, .anchors = {first}})},
       {ChunkType::kClock, "not JSON"},
       {ChunkType::kClock, R"({"launch_ticks":3,"anchors":[7,{"host_ns":5}]})"},
       {ChunkType::kClock, describe_clock({.launch_ticks = ~0ull - 1,
                                           .finish_ticks = ~0ull,
                                           .ticks_per_second = 2'000'000,
                                           .anchors = {second}})}});
  const RunClock clock = read_clock(reader);
  EXPECT_EQ(clock.launch_ticks, ~0ull - 1);
  EXPECT_EQ(clock.finish_ticks, ~0ull);
  EXPECT_EQ(clock.ticks_per_second, 2'000'000u);
  ASSERT_EQ(clock.anchors.size(), 4u);
  EXPECT_EQ(clock.anchors.front().real_ns, first.real_ns);
  EXPECT_EQ(clock.anchors.front().uncertainty_ns, 40u);
  EXPECT_EQ(clock.anchors.back().device_ticks, 2'000u);
}

TEST_F(DescriptionTest, ACaptureWithoutAClockHasARateAllTheSame) {
  auto reader = capture({{ChunkType::kClock, R"({"ticks_per_second":0})"}});
  EXPECT_NE(read_clock(reader).ticks_per_second, 0u);
}

TEST_F(DescriptionTest, NamesOfLaterChunksAreAdded) {
  const NameTexts names{{1, "one"}, {~0ull, "\"last\""}};
  auto reader = capture({{ChunkType::kNames, describe_names({{1, "first"}, {2, "two"}})},
                         {ChunkType::kNames, "[]"},
                         {ChunkType::kNames, describe_names(names)},
                         {ChunkType::kNames, R"({"7":8,"zz":"zero","3":"three"})"}});
  EXPECT_EQ(read_names(reader),
            (NameTexts{{0, "zero"}, {1, "one"}, {2, "two"}, {3, "three"}, {~0ull, "\"last\""}}));
}

}  // namespace
}  // namespace tidemark
