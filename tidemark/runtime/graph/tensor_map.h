// SPDX-License-Identifier: Apache-2.0
// Who wrote which part of a buffer: the entries in which a new task finds the writers (and with
// --track-war the readers) it must wait for. Used by the orchestrator alone. What a search costs
// depends on what it finds, not on how many entries there are:
//
//   buffer ─▶ groups, one per form and size of views ─▶ cells that meet the view ─▶ entries
//
// An entry outlives its task, so that the edge of a later reader does not depend on how fast the
// task was. It goes when it is superseded or its buffer goes. Up to half the map is kept for such
// retired entries; beyond that the oldest are evicted, and edges may be missing.
#pragma once

#include <cstdint>

#include "tidemark/base/check.h"
#include "tidemark/base/mix.h"
#include "tidemark/runtime/graph/found_entries.h"
#include "tidemark/runtime/graph/map_entry.h"
#include "tidemark/runtime/tensor/overlap.h"
#include "tidemark/runtime/tensor/view_cells.h"
#include "tidemark/runtime/unit_place.h"

namespace tidemark {

struct MapSearch {
  bool readers = false;  // also their entries
};

class TensorMap {
 public:
  static constexpr std::uint32_t kNone = kNoMapEntry;

  // Groups: as many as entries, since none is empty.
  TM_DEVICE TensorMap(MapBucket* buckets, MapEntry* entries, MapGroup* groups, MapGroupKey* keys,
                      std::uint32_t capacity)
      : buckets_(buckets),
        entries_(entries),
        groups_(groups),
        keys_(keys),
        capacity_(capacity),
        mask_(map_buckets(capacity) - 1) {}

  TM_DEVICE MapEntry& entry(std::uint32_t link) { return entries_[link - 1]; }

  // The entries that a view overlaps, newest first: `found` leads from one to the next, and
  // `overlap` says how much of the view each covers. Valid until the next search or the next
  // entry, also where entries are taken out meanwhile.
  TM_DEVICE std::uint32_t find(const CanonicalView& view, const MapSearch& search) {
    FoundEntries found(entries_);
    if (view.empty() || !may_have(view.buffer)) return kNone;
    const std::uint32_t lone = lone_near_[near(view.buffer)];
    for (std::uint32_t link = lone != kNone ? lone : bucket_of(view.buffer).groups;
         link != kNone;) {
      const MapGroup group = group_at(link);
      const MapGroupKey key = key_of(link);
      if (key.buffer == view.buffer) find_in(link, group, key, view, search, found);
      link = lone != kNone ? kNone : group.next;
    }
    return found.sorted();
  }
  // The entry, if the buffer has one and that is known without a look at the map itself.
  TM_DEVICE const MapEntry* lone_entry(std::uint64_t buffer) {
    const std::uint32_t link = lone_near_[near(buffer)];
    if (link == kNone || key_of(link).buffer != buffer || group_at(link).count != 1) return nullptr;
    return &entry(group_at(link).first);
  }
  // False: there is no entry of the buffer. Known without a look at the map itself.
  TM_DEVICE bool may_have(std::uint64_t buffer) const { return groups_near_[near(buffer)] != 0; }

  // Any entry of the buffer.
  TM_DEVICE std::uint32_t any_of(std::uint64_t buffer) {
    if (!may_have(buffer)) return kNone;
    for (std::uint32_t link = bucket_of(buffer).groups; link != kNone; link = group_at(link).next)
      if (key_of(link).buffer == buffer) return group_at(link).first;
    return kNone;
  }

  // False: full, and no retired entry can go.
  TM_DEVICE bool has_room() { return free_ != kNone || used_ < capacity_ || makes_room(); }
  TM_DEVICE TM_NOINLINE_ON_GPU bool makes_room() {
    if (retired_first_ == kNone) return false;
    remove(retired_first_);
    ++evicted_;
    return true;
  }

