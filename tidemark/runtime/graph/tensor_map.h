// SPDX-License-Identifier: Apache-2.0
// Who wrote which part of a buffer: the entries in which a new task finds the writers (and with
// --track-war the readers) it must wait for. Used by the orchestrator alone. Entries of one buffer
// are in one chain. An entry outlives its task for a while, so that the edge of a later reader
// does not depend on how fast the task was; it goes when it is superseded, when its buffer goes,
// or when room is needed.
#pragma once

#include <cstdint>

#include "tidemark/base/check.h"
#include "tidemark/base/mix.h"
#include "tidemark/runtime/task_slot.h"

namespace tidemark {

struct MapEntry {
  TensorView view;
  TaskId task;
  std::uint32_t slot;  // SlotRef, while the task is live
  std::uint8_t reads;  // a reader's entry
  std::uint8_t retired;
  std::uint8_t arg;  // of the task
  std::uint8_t reserved;
  std::uint32_t previous, next;                  // in the chain of the bucket
  std::uint32_t previous_of_task, next_of_task;  // live: of its task; retired: of all retired ones
};

TM_DEVICE constexpr std::uint64_t map_buckets(std::uint32_t entries) {
  std::uint64_t buckets = 16;
  while (buckets < entries / 4) buckets *= 2;
  return buckets;
}

// Links are places + 1: zeroed memory is an empty map.
class TensorMap {
 public:
  static constexpr std::uint32_t kNone = 0;
  static constexpr std::uint32_t kRetiredMax = 512;  // kept for their edges

  TM_DEVICE TensorMap(std::uint32_t* buckets, MapEntry* entries, std::uint32_t capacity)
      : buckets_(buckets),
        entries_(entries),
        capacity_(capacity),
        mask_(map_buckets(capacity) - 1) {}

  TM_DEVICE MapEntry& entry(std::uint32_t link) { return entries_[link - 1]; }
  TM_DEVICE std::uint32_t first_of(std::uint64_t buffer) const {
    return buckets_[mix(buffer) & mask_];
  }

  // False: full, and no retired entry can go.
  TM_DEVICE bool has_room() {
    if (free_ != kNone || used_ < capacity_) return true;
    if (retired_first_ == kNone) return false;
    remove(retired_first_);
    return true;
  }

  // Only with room. `task_first` is the head of the task's own list.
  TM_DEVICE void add(const TensorView& view, TaskId task, SlotRef slot, bool reads,
                     std::uint32_t arg, std::uint32_t& task_first) {
    std::uint32_t link = free_;
    if (link != kNone) {
      free_ = entry(link).next;
    } else {
      TM_CHECK(used_ < capacity_);
      link = ++used_;
    }
    MapEntry& made = entry(link);
    std::uint32_t& bucket = buckets_[mix(view.buffer) & mask_];
    made = MapEntry{.view = view,
                    .task = task,
                    .slot = slot.value,
                    .reads = static_cast<std::uint8_t>(reads ? 1 : 0),
                    .retired = 0,
                    .arg = static_cast<std::uint8_t>(arg),
                    .reserved = 0,
                    .previous = kNone,
                    .next = bucket,
                    .previous_of_task = kNone,
                    .next_of_task = task_first};
    if (bucket != kNone) entry(bucket).previous = link;
    if (task_first != kNone) entry(task_first).previous_of_task = link;
    bucket = link;
    task_first = link;
    ++live_;
  }

  // The entry is superseded: `task_first` is the head of its task's list (ignored if retired).
  TM_DEVICE void drop(std::uint32_t link, std::uint32_t& task_first) {
    MapEntry& gone = entry(link);
    if (gone.retired != 0) return remove(link);
    if (task_first == link) task_first = gone.next_of_task;
    unlink_of_task(gone);
    --live_;
    unlink_and_free(link);
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
    while (retired_ > kRetiredMax) remove(retired_first_);
  }

  // Removes a retired entry.
  TM_DEVICE void remove(std::uint32_t link) {
    MapEntry& gone = entry(link);
    TM_CHECK(gone.retired != 0);
    if (retired_first_ == link) retired_first_ = gone.next_of_task;
    if (retired_last_ == link) retired_last_ = gone.previous_of_task;
    unlink_of_task(gone);
    --retired_;
    unlink_and_free(link);
  }

  TM_DEVICE std::uint32_t live_count() const { return live_; }
  TM_DEVICE std::uint32_t retired_count() const { return retired_; }
  TM_DEVICE std::uint32_t capacity() const { return capacity_; }
  // Entries ever taken out: who walks a chain sees by it that the chain may have changed.
  TM_DEVICE std::uint64_t freed_count() const { return freed_; }

 private:
  TM_DEVICE void unlink_of_task(const MapEntry& gone) {
    if (gone.previous_of_task != kNone)
      entry(gone.previous_of_task).next_of_task = gone.next_of_task;
    if (gone.next_of_task != kNone)
      entry(gone.next_of_task).previous_of_task = gone.previous_of_task;
  }
  TM_DEVICE void unlink_and_free(std::uint32_t link) {
    MapEntry& gone = entry(link);
    if (gone.previous != kNone)
      entry(gone.previous).next = gone.next;
    else
      buckets_[mix(gone.view.buffer) & mask_] = gone.next;
    if (gone.next != kNone) entry(gone.next).previous = gone.previous;
    gone.next = free_;
    free_ = link;
    ++freed_;
  }

  std::uint32_t* buckets_;
  MapEntry* entries_;
  std::uint32_t capacity_;
  std::uint64_t mask_;
  std::uint32_t used_ = 0;  // entries ever taken from the array
  std::uint32_t free_ = kNone;
  std::uint32_t live_ = 0;
  std::uint32_t retired_ = 0;
  std::uint32_t retired_first_ = kNone, retired_last_ = kNone;
  std::uint64_t freed_ = 0;
};

}  // namespace tidemark
