// SPDX-License-Identifier: Apache-2.0
// The heap ring: live ranges are disjoint, aligned and never straddle the end, whatever the order
// of requests, and used plus free is the capacity, also when it is exactly full.
#include "tidemark/runtime/graph/heap_ring.h"

#include <deque>
#include <random>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

using Answer = HeapRing::Answer;

TEST(HeapRing, ExactlyFullIsLegal) {
  HeapRing ring(4 * kHeapAlign);
  const auto all = ring.allocate(4 * kHeapAlign);
  EXPECT_EQ(all.answer, Answer::kAllocated);
  EXPECT_EQ(ring.free_bytes(), 0u);
  EXPECT_EQ(ring.used_bytes(), ring.capacity());
  EXPECT_EQ(ring.allocate(1).answer, Answer::kFull);
  ring.free_up_to(all.mark);
  EXPECT_EQ(ring.used_bytes(), 0u);
  EXPECT_EQ(ring.allocate(4 * kHeapAlign).answer, Answer::kAllocated);
}

TEST(HeapRing, TellsNeverFromNotNow) {
  HeapRing ring(4 * kHeapAlign);
  EXPECT_EQ(ring.allocate(4 * kHeapAlign + 1).answer, Answer::kTooLarge);
  EXPECT_EQ(ring.allocate(std::uint64_t{3} << 30).answer, Answer::kTooLarge);
  EXPECT_EQ(ring.allocate(~std::uint64_t{0}).answer, Answer::kTooLarge);
  EXPECT_EQ(ring.allocate(kHeapAlign).answer, Answer::kAllocated);
  EXPECT_EQ(ring.allocate(4 * kHeapAlign).answer, Answer::kFull);
  EXPECT_EQ(ring.used_bytes(), kHeapAlign) << "a refused request takes nothing";
}

TEST(HeapRing, WithoutMemoryRefusesEverything) {
  HeapRing ring(kHeapAlign - 1);
  EXPECT_EQ(ring.capacity(), 0u);
  EXPECT_EQ(ring.allocate(0).answer, Answer::kTooLarge);
  EXPECT_EQ(ring.allocate(1).answer, Answer::kTooLarge);
}

TEST(HeapRing, AnEmptyRingOffersAllOfItself) {
  HeapRing ring(4 * kHeapAlign);
  const auto first = ring.allocate(3 * kHeapAlign);
  ring.free_up_to(first.mark);
  const auto all = ring.allocate(4 * kHeapAlign);
  EXPECT_EQ(all.answer, Answer::kAllocated);
  EXPECT_EQ(all.offset, 0u);
}

TEST(HeapRing, RandomRequestsNeverShareAByte) {
  struct Live {
    std::uint64_t offset, bytes, mark;
  };
  for (const std::uint64_t blocks : {1ull, 2ull, 3ull, 7ull, 64ull}) {
    std::mt19937_64 random(blocks);
    HeapRing ring(blocks * kHeapAlign + random() % kHeapAlign);
    EXPECT_EQ(ring.capacity(), blocks * kHeapAlign);
    std::deque<Live> live;
    std::uint64_t last_head = 0, last_tail = 0;
    for (int step = 0; step < 20'000; ++step) {
      const std::uint64_t bytes = random() % (blocks * kHeapAlign + 2);
      const auto got = ring.allocate(bytes);
      if (got.answer == Answer::kAllocated) {
        EXPECT_EQ(got.offset % kHeapAlign, 0u);
        EXPECT_LE(got.offset + bytes, ring.capacity());
        for (const Live& other : live)
          EXPECT_TRUE(got.offset + bytes <= other.offset ||
                      other.offset + other.bytes <= got.offset);
        live.push_back({got.offset, bytes, got.mark});
      } else {
        EXPECT_EQ(got.answer == Answer::kTooLarge, bytes > ring.capacity());
        if (got.answer == Answer::kFull) {
          EXPECT_FALSE(live.empty());
        }
      }
      EXPECT_EQ(ring.used_bytes() + ring.free_bytes(), ring.capacity());
      EXPECT_GE(ring.head(), last_head);
      EXPECT_GE(ring.tail(), last_tail);
      last_head = ring.head();
      last_tail = ring.tail();
      while (!live.empty() && (got.answer == Answer::kFull || random() % 2 == 0)) {
        ring.free_up_to(live.front().mark);
        live.pop_front();
        if (random() % 2 == 0) break;
      }
    }
  }
}

TEST(HeapRingDeathTest, MarksComeInOrder) {
  HeapRing ring(4 * kHeapAlign);
  const auto first = ring.allocate(1);
  const auto second = ring.allocate(1);
  ring.free_up_to(second.mark);
  EXPECT_DEATH(ring.free_up_to(first.mark), "mark >= tail_");
  EXPECT_DEATH(ring.free_up_to(second.mark + 1), "mark <= head_");
}

}  // namespace
}  // namespace tidemark
