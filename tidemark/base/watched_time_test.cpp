// SPDX-License-Identifier: Apache-2.0
#include "tidemark/base/watched_time.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(WatchedTime, TheFirstLookIsTheBeginning) {
  WatchedTime time(100);
  EXPECT_EQ(time.look(1'000'000), 0u);
  EXPECT_EQ(time.look(1'000'060), 60u);
}

TEST(WatchedTime, ChargesAtMostAStepForWhatPassedBetweenTwoLooks) {
  WatchedTime time(100);
  time.look(10);
  EXPECT_EQ(time.look(110), 100u);
  EXPECT_EQ(time.surplus(), 0u);
  EXPECT_EQ(time.look(5'110), 200u) << "stopped for 5000";
  EXPECT_EQ(time.surplus(), 4'900u);
  EXPECT_EQ(time.look(5'160), 250u);
  EXPECT_EQ(time.surplus(), 0u);
}

TEST(WatchedTime, AClockThatGoesBackChargesNothing) {
  WatchedTime time(100);
  time.look(1'000);
  EXPECT_EQ(time.look(50), 0u);
  EXPECT_EQ(time.look(90), 40u);
}

TEST(WatchedTime, AHeldDeviceIsNotCharged) {
  WatchedTime time(100);
  time.look(0);
  EXPECT_EQ(time.look(80), 80u);
  time.pass(160);
  time.pass(240);
  EXPECT_EQ(time.look(250), 90u);
}

}  // namespace
}  // namespace tidemark
