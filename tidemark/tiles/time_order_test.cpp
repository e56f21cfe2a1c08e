// SPDX-License-Identifier: Apache-2.0
#include "tidemark/tiles/time_order.h"

#include <gtest/gtest.h>

#include "tidemark/base/mix.h"
#include "tidemark/base/testing/seed_range.h"

namespace tidemark {
namespace {

using Order = TimeOrder<TileSpan>;

struct Result {
  std::vector<TileSpan> rows;
  int passes = 0;
};

Result put_in_order(const std::vector<TileSpan>& rows, std::size_t late_most) {
  Order order(late_most);
  Result result;
  const auto emit = [&](const TileSpan& row) { result.rows.push_back(row); };
  for (auto next = Order::Next::kAgain; next != Order::Next::kDone;) {
    for (const TileSpan& row : rows) order.add(row, emit);
    next = order.end_pass(emit);
    if (next == Order::Next::kAgainFromStart) result.rows.clear();
    ++result.passes;
    if (result.passes > 100) break;
  }
  return result;
}

std::vector<TileSpan> sorted(std::vector<TileSpan> rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const TileSpan& a, const TileSpan& b) { return comes_before(a, b); });
  return rows;
}

std::vector<TileSpan> shuffled(std::uint64_t seed, std::uint64_t count, std::uint64_t reach) {
  std::vector<TileSpan> rows;
  for (std::uint64_t i = 0; i < count; ++i)
    rows.push_back({.begin = i / 2 + mix(seed + i) % reach, .length = mix(i) % 3, .aux = i});
  return rows;
}

TEST(TimeOrder, ReadsOnceWhatIsNearlyInOrder) {
  for (const std::uint64_t reach : {1u, 2u, 100u, 400u}) {
    const auto rows = shuffled(reach, 20'000, reach);
    const Result result = put_in_order(rows, Order::kLateMost);
    EXPECT_EQ(result.rows, sorted(rows));
    EXPECT_EQ(result.passes, 1) << reach;
  }
}

TEST(TimeOrder, ReadsTwiceWhereASpanIsAroundThousandsOfOthers) {
  auto rows = shuffled(1, 5000, 1);
  rows.push_back({.begin = 0, .length = 5000, .aux = 5000});
  const Result result = put_in_order(rows, Order::kLateMost);
  EXPECT_EQ(result.rows, sorted(rows));
  EXPECT_EQ(result.rows.front().aux, 5000u);  // the longest of those that begin together
  EXPECT_EQ(result.passes, 2);
}

// Worst of all: the reverse order, and room for few late rows. Each pass takes some.
TEST(TimeOrder, IsExactForAnyOrderInAnyRoom) {
  for (const std::size_t late_most : {1u, 7u, 500u, 4096u}) {
    std::vector<TileSpan> rows;
    const std::uint64_t count = late_most == 1 ? 1044 : late_most == 7 ? 1200 : 3000;
    for (std::uint64_t i = 0; i < count; ++i) rows.push_back({.begin = count - i, .aux = i});
    rows.resize(rows.size() + 10, {.begin = 5});  // equal ones
    const Result result = put_in_order(rows, late_most);
    EXPECT_EQ(result.rows, sorted(rows)) << late_most;
    EXPECT_GT(result.passes, 1);
  }
  for (std::uint64_t seed = 1; seed <= fewer_under_sanitizer(20); ++seed) {
    const auto rows = shuffled(seed, 6000, 1 + mix(seed) % 20'000);
    EXPECT_EQ(put_in_order(rows, 200).rows, sorted(rows)) << seed;
  }
}

TEST(TimeOrder, HoldsNothingOfNothing) {
  EXPECT_TRUE(put_in_order({}, 10).rows.empty());
  EXPECT_EQ(put_in_order({}, 10).passes, 1);
}

}  // namespace
}  // namespace tidemark
