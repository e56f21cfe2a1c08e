// SPDX-License-Identifier: Apache-2.0
// The autopsy over a device that lies: seeded damage in everything that the watchdog, the reading
// of the state and the snapshot of outputs look at. Nothing may crash, overrun or go on for ever.
#include <sys/mman.h>

#include <numeric>

#include <gtest/gtest.h>

#include "fuzz/byte_source.h"
#include "tidemark/analyze/hang_report.h"
#include "tidemark/base/testing/plain_output.h"
#include "tidemark/base/testing/seed_range.h"
#include "tidemark/collect/testing/planned_region.h"
#include "tidemark/run/hang_text.h"
#include "tidemark/runtime/runtime_layout.h"
#include "tidemark/runtime/units/unit_line.h"
#include "tidemark/schema/dump_frame.h"
#include "tidemark/session/host_watchdog.h"
#include "tidemark/session/read_hang_state.h"

namespace tidemark {
namespace {

using fuzz::SeededBits;

constexpr std::uint32_t kWindow = 16, kDepPool = 32;
constexpr std::uint64_t kElements = 64;
constexpr std::uint32_t kTasks = 9, kFirst = 2;  // tasks kFirst .. kTasks stand in ring 0
constexpr SnapshotLimits kLimits{.tensor_bytes = 4096, .total_bytes = 10'000};

RuntimeConfig small_config() {
  RuntimeConfig config;
  config.scheduler_count = 2;
  config.mailbox_depth = 2;
  config.tensormap_entries = 16;
  config.entry_bytes = 16 * 1024;
  config.task_timeout_ms = 700;
  for (RingSizes& ring : config.rings)
    ring = {.task_window = kWindow, .dep_pool = kDepPool, .heap_bytes = 4096};
  return config;
}

// A hung run as it stands in a region and in the memory of a device, and the damage to it.
class HungDevice {
 public:
  HungDevice()
      : config_(small_config()),
        layout_(lay_out(config_)),
        region_({.lanes = {{}, {.unit = 1}},
                 .recorder = {.page_bytes = 1024, .pool_bytes = 8 * 1024},
                 .status_bytes = status_bytes(config_.units())}),
        memory_(DeviceMemory::create(layout_.total_bytes).value()),
        mapping_(map_device_memory(memory_.fd(), memory_.bytes()).value()) {
    fill();
    good_region_.assign(region_.bytes().begin(), region_.bytes().end());
    good_memory_.assign(base(), base() + layout_.total_bytes);
  }
  void restore() {
    std::copy(good_region_.begin(), good_region_.end(), region_.bytes().begin());
    std::copy(good_memory_.begin(), good_memory_.end(), base());
  }

  void tell_lie(SeededBits& bits) {
    const RegionLayout& layout = region_.plan().layout;
    const UnitCounts units = config_.units();
    switch (bits.below(9)) {
      case 0:
        return put(layout.status_offset + word_below(bits, sizeof(RuntimeStatus)), bits);
      case 1:
        return put(layout.status_offset + offsetof(RuntimeStatus, rings) +
                       word_below(bits, sizeof(RingStatus) * kRingCount),
                   bits);
      case 2:
        return put(layout.status_offset + kUnitLinesOffset +
                       word_below(bits, units.total() * sizeof(UnitProgress)),
                   bits);
      case 3:
        return put(layout.lane_offset(0) + word_below(bits, 2 * sizeof(LaneEntry)), bits);
      case 4:
        return put(word_below(bits, layout.total_bytes), bits);  // pages, indices, names
      case 5:
        return put_memory(
            layout_.rings[0].slots_offset + word_below(bits, kWindow * sizeof(TaskSlot)), bits);
      case 6:
        return put_memory(
            layout_.rings[0].deps_offset + word_below(bits, kDepPool * sizeof(DepEntry)), bits);
      case 7:
        return put_memory(
            layout_.entry_offset + word_below(bits, (kTasks + 1) * 2 * sizeof(StoredTensor)), bits);
      default:
        return put_memory(word_below(bits, layout_.total_bytes), bits);
    }
  }

  [[nodiscard]] const RuntimeConfig& config() const { return config_; }
  [[nodiscard]] const RegionLayout& region_layout() const { return region_.plan().layout; }
  [[nodiscard]] RegionPort& port() { return region_.port(); }
  [[nodiscard]] const DeviceMemory& memory() const { return memory_; }
  StoredTensor& tensor(std::uint32_t task, std::uint32_t index) {
    return reinterpret_cast<StoredTensor*>(base() + layout_.entry_offset)[task * 2 + index];
  }
  TaskSlot& slot(std::uint32_t task) {
    return reinterpret_cast<TaskSlot*>(base() + layout_.rings[0].slots_offset)[task % kWindow];
  }
  DepEntry& dep(std::uint32_t place) {
    return reinterpret_cast<DepEntry*>(base() + layout_.rings[0].deps_offset)[place];
  }

 private:
  unsigned char* base() { return static_cast<unsigned char*>(mapping_.base()); }
  static std::uint64_t word_below(SeededBits& bits, std::uint64_t bytes) {
    return bits.below(bytes / 8) * 8;
  }
  std::uint64_t number(SeededBits& bits) {
    const std::uint64_t edges[] = {0,
                                   1,
                                   ~0ull,
                                   ~0ull - 1,
                                   1ull << 63,
                                   0xFFFFFFFFull,
                                   0xFFFFFFFF00000000ull,
                                   layout_.total_bytes,
                                   layout_.total_bytes - 1};
    const std::uint64_t choice = bits.below(12);
    if (choice < std::size(edges)) return edges[choice];
    if (choice == 9) return bits.below(kWindow * 2);
    if (choice == 10) return bits.below(6) << 32 | bits.below(6);  // two small words
    return bits.next();
  }
  void put(std::uint64_t offset, SeededBits& bits) {
    const std::uint64_t value = number(bits);
    std::memcpy(region_.bytes().data() + offset, &value, 8);
  }
  void put_memory(std::uint64_t offset, SeededBits& bits) {
    const std::uint64_t value = number(bits);
    std::memcpy(base() + offset, &value, 8);
  }

  void fill() {
    const UnitCounts units = config_.units();
    auto* status =
        reinterpret_cast<RuntimeStatus*>(region_.bytes().data() + region_layout().status_offset);
    status->submitted.store_release(kTasks + 1);
    status->rings[0].head.store_release(kTasks + 1);
    status->rings[0].tail.store_release(kFirst);
    std::strcpy(status->site_files[0], "program.h");
    for (std::uint32_t unit = 0; unit < units.total(); ++unit) {
      UnitProgress& line = unit_lines(status)[unit];
      line.state.store_release(UnitState::kBusy);
      line.since_ticks.store_release(1000 + unit);
      line.task_id.store_release(unit < units.core(0) ? kTasks : kFirst + unit - units.core(0));
    }
    for (std::uint32_t task = kFirst; task <= kTasks; ++task) {
      TaskSlot& at = slot(task);
      at.id = TaskId::make(0, task);
      at.block_count = 1;
      at.tensor_count = 2;
      at.args_offset = layout_.entry_offset + task * 2 * sizeof(StoredTensor);
      at.submit_line = 10 + task;
      at.kernels[1] = at.kernels[2] = kNoKernel;
      at.pending.store_release(task == kFirst ? 0 : 1);
      at.parts_left.store_release(1);
      // Each waits for the one before it.
      at.waiters.store_release(task < kTasks ? task : kNoEntry);
      dep(task) = {.next = kNoEntry, .consumer = SlotRef::make(0, task + 1).value};
      for (std::uint32_t i = 0; i < 2; ++i) {
        StoredTensor& stored = tensor(task, i);
        stored = {};
        stored.view =
            TensorView::row_major(layout_.rings[0].heap_offset, DType::kFloat32, {1, {kElements}});
        stored.access = i == 0 ? Access::kInput : Access::kOutput;
      }
    }
  }

  RuntimeConfig config_;
  RuntimeLayout layout_;
  PlannedRegion region_;
  DeviceMemory memory_;
  MappedMemory mapping_;
  std::vector<unsigned char> good_region_, good_memory_;
};

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
