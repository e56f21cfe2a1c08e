// SPDX-License-Identifier: Apache-2.0
// The queue of ready tasks: in order for one thread, each task taken once for many, and as good
// after many laps as at the beginning.
#include "tidemark/runtime/units/ready_queue.h"

#include <atomic>
#include <deque>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tidemark/runtime/testing/yield_env.h"

namespace tidemark {
namespace {

struct QueueMemory {
  explicit QueueMemory(std::uint64_t cell_count) : cells(cell_count) {}
  ReadyQueue queue() { return {&words, cells.data(), cells.size()}; }
  ReadyQueueWords words{};
  std::vector<ReadyCell> cells;
};

TEST(ReadyQueue, ZeroedMemoryIsEmpty) {
  QueueMemory memory(4);
  ReadyQueue queue = memory.queue();
  std::uint32_t task = 77;
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.count(), 0u);
  EXPECT_FALSE(queue.take(task));
  EXPECT_EQ(task, 77u);
}

TEST(ReadyQueue, TakesInTheOrderOfThePushesForManyLaps) {
  for (const std::uint64_t cells : {1u, 2u, 8u}) {
    QueueMemory memory(cells);
    ReadyQueue queue = memory.queue();
    std::deque<std::uint32_t> model;
    std::mt19937_64 random(cells);
    for (std::uint32_t i = 0; i < 20'000; ++i) {
      if (model.size() < cells && random() % 2 == 0) {
        queue.push<YieldEnv>(i, [] { return false; });
        model.push_back(i);
      } else {
        std::uint32_t task = 0;
        ASSERT_EQ(queue.take(task), !model.empty());
        if (!model.empty()) {
          ASSERT_EQ(task, model.front());
          model.pop_front();
        }
      }
      ASSERT_EQ(queue.count(), model.size());
      ASSERT_EQ(queue.empty(), model.empty());
    }
  }
}

TEST(ReadyQueue, LapsBeyondThirtyTwoBitsAreLapsLikeOthers) {
  // Turn numbers are 32 bits: one cell wraps them after 2^31 tasks.
  QueueMemory memory(1);
  const std::uint64_t laps = (std::uint64_t{1} << 31) - 3;
  memory.words.pushed.store_relaxed(laps);
  memory.words.taken.store_relaxed(laps);
  memory.cells[0].turn.store_relaxed(static_cast<std::uint32_t>(laps * 2));
  ReadyQueue queue = memory.queue();
  for (std::uint32_t i = 0; i < 10; ++i) {
    std::uint32_t task = 0;
    ASSERT_FALSE(queue.take(task));
    queue.push<YieldEnv>(i, [] { return false; });
    ASSERT_TRUE(queue.take(task));
    ASSERT_EQ(task, i);
  }
}

TEST(ReadyQueue, ABatchEndsBeforeATaskOfManyBlocksAndBeforeOneThatIsNotThereYet) {
  QueueMemory memory(8);
  ReadyQueue queue = memory.queue();
  const auto never = [] { return false; };
  ReadyTask tasks[ReadyQueue::kBatchMost] = {};
  ReadyHead head;
  for (std::uint32_t lap = 0; lap < 20; ++lap) {
    queue.push<YieldEnv>(1, never);
    queue.push<YieldEnv>(2, never);
    queue.push<YieldEnv>(ReadyTask{.task = 3, .blocks = 2}, never);
    queue.push<YieldEnv>(ReadyTask{.task = 4, .together = true}, never);
    queue.push<YieldEnv>(5, never);
    ASSERT_TRUE(queue.peek(head));
    const ReadyHead stale = head;
    ASSERT_EQ(queue.take_batch(head, 8, tasks), 2u) << "task 3 has two blocks";
    EXPECT_EQ(tasks[0].task, 1u);
    EXPECT_EQ(tasks[1].task, 2u);
    EXPECT_EQ(queue.take_batch(stale, 8, tasks), 0u) << "it is taken";
    for (const std::uint32_t blocks : {2u, 1u}) {
      ASSERT_TRUE(queue.peek(head));
      ASSERT_EQ(head.ready.task, 3u);
      ASSERT_EQ(head.ready.blocks, blocks);
      ASSERT_TRUE(queue.take(head));
    }
    ASSERT_TRUE(queue.peek(head));
    ASSERT_EQ(queue.take_batch(head, 1, tasks), 1u) << "no more than asked for";
    EXPECT_EQ(tasks[0].task, 4u);
    ASSERT_TRUE(queue.peek(head));
    ASSERT_EQ(queue.take_batch(head, 8, tasks), 1u) << "there is one";
    EXPECT_EQ(tasks[0].task, 5u);
    ASSERT_TRUE(queue.empty());
  }
}

TEST(ReadyQueue, ABatchDoesNotReachIntoTasksThatStartTogether) {
  QueueMemory memory(4);
  ReadyQueue queue = memory.queue();
  const auto never = [] { return false; };
  queue.push<YieldEnv>(1, never);
  queue.push<YieldEnv>(ReadyTask{.task = 2, .together = true}, never);
  ReadyTask tasks[ReadyQueue::kBatchMost] = {};
  ReadyHead head;
  ASSERT_TRUE(queue.peek(head));
  EXPECT_EQ(queue.take_batch(head, 4, tasks), 1u);
}

// Tasks are a limited number of tokens, as slots are: a push never finds the queue full.
// A taker that was ended between its claim and its last store never empties the cell.
TEST(ReadyQueue, BlocksOfATaskAreTakenTogetherButForTheLast) {
  QueueMemory memory(4);
  ReadyQueue queue = memory.queue();
  queue.push<YieldEnv>(ReadyTask{.task = 7, .blocks = 9, .parts = 1}, [] { return false; });
  queue.push<YieldEnv>(8, [] { return false; });
  ReadyHead head, stale;
  ASSERT_TRUE(queue.peek(head));
  stale = head;
  ReadyTask tasks[ReadyQueue::kBatchMost];
  ASSERT_EQ(queue.take_batch(head, 3, tasks), 3u);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(tasks[i].task, 7u);
    EXPECT_EQ(tasks[i].blocks, 9 - i) << "with those that are left behind it";
  }
  EXPECT_EQ(queue.take_batch(stale, 3, tasks), 0u) << "somebody has taken some since the look";
  ASSERT_TRUE(queue.peek(head));
  EXPECT_EQ(head.ready.blocks, 6u);
  ASSERT_EQ(queue.take_batch(head, 16, tasks), 5u) << "all but the last one";
  ASSERT_TRUE(queue.peek(head));
  EXPECT_EQ(head.ready.task, 7u);
  EXPECT_EQ(head.ready.blocks, 1u);
  EXPECT_EQ(queue.count(), 2u);
  ASSERT_TRUE(queue.take(head));
  ASSERT_TRUE(queue.peek(head));
  EXPECT_EQ(head.ready.task, 8u);
}

