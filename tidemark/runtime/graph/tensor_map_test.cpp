// SPDX-License-Identifier: Apache-2.0
// The tensor map against a plain list: whatever is added, dropped, retired and evicted, a chain
// holds exactly the entries it should, newest first, and every entry can be used again.
#include "tidemark/runtime/graph/tensor_map.h"

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tidemark/base/testing/seed_range.h"

namespace tidemark {
namespace {

struct MapMemory {
  explicit MapMemory(std::uint32_t capacity)
      : buckets(map_buckets(capacity)),
        entries(capacity),
        map(buckets.data(), entries.data(), capacity) {}
  std::vector<std::uint32_t> buckets;
  std::vector<MapEntry> entries;
  TensorMap map;
};

TensorView view_of(std::uint64_t buffer, std::uint64_t offset) {
  TensorView view = TensorView::row_major(buffer, DType::kInt64, {1, {4}});
  view.offset = offset;
  return view;
}

// The map and what it must hold.
class Model {
 public:
  explicit Model(std::uint32_t capacity) : memory_(capacity), capacity_(capacity) {}

  void add(std::uint32_t task, std::uint64_t buffer, bool reads) {
    const bool room = entries_.size() < capacity_ || !retired_.empty();
    ASSERT_EQ(map().has_room(), room);
    if (!room) return;
    if (entries_.size() == capacity_) forget(retired_.front());
    const std::uint64_t serial = next_++;
    map().add(view_of(buffer, serial), TaskId::make(0, task), SlotRef::make(1, task), reads, 0,
              first_[task]);
    entries_.push_back({serial, buffer, task, reads, false});
  }
  // Drops the n-th of all entries, as one that is superseded.
  void drop(std::size_t n) {
    if (n >= entries_.size()) return;
    const Entry entry = entries_[n];
    std::uint32_t none = TensorMap::kNone;
    map().drop(link_of(entry), entry.retired ? none : first_[entry.task]);
    forget(entry.serial);
  }
  void retire(std::uint32_t task) {
    map().retire(first_[task]);
    first_[task] = TensorMap::kNone;
    // Newest first, as they stand in the task's list.
    for (auto at = entries_.rbegin(); at != entries_.rend(); ++at)
      if (at->task == task && !at->retired) {
        at->retired = true;
        retired_.push_back(at->serial);
      }
    while (retired_.size() > TensorMap::kRetiredMax) forget(retired_.front());
  }

  void check() {
    ASSERT_EQ(map().retired_count(), retired_.size());
    ASSERT_EQ(map().live_count(), entries_.size() - retired_.size());
    std::size_t found = 0;
    for (const std::uint32_t bucket : memory_.buckets) {
      std::uint32_t previous = TensorMap::kNone;
      std::uint64_t newest = ~std::uint64_t{0};
      for (std::uint32_t link = bucket; link != TensorMap::kNone;) {
        const MapEntry& entry = map().entry(link);
        ASSERT_EQ(entry.previous, previous);
        ASSERT_LT(entry.view.offset, newest) << "newest first";
        ASSERT_EQ(map().first_of(entry.view.buffer), bucket) << "in the chain of its buffer";
        const auto expected = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& one) {
          return one.serial == entry.view.offset;
        });
        ASSERT_NE(expected, entries_.end()) << "an entry that is gone";
        ASSERT_EQ(entry.view.buffer, expected->buffer);
        ASSERT_EQ(entry.task.local(), expected->task);
        ASSERT_EQ(entry.slot, SlotRef::make(1, expected->task).value);
        ASSERT_EQ(entry.reads != 0, expected->reads);
        ASSERT_EQ(entry.retired != 0, expected->retired);
        newest = entry.view.offset;
        previous = link;
        link = entry.next;
        ASSERT_LE(++found, entries_.size());
      }
    }
    ASSERT_EQ(found, entries_.size());
    check_task_lists();
  }

 private:
  struct Entry {
    std::uint64_t serial;  // kept as the view's offset
    std::uint64_t buffer;
    std::uint32_t task;
    bool reads, retired;
  };

