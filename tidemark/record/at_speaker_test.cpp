// SPDX-License-Identifier: Apache-2.0
// What a producer says it is at stands in its lane, with since when: the name through the region's
// table, whatever else the producer does.
#include "tidemark/record/at_speaker.h"

#include <gtest/gtest.h>

#include "tidemark/record/event_recorder.h"
#include "tidemark/record/testing/manual_env.h"
#include "tidemark/record/testing/region_in_memory.h"
#include "tidemark/schema/task_span.h"

namespace tidemark {
namespace {

struct PlacedEnv : ManualEnv {
  static std::uint64_t place() {
    return encode_place({.multiprocessor = 131, .block = 7, .warp = 2});
  }
};

class AtSpeakerTest : public testing::Test {
 protected:
  using Spans = Recorder<TaskSpan, ManualEnv>;

  AtSpeakerTest()
      : region_({.lanes = {RegionInMemory::lane_of(StreamId::kSwimlane, Overflow::kDrop, 32)}}) {
    ManualEnv::reset();
    region_.hand(0, 0);
  }
  [[nodiscard]] AtLine& line() const { return region_.view().lane(0).at; }
  [[nodiscard]] AtWord said() const { return decode_at(line().what.load_acquire()); }
  [[nodiscard]] NameSlot& slot(std::uint32_t index) const {
    auto* base = reinterpret_cast<unsigned char*>(&region_.header());
    return reinterpret_cast<NameSlot*>(base + region_.view().layout().names_offset)[index];
  }
  [[nodiscard]] std::string name_said() const {
    const std::uint32_t index = said().name_slot;
    if (index >= region_.view().layout().shape.name_slots) return "none";
    std::string text;
    for (std::uint64_t i = 0; i < slot(index).length.load_acquire(); ++i)
      text += static_cast<char>(slot(index).text[i / 8].load_relaxed() >> (8 * (i % 8)));
    return text;
  }

  RegionInMemory region_;
};

TEST_F(AtSpeakerTest, SaysWhatItDoesOrWaitsForAndSinceWhen) {
  Spans recorder(&region_.view(), 0);
  EXPECT_EQ(line().what.load_acquire(), 0u) << "it has said nothing yet";
  EXPECT_EQ(line().since_ticks.load_acquire(), 0u);
  ManualEnv::ticks = 5000;
  recorder.at("compute", 17);
  EXPECT_EQ(name_said(), "compute");
  EXPECT_EQ(said().number, 17u);
  EXPECT_FALSE(said().waits);
  EXPECT_EQ(line().since_ticks.load_acquire(), 5001u);
  ManualEnv::ticks = 7000;
  recorder.waits_for("room");
  EXPECT_EQ(name_said(), "room");
  EXPECT_EQ(said().number, 0u);
  EXPECT_TRUE(said().waits);
  EXPECT_EQ(line().since_ticks.load_acquire(), 7001u);
  recorder.write({.task_id = 1});
  EXPECT_EQ(name_said(), "room") << "a record does not take it back";
  EXPECT_EQ(line().place.load_acquire(), 0u) << "this device does not know where a thread is";
}

TEST_F(AtSpeakerTest, APenSaysItForItsRecorder) {
  Spans recorder(&region_.view(), 0);
  Pen pen(recorder);
  pen.at("compute", 3);
  EXPECT_EQ(name_said(), "compute");
  pen.waits_for("room", 4);
  EXPECT_EQ(name_said(), "room");
  EXPECT_EQ(said().number, 4u);
  EXPECT_TRUE(said().waits);
}

TEST_F(AtSpeakerTest, ANumberKeepsItsLower47Bits) {
  Spans recorder(&region_.view(), 0);
  recorder.at("tile", ~std::uint64_t{0});
  EXPECT_EQ(said().number, (std::uint64_t{1} << 47) - 1);
  EXPECT_FALSE(said().waits) << "it does not spill";
  EXPECT_EQ(name_said(), "tile");
}

TEST_F(AtSpeakerTest, LooksANameUpOnce) {
  Spans recorder(&region_.view(), 0);
  recorder.at("compute", 1);
  const std::uint32_t index = said().name_slot;
  slot(index).hash.store_release(12345);  // whoever looks again takes another slot
  recorder.at("compute", 2);
  EXPECT_EQ(said().name_slot, index);
  EXPECT_EQ(said().number, 2u);
}

TEST_F(AtSpeakerTest, MoreNamesThanItRemembersAreAllSaid) {
  Spans recorder(&region_.view(), 0);
  const Name names[] = {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9", "n10", "n11"};
  for (int round = 0; round < 3; ++round)
    for (const Name& name : names) {
      recorder.at(name, static_cast<std::uint64_t>(round));
      EXPECT_EQ(name_said(), name.text);
    }
}

TEST_F(AtSpeakerTest, AFullTableLosesTheNameAndNotTheNumber) {
  for (std::uint32_t i = 0; i < region_.view().layout().shape.name_slots; ++i)
    slot(i).hash.store_release(1000 + i);
  Spans recorder(&region_.view(), 0);
  for (int round = 0; round < 2; ++round) {
    recorder.at("compute", 17);
    EXPECT_EQ(said().name_slot, kNoNameSlot);
    EXPECT_EQ(said().number, 17u);
  }
}

TEST_F(AtSpeakerTest, WithoutALaneNothingIsSaid) {
  Spans recorder(&region_.view(), 0);
  recorder.at("compute", 17);
  const std::uint64_t before = line().what.load_acquire();
  Spans().at("other", 1);
  NoEvents().at("other", 1);
  recorder.close();
  recorder.waits_for("other", 2);
  EXPECT_EQ(line().what.load_acquire(), before);
  Spans again(&region_.view(), 0);
  EXPECT_EQ(line().what.load_acquire(), 0u) << "who opens the lane again has said nothing";
}

TEST_F(AtSpeakerTest, ADeviceThatKnowsSaysWhereTheThreadRuns) {
  const Recorder<TaskSpan, PlacedEnv> recorder(&region_.view(), 0);
  const ProducerPlace place = decode_place(line().place.load_acquire());
  EXPECT_EQ(place.multiprocessor, 131u);
  EXPECT_EQ(place.block, 7u);
  EXPECT_EQ(place.warp, 2u);
}

}  // namespace
}  // namespace tidemark
