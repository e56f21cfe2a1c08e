// SPDX-License-Identifier: Apache-2.0
// What the tensor map is made of, in device memory. Links are places + 1: zeroed memory is an
// empty map.
#pragma once

#include <cstdint>

#include "tidemark/runtime/task_slot.h"
#include "tidemark/runtime/tensor/canonical_view.h"
#include "tidemark/schema/view_overlap.h"

namespace tidemark {

inline constexpr std::uint32_t kNoMapEntry = 0;

struct alignas(16) MapEntry {
  CanonicalView view;
  TaskId task;
  std::uint64_t serial;  // entries of one task have numbers in a row; 0: the entry is free
  std::uint32_t slot;    // SlotRef, while the task is live
  std::uint8_t reads;    // a reader's entry
  std::uint8_t retired;
  std::uint8_t arg;              // of the task
  ViewOverlap overlap;           // of what was searched last with this view
  std::uint32_t previous, next;  // in the chain of the bucket of its cell
  std::uint32_t previous_of_group, next_of_group;
  std::uint32_t previous_of_task, next_of_task;  // live: of its task; retired: of all retired ones
  std::uint32_t group;
  std::uint32_t found;  // the next one, older, that the last search has found
};
static_assert(sizeof(MapEntry) == 112);

// The entries of one buffer that have one form and about one size: one grid of cells. Never empty.
struct MapGroup {
  std::uint64_t cell_bits;
  std::uint32_t first;  // entry, the newest
  std::uint32_t count;
  std::uint32_t next;    // in the chain of the bucket of its buffer
  std::uint8_t crossed;  // bit per dimension: entries cross the end of their cells
  std::uint8_t reserved[3];
};
static_assert(sizeof(MapGroup) == 24);

// What the entries of a group have in common, so that none of them is looked at for it.
struct MapGroupKey {
  std::uint64_t buffer;
  std::uint64_t rows;
  ViewForm form;
  std::uint32_t reserved;

  TM_DEVICE bool is_of(const CanonicalView& view) const {
    return buffer == view.buffer && form.value == view.form.value && rows == view.rows;
  }
};
static_assert(sizeof(MapGroupKey) == 24);

struct MapBucket {
  std::uint32_t groups;   // of buffers
  std::uint32_t entries;  // of cells
};

TM_DEVICE constexpr std::uint64_t map_buckets(std::uint32_t entries) {
  std::uint64_t buckets = 16;
  while (buckets < entries / 2) buckets *= 2;
  return buckets;
}

}  // namespace tidemark
