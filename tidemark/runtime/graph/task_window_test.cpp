// SPDX-License-Identifier: Apache-2.0
// The task window: at most one less than its slots are live, and no two of them share a slot.
#include "tidemark/runtime/graph/task_window.h"

#include <random>
#include <set>

#include <gtest/gtest.h>

#include "tidemark/schema/dtype.h"
#include "tidemark/schema/task_id.h"

namespace tidemark {
namespace {

TEST(TaskWindow, LiveTasksHaveSlotsOfTheirOwn) {
  for (const std::uint32_t slots : {2u, 4u, 64u}) {
    std::mt19937 random(slots);
    TaskWindow window(slots);
    for (int step = 0; step < 10'000; ++step) {
      if (!window.full() && random() % 3 != 0) {
        const std::uint64_t number = window.push();
        EXPECT_TRUE(window.is_live(number));
        EXPECT_EQ(number + 1, window.head());
      } else {
        window.retire_below(window.tail() + random() % (window.live_count() + 1));
      }
      EXPECT_LE(window.live_count(), slots - 1);
      EXPECT_EQ(window.full(), window.live_count() == slots - 1);
      std::set<std::uint32_t> taken;
      for (std::uint64_t number = window.tail(); number < window.head(); ++number)
        EXPECT_TRUE(taken.insert(window.slot_of(number)).second);
      EXPECT_FALSE(window.is_live(window.head()));
      EXPECT_FALSE(window.is_live(window.tail() - 1));
    }
    EXPECT_GT(window.head(), 1000u);
  }
}

TEST(TaskWindowDeathTest, RefusesWhatCannotBe) {
  EXPECT_DEATH(TaskWindow(6), "is_power_of_two");
  EXPECT_DEATH(TaskWindow(1), "slot_count >= 2");
  TaskWindow window(2);
  (void)window.push();
  EXPECT_DEATH((void)window.push(), "full");
  EXPECT_DEATH(window.retire_below(2), "number <= head_");
}

TEST(TaskId, IsItsRingAndNumber) {
  const TaskId id = TaskId::make(3, 0xFFFFFFFFu);
  EXPECT_EQ(id.ring(), 3u);
  EXPECT_EQ(id.local(), 0xFFFFFFFFu);
  EXPECT_EQ(id.value, 0x3FFFFFFFFull);
}

TEST(DType, HasTheNamesOfTheArtifacts) {
  const std::set<std::string_view> wanted{"float32", "float16", "bfloat16", "float64", "int8",
                                          "int16",   "int32",   "int64",    "uint8",   "uint16",
                                          "uint32",  "uint64",  "bool"};
  std::set<std::string_view> found;
  for (std::uint32_t i = 0; i < kDTypeCount; ++i) {
    found.insert(to_text(static_cast<DType>(i)));
    EXPECT_GT(dtype_bytes(static_cast<DType>(i)), 0u);
  }
  EXPECT_EQ(found, wanted);
  EXPECT_EQ(to_text(static_cast<DType>(99)), "unknown");
}

}  // namespace
}  // namespace tidemark
