// SPDX-License-Identifier: Apache-2.0
// User events carry the hash of their name; the text is in the region once.
#include "tidemark/record/event_recorder.h"

#include <string>

#include <gtest/gtest.h>

#include "tidemark/record/testing/manual_env.h"
#include "tidemark/record/testing/region_in_memory.h"

namespace tidemark {
namespace {

class EventRecorderTest : public testing::Test {
 protected:
  EventRecorderTest()
      : region_({.lanes = {RegionInMemory::lane_of(StreamId::kEvents, Overflow::kDrop, 32)}}) {
    ManualEnv::reset();
    region_.view().lane(0).plan.unit = 17;
  }
  std::string text_of(std::uint64_t hash) {
    const RegionLayout& layout = region_.view().layout();
    const auto* slots = reinterpret_cast<const NameSlot*>(
        reinterpret_cast<const unsigned char*>(&region_.header()) + layout.names_offset);
    std::string text;
    for (std::uint32_t slot = 0; slot < layout.shape.name_slots; ++slot) {
      if (slots[slot].hash.load_acquire() != hash) continue;
      for (std::uint64_t i = 0; i < slots[slot].length.load_acquire(); ++i)
        text += static_cast<char>(slots[slot].text[i / 8].load_relaxed() >> (8 * (i % 8)));
    }
    return text;
  }
  RegionInMemory region_;
};

TEST_F(EventRecorderTest, MarksAndCountersCarryNameTimeValueAndUnit) {
  region_.hand(0, 0);
  EventRecorder<ManualEnv> events(&region_.view(), 0);
  EXPECT_TRUE(events.mark("begin of phase", 3));
  EXPECT_TRUE(events.counter("queue depth", -9));
  EXPECT_TRUE(events.mark("begin of phase"));
  events.close();
  const auto page = region_.take(0);
  ASSERT_TRUE(page);
  ASSERT_EQ(page->header.record_count, 3u);
  UserEvent read[3];
  for (int i = 0; i < 3; ++i) {
    std::uint64_t words[4];
    std::memcpy(words, page->payload.data() + i * 32, 32);
    read[i] = UserEvent::unpack(words, page->header.open_ticks);
    EXPECT_EQ(read[i].unit, 17);
    EXPECT_GT(read[i].time_ticks, i == 0 ? 1000u : read[i - 1].time_ticks);
  }
  EXPECT_EQ(read[0].kind, EventKind::kMark);
  EXPECT_EQ(read[0].value, 3);
  EXPECT_EQ(read[1].kind, EventKind::kCounter);
  EXPECT_EQ(read[1].value, -9);
  EXPECT_EQ(read[0].name_hash, read[2].name_hash);
  EXPECT_EQ(text_of(read[0].name_hash), "begin of phase") << "once, not twice";
  EXPECT_EQ(text_of(read[1].name_hash), "queue depth");
}

TEST_F(EventRecorderTest, AFullNameTableLosesTheTextNeverTheRecord) {
  region_.hand(0, 0);
  for (std::uint64_t hash = 1; hash <= 16; ++hash) region_.view().names().intern(hash, "taken", 5);
  EventRecorder<ManualEnv> events(&region_.view(), 0);
  EXPECT_TRUE(events.mark("no room for this"));
  events.close();
  const auto page = region_.take(0);
  ASSERT_TRUE(page);
  std::uint64_t words[4];
  std::memcpy(words, page->payload.data(), 32);
  EXPECT_EQ(UserEvent::unpack(words, 0).name_hash, Name("no room for this").hash);
  EXPECT_EQ(text_of(Name("no room for this").hash), "");
}

// A look at every slot is slow over a link: once is enough to know that there is no place.
TEST_F(EventRecorderTest, AFullNameTableIsSearchedOnce) {
  region_.hand(0, 0);
  for (std::uint64_t hash = 1; hash <= 16; ++hash) region_.view().names().intern(hash, "taken", 5);
  EventRecorder<ManualEnv> events(&region_.view(), 0);
  EXPECT_TRUE(events.mark("no room for this"));
  // A second search would find this slot and take it.
  auto* slots = reinterpret_cast<NameSlot*>(
      const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(&region_.header())) +
      region_.view().layout().names_offset);
  slots[7].hash.store_release(0);
  EXPECT_TRUE(events.mark("no room for this"));
  EXPECT_TRUE(events.counter("nor for this", 1));
  EXPECT_EQ(slots[7].hash.load_acquire(), 0u);
  region_.hand(0, 1);
  EventRecorder<ManualEnv> other(&region_.view(), 0);
  EXPECT_TRUE(other.mark("no room for this"));
  EXPECT_EQ(slots[7].hash.load_acquire(), Name("no room for this").hash) << "the test can see it";
}

TEST_F(EventRecorderTest, ADisabledRecorderInternsNothing) {
  EventRecorder<ManualEnv> events;
  EXPECT_FALSE(events.mark("nobody listens"));
  EXPECT_EQ(text_of(Name("nobody listens").hash), "");
}

}  // namespace
}  // namespace tidemark
