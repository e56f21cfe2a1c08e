// SPDX-License-Identifier: Apache-2.0
// The tensor map against a plain list: whatever is added, dropped, retired and evicted, a search
// finds exactly the entries of the list that overlap, newest first, and every entry can be used
// again.
#include "tidemark/runtime/graph/tensor_map.h"

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tidemark/base/testing/seed_range.h"
#include "tidemark/runtime/testing/random_views.h"

namespace tidemark {
namespace {

struct MapMemory {
  explicit MapMemory(std::uint32_t capacity)
      : buckets(map_buckets(capacity)),
        entries(capacity),
        groups(capacity),
        keys(capacity),
        map(buckets.data(), entries.data(), groups.data(), keys.data(), capacity) {}
  std::vector<MapBucket> buckets;
  std::vector<MapEntry> entries;
  std::vector<MapGroup> groups;
  std::vector<MapGroupKey> keys;
  TensorMap map;
};

CanonicalView view_of(std::uint64_t buffer, std::uint64_t offset) {
  TensorView view = TensorView::row_major(buffer, DType::kInt64, {1, {4}});
  view.offset = offset;
  return canonical_of(view);
}

std::vector<std::uint32_t> links_of(TensorMap& map, std::uint32_t first) {
  std::vector<std::uint32_t> links;
  for (std::uint32_t link = first; link != TensorMap::kNone; link = map.entry(link).found)
    links.push_back(link);
  return links;
}

// The map and what it must hold.
class Model {
 public:
  explicit Model(std::uint32_t capacity) : memory_(capacity), capacity_(capacity) {}

  void add(std::uint32_t task, const TensorView& view, bool reads) {
    const bool room = entries_.size() < capacity_ || !retired_.empty();
    ASSERT_EQ(map().has_room(), room);
    if (!room) return;
    if (entries_.size() == capacity_) evict();
    map().add(canonical_of(view), TaskId::make(0, task), SlotRef::make(1, task), reads, task % 7,
              first_[task]);
    entries_.push_back({first_[task], view, task, reads, false});
  }
  // Drops the n-th of all entries, as one that is superseded.
  void drop(std::size_t n) {
    if (n >= entries_.size()) return;
    const Entry entry = entries_[n];
    std::uint32_t none = TensorMap::kNone;
    map().drop(entry.link, entry.retired ? none : first_[entry.task]);
    forget(entry.link);
  }
  // A task writes what the n-th of all entries says, and takes it over.
  void replace(std::size_t n, std::uint32_t task) {
    if (n >= entries_.size()) return;
    const Entry entry = entries_[n];
    std::uint32_t none = TensorMap::kNone;
    map().replace(entry.link, entry.retired ? none : first_[entry.task], TaskId::make(0, task),
                  SlotRef::make(1, task), task % 7, first_[task]);
    ASSERT_EQ(first_[task], entry.link);
    forget(entry.link);
    entries_.push_back({entry.link, entry.view, task, false, false});
  }
  void forget_buffer(std::uint64_t buffer) {
    for (std::uint32_t link; (link = map().any_of(buffer)) != TensorMap::kNone;) {
      ASSERT_EQ(map().entry(link).view.buffer, buffer);
      std::uint32_t none = TensorMap::kNone;
      const MapEntry& entry = map().entry(link);
      map().drop(link, entry.retired != 0 ? none : first_[entry.task.local()]);
      forget(link);
    }
    for (const Entry& entry : entries_) ASSERT_NE(entry.view.buffer, buffer);
  }
  void retire(std::uint32_t task) {
    map().retire(first_[task]);
    first_[task] = TensorMap::kNone;
    // Newest first, as they are in the task's list.
    for (auto at = entries_.rbegin(); at != entries_.rend(); ++at)
      if (at->task == task && !at->retired) {
        at->retired = true;
        retired_.push_back(at->link);
      }
    while (retired_.size() > (capacity_ + 1) / 2) evict();
  }

