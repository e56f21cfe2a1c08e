// SPDX-License-Identifier: Apache-2.0
// The entries that a search of the tensor map has found, newest first, whatever the order in which
// they were met. They are linked through the entries themselves: there may be any number.
#pragma once

#include <cstdint>

#include "tidemark/runtime/graph/map_entry.h"

namespace tidemark {

// A merge sort of runs. Entries met newest first are one run and cost nothing more.
class FoundEntries {
 public:
  TM_DEVICE explicit FoundEntries(MapEntry* entries) : entries_(entries) {}

  TM_DEVICE void add(std::uint32_t link) {
    MapEntry& made = at(link);
    made.found = kNoMapEntry;
    if (last_ != kNoMapEntry && at(last_).serial < made.serial) put_away();
    if (first_ == kNoMapEntry)
      first_ = link;
    else
      at(last_).found = link;
    last_ = link;
  }
  // The newest one; `found` is the way to the others.
  TM_DEVICE std::uint32_t sorted() {
    std::uint32_t all = first_;
    for (std::uint32_t i = 0; i < level_count_; ++i)
      if (levels_[i] != kNoMapEntry) all = merged(levels_[i], all);
    return all;
  }

 private:
  TM_DEVICE MapEntry& at(std::uint32_t link) { return entries_[link - 1]; }

  // Level i has at most 2^i runs in one.
  TM_DEVICE void put_away() {
    std::uint32_t run = first_, i = 0;
    for (; i < level_count_ && levels_[i] != kNoMapEntry; ++i) {
      run = merged(levels_[i], run);
      levels_[i] = kNoMapEntry;
    }
    if (i == level_count_) ++level_count_;
    levels_[i] = run;
    first_ = last_ = kNoMapEntry;
  }
  TM_DEVICE std::uint32_t merged(std::uint32_t one, std::uint32_t other) {
    std::uint32_t first = kNoMapEntry;
    std::uint32_t* end = &first;
    while (one != kNoMapEntry && other != kNoMapEntry) {
      std::uint32_t& newer = at(one).serial > at(other).serial ? one : other;
      *end = newer;
      end = &at(newer).found;
      newer = *end;
    }
    *end = one != kNoMapEntry ? one : other;
    return first;
  }

  MapEntry* entries_;
  std::uint32_t first_ = kNoMapEntry, last_ = kNoMapEntry;  // of the run that grows
  std::uint32_t level_count_ = 0;
  std::uint32_t levels_[32];
};

}  // namespace tidemark
