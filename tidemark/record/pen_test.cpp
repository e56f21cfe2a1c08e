// SPDX-License-Identifier: Apache-2.0
// Pen: a loop that keeps the hot state to itself leaves what the recorder would have left.
#include <random>

#include <gtest/gtest.h>

#include "tidemark/record/recorder.h"
#include "tidemark/record/testing/manual_env.h"
#include "tidemark/record/testing/stamped_spans.h"

namespace tidemark {
namespace {

// Where a branch is slow.
struct LateEnv : ManualEnv {
  static constexpr bool kLooksLate = true;
};

template <class Env>
class PenTest : public testing::Test {
 protected:
  using SpanRecorder = Recorder<TaskSpan, Env>;

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

using Envs = testing::Types<ManualEnv, LateEnv>;
TYPED_TEST_SUITE(PenTest, Envs);

TYPED_TEST(PenTest, TakesTurnsWithItsRecorder) {
  for (PageIndex page = 0; page < 60; ++page) this->region_.hand(0, page);
  typename TestFixture::SpanRecorder recorder(&this->region_.view(), 0);
  std::mt19937_64 random(7);
  std::uint64_t number = 0;
  while (number < 30 * kPerPage) {
    {
      Pen pen(recorder);
      for (std::uint64_t stop = number + random() % (2 * kPerPage); number < stop; ++number)
        ASSERT_TRUE(pen.write(span_of(number)));
    }
    EXPECT_EQ(recorder.attempted(), number);
    if (random() % 3 == 0) {
      Pen pen(recorder);
      for (int i = 0; i < 3; ++i) {
        const std::uint64_t many = random() % (2 * kPerPage), first = number;
        ASSERT_EQ(pen.write_many(many, [&](std::uint64_t k) { return span_of(first + k); }), many);
        number += many;
        if (random() % 2 == 0) {
          ASSERT_TRUE(pen.write(span_of(number++)));
        }
      }
    }
    for (std::uint64_t stop = number + random() % 5; number < stop; ++number)
      ASSERT_TRUE(recorder.write(span_of(number)));
  }
  recorder.close();
  EXPECT_EQ(this->count_true_records(), number);
  EXPECT_EQ(this->region_.words(0).attempted.load_own(), number);
}

TYPED_TEST(PenTest, CountsWhatFindsNoPageAndGoesOnWhenOneComes) {
  this->region_.hand(0, 0);
  typename TestFixture::SpanRecorder recorder(&this->region_.view(), 0);
  std::uint64_t number = 0;
  {
    Pen pen(recorder);
    for (; number < kPerPage; ++number) EXPECT_TRUE(pen.write(span_of(number)));
    for (; number < kPerPage + 3; ++number) EXPECT_FALSE(pen.write(span_of(number)));
    this->region_.hand(0, 1);
    for (; number < kPerPage + 5; ++number) EXPECT_TRUE(pen.write(span_of(number)));
  }
  recorder.close();
  EXPECT_EQ(this->count_true_records(), kPerPage + 2);
  EXPECT_EQ(this->region_.words(0).dropped_total.load_own(), 3u);
}

TYPED_TEST(PenTest, OfADisabledRecorderRefuses) {
  typename TestFixture::SpanRecorder recorder;
  {
    Pen pen(recorder);
    EXPECT_FALSE(pen.write(span_of(0)));
    EXPECT_EQ(pen.write_many(5, span_of), 0u);
  }
  EXPECT_FALSE(recorder.enabled());
}

// Whatever is in the last place of a page is there when it was accepted, before the next write.
TYPED_TEST(PenTest, WhatFillsAPageIsInIt) {
  this->region_.hand(0, 0);
  typename TestFixture::SpanRecorder recorder(&this->region_.view(), 0);
  Pen pen(recorder);
  for (std::uint64_t number = 0; number < kPerPage; ++number) {
    ASSERT_TRUE(pen.write(span_of(number)));
    const auto spans = spans_in(this->region_.look_at(0));
    for (std::uint64_t i = 0; i <= number; ++i) ASSERT_TRUE(same_span(spans.at(i), span_of(i)));
    EXPECT_FALSE(this->region_.take(0)) << "nobody has asked for a page yet";
  }
  EXPECT_FALSE(pen.write(span_of(kPerPage)));
  EXPECT_TRUE(this->region_.take(0)) << "published before the next one is asked for";
}

// The recorder's cursor is where the pen began: handing the page over would lose what the pen
// wrote.
TYPED_TEST(PenTest, APageThatIsTooOldIsHandedOverOnlyWhenNoPenIsOut) {
  this->region_.hand(0, 0);
  this->region_.hand(0, 1);
  typename TestFixture::SpanRecorder recorder(&this->region_.view(), 0);
  {
    for (std::uint64_t number = 0; number < 2; ++number)
      ASSERT_TRUE(recorder.write(span_of(number)));
    Pen pen(recorder);
    for (std::uint64_t number = 2; number < 5; ++number) ASSERT_TRUE(pen.write(span_of(number)));
    ManualEnv::ticks += std::uint64_t{1} << 46;
    recorder.now();
    EXPECT_FALSE(this->region_.take(0));
    ASSERT_TRUE(pen.write(span_of(5)));
  }
  recorder.now();
  const auto page = this->region_.take(0);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->header.record_count, 6u);
  ASSERT_TRUE(recorder.write(span_of(6)));
  ManualEnv::ticks += (std::uint64_t{1} << 46) - 100;
  recorder.now();
  EXPECT_FALSE(this->region_.take(0)) << "it is not that old";
  recorder.close();
  EXPECT_EQ(this->region_.take(0)->header.record_count, 1u);
}

}  // namespace
}  // namespace tidemark
