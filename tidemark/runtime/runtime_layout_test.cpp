// SPDX-License-Identifier: Apache-2.0
// The areas of device memory: in their order, disjoint, aligned, and as large as what they hold,
// for any configuration.
#include "tidemark/runtime/runtime_layout.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tidemark/runtime/runtime_memory.h"

namespace tidemark {
namespace {

struct Area {
  const char* name;
  std::uint64_t offset, bytes;
};

std::vector<Area> areas_of(const RuntimeLayout& layout) {
  const RuntimeConfig& config = layout.config;
  const std::uint64_t cores = config.core_count();
  std::vector<Area> areas = {
      {"control", 0, sizeof(RuntimeControl)},
      {"mailboxes", layout.mailboxes_offset, cores * sizeof(Mailbox)},
      {"dispatches", layout.dispatches_offset, cores * config.mailbox_depth * sizeof(DispatchCell)},
      {"bells", layout.bells_offset, config.scheduler_count * sizeof(Doorbell)},
      {"full", layout.full_offset, config.scheduler_count * sizeof(FullTypes)},
      {"peers", layout.peers_offset,
       config.scheduler_count * config.scheduler_count * sizeof(std::uint64_t)},
      {"ready", layout.ready_offset, layout.ready_bytes * kTaskShapeCount},
      {"buckets", layout.buckets_offset, map_buckets(config.tensormap_entries) * sizeof(MapBucket)},
      {"map", layout.map_offset, std::uint64_t{config.tensormap_entries} * sizeof(MapEntry)},
      {"groups", layout.groups_offset, std::uint64_t{config.tensormap_entries} * sizeof(MapGroup)}};
  for (std::uint32_t i = 0; i < kRingCount; ++i) {
    const RingSizes& sizes = config.rings[i];
    const RingLayout& ring = layout.rings[i];
    areas.push_back({"slots", ring.slots_offset, sizes.task_window * sizeof(TaskSlot)});
    areas.push_back({"arguments", ring.args_offset, ring.args_bytes});
    areas.push_back({"deps", ring.deps_offset, sizes.dep_pool * sizeof(DepEntry)});
    areas.push_back({"fanin", ring.fanin_offset, sizes.dep_pool * sizeof(std::uint32_t)});
    areas.push_back({"heap", ring.heap_offset, sizes.heap_bytes});
  }
  areas.push_back({"entry", layout.entry_offset, config.entry_bytes});
  areas.push_back({"keys of groups", layout.group_keys_offset,
                   std::uint64_t{config.tensormap_entries} * sizeof(MapGroupKey)});
  areas.push_back({"end", layout.total_bytes, 0});
  return areas;
}

void check(const RuntimeConfig& config) {
  const RuntimeLayout layout = lay_out(config);
  const std::vector<Area> areas = areas_of(layout);
  for (std::size_t i = 1; i < areas.size(); ++i) {
    ASSERT_GE(areas[i].offset, areas[i - 1].offset + areas[i - 1].bytes)
        << areas[i - 1].name << " runs into " << areas[i].name;
    ASSERT_EQ(areas[i].offset % 4096, 0u) << areas[i].name;
  }
  // One cell for every task that can be live, or a push could wait for ever.
  std::uint64_t slots = 0;
  for (const RingSizes& ring : config.rings) slots += ring.task_window;
  ASSERT_GE(layout.ready_cells, slots);
  ASSERT_TRUE(is_power_of_two(layout.ready_cells));
  ASSERT_GE(layout.ready_bytes, sizeof(ReadyQueueWords) + layout.ready_cells * sizeof(ReadyCell));
  for (const RingLayout& ring : layout.rings)
    ASSERT_GE(ring.args_bytes, kTaskArgsBytesMax) << "a task with everything must fit";
}

TEST(RuntimeLayout, AreasStandInTheirOrderAndShareNothing) {
  check(RuntimeConfig{});
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    RuntimeConfig config;
    config.cluster_count = static_cast<std::uint32_t>(1 + random() % 36);
    config.scheduler_count = static_cast<std::uint32_t>(1 + random() % 4);
    config.mailbox_depth = 1u << random() % 7;
    config.tensormap_entries = static_cast<std::uint32_t>(1 + random() % 100'000);
    config.entry_bytes = random() % (1ull << 34);
    for (RingSizes& ring : config.rings)
      ring = {4u << random() % 15, static_cast<std::uint32_t>(4 + random() % 20'000),
              1024 + random() % (1ull << 33)};
    ASSERT_NO_FATAL_FAILURE(check(config)) << "round " << round;
  }
}

TEST(RuntimeLayout, TheLargestSizesDoNotOverflow) {
  RuntimeConfig config;
  config.cluster_count = 36;
  config.tensormap_entries = kTensormapMax;
  for (RingSizes& ring : config.rings) ring = {kTaskWindowMax, kDepPoolMax, kHeapBytesMax};
  check(config);
}

TEST(RuntimeLayout, TheSmallestSizesAreALayoutToo) {
  RuntimeConfig config;
  config.mailbox_depth = 1;
  config.tensormap_entries = kTensormapMin;
  for (RingSizes& ring : config.rings) ring = {kTaskWindowMin, kDepPoolMin, kHeapBytesMin};
  check(config);
}

TEST(RuntimeLayout, SlotsAndSpillsAreFoundWhereTheyStand) {
  RuntimeConfig config;
  for (RingSizes& ring : config.rings) ring = {8, 10, 1024};
  const RuntimeLayout layout = lay_out(config);
  std::vector<unsigned char> bytes(layout.total_bytes + 64);
  void* base = bytes.data() + (64 - reinterpret_cast<std::uintptr_t>(bytes.data()) % 64) % 64;
  const RuntimeMemory memory(base, layout);
  TaskSlot& slot = memory.slot(SlotRef::make(3, 7));
  EXPECT_EQ(reinterpret_cast<unsigned char*>(&slot),
            memory.base() + layout.rings[3].slots_offset + 7 * sizeof(TaskSlot));
  slot.id = TaskId::make(3, 7);
  slot.fanin_spill = 8;
  EXPECT_EQ(&memory.fanin(slot, kFaninInline - 1), &slot.fanin[kFaninInline - 1]);
  EXPECT_EQ(&memory.fanin(slot, kFaninInline), &memory.fanin_spill(3, 8));
  EXPECT_EQ(&memory.fanin(slot, kFaninInline + 1), &memory.fanin_spill(3, 9));
  EXPECT_EQ(&memory.fanin(slot, kFaninInline + 2), &memory.fanin_spill(3, 0)) << "around the end";
}

}  // namespace
}  // namespace tidemark