  TensorMap& map() { return memory_.map; }
  void forget(std::uint64_t serial) {
    std::erase_if(entries_, [&](const Entry& entry) { return entry.serial == serial; });
    std::erase(retired_, serial);
  }
  std::uint32_t link_of(const Entry& wanted) {
    std::uint32_t link = map().first_of(wanted.buffer);
    while (map().entry(link).view.offset != wanted.serial) link = map().entry(link).next;
    return link;
  }
  void check_task_lists() {
    for (const auto& [task, first] : first_) {
      std::vector<std::uint64_t> listed, expected;
      for (std::uint32_t link = first; link != TensorMap::kNone;
           link = map().entry(link).next_of_task)
        listed.push_back(map().entry(link).view.offset);
      for (auto at = entries_.rbegin(); at != entries_.rend(); ++at)
        if (at->task == task && !at->retired) expected.push_back(at->serial);
      ASSERT_EQ(listed, expected) << "task " << task;
    }
  }

  MapMemory memory_;
  std::uint32_t capacity_;
  std::vector<Entry> entries_;
  std::vector<std::uint64_t> retired_;  // serials, in the order in which they retired
  std::map<std::uint32_t, std::uint32_t> first_;
  std::uint64_t next_ = 0;
};

TEST(TensorMap, HoldsExactlyWhatAPlainListHolds) {
  for (std::uint64_t seed = 0; seed < fewer_under_sanitizer(40); ++seed) {
    std::mt19937_64 random(seed);
    constexpr std::uint32_t kCapacities[] = {1, 3, 16, 64, 200};
    Model model(kCapacities[seed % 5]);
    const std::uint64_t buffers = 1 + random() % 24;
    for (int i = 0; i < 600; ++i) {
      const std::uint64_t dice = random() % 16;
      if (dice < 10)
        model.add(static_cast<std::uint32_t>(random() % 12), random() % buffers * 1024,
                  random() % 3 == 0);
      else if (dice < 13)
        model.drop(random() % 200);
      else
        model.retire(static_cast<std::uint32_t>(random() % 12));
      ASSERT_NO_FATAL_FAILURE(model.check()) << "seed " << seed << " step " << i;
    }
  }
}

TEST(TensorMap, KeepsALimitedNumberOfRetiredEntries) {
  Model model(2000);
  for (std::uint32_t task = 0; task < 300; ++task) {
    for (int i = 0; i < 4; ++i) model.add(task, task % 7 * 1024, false);
    model.retire(task);
    ASSERT_NO_FATAL_FAILURE(model.check()) << task;
  }
}

TEST(TensorMap, IsFullOnlyOfLiveEntries) {
  MapMemory memory(4);
  std::uint32_t first = TensorMap::kNone, other = TensorMap::kNone;
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(memory.map.has_room());
    memory.map.add(view_of(0, 0), {}, {}, false, 0, i < 3 ? first : other);
  }
  EXPECT_FALSE(memory.map.has_room());
  EXPECT_EQ(memory.map.live_count(), 4u);
  memory.map.retire(other);
  EXPECT_EQ(memory.map.live_count(), 3u);
  EXPECT_EQ(memory.map.retired_count(), 1u);
  EXPECT_TRUE(memory.map.has_room());
  EXPECT_EQ(memory.map.retired_count(), 0u) << "it went to make room";
}

TEST(TensorMap, CountsWhatLeaves) {
  MapMemory memory(4);
  std::uint32_t first = TensorMap::kNone;
  memory.map.add(view_of(0, 0), {}, {}, false, 0, first);
  memory.map.add(view_of(0, 1), {}, {}, false, 0, first);
  EXPECT_EQ(memory.map.freed_count(), 0u);
  memory.map.drop(memory.map.first_of(0), first);
  EXPECT_EQ(memory.map.freed_count(), 1u);
  memory.map.retire(first);
  EXPECT_EQ(memory.map.freed_count(), 1u) << "a retired entry stays in its chain";
  memory.map.remove(memory.map.first_of(0));
  EXPECT_EQ(memory.map.freed_count(), 2u);
}

}  // namespace
}  // namespace tidemark
