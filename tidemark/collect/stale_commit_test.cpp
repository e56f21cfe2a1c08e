// SPDX-License-Identifier: Apache-2.0
// A framed page holds the bytes of its last filling, and these may look like anything, also like
// the commit of the fragment that is being written. A producer that is killed between any two
// stores leaves no fragment that it did not commit.
#include <gtest/gtest.h>

#include "tidemark/collect/leftover_pages.h"
#include "tidemark/collect/testing/keeping_sink.h"
#include "tidemark/collect/testing/planned_region.h"
#include "tidemark/collect/testing/stepped_producer.h"

namespace tidemark {
namespace {

constexpr std::uint32_t kStaleFrameBytes = 72;
constexpr std::uint32_t kStaleGeneration = 5;

struct Killed {};

// Every word that could be a commit is one, of the filling that comes next.
void forge_commits(const PlannedRegion& region) {
  region.view().page(0).generation.store_release(kStaleGeneration - 1);
  auto* words = reinterpret_cast<SharedWord<std::uint64_t>*>(region.view().payload(0));
  const std::uint64_t forged = encode_commit(
      {.length = kStaleFrameBytes, .first = true, .last = true, .generation = kStaleGeneration});
  for (std::uint32_t at = 1; at < region.plan().layout.payload_bytes() / 8; at += 2)
    words[at].store_release(forged);
}

TEST(StaleCommit, AKillBetweenAnyTwoStoresLeavesNoFragmentThatWasNotCommitted) {
  std::uint64_t kills = 0;
  for (std::uint64_t kill_at = 0;; ++kill_at) {
    RegionRequest request;
    request.lanes = {{.stream = StreamId::kDump, .overflow = Overflow::kDrop, .record_bytes = 0}};
    request.recorder.page_bytes = 1024;
    request.run_id = 5;
    PlannedRegion region(request);
    region.view().free_ring(0).send(0, 0);
    forge_commits(region);
    stepped::Producer producer(region.bytes().data(), 0, true);
    std::uint64_t stores = 0, accepted = 0;
    stepped::observe([&](stepped::Stop) {
      if (stores++ == kill_at) throw Killed{};
    });
    bool killed = false;
    try {
      for (; accepted < 3; ++accepted) producer.write_frame(accepted, kStaleFrameBytes);
    } catch (const Killed&) {
      killed = true;
    }
    stepped::observe(nullptr);
    KeepingSink sink;
    std::vector<LaneLedger> ledgers{LaneLedger(Overflow::kDrop)};
    collect_leftovers(
        region.port(), region.plan(), [](const auto&) { return false; }, sink, ledgers);
    const auto found = sink.frames_of(0, stepped::frame_byte);
    ASSERT_EQ(found.wrong, 0u) << "killed at store " << kill_at;
    ASSERT_EQ(found.numbers.size(), accepted) << "killed at store " << kill_at;
    if (!killed) break;
    ++kills;
  }
  EXPECT_GT(kills, 60u);
}

}  // namespace
}  // namespace tidemark
