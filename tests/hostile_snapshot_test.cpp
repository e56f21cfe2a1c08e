// SPDX-License-Identifier: Apache-2.0
// Which pieces of a GPU's memory are copied to the host while its kernel hangs: the kernel may have
// written anything into slots, arguments, progress lines and counts, and every piece lies in the
// memory all the same. A copy outside of it would end the device process, and with it the evidence.
#include <numeric>

#include <gtest/gtest.h>

#include "tests/hung_device.h"
#include "tidemark/base/testing/seed_range.h"
#include "tidemark/device/cuda/task_snapshot.h"

namespace tidemark {
namespace {

using fuzz::SeededBits;
using samples::HungDevice;
using samples::kDepPool;
using samples::kElements;
using samples::kTasks;

constexpr std::uint64_t kBytesMost = 2000;

std::uint64_t bytes_of(const std::vector<MemoryExtent>& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const MemoryExtent& extent) {
                           return sum + (extent.end - extent.begin);
                         });
}
std::vector<MemoryExtent> outputs_of(HungDevice& device, std::uint64_t most = kBytesMost) {
  return running_output_extents(device.layout(), device.status(), device.image(), most);
}

TEST(TaskSnapshot, HasWhatWasUsedOfEachList) {
  HungDevice device;
  const RuntimeLayout& layout = device.layout();
  device.status().rings[0].dep_head.store_relaxed(kDepPool + 5);  // it has gone round
  device.status().rings[2].fanin_head.store_relaxed(3);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
  for (const MemoryExtent& extent : task_extents(layout, device.status()))
    if (extent.end > extent.begin) found.emplace_back(extent.begin, extent.end);
  const auto piece = [](std::uint64_t offset, std::uint64_t bytes) {
    return std::pair(offset, offset + bytes);
  };
  EXPECT_EQ(found,
            (std::vector{piece(0, layout.buckets_offset),
                         piece(layout.rings[0].slots_offset, (kTasks + 1) * sizeof(TaskSlot)),
                         piece(layout.rings[0].deps_offset, kDepPool * sizeof(DepEntry)),
                         piece(layout.rings[2].fanin_offset, 3 * sizeof(std::uint32_t))}));
}

TEST(TaskSnapshot, HasWhatRunningTasksWriteUpToALimit) {
  HungDevice device;
  const std::uint64_t each = kElements * sizeof(float);
  const auto outputs = outputs_of(device);
  ASSERT_EQ(outputs.size(), device.config().core_count()) << "one output of each core's task";
  for (const MemoryExtent& extent : outputs) {
    EXPECT_EQ(extent.begin, device.layout().rings[0].heap_offset);
    EXPECT_EQ(extent.end - extent.begin, each);
  }
  EXPECT_EQ(bytes_of(outputs_of(device, each + 10)), each + 10);
  EXPECT_TRUE(outputs_of(device, 0).empty());
  unit_lines(&device.status())[device.config().units().core(1)].state.store_release(
      UnitState::kIdle);
  EXPECT_EQ(outputs_of(device).size(), device.config().core_count() - 1);
}

TEST(TaskSnapshot, StaysInTheMemoryWhateverStandsInIt) {
  HungDevice device;
  const std::uint64_t total = device.layout().total_bytes;
  const SeedRange seeds = seed_range(20'000, 3'000);
  std::uint64_t with_outputs = 0, without = 0;
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    SeededBits bits(seed);
    device.restore();
    for (std::uint64_t lies = 1 + bits.below(12); lies > 0; --lies) device.tell_lie(bits);
    const auto lists = task_extents(device.layout(), device.status());
    ASSERT_LE(bytes_of(lists), total) << seed;
    const auto outputs = outputs_of(device);
    ASSERT_LE(bytes_of(outputs), kBytesMost) << seed;
    for (const auto& extents : {lists, outputs})
      for (const MemoryExtent& extent : extents) {
        ASSERT_LE(extent.begin, extent.end) << seed;
        ASSERT_LE(extent.end, total) << seed;
      }
    ++(outputs.empty() ? without : with_outputs);
  }
  EXPECT_GT(with_outputs, seeds.count() / 4) << "nothing is left to be read";
}

// A view whose end is before its beginning, one that ends behind the memory, one whose steps wrap.
TEST(TaskSnapshot, BringsNoViewThatLies) {
  HungDevice device;
  const std::uint64_t total = device.layout().total_bytes;
  const auto outputs_with = [&](auto change) {
    device.restore();
    for (std::uint32_t task = samples::kFirst; task <= kTasks; ++task)
      change(device.tensor(task, 1).view);
    return outputs_of(device).size();
  };
  const std::size_t all = device.config().core_count();
  EXPECT_EQ(outputs_with([&](TensorView& view) { view.buffer = total - kElements * 4; }), all);
  EXPECT_EQ(outputs_with([&](TensorView& view) { view.buffer = total - kElements * 4 + 1; }), 0u);
  EXPECT_EQ(outputs_with([](TensorView& view) { view.offset = ~std::uint64_t{0}; }), 0u);
  EXPECT_EQ(outputs_with([](TensorView& view) { view.stride[0] = 1ull << 62; }), 0u);
  EXPECT_EQ(outputs_with([](TensorView& view) { view.shape.extent[0] = 1ull << 62; }), 0u);
  EXPECT_EQ(outputs_with([](TensorView& view) { view.shape.extent[0] = 0; }), 0u);
  EXPECT_EQ(outputs_with([](TensorView& view) { view.shape.rank = kRankMax + 1; }), 0u);
  EXPECT_EQ(outputs_with([](TensorView& view) { view.dtype = static_cast<DType>(200); }), 0u);
}

}  // namespace
}  // namespace tidemark
