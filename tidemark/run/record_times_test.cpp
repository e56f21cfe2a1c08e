// SPDX-License-Identifier: Apache-2.0
// Times of records that are days apart, on a made-up clock of 3 GHz: what a recorder writes over
// months is restored to the tick, through a capture and the cursor that reads it.
#include <gtest/gtest.h>

#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/capture/page_chunks.h"
#include "tidemark/capture/testing/sample_pages.h"
#include "tidemark/record/event_recorder.h"
#include "tidemark/record/testing/region_in_memory.h"
#include "tidemark/run/record_cursor.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kSecond = 3'000'000'000;
constexpr std::uint64_t kMinute = 60 * kSecond;
constexpr std::uint64_t kHour = 60 * kMinute;
constexpr std::uint64_t kDay = 24 * kHour;
constexpr std::uint32_t kPageBytes = 64 * 1024;

struct MadeUpClock {
  static inline std::uint64_t ticks = 0;
  static std::uint64_t now_ticks() { return ++ticks; }
  static void pause(std::uint32_t) {}
};

// One lane; its pages go into a capture as they are published.
class LongRun {
 public:
  explicit LongRun(StreamId stream)
      : plan_(RegionInMemory::lane_of(stream, Overflow::kWait, 32)),
        region_({.lanes = {plan_}, .page_bytes = kPageBytes}),
        writer_(CaptureWriter::create(directory_.file("capture.tide"), RegionInMemory::kRunId)
                    .value()) {
    MadeUpClock::ticks = 123 * kDay + 456;
    for (PageIndex page = 0; page < 4; ++page) region_.hand(0, page);
  }
  [[nodiscard]] const RegionView& view() const { return region_.view(); }

  void drain() {
    while (const auto page = region_.take(0)) {
      ++pages_;
      TM_CHECK(writer_->append({.header = page->header,
                                .payload_bytes = page->header.used_bytes,
                                .payload = page->payload.data()}));
      region_.hand(0, page->page);
    }
  }

  template <class Fn>
  void read(const Fn& fn) {
    drain();
    TM_CHECK(writer_->finish());
    auto reader = CaptureReader::open(directory_.file("capture.tide")).value();
    RecordCursor cursor(PageCursor(&reader, {1, kPageBytes}, plan_, page_chunks(reader)));
    while (cursor.next()) fn(cursor);
  }
  [[nodiscard]] std::uint64_t pages() const { return pages_; }

 private:
  samples::TemporaryDirectory directory_;
  LanePlan plan_;
  RegionInMemory region_;
  std::unique_ptr<CaptureWriter> writer_;
  std::uint64_t pages_ = 0;
};

TEST(RecordTimes, AnEventPerMinuteForSixtyDaysIsRestoredToTheTick) {
  LongRun run(StreamId::kEvents);
  EventRecorder<MadeUpClock> events(&run.view(), 0);
  std::vector<std::uint64_t> wrote;
  for (std::uint64_t minute = 0; minute < 60 * 24 * 60; ++minute) {
    MadeUpClock::ticks += kMinute;
    wrote.push_back(MadeUpClock::ticks + 1);  // what the next reading says
    ASSERT_TRUE(events.mark("minute", static_cast<std::int64_t>(minute)));
    run.drain();
  }
  events.close();
  std::size_t found = 0;
  run.read([&](const RecordCursor& cursor) {
    ASSERT_EQ(cursor.as<UserEvent>().time_ticks, wrote.at(found)) << "minute " << found;
    ++found;
  });
  EXPECT_EQ(found, wrote.size());
}

// The records bring their own times and nobody asks the recorder: the page stays open for a day.
TEST(RecordTimes, ARecordIsRestoredFromTheOneBeforeIt) {
  LongRun run(StreamId::kSwimlane);
  Recorder<TaskSpan, MadeUpClock> spans(&run.view(), 0);
  const std::uint64_t begin_ticks = MadeUpClock::ticks;
  constexpr std::uint64_t kCount = 2000;
  for (std::uint64_t i = 0; i < kCount; ++i)
    ASSERT_TRUE(spans.write({.task_id = i,
                             .begin_ticks = begin_ticks + i * kMinute,
                             .end_ticks = begin_ticks + i * kMinute + kSecond}));
  spans.close();
  std::uint64_t found = 0;
  run.read([&](const RecordCursor& cursor) {
    const auto span = cursor.as<TaskSpan>();
    ASSERT_EQ(span.begin_ticks, begin_ticks + found * kMinute) << found;
    ASSERT_EQ(span.end_ticks, begin_ticks + found * kMinute + kSecond) << found;
    ++found;
  });
  EXPECT_EQ(found, kCount);
  EXPECT_EQ(run.pages(), 1u) << "all of them are in one page";
}

TEST(RecordTimes, LongSpansAndLongSilencesAreRestoredToTheTick) {
  LongRun run(StreamId::kSwimlane);
  Recorder<TaskSpan, MadeUpClock> spans(&run.view(), 0);
  std::vector<TaskSpan> wrote;
  const auto record = [&](std::uint64_t span_ticks, std::uint64_t silence_ticks) {
    TaskSpan span{.task_id = wrote.size(), .begin_ticks = spans.now()};
    MadeUpClock::ticks += span_ticks;
    span.end_ticks = spans.now();
    ASSERT_TRUE(spans.write(span));
    wrote.push_back(span);
    run.drain();
    MadeUpClock::ticks += silence_ticks;
  };
  for (int round = 0; round < 20; ++round) {
    record(kSecond, kMinute);
    record(20 * kHour, kSecond);
    record(kSecond, 40 * kHour);
    record(20 * kHour, 40 * kHour);
    record(0, 0);
    record(0, 13 * kHour + 17 * kMinute);
  }
  spans.close();
  std::size_t found = 0;
  run.read([&](const RecordCursor& cursor) {
    const auto span = cursor.as<TaskSpan>();
    ASSERT_EQ(span.end_ticks, wrote.at(found).end_ticks) << found;
    ASSERT_EQ(span.begin_ticks, wrote.at(found).begin_ticks) << found;
    ++found;
  });
  EXPECT_EQ(found, wrote.size());
}

// Two processors whose clocks differ a little do not make a span of a day.
TEST(RecordTimes, ABeginThatIsALittleAfterItsEndStaysThere) {
  LongRun run(StreamId::kSwimlane);
  Recorder<TaskSpan, MadeUpClock> spans(&run.view(), 0);
  const std::uint64_t now_ticks = spans.now();
  ASSERT_TRUE(spans.write({.begin_ticks = now_ticks + 500, .end_ticks = now_ticks}));
  spans.close();
  run.read([&](const RecordCursor& cursor) {
    EXPECT_EQ(cursor.as<TaskSpan>().begin_ticks, now_ticks + 500);
  });
}

}  // namespace
}  // namespace tidemark