  // Only with room. `task_first` is the head of the task's own list.
  TM_DEVICE void add(const CanonicalView& view, TaskId task, SlotRef slot, bool reads,
                     std::uint32_t arg, std::uint32_t& task_first) {
    std::uint32_t link = free_;
    if (link != kNone) {
      free_ = entry(link).next;
    } else {
      TM_CHECK(used_ < capacity_);
      link = ++used_;
    }
    MapEntry& made = entry(link);
    made.view = view;
    give_to(link, made, task, slot, reads, arg, task_first);
    link_to_group(link, made);
    link_to_cell(link, made);
  }
  // The same with the entry of another task, of the same elements in the same form, which it
  // supersedes. `old_first` is the head of that task's list (ignored if retired).
  TM_DEVICE void replace(std::uint32_t link, std::uint32_t& old_first, TaskId task, SlotRef slot,
                         std::uint32_t arg, std::uint32_t& task_first) {
    MapEntry& made = entry(link);
    take_from(link, made, old_first);
    give_to(link, made, task, slot, false, arg, task_first);
    // Newest first, as if it had been added.
    MapGroup& group = group_at(made.group);
    if (group.first != link) {
      entry(made.previous_of_group).next_of_group = made.next_of_group;
      if (made.next_of_group != kNone)
        entry(made.next_of_group).previous_of_group = made.previous_of_group;
      link_first_of_group(link, made, group);
    }
    if (made.previous != kNone) {
      entry(made.previous).next = made.next;
      if (made.next != kNone) entry(made.next).previous = made.previous;
      link_to_cell(link, made);
    }
  }

  // The entry is superseded: `task_first` is the head of its task's list (ignored if retired).
  TM_DEVICE void drop(std::uint32_t link, std::uint32_t& task_first) {
    take_from(link, entry(link), task_first);
    unlink_and_free(link);
  }

  // The same of an entry that makes room.
  TM_DEVICE void give_up(std::uint32_t link, std::uint32_t& task_first) {
    drop(link, task_first);
    ++evicted_;
  }

  // The task is gone: its entries stay as retired ones.
  TM_DEVICE void retire(std::uint32_t task_first) {
    for (std::uint32_t link = task_first; link != kNone;) {
      MapEntry& old = entry(link);
      const std::uint32_t next = old.next_of_task;
      old.retired = 1;
      old.previous_of_task = retired_last_;
      old.next_of_task = kNone;
      if (retired_last_ != kNone) entry(retired_last_).next_of_task = link;
      retired_last_ = link;
      if (retired_first_ == kNone) retired_first_ = link;
      ++retired_;
      --live_;
      link = next;
    }
    for (; retired_ > retired_max(); ++evicted_) remove(retired_first_);
  }

  // Removes a retired entry.
  TM_DEVICE void remove(std::uint32_t link) {
    MapEntry& gone = entry(link);
    TM_CHECK(gone.retired != 0);
    std::uint32_t none = kNone;
    take_from(link, gone, none);
    unlink_and_free(link);
  }

  TM_DEVICE std::uint32_t live_count() const { return live_; }
  TM_DEVICE std::uint32_t retired_count() const { return retired_; }
  TM_DEVICE std::uint32_t retired_max() const { return (capacity_ + 1) / 2; }
  TM_DEVICE std::uint32_t capacity() const { return capacity_; }
  // Entries that made room: a later task may have lost an edge.
  TM_DEVICE std::uint64_t evicted_count() const { return evicted_; }
  // Entries that searches have looked at.
  TM_DEVICE std::uint64_t compared_count() const { return compared_; }

