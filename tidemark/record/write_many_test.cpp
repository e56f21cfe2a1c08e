// SPDX-License-Identifier: Apache-2.0
// write_many: a block of any size leaves the same pages as one thread, also across page turns and
// losses.
#include <barrier>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tidemark/record/recorder.h"
#include "tidemark/record/testing/manual_env.h"
#include "tidemark/record/testing/stamped_spans.h"

namespace tidemark {
namespace {

using SpanRecorder = Recorder<TaskSpan, ManualEnv>;
// Threads that share a recorder, as a CTA does.
struct ThreadBlock {
  static constexpr std::uint32_t kThreads = 0;
  std::uint32_t number;
  std::uint32_t count;
  std::barrier<>* meeting;
  std::uint64_t* slot;
  [[nodiscard]] std::uint32_t thread() const { return number; }
  [[nodiscard]] std::uint32_t threads() const { return count; }
  void sync() { meeting->arrive_and_wait(); }
  std::uint64_t broadcast(std::uint64_t value) {
    if (number == 0) *slot = value;
    sync();
    const std::uint64_t told = *slot;
    sync();
    return told;
  }
};

class WriteMany : public testing::Test {
 protected:
  explicit WriteMany(Overflow overflow = Overflow::kDrop)
      : region_({.lanes = {RegionInMemory::lane_of(StreamId::kSwimlane, overflow, 32)},
                 .page_count = 64,
                 .ring_slots = 64}) {
    ManualEnv::reset();
  }

  // All batches by one block; what every thread got back for every batch.
  std::vector<std::vector<std::uint64_t>> write_batches(SpanRecorder& recorder,
                                                        const std::vector<std::uint64_t>& batches,
                                                        std::uint32_t threads) {
    std::vector<std::vector<std::uint64_t>> told(threads);
    std::barrier meeting(threads);
    std::uint64_t slot = 0;
    std::vector<std::jthread> block;
    for (std::uint32_t thread = 0; thread < threads; ++thread)
      block.emplace_back([&, thread] {
        ThreadBlock self{thread, threads, &meeting, &slot};
        std::uint64_t first = 0;
        for (const std::uint64_t count : batches) {
          told[thread].push_back(recorder.write_many(
              self, count, [first](std::uint64_t i) { return span_of(first + i); }));
          first += count;
        }
      });
    block.clear();
    return told;
  }

  // Every record of the lane's pages; each must have the number of its place.
  std::uint64_t expect_pages_to_hold_their_numbers() {
    std::uint64_t found = 0;
    while (const auto page = region_.take(0)) {
      const auto spans = spans_in(*page);
      EXPECT_GE(spans.size(), page->header.record_count);
      for (std::uint64_t i = 0; i < page->header.record_count; ++i)
        EXPECT_TRUE(same_span(spans[i], span_of(page->header.first_number + i)));
      found += page->header.record_count;
    }
    return found;
  }

  RegionInMemory region_;
};

TEST_F(WriteMany, OneThreadSpansAsManyPagesAsItTakes) {
  for (PageIndex page = 0; page < 10; ++page) region_.hand(0, page);
  SpanRecorder recorder(&region_.view(), 0);
  SoloBlock solo;
  EXPECT_EQ(recorder.write_many(solo, 0, span_of), 0u);
  EXPECT_EQ(recorder.write_many(solo, 9 * kPerPage + 5, span_of), 9 * kPerPage + 5);
  EXPECT_EQ(recorder.attempted(), 9 * kPerPage + 5);
  recorder.close();
  EXPECT_EQ(expect_pages_to_hold_their_numbers(), 9 * kPerPage + 5);
}

TEST_F(WriteMany, MixesWithSingleWrites) {
  for (PageIndex page = 0; page < 10; ++page) region_.hand(0, page);
  SpanRecorder recorder(&region_.view(), 0);
  SoloBlock solo;
  std::uint64_t number = 0;
  for (std::uint64_t round = 0; round < 10; ++round) {
    EXPECT_TRUE(recorder.write(span_of(number++)));
    const std::uint64_t first = number;
    EXPECT_EQ(recorder.write_many(solo, round * 3,
                                  [first](std::uint64_t i) { return span_of(first + i); }),
              round * 3);
    number += round * 3;
  }
  recorder.close();
  EXPECT_EQ(expect_pages_to_hold_their_numbers(), number);
}

TEST_F(WriteMany, CountsEveryRefusedRecordOnce) {
  region_.hand(0, 0);
  SpanRecorder recorder(&region_.view(), 0);
  SoloBlock solo;
  EXPECT_EQ(recorder.write_many(solo, kPerPage + 9, span_of), kPerPage);
  EXPECT_EQ(region_.words(0).dropped_total.load_own(), 9u);
  EXPECT_EQ(recorder.attempted(), kPerPage + 9);
}

TEST_F(WriteMany, ABlockOfThreadsLeavesWhatOneThreadWouldLeave) {
  std::mt19937_64 random(21);
  for (const std::uint32_t threads : {2u, 3u, 5u}) {
    region_ = RegionInMemory(
        {.lanes = {RegionInMemory::lane_of(StreamId::kSwimlane, Overflow::kDrop, 32)},
         .page_count = 64,
         .ring_slots = 64});
    for (PageIndex page = 0; page < 64; ++page) region_.hand(0, page);
    std::vector<std::uint64_t> batches;
    std::uint64_t total = 0;
    while (total < 40 * kPerPage) {
      batches.push_back(random() % (3 * kPerPage));
      total += batches.back();
    }
    SpanRecorder recorder(&region_.view(), 0);
    const auto told = write_batches(recorder, batches, threads);
    recorder.close();
    for (const auto& accepted : told) EXPECT_EQ(accepted, batches);
    EXPECT_EQ(expect_pages_to_hold_their_numbers(), total);
    EXPECT_EQ(region_.words(0).attempted.load_own(), total);
  }
}

TEST_F(WriteMany, ABlockAgreesOnWhatWasRefused) {
  for (PageIndex page = 0; page < 3; ++page) region_.hand(0, page);
  SpanRecorder recorder(&region_.view(), 0);
  const std::vector<std::uint64_t> batches{kPerPage * 2 + 3, kPerPage, 4};
  const auto told = write_batches(recorder, batches, 4);
  recorder.close();
  for (const auto& accepted : told)
    EXPECT_EQ(accepted, (std::vector<std::uint64_t>{kPerPage * 2 + 3, kPerPage - 3, 0}));
  EXPECT_EQ(region_.words(0).dropped_total.load_own(), 3u + 4);
  EXPECT_EQ(region_.words(0).attempted.load_own(), kPerPage * 3 + 7);
  EXPECT_EQ(expect_pages_to_hold_their_numbers(), kPerPage * 3);
}

}  // namespace
}  // namespace tidemark
