// SPDX-License-Identifier: Apache-2.0
// The flight recorder: a lane that owns its pages keeps the newest ones, never asks the host for
// anything, and survives the end of a page's generations.
#include <gtest/gtest.h>

#include "tidemark/record/recorder.h"
#include "tidemark/record/testing/manual_env.h"
#include "tidemark/record/testing/stamped_spans.h"

namespace tidemark {
namespace {

using SpanRecorder = Recorder<TaskSpan, ManualEnv>;
constexpr PageIndex kFirst = 2;
constexpr std::uint32_t kPages = 3;

class KeepLast : public testing::Test {
 protected:
  KeepLast()
      : region_(
            {.lanes = {RegionInMemory::keep_last_of(StreamId::kSwimlane, 32, kFirst, kPages)}}) {
    ManualEnv::reset();
  }
  RegionInMemory region_;
};

TEST_F(KeepLast, TheNewestPagesSurviveWithTheirRecords) {
  SpanRecorder recorder(&region_.view(), 0);
  constexpr std::uint64_t kCount = 10 * kPerPage + 7;
  for (std::uint64_t i = 0; i < kCount; ++i) ASSERT_TRUE(recorder.write(span_of(i)));
  recorder.close();
  EXPECT_EQ(ManualEnv::pauses, 0u);
  std::uint64_t kept = 0, oldest = kCount;
  for (PageIndex page = kFirst; page < kFirst + kPages; ++page) {
    const TakenPage taken = region_.look_at(page);
    EXPECT_GE(taken.header.sequence, 9u);
    EXPECT_EQ(taken.header.first_number, (taken.header.sequence - 1) * kPerPage);
    const auto spans = spans_in(taken);
    ASSERT_GE(spans.size(), taken.header.record_count);
    for (std::uint64_t i = 0; i < taken.header.record_count; ++i)
      EXPECT_TRUE(same_span(spans[i], span_of(taken.header.first_number + i)));
    kept += taken.header.record_count;
    oldest = std::min(oldest, taken.header.first_number);
  }
  EXPECT_EQ(oldest + kept, kCount) << "the survivors are the newest numbers, without a hole";
}

TEST_F(KeepLast, TouchesNeitherRingsNorPagesOfOthers) {
  SpanRecorder recorder(&region_.view(), 0);
  for (std::uint64_t i = 0; i < 8 * kPerPage; ++i) recorder.write(span_of(i));
  recorder.close();
  EXPECT_FALSE(region_.take(0));
  EXPECT_EQ(region_.view().published_word(0).load_own(), 0u);
  for (const PageIndex page : {0u, 1u, kFirst + kPages, 7u})
    EXPECT_EQ(region_.look_at(page).header.sequence, 0u) << page;
}

TEST_F(KeepLast, AtTheLastGenerationThePageIsZeroedAndStartsAtOne) {
  SpanRecorder recorder(&region_.view(), 0);
  for (std::uint64_t i = 0; i < kPages * kPerPage; ++i) ASSERT_TRUE(recorder.write(span_of(i)));
  // The oldest page is at its last generation, and by its stamps full of generation 1.
  region_.view().page(kFirst).generation.store_relaxed(kGenerationMax);
  ASSERT_TRUE(recorder.write(span_of(kPages * kPerPage)));
  const TakenPage page = region_.look_at(kFirst);
  EXPECT_EQ(page.header.generation, 1u);
  EXPECT_EQ(page.header.sequence, kPages + 1u);
  const auto spans = spans_in(page);
  ASSERT_EQ(spans.size(), 1u) << "stamps of the first generation 1 are gone";
  EXPECT_TRUE(same_span(spans[0], span_of(kPages * kPerPage)));
}

TEST_F(KeepLast, EveryGenerationOfAPageIsUsedOnce) {
  SpanRecorder recorder(&region_.view(), 0);
  std::uint32_t last = 0, wraps = 0;
  for (std::uint32_t filling = 1; filling <= kGenerationMax + 10; ++filling) {
    for (std::uint32_t page = 0; page < kPages; ++page) {
      ASSERT_TRUE(recorder.write(span_of(filling)));
      if (page == 0) {
        const auto generation = region_.view().page(kFirst).generation.load_own();
        ASSERT_TRUE(generation == last + 1 || (last == kGenerationMax && generation == 1));
        wraps += generation < last;
        last = generation;
      }
      recorder.flush();
    }
  }
  EXPECT_EQ(wraps, 1u);
}

TEST(HandedPage, StartsWhereItsGenerationStoodAndAZeroedOneAtOne) {
  ManualEnv::reset();
  RegionInMemory region(
      {.lanes = {RegionInMemory::lane_of(StreamId::kSwimlane, Overflow::kDrop, 32)}});
  region.view().page(0).generation.store_relaxed(kGenerationMax - 1);
  region.hand(0, 0);
  region.hand(0, 1);
  SpanRecorder recorder(&region.view(), 0);
  EXPECT_TRUE(recorder.write(span_of(0)));
  recorder.flush();
  EXPECT_TRUE(recorder.write(span_of(1)));
  recorder.close();
  EXPECT_EQ(region.look_at(0).header.generation, kGenerationMax);
  EXPECT_EQ(region.look_at(1).header.generation, 1u);
  EXPECT_EQ(spans_in(region.look_at(0)).size(), 1u);
}

}  // namespace
}  // namespace tidemark