TEST(ReadyQueue, BlocksAreClaimedAlsoBehindWhatOthersHaveTakenSince) {
  QueueMemory memory(8);
  ReadyQueue queue = memory.queue();
  queue.push<YieldEnv>(ReadyTask{.task = 7, .blocks = 9, .parts = 1}, [] { return false; });
  ReadyHead seen;
  ASSERT_TRUE(queue.peek(seen));
  EXPECT_EQ(queue.claim_blocks(seen, 3), std::uint64_t{9} << 32 | 3);
  EXPECT_EQ(queue.claim_blocks(seen, 4), std::uint64_t{6} << 32 | 4) << "seen with nine left";
  EXPECT_EQ(queue.claim_blocks(seen, 4), std::uint64_t{2} << 32 | 1) << "all but the last one";
  EXPECT_EQ(queue.claim_blocks(seen, 4), 0u);
  ReadyHead last;
  ASSERT_TRUE(queue.peek(last));
  ASSERT_EQ(last.ready.blocks, 1u);
  ASSERT_TRUE(queue.take(last));
  EXPECT_EQ(queue.claim_blocks(seen, 4), 0u) << "it is gone";
}

// Takers of many and of one: every block goes to one of them.
TEST(ReadyQueue, EveryBlockIsTakenOnceByOneOfManyTakers) {
  constexpr std::uint32_t kTasks = 200, kBlocks = 40, kTakers = 3;
  QueueMemory memory(256);
  for (std::uint32_t task = 0; task < kTasks; ++task)
    memory.queue().push<YieldEnv>(ReadyTask{.task = task, .blocks = kBlocks, .parts = 1},
                                  [] { return false; });
  std::vector<std::atomic<std::uint32_t>> taken(kTasks * kBlocks);
  std::vector<std::thread> takers;
  for (std::uint32_t taker = 0; taker < kTakers; ++taker)
    takers.emplace_back([&, taker] {
      ReadyQueue queue = memory.queue();
      ReadyTask tasks[ReadyQueue::kBatchMost];
      for (ReadyHead head; queue.peek(head);) {
        std::uint32_t count = 0;
        if (head.ready.blocks > 2 && taker > 0)
          count = queue.take_batch(head, 2 + taker * 3, tasks);
        else if (queue.take(head))
          tasks[count++] = head.ready;
        for (std::uint32_t i = 0; i < count; ++i)
          taken[tasks[i].task * kBlocks + kBlocks - tasks[i].blocks].fetch_add(1);
      }
    });
  for (auto& taker : takers) taker.join();
  for (std::size_t i = 0; i < taken.size(); ++i) ASSERT_EQ(taken[i].load(), 1u) << i;
}

