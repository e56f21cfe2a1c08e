// SPDX-License-Identifier: Apache-2.0
// The layout of any possible shape: sections in order, disjoint, and every entry inside its own.
#include "tidemark/transport/region_layout.h"

#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "tidemark/transport/region.h"

namespace tidemark {
namespace {

constexpr std::uint32_t kLargest = std::numeric_limits<std::uint32_t>::max();

RegionShape random_shape(std::mt19937_64& random) {
  return {.max_lanes = 1 + static_cast<std::uint32_t>(random() % kMaxLanesLimit),
          .ring_slots = 1u << (random() % 17),
          .page_bytes = kPageBytesMin + static_cast<std::uint32_t>(random() % 1000) * 128,
          .page_count = 1 + static_cast<std::uint32_t>(random() % 100'000),
          .name_slots = 1u << (random() % 17)};
}

TEST(RegionLayout, SectionsOfRandomShapesAreInOrderAndDisjoint) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const RegionShape shape = random_shape(random);
    ASSERT_TRUE(is_possible(shape));
    const RegionLayout layout = lay_out(shape);
    const LaneIndex last_lane = shape.max_lanes - 1;
    const std::uint64_t ring_bytes = std::uint64_t{shape.ring_slots} * 8;
    ASSERT_GE(layout.lanes_offset, sizeof(RegionHeader));
    ASSERT_GE(layout.published_offset, layout.lane_offset(last_lane) + sizeof(LaneEntry));
    ASSERT_GE(layout.free_rings_offset, layout.published_word_offset(last_lane) + 8);
    ASSERT_GE(layout.full_rings_offset, layout.free_ring_offset(last_lane) + ring_bytes);
    ASSERT_GE(layout.names_offset, layout.full_ring_offset(last_lane) + ring_bytes);
    ASSERT_GE(layout.pages_offset, layout.names_offset + shape.name_slots * sizeof(NameSlot));
    ASSERT_GE(layout.total_bytes, layout.page_offset(shape.page_count - 1) + shape.page_bytes);
  }
}

TEST(RegionLayout, SectionsStandOnMemoryPages) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 1000; ++i) {
    const RegionLayout layout = lay_out(random_shape(random));
    for (const std::uint64_t offset :
         {layout.lanes_offset, layout.published_offset, layout.free_rings_offset,
          layout.full_rings_offset, layout.names_offset, layout.pages_offset, layout.total_bytes})
      ASSERT_EQ(offset % 4096, 0u);
  }
}

TEST(RegionLayout, NeighboursDoNotOverlap) {
  const RegionLayout layout = lay_out({.max_lanes = 3, .ring_slots = 4, .page_bytes = 1024});
  EXPECT_EQ(layout.lane_offset(2) - layout.lane_offset(1), sizeof(LaneEntry));
  EXPECT_EQ(layout.published_word_offset(2) - layout.published_word_offset(1), 8u);
  EXPECT_EQ(layout.free_ring_offset(2) - layout.free_ring_offset(1), 4u * 8);
  EXPECT_EQ(layout.full_ring_offset(2) - layout.full_ring_offset(1), 4u * 8);
  EXPECT_EQ(layout.page_offset(2) - layout.page_offset(1), 1024u);
  EXPECT_EQ(layout.payload_bytes(), 1024 - kPageHeaderBytes);
}

TEST(RegionLayout, RefusesImpossibleShapes) {
  const RegionShape good;
  ASSERT_TRUE(is_possible(good));
  const auto changed = [&](auto member, std::uint32_t value) {
    RegionShape shape = good;
    shape.*member = value;
    return is_possible(shape);
  };
  for (const std::uint32_t value : {0u, kMaxLanesLimit + 1, kLargest})
    EXPECT_FALSE(changed(&RegionShape::max_lanes, value)) << value;
  for (const std::uint32_t value : {0u, 3u, 12u, kRingSlotsLimit * 2, kLargest})
    EXPECT_FALSE(changed(&RegionShape::ring_slots, value)) << value;
  for (const std::uint32_t value :
       {0u, 128u, kPageBytesMin - 128, kPageBytesMin + 16, kPageBytesMax + 128, kLargest})
    EXPECT_FALSE(changed(&RegionShape::page_bytes, value)) << value;
  for (const std::uint32_t value : {0u, kNameSlotsLimit * 2, 100u, kLargest})
    EXPECT_FALSE(changed(&RegionShape::name_slots, value)) << value;
  EXPECT_FALSE(changed(&RegionShape::page_count, 0));
  EXPECT_FALSE(is_possible({.page_bytes = kPageBytesMax, .page_count = kLargest}));
}

TEST(RegionLayout, AcceptsEveryNumberAtItsLimit) {
  EXPECT_TRUE(is_possible({.max_lanes = kMaxLanesLimit,
                           .ring_slots = kRingSlotsLimit,
                           .page_bytes = kPageBytesMax,
                           .page_count = kRegionBytesLimit / kPageBytesMax,
                           .name_slots = kNameSlotsLimit}));
  EXPECT_TRUE(is_possible({.max_lanes = 1,
                           .ring_slots = 1,
                           .page_bytes = kPageBytesMin,
                           .page_count = 1,
                           .name_slots = 1}));
}

}  // namespace
}  // namespace tidemark
