// SPDX-License-Identifier: Apache-2.0
// Tasks as people write them come back as the tasks they are; anything else is refused.
#include "tidemark/run/task_text.h"

#include <random>

#include <gtest/gtest.h>

#include "tidemark/schema/task_id.h"
#include "tidemark/schema/task_limits.h"

namespace tidemark {
namespace {

TEST(TaskText, NamesTheRingExceptTheFirst) {
  EXPECT_EQ(task_text(TaskId::make(0, 42).value), "t42");
  EXPECT_EQ(task_text(TaskId::make(1, 42).value), "r1t42");
  EXPECT_EQ(task_text(TaskId::make(3, 0xFFFFFFFF).value), "r3t4294967295");
  EXPECT_EQ(task_text(0), "t0");
  EXPECT_EQ(task_text(TaskId::make(2, (std::uint64_t{3} << 32) + 7).value), "r2t7l3");
  EXPECT_EQ(TaskId::make(2, (std::uint64_t{3} << 32) + 7).ring(), 2u);
  EXPECT_EQ(TaskId::make(2, (std::uint64_t{3} << 32) + 7).lap(), 3u);
}

TEST(TaskText, ComesBackAsTheSameTask) {
  std::mt19937_64 random(61);
  for (int i = 0; i < 20'000; ++i) {
    const auto ring = static_cast<std::uint32_t>(random() % kRingCount);
    const auto local = static_cast<std::uint32_t>(random() >> (32 + random() % 32));
    const std::uint64_t lap = random() % 2 == 0 ? 0 : random() >> (34 + random() % 30);
    const std::uint64_t task = TaskId::make(ring, lap << 32 | local).value;
    ASSERT_EQ(parse_task(task_text(task)), task) << task_text(task);
  }
}

TEST(TaskText, MayBeAPlainNumber) {
  const std::uint64_t task = TaskId::make(1, 42).value;
  EXPECT_EQ(parse_task(std::to_string(task)), task);
  EXPECT_EQ(parse_task("0x10000002a"), task);
  EXPECT_EQ(parse_task("0x10000002A"), task);
  EXPECT_EQ(parse_task("r0t42"), std::uint64_t{42});
  EXPECT_EQ(parse_task("0"), std::uint64_t{0});
  EXPECT_EQ(parse_task("18446744073709551615"), ~std::uint64_t{0});
  EXPECT_EQ(parse_task("0xffffffffffffffff"), ~std::uint64_t{0});
}

TEST(TaskText, IsRefusedWhereItNamesNoTask) {
  for (const char* text :
       {"",     "t",      "r",      "r1",    "rt",    "rt5",    "r1t",    "r1r2",
        "tr",   "t-1",    "t+1",    "-1",    "+1",    " t1",    "t1 ",    "t 1",
        "t1x",  "1t1",    "r1t1t1", "r1 t1", "r-1t1", "r 1t1",  "r0x1t1", "t0x1",
        "T1",   "R1T1",   "0x",     "0X10",  "0x-1",  "0x1g",   "1.5",    "task",
        "r4t1", "r100t1", "tt1",    "12a",   "0x1 ",  "r1t1\n", "t1\t",   "1,000",
        "x10",  "t1.0",   "t1l",    "tl1",   "t1l-1", "l1",     "t1l1l1", "t1l1073741824"})
    EXPECT_EQ(parse_task(text), std::nullopt) << "'" << text << "'";
}

TEST(TaskText, IsRefusedWhereTheNumberIsTooLarge) {
  EXPECT_EQ(parse_task("t4294967295"), std::uint64_t{0xFFFFFFFF});
  EXPECT_EQ(parse_task("t4294967296"), std::nullopt);
  EXPECT_EQ(parse_task("r1t4294967296"), std::nullopt);
  EXPECT_EQ(parse_task("t18446744073709551616"), std::nullopt);
  EXPECT_EQ(parse_task("18446744073709551616"), std::nullopt);
  EXPECT_EQ(parse_task("0x10000000000000000"), std::nullopt);
  EXPECT_EQ(parse_task("r18446744073709551617t1"), std::nullopt);
}

}  // namespace
}  // namespace tidemark
