// SPDX-License-Identifier: Apache-2.0
// When the producers of a recording count as stopped: only when nothing is heard of any of them, by
// time in which somebody looked.
#include "tidemark/session/producer_watch.h"

#include <gtest/gtest.h>

#include "tidemark/schema/error_code.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

class ProducerWatchTest : public testing::Test {
 protected:
  ProducerWatchTest() {
    state_.ticks_per_second = 1'000'000'000;
    state_.producers = {{.lane = 0,
                         .producer = "CTA 0 load",
                         .state = LaneState::kOpen,
                         .at = "load",
                         .number = 3,
                         .since_ticks = 1},
                        {.lane = 1,
                         .producer = "CTA 0 store",
                         .state = LaneState::kOpen,
                         .at = "computed",
                         .waits = true,
                         .since_ticks = 1}};
  }
  // Looks about every pause until a finding, for so long at most.
  bool finds_within(ProducerWatch& watch, std::uint64_t ms) {
    const std::uint64_t end_ns = now_ns_ + ms * kMs;
    while (now_ns_ < end_ns) {
      now_ns_ += watch.pause_ms() * kMs;
      state_.detected_ticks = now_ns_;
      if (watch.look(state_, now_ns_)) return true;
    }
    return false;
  }

  HangState state_;
  std::uint64_t now_ns_ = 5000 * kMs;
};

TEST_F(ProducerWatchTest, WhoSaysNothingNewForTheLimitHasStopped) {
  ProducerWatch watch({.still_ms = 800});
  EXPECT_FALSE(finds_within(watch, 700));
  EXPECT_TRUE(finds_within(watch, 400));
  EXPECT_EQ(state_.code, static_cast<std::uint32_t>(ErrorCode::kProducersStopped));
  EXPECT_EQ(state_.hang, HangClass::kProducersStopped);
  EXPECT_NE(state_.message.find("CTA 0 load has been at `load` 3 for"), std::string::npos)
      << state_.message;
}

TEST_F(ProducerWatchTest, AnythingThatIsHeardBeginsTheTimeAnew) {
  const std::function<void()> changes[] = {
      [&] { ++state_.producers[1].number; },
      [&] { ++state_.producers[0].since_ticks; },
      [&] { ++state_.producers[1].records; },
      [&] { state_.producers[0].state = LaneState::kUnopened; },
      [&] { ++state_.producers_ended; },
      [&] { state_.producers.pop_back(); },
  };
  ProducerWatch watch({.still_ms = 800});
  for (const auto& change : changes) {
    EXPECT_FALSE(finds_within(watch, 700));
    change();
  }
  EXPECT_FALSE(finds_within(watch, 700));
  EXPECT_TRUE(finds_within(watch, 400));
}

TEST_F(ProducerWatchTest, WhoWaitsForAPageIsNotBlamed) {
  ProducerWatch watch({.still_ms = 800});
  state_.producers[0].waits_for_page = true;
  EXPECT_FALSE(finds_within(watch, 5000));
  state_.producers[0].waits_for_page = false;
  EXPECT_TRUE(finds_within(watch, 1200));
}

TEST_F(ProducerWatchTest, TheLimitInAllHoldsForWhoeverMoves) {
  ProducerWatch watch({.total_ms = 2000});
  for (int i = 0; i < 7; ++i) {  // a look each, 250 ms
    ++state_.producers[0].records;
    ASSERT_FALSE(finds_within(watch, 1)) << i;
  }
  EXPECT_TRUE(finds_within(watch, 1000));
  EXPECT_EQ(state_.code, static_cast<std::uint32_t>(ErrorCode::kOpTimeout));
}

TEST_F(ProducerWatchTest, WithoutALimitNothingIsFound) {
  ProducerWatch watch({});
  EXPECT_FALSE(finds_within(watch, 100'000));
}

TEST_F(ProducerWatchTest, TimeInWhichNobodyLookedIsNotCharged) {
  ProducerWatch watch({.still_ms = 800, .total_ms = 3000});
  EXPECT_FALSE(finds_within(watch, 200));
  for (int i = 0; i < 3; ++i) {
    now_ns_ += 3'600'000 * kMs;  // a machine that was paused
    EXPECT_FALSE(watch.look(state_, now_ns_)) << i;
    ++state_.producers[0].records;
  }
  EXPECT_TRUE(finds_within(watch, 1500));
}

}  // namespace
}  // namespace tidemark
