// SPDX-License-Identifier: Apache-2.0
// What a unit says of its waits for the recorder: sums over all its lanes, and never read back.
#include "tidemark/record/recorder_costs.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(RecorderCosts, AreSumsOverAllWaitsAndPages) {
  RecorderLine line{};
  RecorderCosts costs(&line);
  costs.wait_begins(100);
  EXPECT_EQ(line.waiting.load_relaxed(), 1u);
  EXPECT_EQ(line.waiting_since_ticks.load_relaxed(), 100u);
  EXPECT_EQ(line.waited_ticks.load_relaxed(), 0u) << "the wait that goes on does not count";
  costs.wait_ended(30);
  costs.page_opened();
  costs.wait_begins(200);
  costs.wait_ended(12);
  costs.page_opened();
  EXPECT_EQ(line.waiting.load_relaxed(), 0u);
  EXPECT_EQ(line.waited_ticks.load_relaxed(), 42u);
  EXPECT_EQ(line.pages.load_relaxed(), 2u);
  EXPECT_EQ(costs.waited_ticks(), 42u);
}

TEST(RecorderCosts, DoNotComeFromTheLineWhichAnotherMayHaveChanged) {
  RecorderLine line{};
  RecorderCosts costs(&line);
  costs.wait_begins(1);
  costs.wait_ended(5);
  costs.page_opened();
  line.waited_ticks.store_relaxed(1'000'000);
  line.pages.store_relaxed(1'000'000);
  costs.wait_begins(10);
  costs.wait_ended(5);
  costs.page_opened();
  EXPECT_EQ(line.waited_ticks.load_relaxed(), 10u);
  EXPECT_EQ(line.pages.load_relaxed(), 2u);
}

}  // namespace
}  // namespace tidemark
