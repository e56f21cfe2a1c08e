// SPDX-License-Identifier: Apache-2.0
// Producers that lie: seeded damage in everything that is read of them. Nothing may crash or
// overrun, and whatever they wrote is plain text for whoever looks.
#include <sys/mman.h>

#include <gtest/gtest.h>

#include "fuzz/byte_source.h"
#include "tidemark/analyze/hang_fields.h"
#include "tidemark/base/testing/plain_output.h"
#include "tidemark/base/testing/seed_range.h"
#include "tidemark/collect/testing/planned_region.h"
#include "tidemark/device/sim/sim_env.h"
#include "tidemark/record/event_recorder.h"
#include "tidemark/schema/task_span.h"
#include "tidemark/session/producer_watch.h"
#include "tidemark/session/read_producers.h"

namespace tidemark {
namespace {

using fuzz::SeededBits;

constexpr std::uint32_t kLanes = 3;

// Two lanes of spans and one of events, all open, and what may be done to them.
class StoppedProducers {
 public:
  StoppedProducers()
      : region_({.lanes = {{.overflow = Overflow::kKeepLast, .producer = "CTA 0 load"},
                           {.overflow = Overflow::kKeepLast, .producer = "CTA 0 store"},
                           {.stream = StreamId::kEvents,
                            .overflow = Overflow::kKeepLast,
                            .record_bytes = UserEvent::kBytes,
                            .producer = "marks"}},
                 .recorder = {.page_bytes = 1024},
                 .keep_pages = 2}) {
    for (LaneIndex lane = 0; lane < 2; ++lane) {
      Recorder<TaskSpan, SimEnv> recorder(&region_.view(), lane);
      for (std::uint64_t i = 0; i < 40; ++i) recorder.write({.task_id = i});
      if (lane == 0)
        recorder.at("load", 40);
      else
        recorder.waits_for("computed", 40);
    }
    EventRecorder<SimEnv> events(&region_.view(), 2);
    events.mark("begin", 5);
    good_.assign(region_.bytes().begin(), region_.bytes().end());
  }
  void restore() { std::copy(good_.begin(), good_.end(), region_.bytes().begin()); }

  void tell_lie(SeededBits& bits) {
    const RegionLayout& layout = region_.plan().layout;
    const std::uint64_t lane = layout.lane_offset(static_cast<LaneIndex>(bits.below(kLanes)));
    const std::uint64_t names = layout.shape.name_slots * sizeof(NameSlot);
    const std::uint64_t pages = std::uint64_t{layout.shape.page_count} * layout.shape.page_bytes;
    switch (bits.below(6)) {
      case 0:
        return put(lane + bits.below(sizeof(LaneEntry) / 8) * 8, bits);
      case 1:
        return put(lane + offsetof(LaneEntry, at) + bits.below(3) * 8, bits);
      case 2:
        return put(lane + offsetof(LaneEntry, words.open_page_index), bits);
      case 3:
        return put(layout.names_offset + bits.below(names / 8) * 8, bits);
      case 4:
        return put(layout.pages_offset + bits.below(pages / 8) * 8, bits);
      default:
        return put(bits.below(layout.total_bytes / 8) * 8, bits);
    }
  }

  PlannedRegion& region() { return region_; }

 private:
  void put(std::uint64_t offset, SeededBits& bits) {
    const std::uint64_t edges[] = {0, 1, ~0ull, 1ull << 63, 0xFFFF'0000'0000'0000ull, kPageOpen};
    const std::uint64_t choice = bits.below(10);
    std::uint64_t value = choice < std::size(edges) ? edges[choice] : bits.next();
    if (choice == 9) value = bits.below(region_.plan().layout.shape.page_count);
    if (choice == 8) value = 0x1B5B'481B'5B4A'0A0Dull;  // orders for a terminal
    std::memcpy(region_.bytes().data() + offset, &value, 8);
  }

  PlannedRegion region_;
  std::vector<unsigned char> good_;
};

HangState read_state(PlannedRegion& region, SeededBits& bits) {
  const std::vector<ClockSample> anchors = {
      {.device_ticks = bits.below(2) == 0 ? 5 : bits.next(), .host_ns = 1000}};
  return read_recording_state(region.port(), region.plan(), anchors,
                              bits.below(2) == 0 ? 10'000'000'000 : bits.next());
}

TEST(HostileProducers, HonestOnesAreReadAsTheyAre) {
  StoppedProducers device;
  SeededBits bits(1);
  const HangState state = read_state(device.region(), bits);
  ASSERT_EQ(state.producers.size(), kLanes);
  EXPECT_EQ(state.producers[0].at, "load");
  EXPECT_EQ(state.producers[0].number, 40u);
  EXPECT_EQ(state.producers[0].records, 40u);
  EXPECT_EQ(state.producers[0].record.find("span task_id 39"), 0u) << state.producers[0].record;
  EXPECT_TRUE(state.producers[1].waits);
  EXPECT_EQ(state.producers[2].record, "event name begin value 5 kind 1 unit 0");
}

TEST(HostileProducers, NoDamageBreaksTheReportOrReachesTheTerminal) {
  StoppedProducers device;
  std::uint64_t stopped = 0, named = 0;
  const SeedRange seeds = seed_range(20'000, 2000);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    SCOPED_TRACE(seed);
    SeededBits bits(seed);
    device.restore();
    for (std::uint64_t lies = 1 + bits.below(12); lies > 0; --lies) device.tell_lie(bits);
    ProducerWatch watch({.still_ms = 100, .total_ms = 1000});
    HangState state = read_state(device.region(), bits);
    for (std::uint64_t ns = 0; !watch.look(state, ns); ns += 10'000'000) ASSERT_LT(ns, 2e9);
    ASSERT_LE(state.producers.size(), kLanes);
    const HangReport report = make_hang_report(state, nullptr);
    const std::string text = hang_summary(report, "run") + state.message;
    ASSERT_EQ(first_order_in(text), "") << text;
    const std::string json =
        json_text<JsonWriter>([&](auto& writer) { put_hang_report(writer, report); });
    rapidjson::Document parsed;
    parsed.Parse(json.c_str());
    ASSERT_FALSE(parsed.HasParseError()) << json;
    const auto again = parse_hang_state(to_json(state));
    ASSERT_TRUE(again);
    ASSERT_EQ(producers_sentence(*again), producers_sentence(state));
    stopped += stopped_producers(state).size();
    for (const auto& producer : state.producers) named += producer.at == "load";
  }
  EXPECT_GT(stopped, seeds.count() / 4) << "most damage leaves most of it readable";
  EXPECT_GT(named, seeds.count() / 4);
}

}  // namespace
}  // namespace tidemark
