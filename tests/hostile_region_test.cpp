// SPDX-License-Identifier: Apache-2.0
// The host over a region that lies: thousands of seeded inputs of region_fuzz, and a producer that
// never ends.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "fuzz/region_input.h"
#include "tidemark/base/testing/seed_range.h"
#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/device/sim/sim_env.h"

namespace tidemark::fuzz {
namespace {

std::vector<unsigned char> noise(std::uint64_t seed, std::size_t most) {
  SeededBits bits(seed);
  std::vector<unsigned char> bytes(1 + bits.below(most));
  for (auto& byte : bytes) byte = static_cast<unsigned char>(bits.next());
  return bytes;
}

TEST(HostileRegion, NeitherCrashesTheHostNorIsBelieved) {
  std::uint64_t pages = 0;
  const SeedRange seeds = seed_range(15'000, 3000);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed)
    pages += run_region_input(noise(seed, 900));
  EXPECT_GT(pages, seeds.count() * 3) << "the inputs no longer reach the sink";
}

// The seeds of the fuzzer, also where there is no clang.
TEST(HostileRegion, TheCorpusOfTheFuzzerIsHarmless) {
  std::size_t inputs = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(TIDEMARK_SOURCE_DIR "/fuzz/corpus/region_fuzz")) {
    (void)run_region_input(samples::read_bytes(file.path().string()));
    ++inputs;
  }
  EXPECT_GE(inputs, 30u);
}

TEST(HostileRegion, ARegionOfAnotherShapeOrVersionIsRefused) {
  const RegionPlan plan = plan_hostile_region();
  HostileRegion region(plan, Transport::kMapped);
  ASSERT_TRUE(read_plan(region.port(), "region"));
  const auto refused = [&](auto RegionIdentity::*member, std::uint64_t value) {
    RegionIdentity changed = plan.identity;
    changed.*member = static_cast<std::remove_reference_t<decltype(changed.*member)>>(value);
    std::memcpy(region.base(), &changed, sizeof(changed));
    return !read_plan(region.port(), "region").has_value();
  };
  EXPECT_TRUE(refused(&RegionIdentity::magic, 1));
  EXPECT_TRUE(refused(&RegionIdentity::abi_version, kRegionAbiVersion + 1));
  EXPECT_TRUE(refused(&RegionIdentity::total_bytes, plan.identity.total_bytes + 4096));
  EXPECT_TRUE(refused(&RegionIdentity::lane_count, 1000));
  EXPECT_TRUE(refused(&RegionIdentity::pool_page_count, 1000));
  EXPECT_TRUE(refused(&RegionIdentity::drain_threads, 1000));
  EXPECT_TRUE(refused(&RegionIdentity::ticks_per_second, 0));
  EXPECT_FALSE(refused(&RegionIdentity::rank, 1));
}

TEST(HostileRegion, AFramedPageOfOddLengthIsAFaultOnBothTransports) {
  for (const auto transport : {Transport::kMapped, Transport::kCopied}) {
    const RegionPlan plan = plan_hostile_region();
    HostileRegion region(plan, transport);
    ByteSource nothing({});
    InputSink sink(region, plan, nothing);
    Drainer drainer(&region.port(), &plan, &sink);
    DrainThread drain(&drainer, 0, {.first = 0, .last = plan.layout.shape.max_lanes});
    drain.hand_first_pages();
    constexpr LaneIndex kFrames = 2;
    const std::uint64_t slot = region.port().load(plan.layout.free_ring_offset(kFrames));
    const PageIndex page = decode_slot(slot, 0);
    ASSERT_NE(page, kNoPageIndex);
    const PageHeaderImage header{.sequence = 1,
                                 .run_id = kHostileRunId,
                                 .lane = kFrames,
                                 .epoch = 1,
                                 .generation = 1,
                                 .record_bytes = 0,
                                 .record_count = 0,
                                 .used_bytes = 17,
                                 .first_frame_offset = kNoFrame};
    std::memcpy(region.base() + plan.layout.page_offset(page), &header, sizeof(header));
    region.port().store(plan.layout.full_ring_offset(kFrames), encode_slot(page, 0));
    region.port().store(plan.layout.published_word_offset(kFrames), 1);
    EXPECT_EQ(drain.pass(), 1u);
    EXPECT_EQ(drain.stats().faults.of(PageFault::kBadCount), 1u);
    EXPECT_EQ(sink.pages(), 0u);
  }
}

// Slower than the producer: whenever it has taken a page, the next one is full.
class SlowSink : public PageSink {
 public:
  bool append(const PageDelivery&) override {
    ++pages;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return true;
  }
  std::atomic<std::uint64_t> pages{0};
};

// A device that is given up may go on for ever; the drainer must come to its end all the same.
TEST(HostileRegion, TheDrainerFinishesWhileAProducerNeverStops) {
  RegionRequest request{.lanes = {{.stream = StreamId::kSwimlane, .overflow = Overflow::kDrop}},
                        .recorder = {.page_bytes = 1024, .pool_bytes = 64 * 1024}};
  request.run_id = kHostileRunId;
  const RegionPlan plan = plan_region(request).value();
  HostileRegion region(plan, Transport::kMapped);
  SlowSink sink;
  Drainer drainer(&region.port(), &plan, &sink);
  std::atomic<bool> stop{false};
  std::thread producer([&] {
    RegionView view(region.base());
    Recorder<TaskSpan, SimEnv> recorder(&view, 0);
    while (!stop.load(std::memory_order_relaxed)) recorder.write({});
  });
  drainer.start();
  while (sink.pages.load() < 20) std::this_thread::yield();
  std::atomic<bool> finished{false};
  std::thread finisher([&] {
    drainer.finish();
    finished = true;
  });
  // By what it takes, not by how long: one that follows the producer takes pages for ever.
  const std::uint64_t most = sink.pages + 20ull * plan.layout.shape.page_count;
  for (int i = 0; i < 60'000 && !finished && sink.pages < most; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(finished) << "finish() waits for a producer that never stops";
  stop = true;
  producer.join();
  finisher.join();
}

}  // namespace
}  // namespace tidemark::fuzz
