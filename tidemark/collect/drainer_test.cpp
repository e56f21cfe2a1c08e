// SPDX-License-Identifier: Apache-2.0
// The drainer with real producer threads: every policy, several drain threads, few pages, a sink
// that fails, and the injected faults. Whatever happens, every lane's ledger closes and what was
// accepted is in the sink or counted.
#include "tidemark/collect/drainer.h"

#include <chrono>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tidemark/collect/drain_thread.h"
#include "tidemark/collect/leftover_pages.h"
#include "tidemark/collect/testing/keeping_sink.h"
#include "tidemark/collect/testing/planned_region.h"
#include "tidemark/device/sim/sim_clock.h"
#include "tidemark/device/sim/sim_env.h"
#include "tidemark/record/recorder.h"

namespace tidemark {
namespace {

struct Scene {
  std::uint32_t lanes = 4;
  std::uint32_t pages = 16;
  std::uint32_t drain_threads = 1;
  Overflow overflow = Overflow::kWait;
  std::uint32_t drain_timeout_ms = 30'000;
  DrainInjection inject{};
  std::uint64_t fail_after = ~std::uint64_t{0};
};

RegionRequest request_of(const Scene& scene) {
  RegionRequest request;
  for (std::uint32_t lane = 0; lane < scene.lanes; ++lane)
    request.lanes.push_back({.overflow = scene.overflow, .unit = lane});
  request.recorder.page_bytes = 1024;
  if (scene.overflow != Overflow::kKeepLast)
    request.recorder.pool_bytes = std::uint64_t{scene.pages} * request.recorder.page_bytes;
  request.recorder.drain_threads = scene.drain_threads;
  request.recorder.drain_timeout_ms = scene.drain_timeout_ms;
  request.ticks_per_second = sim_ticks_per_second();
  request.run_id = 8;
  return request;
}

class Recording {
 public:
  explicit Recording(const Scene& scene)
      : scene_(scene), region_(request_of(scene)), accepted_(scene.lanes) {
    sink_.fail_after = scene.fail_after;
    drainer_.emplace(&region_.port(), &region_.plan(), &sink_, scene.inject);
  }

  // Lanes first .. last - 1 write `count` records each, from a thread of their own.
  void run(LaneIndex first, LaneIndex last, std::uint64_t count) {
    drainer_->start();
    {
      std::vector<std::jthread> producers;
      for (LaneIndex lane = first; lane < last; ++lane)
        producers.emplace_back([this, lane, count] {
          Recorder<TaskSpan, SimEnv> recorder(&region_.view(), lane);
          for (std::uint64_t i = 0; i < count; ++i)
            if (recorder.write(span_of(i))) accepted_[lane].insert(i);
          recorder.close();
        });
    }
    drainer_->finish();
    auto& ledgers = drainer_->ledgers();
    left_ = collect_leftovers(
        region_.port(), region_.plan(),
        [&](const PageHeaderImage& page) {
          return page.sequence <= ledgers[page.lane].last_sequence();
        },
        sink_, ledgers);
    for (LaneIndex lane = 0; lane < scene_.lanes; ++lane) {
      ledgers[lane].finish(left_.words[lane]);
      total_.add(ledgers[lane].counts());
    }
  }

  // The identity, and truth of every record, with nothing lost but what the ledger says.
  void expect_truth(std::uint64_t produced) {
    EXPECT_EQ(drainer_->stats().faults.total(), 0u);
    EXPECT_EQ(left_.faults.total(), 0u);
    EXPECT_EQ(sink_.twice(), 0u);
    EXPECT_EQ(total_.produced, produced);
    for (LaneIndex lane = 0; lane < scene_.lanes; ++lane) {
      const LaneCounts& counts = drainer_->ledgers()[lane].counts();
      EXPECT_TRUE(counts.closes()) << "lane " << lane;
      std::uint64_t reasons = 0;
      for (const std::uint64_t count : counts.dropped_by) reasons += count;
      EXPECT_EQ(reasons, counts.dropped);
      const auto found = sink_.spans_of(lane);
      EXPECT_EQ(found.wrong, 0u) << "lane " << lane;
      EXPECT_EQ(found.numbers.size(), counts.delivered + counts.recovered);
      std::uint64_t gone = 0;
      for (const std::uint64_t number : accepted_[lane]) gone += !found.numbers.contains(number);
      EXPECT_EQ(gone, counts.overwritten + of(counts, DropReason::kFileError));
    }
  }
  static std::uint64_t of(const LaneCounts& counts, DropReason why) {
    return counts.dropped_by[static_cast<std::size_t>(why)];
  }

