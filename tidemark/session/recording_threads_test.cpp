// SPDX-License-Identifier: Apache-2.0
// Threads that open, write and close lanes of one recording at the same time, each lane again and
// again: every record is in the capture once, and no lane was given to two of them.
#include <barrier>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/capture/capture_ledger.h"
#include "tidemark/run/description.h"
#include "tidemark/session/recording.h"

namespace tidemark {
namespace {

constexpr std::uint32_t kThreads = 4, kRounds = 40;

// Not the same number every time, and more than a page holds now and then.
std::uint32_t records_of(std::uint32_t thread, std::uint32_t round) {
  return round % 8 == 7 ? 60 : 1 + (thread + round) % 5;
}
std::uint64_t task_of(std::uint32_t thread, std::uint32_t round, std::uint32_t number) {
  return std::uint64_t{thread} << 32 | round << 16 | number;
}

std::multiset<std::uint64_t> tasks_in(const std::string& capture) {
  std::multiset<std::uint64_t> tasks;
  auto reader = CaptureReader::open(capture).value();
  const auto description = read_description(reader).value();
  const auto ledger =
      read_ledger(reader, description.lanes, description.page_bytes, [&](const CapturedPage& page) {
        EXPECT_EQ(page.header.record_bytes, sizeof(TaskSpan));
        for (std::size_t at = 0; at + sizeof(TaskSpan) <= page.payload.size();
             at += sizeof(TaskSpan)) {
          TaskSpan span;
          std::memcpy(&span, page.payload.data() + at, sizeof(span));
          tasks.insert(span.task_id);
        }
      });
  EXPECT_TRUE(ledger.has_value());
  return tasks;
}

TEST(RecordingThreads, OpenWriteAndCloseLanesAtTheSameTime) {
  const samples::TemporaryDirectory directory;
  // As many lanes as threads: every one is used again, and there is always one for whoever asks.
  auto recording = Recording::start({.output_dir = directory.file("run"),
                                     .sync = false,
                                     .max_lanes = kThreads,
                                     .recorder = {.page_bytes = 1024}})
                       .value();
  // On a busy machine one thread may be done before the next begins, and then nothing is shown.
  std::barrier together(kThreads);
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&recording, &together, thread] {
      for (std::uint32_t round = 0; round < kRounds; ++round) {
        together.arrive_and_wait();
        auto lane = recording->open_lane<TaskSpan>("thread");
        ASSERT_TRUE(lane) << lane.error().message;
        for (std::uint32_t i = 0; i < records_of(thread, round); ++i)
          EXPECT_TRUE(lane->write(
              {.task_id = task_of(thread, round, i), .begin_ticks = i, .end_ticks = i}));
        lane->close();
      }
    });
  for (auto& thread : threads) thread.join();
  const auto report = recording->finish();
  ASSERT_TRUE(report) << report.error().message;

  std::multiset<std::uint64_t> written;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread)
    for (std::uint32_t round = 0; round < kRounds; ++round)
      for (std::uint32_t i = 0; i < records_of(thread, round); ++i)
        written.insert(task_of(thread, round, i));
  EXPECT_EQ(report->total().produced, written.size());
  EXPECT_EQ(report->total().delivered, written.size());
  EXPECT_LE(report->lanes.size(), kThreads);
  EXPECT_EQ(tasks_in(directory.file("run") + "/capture.tide"), written);
}

// Whoever comes when all lanes are open gets an error that says so, and is served once one is
// closed.
TEST(RecordingThreads, AreToldWhenEveryLaneIsOpen) {
  const samples::TemporaryDirectory directory;
  auto recording =
      Recording::start({.output_dir = directory.file("run"), .sync = false, .max_lanes = 1})
          .value();
  auto first = recording->open_lane<TaskSpan>("first");
  ASSERT_TRUE(first);
  std::thread([&] {
    const auto refused = recording->open_lane<TaskSpan>("second");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
    EXPECT_NE(refused.error().message.find("all 1 lanes are open"), std::string::npos);
  }).join();
  first->close();
  std::thread([&] {
    EXPECT_FALSE(recording->open_events("of another kind"));
    EXPECT_TRUE(recording->open_lane<TaskSpan>("second"));
  }).join();
  EXPECT_TRUE(recording->finish());
}

}  // namespace
}  // namespace tidemark
