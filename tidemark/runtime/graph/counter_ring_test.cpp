// SPDX-License-Identifier: Apache-2.0
// Pools that are taken at the head and freed at the tail: places repeat every lap, counts never.
#include "tidemark/runtime/graph/counter_ring.h"

#include <deque>
#include <random>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(CounterRing, HoldsAsManyEntriesAsItsCapacity) {
  CounterRing ring(4);
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_FALSE(ring.full());
    EXPECT_EQ(ring.push(), i);
  }
  EXPECT_TRUE(ring.full());
  EXPECT_EQ(ring.used(), 4u);
  ring.free_up_to(1);
  EXPECT_FALSE(ring.full());
  EXPECT_EQ(ring.push(), 0u);
  EXPECT_TRUE(ring.full());
}

TEST(CounterRing, LivePlacesAreDistinctForManyLaps) {
  for (const std::uint32_t capacity : {1u, 4u, 7u, 100u}) {
    CounterRing ring(capacity);
    std::deque<std::uint64_t> live;  // positions
    std::mt19937_64 random(capacity);
    std::uint64_t tail = 0;
    for (int i = 0; i < 20'000; ++i) {
      if (!ring.full() && random() % 3 != 0) {
        const std::uint64_t position = ring.head();
        const std::uint32_t place = ring.push();
        ASSERT_LT(place, capacity);
        ASSERT_EQ(ring.place(position), place);
        for (const std::uint64_t other : live) ASSERT_NE(ring.place(other), place);
        live.push_back(position);
      } else {
        for (std::uint64_t gone = random() % (live.size() + 1); gone > 0; --gone) {
          tail = live.front() + 1;
          live.pop_front();
        }
        ring.free_up_to(tail);
      }
      ASSERT_EQ(ring.used(), live.size());
      ASSERT_EQ(ring.full(), live.size() == capacity);
      ASSERT_EQ(ring.tail(), tail);
    }
    EXPECT_GT(ring.head(), 3u * capacity);
  }
}

TEST(CounterRingDeathTest, RefusesWhatOnlyABugAsksFor) {
  CounterRing ring(2);
  ring.push();
  ring.push();
  EXPECT_DEATH(ring.push(), "full");
  EXPECT_DEATH(ring.free_up_to(3), "mark <= head_");
  ring.free_up_to(2);
  EXPECT_DEATH(ring.free_up_to(1), "mark >= tail_");
}

}  // namespace
}  // namespace tidemark