  // What is known without a look at the map is never wrong.
  void look(std::uint64_t buffer) {
    const bool any = std::any_of(entries_.begin(), entries_.end(),
                                 [&](const Entry& entry) { return entry.view.buffer == buffer; });
    ASSERT_TRUE(!any || map().may_have(buffer));
    ASSERT_TRUE(!entries_.empty() || !map().may_have(buffer));
  }
  void search(const TensorView& view, bool readers) {
    std::vector<std::uint32_t> expected;
    std::vector<ViewOverlap> overlaps;
    for (auto at = entries_.rbegin(); at != entries_.rend(); ++at) {
      const ViewOverlap overlap = overlap_of(view, at->view);
      if (overlap == ViewOverlap::kNone || (at->reads && !readers)) continue;
      expected.push_back(at->link);
      overlaps.push_back(overlap);
    }
    const auto found = links_of(map(), map().find(canonical_of(view), {.readers = readers}));
    ASSERT_EQ(found, expected) << "newest first";
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_EQ(map().entry(found[i]).overlap, overlaps[i]);
    hits += found.size();
  }

  void check() {
    ASSERT_EQ(map().retired_count(), retired_.size());
    ASSERT_EQ(map().live_count(), entries_.size() - retired_.size());
    ASSERT_EQ(map().evicted_count(), evicted_);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Entry& expected = entries_[i];
      const MapEntry& entry = map().entry(expected.link);
      ASSERT_EQ(entry.view.buffer, expected.view.buffer);
      ASSERT_EQ(entry.task.local(), expected.task);
      ASSERT_EQ(entry.slot, SlotRef::make(1, expected.task).value);
      ASSERT_EQ(entry.arg, expected.task % 7);
      ASSERT_EQ(entry.reads != 0, expected.reads);
      ASSERT_EQ(entry.retired != 0, expected.retired);
      if (i > 0) {
        ASSERT_GT(entry.serial, map().entry(entries_[i - 1].link).serial);
      }
    }
    check_chains();
    check_task_lists();
  }
  [[nodiscard]] TensorMap& map() { return memory_.map; }

  std::uint64_t hits = 0;

 private:
  struct Entry {
    std::uint32_t link;
    TensorView view;
    std::uint32_t task;
    bool reads, retired;
  };

  void evict() {
    forget(retired_.front());
    ++evicted_;
  }
  void forget(std::uint32_t link) {
    std::erase_if(entries_, [&](const Entry& entry) { return entry.link == link; });
    std::erase(retired_, link);
  }
  // Every entry is once in the chain of a cell and once in a group, and nothing else is.
  void check_chains() {
    std::size_t in_cells = 0, in_groups = 0;
    for (const MapBucket& bucket : memory_.buckets) {
      std::uint32_t previous = TensorMap::kNone;
      for (std::uint32_t link = bucket.entries; link != TensorMap::kNone;) {
        ASSERT_EQ(map().entry(link).previous, previous);
        ASSERT_LE(++in_cells, entries_.size());
        previous = link;
        link = map().entry(link).next;
      }
      for (std::uint32_t at = bucket.groups; at != TensorMap::kNone;) {
        const MapGroup& group = memory_.groups[at - 1];
        std::uint32_t count = 0;
        previous = TensorMap::kNone;
        for (std::uint32_t link = group.first; link != TensorMap::kNone;) {
          const MapEntry& entry = map().entry(link);
          ASSERT_EQ(entry.group, at);
          ASSERT_EQ(entry.previous_of_group, previous);
          ASSERT_TRUE(entry.view.same_form(map().entry(group.first).view));
          ASSERT_EQ(cell_bits(entry.view), group.cell_bits);
          ASSERT_LE(++count, entries_.size());
          previous = link;
          link = entry.next_of_group;
        }
        ASSERT_GT(count, 0u) << "an empty group";
        ASSERT_EQ(count, group.count);
        in_groups += count;
        at = group.next;
      }
    }
    ASSERT_EQ(in_cells, entries_.size());
    ASSERT_EQ(in_groups, entries_.size());
  }
  void check_task_lists() {
    for (const auto& [task, first] : first_) {
      std::vector<std::uint32_t> listed, expected;
      for (std::uint32_t link = first; link != TensorMap::kNone;
           link = map().entry(link).next_of_task)
        listed.push_back(link);
      for (auto at = entries_.rbegin(); at != entries_.rend(); ++at)
        if (at->task == task && !at->retired) expected.push_back(at->link);
      ASSERT_EQ(listed, expected) << "task " << task;
    }
  }

