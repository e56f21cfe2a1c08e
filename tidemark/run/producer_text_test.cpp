// SPDX-License-Identifier: Apache-2.0
// Who is blamed first, and in which words.
#include "tidemark/run/producer_text.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

constexpr std::uint64_t kSecondTicks = 1'000'000'000;

ProducerState producer(const char* name, const char* at, bool waits, std::uint64_t number,
                       std::uint64_t since_ticks) {
  return {.producer = name,
          .stream = "swimlane",
          .state = LaneState::kOpen,
          .at = at,
          .waits = waits,
          .number = number,
          .since_ticks = since_ticks};
}

class ProducerText : public testing::Test {
 protected:
  ProducerText() {
    state_.ticks_per_second = kSecondTicks;
    state_.launch_ticks = 1;
    state_.detected_ticks = 10 * kSecondTicks;
  }
  HangState state_;
};

TEST_F(ProducerText, WhoIsAtSomethingComesBeforeWhoWaitsEvenIfLonger) {
  state_.producers = {producer("CTA 5 load", "room", true, 21, 7 * kSecondTicks),
                      producer("CTA 5 compute", "compute", false, 17, 8 * kSecondTicks),
                      producer("CTA 5 store", "computed", true, 17, 6 * kSecondTicks)};
  EXPECT_EQ(producers_sentence(state_),
            "CTA 5 compute has been at `compute` 17 for 2.0 s; 2 others stopped: CTA 5 store waits "
            "for `computed` 17, CTA 5 load waits for `room` 21");
}

TEST_F(ProducerText, ThatAllWaitIsSaid) {
  state_.producers = {producer("a", "b is ready", true, 1, 5 * kSecondTicks),
                      producer("b", "a is ready", true, 2, 6 * kSecondTicks)};
  EXPECT_EQ(producers_sentence(state_),
            "a has waited for `b is ready` 1 for 5.0 s; 1 other stopped: b waits for `a is ready` "
            "2; none of them is at anything: they wait for each other");
}

TEST_F(ProducerText, WhoGoesOnEndedOrNeverBeganIsNotStopped) {
  state_.producers = {producer("late", "x", false, 1, 10 * kSecondTicks - 100),
                      producer("writes", "x", false, 1, 1 * kSecondTicks),
                      {.producer = "absent", .state = LaneState::kUnopened}};
  state_.producers[1].record_ticks = 10 * kSecondTicks - 100;
  state_.producers_ended = 7;
  EXPECT_TRUE(stopped_producers(state_).empty());
  EXPECT_EQ(producers_sentence(state_), "");
  EXPECT_EQ(other_producers_text(state_), "2 go on, 7 have ended, 1 never began (absent)");
}

TEST_F(ProducerText, ARecordOfTheFutureKeepsNobodyAlive) {
  state_.producers = {producer("a", "x", false, 1, 5 * kSecondTicks)};
  state_.producers[0].record_ticks = 11 * kSecondTicks;  // the times of records are the user's
  EXPECT_EQ(stopped_producers(state_).size(), 1u);
}

TEST_F(ProducerText, AShortLimitMakesShortSilencesCount) {
  state_.producers = {producer("a", "x", false, 1, 10 * kSecondTicks - kSecondTicks / 5)};
  EXPECT_TRUE(stopped_producers(state_).empty());
  state_.limit_ms = 300;
  EXPECT_EQ(stopped_producers(state_).size(), 1u);
}

TEST_F(ProducerText, WhoSaidNothingIsToldByItsRecords) {
  state_.producers = {producer("thread 3", "", false, 0, 1 * kSecondTicks)};
  state_.producers[0].records = 12;
  state_.producers[0].record = "span task_id 11";
  state_.producers[0].record_ticks = 6 * kSecondTicks;
  EXPECT_EQ(producers_sentence(state_), "nothing has been heard of thread 3 for 4.0 s");
  EXPECT_EQ(producer_line(state_, state_.producers[0]),
            "thread 3: has said nothing, nothing heard of it for 4.0 s; 12 records, the last: span "
            "task_id 11, 4.0 s before");
}

TEST_F(ProducerText, ALineTellsPlaceSourceAndLastRecord) {
  ProducerState& one = state_.producers.emplace_back(
      producer("CTA 5 compute", "compute", false, 17, 8 * kSecondTicks));
  one.place = encode_place({.multiprocessor = 33, .block = 5, .warp = 1});
  one.source = "pipeline.h:93";
  one.records = 1;
  one.record = "span task_id 16";
  EXPECT_EQ(producer_line(state_, one),
            "CTA 5 compute on SM 33 (block 5, warp 1): at `compute` 17 for 2.0 s, pipeline.h:93; 1 "
            "record, the last: span task_id 16");
  EXPECT_EQ(producers_sentence(state_),
            "CTA 5 compute has been at `compute` 17 for 2.0 s (pipeline.h:93)");
}

TEST_F(ProducerText, AStateComesBackFromItsJson) {
  state_.producers = {producer("a", "x", true, 41, 5 * kSecondTicks)};
  state_.producers[0].place = encode_place({.multiprocessor = 3});
  state_.producers[0].records = 9;
  state_.producers[0].record = "span";
  state_.producers[0].record_ticks = 6 * kSecondTicks;
  state_.producers_ended = 3;
  const auto read = parse_hang_state(to_json(state_));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->producers.size(), 1u);
  EXPECT_EQ(producer_line(*read, read->producers[0]), producer_line(state_, state_.producers[0]));
  EXPECT_EQ(read->producers_ended, 3u);
  EXPECT_EQ(to_json(HangState{}).find("producers"), std::string::npos) << "only of a recording";
}

TEST_F(ProducerText, AStateThatWasCutStillNamesTheFirst) {
  for (int i = 0; i < 1000; ++i)
    state_.producers.push_back(producer(std::string(300, 'x').c_str(), "x", true, 1, kSecondTicks));
  const HangState cut = cut_hang_state(state_);
  EXPECT_LE(to_json(cut).size(), recording_state_bytes(1000));
  EXPECT_FALSE(cut.producers.empty());
}

}  // namespace
}  // namespace tidemark