  Scene scene_;
  PlannedRegion region_;
  KeepingSink sink_;
  std::optional<Drainer> drainer_;
  std::vector<std::set<std::uint64_t>> accepted_;
  Leftovers left_;
  LaneCounts total_;
};

TEST(Drainer, DeliversEveryRecordUnderWaitWithOneToFourThreads) {
  for (std::uint32_t threads = 1; threads <= 4; ++threads) {
    Recording recording({.lanes = 7, .pages = 20, .drain_threads = threads});
    recording.run(0, 7, 3000);
    recording.expect_truth(7 * 3000);
    EXPECT_EQ(recording.total_.delivered, 7u * 3000) << threads << " threads";
    EXPECT_EQ(recording.drainer_->stats().pages, recording.total_.pages);
    EXPECT_EQ(recording.drainer_->drained_records(), 7u * 3000);
  }
}

TEST(Drainer, AThreadWithNothingToDoTakesPagesThatWaitOnLanesOfAnother) {
  Recording recording({.lanes = 4, .pages = 16, .drain_threads = 2});
  Drainer& drainer = *recording.drainer_;
  Recorder<TaskSpan, SimEnv> recorder(&recording.region_.view(), 0);
  ASSERT_TRUE(drainer.thread(0).owns(0));
  ASSERT_GE(drainer.held_pages(0), 2u);
  std::uint64_t next = 0;
  const auto publish_page = [&] {
    ASSERT_TRUE(recorder.write(span_of(next++)));
    recorder.flush();
  };
  publish_page();
  EXPECT_EQ(drainer.thread(1).pass(), 0u);
  EXPECT_EQ(drainer.thread(1).help(), 0u) << "one page is not worth a change of hands";
  publish_page();
  EXPECT_EQ(drainer.thread(1).pass(), 0u);
  EXPECT_EQ(drainer.thread(1).help(), 2u);
  EXPECT_EQ(drainer.thread(0).pass(), 0u);
  for (int page = 0; page < 40; ++page) {  // more than the lane ever holds: it was refilled
    publish_page();
    if (page % 2 == 0) continue;
    EXPECT_EQ(drainer.thread(1).help(), 2u);
  }
  publish_page();
  EXPECT_EQ(drainer.thread(0).pass(), 1u);
  recorder.close();
  const auto found = recording.sink_.spans_of(0);
  EXPECT_EQ(found.numbers.size(), next);
  EXPECT_EQ(found.wrong, 0u);
  EXPECT_EQ(recording.sink_.twice(), 0u);
  EXPECT_EQ(drainer.stats().faults.total(), 0u);
}

TEST(Drainer, BusyLanesOfOneThreadAreDrainedByAllOfThemOnceEach) {
  for (std::uint32_t round = 0; round < 8; ++round) {
    Recording recording({.lanes = 16, .pages = 40 + round, .drain_threads = 4});
    recording.run(0, 4, 5000);  // all belong to the first thread
    recording.expect_truth(4 * 5000);
    EXPECT_EQ(recording.total_.delivered, 4u * 5000);
    EXPECT_EQ(recording.drainer_->stats().pages, recording.total_.pages);
  }
}

TEST(Drainer, MoreThreadsThanLanesIsFine) {
  Recording recording({.lanes = 2, .pages = 4, .drain_threads = 8});
  recording.run(0, 2, 1000);
  recording.expect_truth(2000);
  EXPECT_EQ(recording.total_.delivered, 2000u);
}

TEST(Drainer, UnderDropWhatWasRefusedIsWhatTheLedgerSays) {
  Recording recording({.lanes = 4, .pages = 8, .drain_threads = 2, .overflow = Overflow::kDrop});
  recording.run(0, 4, 20'000);
  recording.expect_truth(4 * 20'000);
  std::uint64_t accepted = 0;
  for (const auto& numbers : recording.accepted_) accepted += numbers.size();
  EXPECT_EQ(recording.total_.delivered, accepted);
  EXPECT_EQ(recording.total_.dropped, 4 * 20'000 - accepted);
  EXPECT_EQ(Recording::of(recording.total_, DropReason::kNoPage), recording.total_.dropped);
}

TEST(Drainer, UnderKeepLastTheNewestPagesOfEveryLaneSurvive) {
  Recording recording({.lanes = 3, .overflow = Overflow::kKeepLast});
  recording.run(0, 3, 10'000);
  recording.expect_truth(3 * 10'000);
  for (LaneIndex lane = 0; lane < 3; ++lane) {
    const auto found = recording.sink_.spans_of(lane);
    EXPECT_EQ(*found.numbers.rbegin(), 9999u);
    EXPECT_GE(found.numbers.size(), 7 * 28u) << "eight pages, the last part full";
    EXPECT_EQ(found.numbers.size(), 10'000 - *found.numbers.begin()) << "without a hole";
  }
}

TEST(Drainer, OnePagePerLaneIsEnoughForSixtyFourLanes) {
  Recording recording({.lanes = 64, .pages = 64, .drain_threads = 2});
  recording.run(0, 64, 200);
  recording.expect_truth(64 * 200);
  EXPECT_EQ(recording.total_.delivered, 64u * 200);
}

TEST(Drainer, OnePagePerLaneIsEnoughWhenOnlyOneLaneWrites) {
  Recording recording({.lanes = 64, .pages = 64});
  recording.run(17, 18, 3000);
  recording.expect_truth(3000);
  EXPECT_EQ(recording.total_.delivered, 3000u);
}

TEST(Drainer, ASinkThatFailsLosesWhatItCouldNotKeepAndSaysSo) {
  for (const std::uint64_t pages : {0u, 1u, 10u}) {
    Recording recording({.lanes = 3, .pages = 9, .drain_threads = 2, .fail_after = pages});
    recording.run(0, 3, 2000);
    recording.expect_truth(6000);
    EXPECT_EQ(recording.sink_.pages().size(), pages);
    const std::uint64_t lost = Recording::of(recording.total_, DropReason::kFileError);
    EXPECT_EQ(lost, 6000 - recording.total_.delivered);
    std::uint64_t told = 0;  // where a recovery finds it
    for (LaneIndex lane = 0; lane < 3; ++lane)
      told += recording.region_.view().lane(lane).host.file_error_dropped.load_acquire();
    EXPECT_EQ(told, lost);
  }
}

TEST(Drainer, APauseAndASlowDrainerStallWaitButLoseNothing) {
  Recording paused({.lanes = 2, .pages = 2, .inject = {.pause_ms = 30}});
  paused.run(0, 2, 500);
  paused.expect_truth(1000);
  EXPECT_EQ(paused.total_.delivered, 1000u);
  EXPECT_GE(paused.total_.stall_ticks, sim_ticks_per_second() / 100) << "at least 10 ms";
  Recording slow({.lanes = 2, .pages = 2, .inject = {.slow_us = 300}});
  slow.run(0, 2, 500);
  slow.expect_truth(1000);
  EXPECT_EQ(slow.total_.delivered, 1000u);
}

TEST(Drainer, AStoppedDrainerIsGivenUpAndTheRestIsDroppedForWantOfAPage) {
  Recording recording({.lanes = 2, .pages = 4, .drain_timeout_ms = 50, .inject = {.stop = true}});
  recording.run(0, 2, 2000);
  recording.expect_truth(4000);
  EXPECT_GT(Recording::of(recording.total_, DropReason::kNoPage), 1000u);
  EXPECT_GT(recording.total_.delivered, 0u) << "what was published is still taken at the end";
}

TEST(Drainer, AHostThatAbortsEndsTheWaitOfEveryProducer) {
  Recording recording({.lanes = 2, .pages = 4, .inject = {.stop = true}});
  std::jthread aborter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    recording.region_.view().header().host.abort.store_release(1);
  });
  recording.run(0, 2, 2000);
  recording.expect_truth(4000);
  EXPECT_GT(Recording::of(recording.total_, DropReason::kAborted), 1000u);
}

// Given up, not ended: a producer that publishes one page for every page taken does not keep the
// host for ever. What it had published before is taken.
TEST(Drainer, FinishReturnsWhileAProducerGoesOnPublishing) {
  Recording recording({.lanes = 1, .pages = 8, .overflow = Overflow::kDrop});
  Recorder<TaskSpan, SimEnv> recorder(&recording.region_.view(), 0);
  constexpr std::uint64_t kEndless = 100'000;
  std::uint64_t pages = 0;
  const auto publish = [&] {
    if (pages++ < kEndless) recorder.write(span_of(pages));
    recorder.flush();
  };
  publish();
  recording.sink_.on_append = publish;  // in the drain thread, which is the only one to write
  recording.drainer_->start();
  recording.drainer_->finish();
  EXPECT_LT(pages, kEndless);
  EXPECT_GE(recording.sink_.pages().size(), 1u);
}

TEST(Drainer, APageThatIsWrittenAfterItWasPublishedIsAFaultOfTheDevice) {
  PlannedRegion region(request_of({.lanes = 1}));
  KeepingSink sink;
  Drainer drainer(&region.port(), &region.plan(), &sink);
  Recorder<TaskSpan, SimEnv> recorder(&region.view(), 0);
  for (const bool meddles : {false, true}) {
    ASSERT_TRUE(recorder.write(span_of(0)));
    const auto page =
        static_cast<PageIndex>(region.view().lane(0).words.open_page_index.load_acquire());
    recorder.flush();
    sink.on_append = [&] {
      if (meddles) region.view().page(page).sequence.store_release(99);
    };
    drainer.thread(0).pass();
    EXPECT_EQ(drainer.thread(0).stats().faults.of(PageFault::kChanging), meddles ? 1u : 0u);
  }
  EXPECT_EQ(sink.pages().size(), 2u);
}

}  // namespace
}  // namespace tidemark