  MapMemory memory_;
  std::uint32_t capacity_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> retired_;  // links, in the order in which they retired
  std::map<std::uint32_t, std::uint32_t> first_;
  std::uint64_t evicted_ = 0;
};

// A run of random steps. Few checks of everything: they cost more than the steps.
void compare_with_list(std::uint64_t seed, std::uint64_t& hits) {
  std::mt19937_64 random(seed);
  constexpr std::uint32_t kCapacities[] = {1, 3, 16, 64, 200, 600};
  Model model(kCapacities[seed % std::size(kCapacities)]);
  const std::uint64_t buffers = 1 + random() % 6;
  std::vector<samples::ViewSource> sources;
  for (std::uint64_t i = 0; i < buffers; ++i) sources.emplace_back(i * 4096, random);
  const auto view = [&] { return sources[random() % buffers].view(random); };
  const std::uint32_t tasks = 4 + static_cast<std::uint32_t>(random() % 100);
  const auto task = [&] { return static_cast<std::uint32_t>(random() % tasks); };
  for (int i = 0; i < 900; ++i) {
    const std::uint64_t dice = random() % 64;
    if (dice < 30)
      model.add(task(), view(), random() % 3 == 0);
    else if (dice < 56)
      model.search(view(), random() % 2 == 0);
    else if (dice < 58)
      model.drop(random() % 600);
    else if (dice < 59)
      model.replace(random() % 600, task());
    else if (dice < 63)
      model.retire(task());
    else if (random() % 4 == 0)
      model.forget_buffer(random() % buffers * 4096);
    model.look(random() % buffers * 4096);
    if (i % 100 == 99) model.check();
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed << " step " << i;
  }
  hits += model.hits;
}

TEST(TensorMap, FindsExactlyWhatAPlainListFinds) {
  const std::uint64_t seeds = seed_count({.campaign = 5000, .quick = 120, .under_sanitizer = 20});
  std::uint64_t hits = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed)
    ASSERT_NO_FATAL_FAILURE(compare_with_list(seed, hits));
  EXPECT_GT(hits, seeds * 100);
}

// One pass writes all tiles; then every tile is searched.
struct TileCost {
  std::uint64_t found = 0, compared = 0;
};
template <class Tile>
TileCost cost_of_tiles(std::uint64_t count, const Tile& tile) {
  MapMemory memory(static_cast<std::uint32_t>(count));
  std::uint32_t first = TensorMap::kNone;
  for (std::uint64_t i = 0; i < count; ++i)
    memory.map.add(canonical_of(tile(i)), {}, {}, false, 0, first);
  TileCost cost;
  for (std::uint64_t i = 0; i < count; ++i)
    cost.found += links_of(memory.map, memory.map.find(canonical_of(tile(i)), {})).size();
  cost.compared = memory.map.compared_count();
  return cost;
}

TEST(TensorMap, LooksAtFewEntriesHoweverManyWritersABufferHas) {
  for (const std::uint64_t count : {64u, 512u, 8192u}) {
    const auto rows = TensorView::row_major(0, DType::kFloat32, {2, {count, 48}});
    const TileCost of_rows =
        cost_of_tiles(count, [&](std::uint64_t i) { return rows.slice(0, i, 1); });
    EXPECT_EQ(of_rows.found, count);
    EXPECT_LE(of_rows.compared, count * 2) << "rows";
    const auto wide = TensorView::row_major(0, DType::kFloat32, {2, {48, 4 * count}});
    const TileCost of_columns =
        cost_of_tiles(count, [&](std::uint64_t i) { return wide.slice(1, 4 * i, 4); });
    EXPECT_EQ(of_columns.found, count);
    EXPECT_LE(of_columns.compared, count * 2) << "columns";
    // Of a size that is no power of two, so that tiles cross the cells.
    const auto odd = TensorView::row_major(0, DType::kFloat32, {2, {count / 16 * 20, 16 * 12}});
    const TileCost of_odd = cost_of_tiles(count, [&](std::uint64_t i) {
      return odd.slice(0, i / 16 * 20, 20).slice(1, i % 16 * 12, 12);
    });
    EXPECT_EQ(of_odd.found, count);
    EXPECT_LE(of_odd.compared, count * 16) << "odd tiles";
    // Half of them row tiles, half column tiles of the same blocks of 16 x 16.
    const auto square = TensorView::row_major(0, DType::kFloat32, {2, {16 * count / 8, 16}});
    const TileCost of_both = cost_of_tiles(count, [&](std::uint64_t i) {
      const TensorView block = square.slice(0, i / 8 * 16, 16);
      return i % 2 == 0 ? block.slice(0, i / 2 % 4 * 4, 4) : block.slice(1, i / 2 % 4 * 4, 4);
    });
    EXPECT_EQ(of_both.found, count * 5);
    EXPECT_LE(of_both.compared, count * 10) << "rows and columns";
    // Seen in another way: a range of a flat view among rows.
    MapMemory memory(static_cast<std::uint32_t>(count));
    std::uint32_t first = TensorMap::kNone;
    for (std::uint64_t i = 0; i < count; ++i)
      memory.map.add(canonical_of(rows.slice(0, i, 1)), {}, {}, false, 0, first);
    const TensorView flat = rows.reshape({1, {48 * count}}).slice(0, 48 * 7 + 5, 60);
    EXPECT_EQ(links_of(memory.map, memory.map.find(canonical_of(flat), {})).size(), 2u);
    EXPECT_LE(memory.map.compared_count(), 4u) << "a flat range";
  }
}