 private:
  static constexpr std::uint32_t kNearMax = 256;
  // Buffers begin at a multiple of 1024 each, often of a size in common.
  TM_DEVICE static constexpr std::uint32_t near(std::uint64_t buffer) {
    const auto kilobytes = static_cast<std::uint32_t>(buffer >> 10);
    return (kilobytes ^ kilobytes >> 8 ^ kilobytes >> 16) % kNearMax;
  }
  TM_DEVICE MapGroup& group_at(std::uint32_t link) {
#if TM_ON_GPU
    if (link <= kGroupsBeside) return of_block<GroupsBeside>().groups[link - 1];
#endif
    return groups_[link - 1];
  }
  TM_DEVICE MapGroupKey& key_of(std::uint32_t link) {
#if TM_ON_GPU
    if (link <= kGroupsBeside) return of_block<GroupsBeside>().keys[link - 1];
#endif
    return keys_[link - 1];
  }
  // On a GPU the first groups are beside the orchestrator, and these are mostly all there are.
  static constexpr std::uint32_t kGroupsBeside = 64;
  struct GroupsBeside {
    MapGroup groups[kGroupsBeside];
    MapGroupKey keys[kGroupsBeside];
  };
  TM_DEVICE MapBucket& bucket_at(std::uint64_t hash) { return buckets_[hash & mask_]; }
  TM_DEVICE MapBucket& bucket_of(std::uint64_t buffer) { return bucket_at(mix(buffer)); }
  TM_DEVICE std::uint32_t& cell_at(std::uint32_t group, std::uint64_t cell) {
    return bucket_at(mix(cell ^ std::uint64_t{group} << 40)).entries;
  }

  TM_DEVICE void find_in(std::uint32_t link, const MapGroup& group, const MapGroupKey& key,
                         const CanonicalView& view, const MapSearch& search, FoundEntries& found) {
    const BoxRange box = box_in_form(view, key.form, key.rows);
    CellRange cells;
    // A cell costs more than an entry: its bucket is anywhere.
    if (group.count < 2 ||
        !cells.set(key.form, group.cell_bits, group.crossed, box, group.count / 2)) {
      for (std::uint32_t at = group.first; at != kNone; at = entry(at).next_of_group)
        compare(at, view, box, search, found);
      return;
    }
    do {
      const std::uint64_t cell = cells.cell();
      for (std::uint32_t at = cell_at(link, cell); at != kNone; at = entry(at).next)
        if (entry(at).group == link && (entry(at).view.low & group.cell_bits) == cell)
          compare(at, view, box, search, found);
    } while (cells.next());
  }
  TM_DEVICE void compare(std::uint32_t link, const CanonicalView& view, BoxRange box,
                         const MapSearch& search, FoundEntries& found) {
    MapEntry& other = entry(link);
    ++compared_;
    if (other.reads != 0 && !search.readers) return;
    other.overlap = overlap_of(view, other.view, box);
    if (other.overlap != ViewOverlap::kNone) found.add(link);
  }

  // Out of the list that it is in: of its task, or of all retired ones.
  TM_DEVICE void take_from(std::uint32_t link, MapEntry& gone, std::uint32_t& task_first) {
    if (gone.retired != 0) {
      if (retired_first_ == link) retired_first_ = gone.next_of_task;
      if (retired_last_ == link) retired_last_ = gone.previous_of_task;
      --retired_;
    } else {
      if (gone.previous_of_task == kNone) task_first = gone.next_of_task;
      --live_;
    }
    unlink_of_task(gone);
  }
  TM_DEVICE void give_to(std::uint32_t link, MapEntry& made, TaskId task, SlotRef slot, bool reads,
                         std::uint32_t arg, std::uint32_t& task_first) {
    made.task = task;
    made.serial = ++serial_;
    made.slot = slot.value;
    made.reads = reads ? 1 : 0;
    made.retired = 0;
    made.arg = static_cast<std::uint8_t>(arg);
    made.previous_of_task = kNone;
    made.next_of_task = task_first;
    if (task_first != kNone) entry(task_first).previous_of_task = link;
    task_first = link;
    ++live_;
  }

  TM_DEVICE void link_to_group(std::uint32_t link, MapEntry& made) {
    const std::uint64_t bits = cell_bits(made.view);
    made.group = group_of(made.view, bits);
    MapGroup& group = group_at(made.group);
    group.crossed |= crossed_dims(made.view, bits);
    ++group.count;
    link_first_of_group(link, made, group);
  }
  TM_DEVICE void link_first_of_group(std::uint32_t link, MapEntry& made, MapGroup& group) {
    made.previous_of_group = kNone;
    made.next_of_group = group.first;
    if (group.first != kNone) entry(group.first).previous_of_group = link;
    group.first = link;
  }
  TM_DEVICE void link_to_cell(std::uint32_t link, MapEntry& made) {
    std::uint32_t& chain = cell_at(made.group, made.view.low & group_at(made.group).cell_bits);
    made.previous = kNone;
    made.next = chain;
    if (chain != kNone) entry(chain).previous = link;
    chain = link;
  }