TEST(ReadyQueue, APushBehindATakerThatIsGoneEndsWithTheRun) {
  QueueMemory memory(4);
  ReadyQueue queue = memory.queue();
  memory.words.pushed.store_relaxed(4);
  memory.words.taken.store_relaxed(4);
  memory.cells[0].turn.store_relaxed(1);  // claimed in the lap before
  int asked = 0;
  queue.push<YieldEnv>(7, [&] { return ++asked == 3; });
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(memory.cells[0].turn.load_relaxed(), 1u);
}

TEST(ReadyQueue, EveryTaskIsTakenOnceByOneOfManyTakers) {
  constexpr std::uint32_t kCells = 4, kPushers = 2, kTakers = 3, kPerPusher = 20'000;
  QueueMemory memory(kCells);
  std::vector<std::atomic<std::uint32_t>> taken(kPushers * kPerPusher);
  std::atomic<std::int64_t> room{kCells};
  std::atomic<std::uint64_t> total{0};
  std::vector<std::uint64_t> payload(kPushers * kPerPusher);  // published by the push
  std::vector<std::thread> threads;
  for (std::uint32_t pusher = 0; pusher < kPushers; ++pusher)
    threads.emplace_back([&, pusher] {
      ReadyQueue queue = memory.queue();
      for (std::uint32_t i = 0; i < kPerPusher; ++i) {
        while (room.fetch_sub(1) <= 0) {
          room.fetch_add(1);
          std::this_thread::yield();
        }
        const std::uint32_t task = pusher * kPerPusher + i;
        payload[task] = task * 3ull + 1;
        queue.push<YieldEnv>(task, [] { return false; });
      }
    });
  std::vector<std::vector<std::uint32_t>> seen(kTakers);
  for (std::uint32_t taker = 0; taker < kTakers; ++taker)
    threads.emplace_back([&, taker] {
      ReadyQueue queue = memory.queue();
      while (total.load() < taken.size()) {
        ReadyTask tasks[ReadyQueue::kBatchMost];
        std::uint32_t count = 0;
        ReadyHead head;
        // Every second one by one, so that both ways compete.
        if (taker % 2 == 0)
          count = queue.take(tasks[0].task) ? 1 : 0;
        else if (queue.peek(head))
          count = queue.take_batch(head, 1 + total.load() % 5, tasks);
        if (count == 0) std::this_thread::yield();
        for (std::uint32_t i = 0; i < count; ++i) {
          const std::uint32_t task = tasks[i].task;
          ASSERT_EQ(payload[task], task * 3ull + 1);
          taken[task].fetch_add(1);
          seen[taker].push_back(task);
          room.fetch_add(1);
          total.fetch_add(1);
        }
      }
    });
  for (auto& thread : threads) thread.join();
  for (std::size_t i = 0; i < taken.size(); ++i) ASSERT_EQ(taken[i].load(), 1u) << i;
  // What one pusher pushed, no taker sees out of order.
  for (const auto& tasks : seen) {
    std::int64_t last[kPushers] = {-1, -1};
    for (const std::uint32_t task : tasks) {
      ASSERT_GT(static_cast<std::int64_t>(task), last[task / kPerPusher]);
      last[task / kPerPusher] = task;
    }
  }
  EXPECT_TRUE(memory.queue().empty());
}

}  // namespace
}  // namespace tidemark