TEST(TensorMap, KeepsRetiredEntriesUpToHalfOfIt) {
  Model model(2000);
  const samples::ViewSource source(0);
  for (std::uint32_t task = 0; task < 600; ++task) {
    for (std::uint64_t i = 0; i < 4; ++i) model.add(task, source.element(task * 4 + i), false);
    model.retire(task);
    ASSERT_EQ(model.map().retired_count(), std::min<std::uint32_t>(4 * (task + 1), 1000));
    ASSERT_EQ(model.map().evicted_count(), 4 * (task + 1) - model.map().retired_count());
  }
  ASSERT_NO_FATAL_FAILURE(model.check());
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
  EXPECT_EQ(memory.map.evicted_count(), 0u);
  EXPECT_TRUE(memory.map.has_room());
  EXPECT_EQ(memory.map.retired_count(), 0u) << "it went to make room";
  EXPECT_EQ(memory.map.evicted_count(), 1u);
}

TEST(TensorMap, CountsOnlyWhatMadeRoom) {
  MapMemory memory(4);
  std::uint32_t first = TensorMap::kNone;
  for (std::uint64_t i = 0; i < 4; ++i) memory.map.add(view_of(0, 4 * i), {}, {}, false, 0, first);
  memory.map.drop(memory.map.find(view_of(0, 0), {}), first);
  EXPECT_EQ(memory.map.evicted_count(), 0u) << "superseded";
  memory.map.give_up(memory.map.find(view_of(0, 4), {}), first);
  EXPECT_EQ(memory.map.evicted_count(), 1u);
  EXPECT_EQ(memory.map.live_count(), 2u);
  memory.map.retire(first);
  memory.map.remove(memory.map.find(view_of(0, 8), {}));
  EXPECT_EQ(memory.map.evicted_count(), 1u) << "its buffer went";
}

// A task walks what it has found while space is made for it.
TEST(TensorMap, WhatWasFoundStaysReadableWhenEntriesAreTakenOut) {
  MapMemory memory(8);
  std::uint32_t first = TensorMap::kNone;
  for (std::uint32_t i = 0; i < 8; ++i)
    memory.map.add(view_of(0, 4 * i), TaskId::make(0, i), {}, false, 0, first);
  const CanonicalView all = canonical_of(TensorView::row_major(0, DType::kInt64, {1, {32}}));
  std::vector<std::uint32_t> tasks;
  for (std::uint32_t link = memory.map.find(all, {}); link != TensorMap::kNone;
       link = memory.map.entry(link).found) {
    if (tasks.empty()) memory.map.retire(first);  // half of them go
    tasks.push_back(memory.map.entry(link).task.local());
  }
  EXPECT_EQ(memory.map.retired_count(), 4u);
  EXPECT_EQ(tasks, (std::vector<std::uint32_t>{7, 6, 5, 4, 3, 2, 1, 0}));
}

}  // namespace
}  // namespace tidemark
