// SPDX-License-Identifier: Apache-2.0
// Pen: a loop that keeps the hot state to itself leaves what the recorder would have left.
#include <random>

#include <gtest/gtest.h>

#include "tidemark/record/recorder.h"
#include "tidemark/record/testing/manual_env.h"
#include "tidemark/record/testing/stamped_spans.h"

namespace tidemark {
namespace {

using SpanRecorder = Recorder<TaskSpan, ManualEnv>;
class PenTest : public testing::Test {
 protected:
  PenTest()
      : region_({.lanes = {RegionInMemory::lane_of(StreamId::kSwimlane, Overflow::kDrop, 32)},
                 .page_count = 64,
                 .ring_slots = 64}) {
    ManualEnv::reset();
  }

  // Every record of the published pages must have the number of its place.
  std::uint64_t count_true_records() {
    std::uint64_t found = 0;
    while (const auto page = region_.take(0)) {
      const auto spans = spans_in(*page);
      for (std::uint64_t i = 0; i < page->header.record_count; ++i)
        EXPECT_TRUE(same_span(spans.at(i), span_of(page->header.first_number + i)));
      found += page->header.record_count;
    }
    return found;
  }

  RegionInMemory region_;
};

TEST_F(PenTest, TakesTurnsWithItsRecorder) {
  for (PageIndex page = 0; page < 40; ++page) region_.hand(0, page);
  SpanRecorder recorder(&region_.view(), 0);
  std::mt19937_64 random(7);
  std::uint64_t number = 0;
  while (number < 30 * kPerPage) {
    {
      Pen pen(recorder);
      for (std::uint64_t stop = number + random() % (2 * kPerPage); number < stop; ++number)
        ASSERT_TRUE(pen.write(span_of(number)));
    }
    EXPECT_EQ(recorder.attempted(), number);
    for (std::uint64_t stop = number + random() % 5; number < stop; ++number)
      ASSERT_TRUE(recorder.write(span_of(number)));
  }
  recorder.close();
  EXPECT_EQ(count_true_records(), number);
  EXPECT_EQ(region_.words(0).attempted.load_own(), number);
}

TEST_F(PenTest, CountsWhatFindsNoPageAndGoesOnWhenOneComes) {
  region_.hand(0, 0);
  SpanRecorder recorder(&region_.view(), 0);
  std::uint64_t number = 0;
  {
    Pen pen(recorder);
    for (; number < kPerPage; ++number) EXPECT_TRUE(pen.write(span_of(number)));
    for (; number < kPerPage + 3; ++number) EXPECT_FALSE(pen.write(span_of(number)));
    region_.hand(0, 1);
    for (; number < kPerPage + 5; ++number) EXPECT_TRUE(pen.write(span_of(number)));
  }
  recorder.close();
  EXPECT_EQ(count_true_records(), kPerPage + 2);
  EXPECT_EQ(region_.words(0).dropped_total.load_own(), 3u);
}

TEST_F(PenTest, OfADisabledRecorderRefuses) {
  SpanRecorder recorder;
  {
    Pen pen(recorder);
    EXPECT_FALSE(pen.write(span_of(0)));
    EXPECT_EQ(pen.write_many(5, span_of), 0u);
  }
  EXPECT_FALSE(recorder.enabled());
}

// The recorder's cursor is where the pen began: handing the page over would lose what the pen
// wrote.
TEST_F(PenTest, APageThatIsTooOldIsHandedOverOnlyWhenNoPenIsOut) {
  region_.hand(0, 0);
  region_.hand(0, 1);
  SpanRecorder recorder(&region_.view(), 0);
  {
    for (std::uint64_t number = 0; number < 2; ++number)
      ASSERT_TRUE(recorder.write(span_of(number)));
    Pen pen(recorder);
    for (std::uint64_t number = 2; number < 5; ++number) ASSERT_TRUE(pen.write(span_of(number)));
    ManualEnv::ticks += std::uint64_t{1} << 46;
    recorder.now();
    EXPECT_FALSE(region_.take(0));
    ASSERT_TRUE(pen.write(span_of(5)));
  }
  recorder.now();
  const auto page = region_.take(0);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->header.record_count, 6u);
  ASSERT_TRUE(recorder.write(span_of(6)));
  ManualEnv::ticks += (std::uint64_t{1} << 46) - 100;
  recorder.now();
  EXPECT_FALSE(region_.take(0)) << "it is not that old";
  recorder.close();
  EXPECT_EQ(region_.take(0)->header.record_count, 1u);
}

}  // namespace
}  // namespace tidemark
