// SPDX-License-Identifier: Apache-2.0
// The pool: every page once, the starving first, nobody a second page while somebody has none.
#include "tidemark/collect/page_pool.h"

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(PagePool, GivesEveryPageOnce) {
  PagePool pool(10);
  std::set<PageIndex> given;
  for (int i = 0; i < 10; ++i) {
    const PageIndex page = i % 2 == 0 ? pool.take_extra() : pool.take_for_starving(false);
    EXPECT_LT(page, 10u);
    EXPECT_TRUE(given.insert(page).second);
  }
  EXPECT_EQ(pool.take_extra(), kNoPageIndex);
  EXPECT_EQ(pool.free_count(), 0u);
  EXPECT_EQ(pool.page_count(), 10u);
}

TEST(PagePool, NobodyGetsASecondPageWhileALaneStarves) {
  PagePool pool(2);
  const PageIndex first = pool.take_extra();
  const PageIndex second = pool.take_extra();
  EXPECT_EQ(pool.take_for_starving(false), kNoPageIndex);
  EXPECT_TRUE(pool.anybody_starves());
  pool.give_back(first);
  pool.give_back(second);
  EXPECT_EQ(pool.take_extra(), kNoPageIndex) << "two pages are free, but somebody has none";
  EXPECT_NE(pool.take_for_starving(true), kNoPageIndex);
  EXPECT_FALSE(pool.anybody_starves());
  EXPECT_NE(pool.take_extra(), kNoPageIndex);
}

TEST(PagePool, ALaneThatAsksAgainStarvesOnce) {
  PagePool pool(1);
  const PageIndex page = pool.take_extra();
  EXPECT_EQ(pool.take_for_starving(false), kNoPageIndex);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(pool.take_for_starving(true), kNoPageIndex);
  pool.give_back(page);
  EXPECT_EQ(pool.take_for_starving(true), page);
  EXPECT_FALSE(pool.anybody_starves());
}

TEST(PagePool, RemembersHowFewWereFree) {
  PagePool pool(5);
  EXPECT_EQ(pool.min_free(), 5u);
  const PageIndex first = pool.take_extra(), second = pool.take_extra();
  pool.give_back(first);
  pool.give_back(second);
  EXPECT_EQ(pool.min_free(), 3u);
  EXPECT_EQ(pool.free_count(), 5u);
}

TEST(PagePool, TwoThreadsNeverHoldTheSamePage) {
  PagePool pool(3);
  std::vector<std::atomic<int>> holders(3);
  const auto work = [&] {
    for (int i = 0; i < 20'000; ++i) {
      const PageIndex page = pool.take_extra();
      if (page == kNoPageIndex) continue;
      EXPECT_EQ(holders[page].fetch_add(1), 0);
      holders[page].fetch_sub(1);
      pool.give_back(page);
    }
  };
  { std::jthread first(work), second(work); }
  EXPECT_EQ(pool.free_count(), 3u);
}

}  // namespace
}  // namespace tidemark
