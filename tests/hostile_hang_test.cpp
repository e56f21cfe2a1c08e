// SPDX-License-Identifier: Apache-2.0
// The autopsy over a device that lies: seeded damage in everything that the watchdog, the reading
// of the state and the snapshot of outputs look at. Nothing may crash, overrun or go on for ever.
#include <sys/mman.h>

#include <numeric>

#include <gtest/gtest.h>

#include "tests/hung_device.h"
#include "tidemark/analyze/hang_report.h"
#include "tidemark/base/testing/plain_output.h"
#include "tidemark/base/testing/seed_range.h"
#include "tidemark/run/hang_text.h"
#include "tidemark/schema/dump_frame.h"
#include "tidemark/session/host_watchdog.h"
#include "tidemark/session/read_hang_state.h"

namespace tidemark {
namespace {

using fuzz::SeededBits;
using samples::HungDevice;
using samples::kDepPool;
using samples::kElements;
using samples::kFirst;
using samples::kTasks;
using samples::kWindow;

constexpr SnapshotLimits kLimits{.tensor_bytes = 4096, .total_bytes = 10'000};

std::size_t waiter_count(const HangState& state) {
  std::size_t count = 0;
  for (const StuckTask& task : state.tasks) count += task.waiters.size();
  return count;
}

// Everything that is made out of a state; what a person would see is text.
void describe(const HangState& state) {
  const HangReport report = make_hang_report(state, nullptr);
  ASSERT_LE(report.stuck.size(), 16u);
  const std::string text = hang_summary(report, "run") + hang_sentence(state);
  ASSERT_EQ(first_order_in(text), "") << text;
  const auto circle = find_circle(state);
  ASSERT_TRUE(circle.empty() || circle.front() == circle.back());
  ASSERT_LE(stuck_tasks(state).size(), 16u);
}

void expect_sane_frames(const std::vector<std::vector<unsigned char>>& frames) {
  std::uint64_t total = 0;
  for (const auto& frame : frames) {
    DumpHeader header;
    ASSERT_GE(frame.size(), sizeof(header));
    std::memcpy(&header, frame.data(), sizeof(header));
    ASSERT_LE(header.payload_bytes, kLimits.tensor_bytes);
    ASSERT_LE(header.payload_bytes, header.logical_bytes);
    total += header.payload_bytes;
  }
  ASSERT_LE(total, kLimits.total_bytes);
}

// What came out of the device, and what the host adds to it.
HangState place(HangState state, SeededBits& bits) {
  state.hang = static_cast<HangClass>(bits.below(kHangClassCount + 1));
  state.has_unit = bits.below(4) != 0;
  state.unit = static_cast<std::uint32_t>(bits.below(4) == 0 ? bits.next() : bits.below(8));
  const std::uint64_t rates[] = {0, 1, 1'000'000'000};
  state.ticks_per_second = rates[bits.below(3)];
  state.launch_ticks = bits.below(2) == 0 ? 500 : bits.next();
  state.detected_ticks = bits.below(2) == 0 ? 2'000'000'000 : bits.next();
  state.kernels = {"one", "two"};
  return state;
}

TEST(HostileHang, AnHonestDeviceIsReadAsItIs) {
  HungDevice device;
  const HangState state =
      read_hang_state(device.port(), device.region_layout(), device.config(), &device.memory());
  ASSERT_EQ(state.tasks.size(), kTasks - kFirst + 1);
  EXPECT_EQ(state.tasks[0].site, "program.h:12");
  EXPECT_EQ(waiters_of(state, kFirst).size(), kTasks - kFirst);
  EXPECT_TRUE(find_circle(state).empty());
  const auto frames = snapshot_outputs(state, device.config(), device.memory(), true, kLimits);
  ASSERT_EQ(frames.size(), 3u);
  for (const auto& frame : frames)
    EXPECT_EQ(frame.size(), sizeof(DumpHeader) + kElements * 4 + sizeof(DumpStats));
}

TEST(HostileHang, NoDamageOfRegionOrMemoryBreaksTheAutopsy) {
  HungDevice device;
  std::uint64_t frames_made = 0, circles = 0;
  const SeedRange seeds = seed_range(20'000, 2000);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    SCOPED_TRACE(seed);
    SeededBits bits(seed);
    device.restore();
    HostWatchdog watchdog(&device.port(), device.region_layout(), device.config().units(), 700);
    std::uint64_t now_ns = bits.next() / 2;
    const std::uint64_t lies = 1 + bits.below(40);
    for (std::uint64_t i = 0; i < lies; ++i) {
      device.tell_lie(bits);
      if (i % 4 != 0) continue;
      now_ns += bits.below(2'000'000'000);
      if (const auto found = watchdog.look(now_ns)) {
        ASSERT_LT(found->unit, device.config().units().total());
      }
      (void)watchdog.latched_ms(now_ns);
    }
    const RuntimeConfig& config = device.config();
    for (const DeviceMemory* memory :
         {static_cast<const DeviceMemory*>(nullptr), &device.memory()}) {
      const HangState state =
          place(read_hang_state(device.port(), device.region_layout(), config, memory), bits);
      ASSERT_EQ(state.lines.size(), config.units().total());
      ASSERT_LE(state.tasks.size(), kWindow * kRingCount);
      ASSERT_LE(waiter_count(state), kDepPool * kRingCount);
      describe(state);
      const std::string json = to_json(state);
      const auto back = parse_hang_state(json);
      ASSERT_TRUE(back);
      ASSERT_EQ(to_json(*back), json);
      circles += !find_circle(state).empty();
      if (memory == nullptr) continue;
      const auto frames = snapshot_outputs(state, config, *memory, bits.below(2) == 0, kLimits);
      expect_sane_frames(frames);
      frames_made += frames.size();
    }
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(frames_made, seeds.count() / 2) << "the damage no longer reaches the snapshot";
  EXPECT_GT(circles, seeds.count() / 200);
}

// The end of a view that wraps around is not inside.
TEST(HostileHang, AViewWhoseEndWrapsAroundIsNotRead) {
  HungDevice device;
  for (const std::uint32_t rank : {0u, 1u}) {
    TensorView& view = device.tensor(kFirst, 1).view;
    view.shape = {rank, {2}};
    view.stride[0] = 1;
    view.offset = ~0ull - rank;
    const HangState state =
        read_hang_state(device.port(), device.region_layout(), device.config(), &device.memory());
    EXPECT_EQ(snapshot_outputs(state, device.config(), device.memory(), false).size(), 2u);
  }
}

// Lists that lead into each other: every entry is walked over once, not once for each task.
TEST(HostileHang, DependencyListsThatLeadIntoEachOtherEnd) {
  HungDevice device;
  for (std::uint32_t i = 0; i < kDepPool; ++i)
    device.dep(i) = {.next = (i + 1) % kDepPool, .consumer = SlotRef::make(0, i % kWindow).value};
  const HangState state =
      read_hang_state(device.port(), device.region_layout(), device.config(), &device.memory());
  EXPECT_LE(waiter_count(state), kDepPool * kRingCount);
  EXPECT_FALSE(find_circle(state).empty());
  describe(state);
}

TEST(HostileHang, AChainAsLongAsAnyRingIsLookedThroughForCircles) {
  HangState state;
  constexpr std::uint64_t kLong = 50'000;
  for (std::uint64_t id = 0; id < kLong; ++id) {
    StuckTask& task = state.tasks.emplace_back();
    task.id = id;
    task.pending = id > 0;
    if (id + 1 < kLong) task.waiters = {id + 1};
  }
  EXPECT_TRUE(find_circle(state).empty());
  EXPECT_EQ(waiters_of(state, 0).size(), kLong - 1);
  state.tasks[kLong - 1].waiters = {kLong - 3};
  state.tasks[kLong - 4].waiters.clear();
  EXPECT_EQ(find_circle(state),
            (std::vector<std::uint64_t>{kLong - 3, kLong - 1, kLong - 2, kLong - 3}));
  describe(state);
}

TEST(HostileHang, DamagedJsonIsRefusedOrHarmless) {
  HungDevice device;
  HangState honest =
      read_hang_state(device.port(), device.region_layout(), device.config(), &device.memory());
  honest.kernels = {"one", "two"};
  honest.error_class = "running stalled";
  const std::string good = to_json(honest);
  const char* pieces[] = {"4294967295", "18446744073709551615",
                          "-1",         "1e308",
                          "null",       "[[[[",
                          "{}",         "\"",
                          "\\u001b",    "]",
                          ",",          "true"};
  std::uint64_t taken = 0;
  const SeedRange seeds = seed_range(10'000, 2000);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    SCOPED_TRACE(seed);
    SeededBits bits(seed);
    std::string text = good;
    const std::uint64_t changes = 1 + bits.below(4);
    for (std::uint64_t i = 0; i < changes && !text.empty(); ++i) {
      const std::size_t at = bits.below(text.size());
      switch (bits.below(5)) {
        case 0:
          text.resize(at);
          break;
        case 1:
          text[at] = static_cast<char>(0x20 + bits.below(0x5F));
          break;
        case 2:
          text.insert(at, pieces[bits.below(std::size(pieces))]);
          break;
        default: {  // a number becomes another
          const std::size_t from = text.find_first_of("0123456789", at);
          if (from == std::string::npos) break;
          const std::size_t to = text.find_first_not_of("0123456789", from);
          text.replace(from, to - from, pieces[bits.below(5)]);
        }
      }
    }
    const auto state = parse_hang_state(text);
    if (!state) continue;
    ++taken;
    describe(*state);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(taken, seeds.count() / 10);
  EXPECT_FALSE(parse_hang_state(""));
  EXPECT_FALSE(parse_hang_state("[1]"));
  EXPECT_FALSE(parse_hang_state(std::string(1 << 20, '[')));
}

}  // namespace
}  // namespace tidemark
