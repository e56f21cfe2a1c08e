// SPDX-License-Identifier: Apache-2.0
// RegionView: every part of a region is found where the layout says, and nowhere else.
#include "tidemark/transport/region.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

constexpr RegionShape kShape{
    .max_lanes = 3, .ring_slots = 4, .page_bytes = 1024, .page_count = 5, .name_slots = 8};

class RegionTest : public testing::Test {
 protected:
  RegionTest() : layout_(lay_out(kShape)) {
    memory_.reset(static_cast<unsigned char*>(std::aligned_alloc(4096, layout_.total_bytes)));
    std::memset(memory_.get(), 0, layout_.total_bytes);
    reinterpret_cast<RegionHeader*>(memory_.get())->identity.shape = kShape;
    view_ = RegionView(memory_.get());
  }
  std::uint64_t offset_of(const void* part) const {
    return static_cast<std::uint64_t>(static_cast<const unsigned char*>(part) - memory_.get());
  }

  struct Free {
    void operator()(unsigned char* memory) const { std::free(memory); }
  };
  RegionLayout layout_;
  std::unique_ptr<unsigned char[], Free> memory_;
  RegionView view_;
};

TEST_F(RegionTest, FindsEachPartAtItsOffset) {
  EXPECT_EQ(offset_of(&view_.header()), 0u);
  for (LaneIndex lane = 0; lane < kShape.max_lanes; ++lane) {
    EXPECT_EQ(offset_of(&view_.lane(lane)), layout_.lane_offset(lane));
    EXPECT_EQ(offset_of(&view_.published_word(lane)), layout_.published_word_offset(lane));
  }
  for (PageIndex page = 0; page < kShape.page_count; ++page) {
    EXPECT_EQ(offset_of(&view_.page(page)), layout_.page_offset(page));
    EXPECT_EQ(offset_of(view_.payload(page)), layout_.page_offset(page) + kPageHeaderBytes);
  }
}

TEST_F(RegionTest, TheTwoRingsOfALaneAreNotEachOthers) {
  view_.free_ring(1).send(0, 3);
  view_.full_ring(2).send(0, 4);
  for (LaneIndex lane = 0; lane < kShape.max_lanes; ++lane) {
    EXPECT_EQ(view_.free_ring(lane).receive(0), lane == 1 ? 3 : kNoPageIndex);
    EXPECT_EQ(view_.full_ring(lane).receive(0), lane == 2 ? 4 : kNoPageIndex);
  }
}

TEST_F(RegionTest, ARingOfALaneWrapsInsideItsOwnSlots) {
  for (std::uint64_t position = 0; position < 4 * kShape.ring_slots; ++position)
    view_.free_ring(1).send(position, static_cast<PageIndex>(position));
  for (std::uint64_t position = 0; position < 4 * kShape.ring_slots; ++position) {
    EXPECT_EQ(view_.free_ring(0).receive(position), kNoPageIndex);
    EXPECT_EQ(view_.free_ring(2).receive(position), kNoPageIndex);
  }
  EXPECT_EQ(view_.full_ring(0).receive(0), kNoPageIndex);
}

TEST_F(RegionTest, AnOutboxTakesPagesAndFullRingsAndNothingElse) {
  std::vector<unsigned char> pages(std::size_t{kShape.page_count} * kShape.page_bytes, 0);
  std::vector<std::uint64_t> outbox(view_.outbox_bytes() / 8, 0);
  const RegionView kept = view_.with_outbox(pages.data(), outbox.data(), nullptr);
  EXPECT_EQ(&kept.header(), &view_.header());
  for (LaneIndex lane = 0; lane < kShape.max_lanes; ++lane) {
    EXPECT_EQ(&kept.lane(lane), &view_.lane(lane));
    kept.published_word(lane).store_relaxed(lane + 10);
    for (std::uint64_t position = 0; position < kShape.ring_slots; ++position)
      kept.full_ring(lane).send(position, lane);
    kept.free_ring(lane).send(0, 4);
    EXPECT_EQ(view_.free_ring(lane).receive(0), 4u);
    EXPECT_EQ(view_.full_ring(lane).receive(0), kNoPageIndex);
    EXPECT_EQ(view_.published_word(lane).load_own(), 0u);
  }
  for (LaneIndex lane = 0; lane < kShape.max_lanes; ++lane) {
    EXPECT_EQ(kept.published_word(lane).load_own(), lane + 10);
    for (std::uint64_t position = 0; position < kShape.ring_slots; ++position)
      EXPECT_EQ(kept.full_ring(lane).receive(position), lane);
  }
  std::vector<std::uint64_t> near(view_.rings_bytes() / 8, 0);
  const RegionView at_hand = view_.with_outbox(pages.data(), outbox.data(), near.data());
  EXPECT_TRUE(at_hand.rings_are_near());
  EXPECT_EQ(at_hand.free_ring(1).receive(0), kNoPageIndex) << "nobody has brought them yet";
  std::memcpy(near.data(), view_.free_rings(), view_.rings_bytes());
  for (LaneIndex lane = 0; lane < kShape.max_lanes; ++lane)
    EXPECT_EQ(at_hand.free_ring(lane).receive(0), 4u);
  EXPECT_EQ(kept.payload(2), pages.data() + 2 * kShape.page_bytes + kPageHeaderBytes);
}

}  // namespace
}  // namespace tidemark