  // The group of such views; a new one is empty.
  TM_DEVICE std::uint32_t group_of(const CanonicalView& view, std::uint64_t bits) {
    std::uint32_t& chain = bucket_of(view.buffer).groups;
    for (std::uint32_t link = chain; link != kNone; link = group_at(link).next) {
      if (group_at(link).cell_bits == bits && key_of(link).is_of(view)) return link;
    }
    std::uint32_t link = free_group_;
    if (link != kNone)
      free_group_ = group_at(link).next;
    else
      link = ++used_groups_;
    group_at(link) = {
        .cell_bits = bits, .first = kNone, .count = 0, .next = chain, .crossed = 0, .reserved = {}};
    key_of(link) = {.buffer = view.buffer, .rows = view.rows, .form = view.form, .reserved = 0};
    chain = link;
    const std::uint32_t place = near(view.buffer);
    lone_near_[place] = groups_near_[place]++ == 0 ? link : kNone;
    return link;
  }
  TM_DEVICE void free_group(std::uint32_t link, std::uint64_t buffer) {
    std::uint32_t* at = &bucket_of(buffer).groups;
    while (*at != link) at = &group_at(*at).next;
    *at = group_at(link).next;
    group_at(link).next = free_group_;
    free_group_ = link;
    const std::uint32_t place = near(buffer);
    --groups_near_[place];
    lone_near_[place] = kNone;  // which of them is left is not known
  }

  TM_DEVICE void unlink_of_task(const MapEntry& gone) {
    if (gone.previous_of_task != kNone)
      entry(gone.previous_of_task).next_of_task = gone.next_of_task;
    if (gone.next_of_task != kNone)
      entry(gone.next_of_task).previous_of_task = gone.previous_of_task;
  }
  TM_DEVICE void unlink_of_group(const MapEntry& gone) {
    MapGroup& group = group_at(gone.group);
    if (gone.previous_of_group != kNone)
      entry(gone.previous_of_group).next_of_group = gone.next_of_group;
    else
      group.first = gone.next_of_group;
    if (gone.next_of_group != kNone)
      entry(gone.next_of_group).previous_of_group = gone.previous_of_group;
    if (--group.count == 0) free_group(gone.group, gone.view.buffer);
  }
  TM_DEVICE void unlink_and_free(std::uint32_t link) {
    MapEntry& gone = entry(link);
    gone.serial = 0;
    if (gone.previous != kNone)
      entry(gone.previous).next = gone.next;
    else
      cell_at(gone.group, gone.view.low & group_at(gone.group).cell_bits) = gone.next;
    if (gone.next != kNone) entry(gone.next).previous = gone.previous;
    unlink_of_group(gone);
    gone.next = free_;
    free_ = link;
  }

  MapBucket* buckets_;
  MapEntry* entries_;
  MapGroup* groups_;
  MapGroupKey* keys_;  // of the groups
  std::uint32_t capacity_;
  std::uint64_t mask_;
  std::uint32_t used_ = 0;  // entries ever taken from the array
  std::uint32_t free_ = kNone;
  std::uint32_t used_groups_ = 0;
  std::uint32_t free_group_ = kNone;
  std::uint32_t live_ = 0;
  std::uint32_t retired_ = 0;
  std::uint32_t retired_first_ = kNone, retired_last_ = kNone;
  std::uint64_t serial_ = 0;
  std::uint64_t evicted_ = 0;
  std::uint64_t compared_ = 0;
  // By a few bits of their buffers: how many groups there are, and the group if that is one.
  std::uint32_t groups_near_[kNearMax] = {};
  std::uint32_t lone_near_[kNearMax] = {};
};

}  // namespace tidemark
