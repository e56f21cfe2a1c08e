// SPDX-License-Identifier: Apache-2.0
// Rows of a track in the order of their begins, exactly and in bounded memory, though a lane has
// them in the order of their ends, and a damaged one in any.
//
// A window of kWindow rows sorts what is nearly in order; a run of our own needs no more. A row
// that comes too late for it (a span around thousands of others is written after them) is kept, and
// the lane is read once more: then the late rows are there from the beginning and are merged in. Of
// very many late rows only the first are kept, and each further pass takes the next ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tidemark/tiles/tile_codec.h"

namespace tidemark {

// Of two that begin together the longer one comes first: it is the outer one.
inline bool comes_before(const TileSpan& a, const TileSpan& b) {
  return a.begin != b.begin ? a.begin < b.begin : a.length > b.length;
}
inline bool comes_before(const TileSample& a, const TileSample& b) { return a.begin < b.begin; }

template <class Row>
class TimeOrder {
 public:
  static constexpr std::size_t kWindow = 1024;
  static constexpr std::size_t kLateMost = 512 * 1024;

  explicit TimeOrder(std::size_t late_most = kLateMost) : late_most_(late_most) {}

  // The rows of one pass over the lane, as they are there. emit(row) for each that is due.
  template <class Emit>
  void add(const Row& row, const Emit& emit) {
    const Entry entry{row, added_++};
    if (has_left_ && before(entry, left_)) return keep_late(entry);
    auto at = window_.end();
    while (at != window_.begin() + static_cast<std::ptrdiff_t>(head_) && before(entry, at[-1]))
      --at;
    window_.insert(at, entry);
    if (window_.size() - head_ <= kWindow) return;
    left_ = window_[head_++];
    has_left_ = true;
    if (head_ == 4 * kWindow) {
      window_.erase(window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
    merge(left_, emit);
  }

  enum class Next { kDone, kAgain, kAgainFromStart };
  // After the last row. kAgain: all rows have to be added once more, in the same order.
  // kAgainFromStart: that, and what was emitted so far does not count.
  template <class Emit>
  Next end_pass(const Emit& emit) {
    for (; head_ < window_.size(); ++head_) merge(window_[head_], emit);
    for (; next_late_ < late_.size(); ++next_late_) release(late_[next_late_], emit);
    window_.clear();
    head_ = next_late_ = 0;
    added_ = 0;
    has_left_ = false;
    late_.clear();
    const bool from_start = !knows_late_ && !later_.empty();
    const bool again = from_start || has_last_;
    knows_late_ = true;
    has_first_ = has_last_ && !from_start;
    first_ = last_;
    sort_later();
    has_last_ = later_overflows_;
    if (has_last_) last_ = later_.back();
    late_.swap(later_);
    later_overflows_ = false;
    return from_start ? Next::kAgainFromStart : again ? Next::kAgain : Next::kDone;
  }

 private:
  struct Entry {
    Row row;
    std::uint64_t index;  // of the pass
  };
  static bool before(const Entry& a, const Entry& b) {
    if (comes_before(a.row, b.row)) return true;
    return !comes_before(b.row, a.row) && a.index < b.index;
  }

  template <class Emit>
  void merge(const Entry& entry, const Emit& emit) {
    for (; next_late_ < late_.size() && before(late_[next_late_], entry); ++next_late_)
      release(late_[next_late_], emit);
    release(entry, emit);
  }
  // A pass emits what comes after the one before it, up to the last late row that it knows.
  template <class Emit>
  void release(const Entry& entry, const Emit& emit) {
    if (!knows_late_ && !later_.empty()) return;
    if (has_first_ && !before(first_, entry)) return;
    if (has_last_ && before(last_, entry)) return;
    emit(entry.row);
  }
  // For the next pass. Of the first pass all; afterwards those that this one does not emit.
  void keep_late(const Entry& entry) {
    if (knows_late_ && (!has_last_ || !before(last_, entry))) return;
    later_.push_back(entry);
    if (later_.size() >= 2 * late_most_) sort_later();
  }
  void sort_later() {
    std::sort(later_.begin(), later_.end(), before);
    if (later_.size() <= late_most_) return;
    later_.resize(late_most_);
    later_overflows_ = true;
  }

  std::size_t late_most_;
  std::vector<Entry> window_;  // sorted, from head_ on
  std::size_t head_ = 0;
  std::uint64_t added_ = 0;
  bool has_left_ = false;
  Entry left_{};             // the last one out of the window
  std::vector<Entry> late_;  // of this pass, sorted
  std::size_t next_late_ = 0;
  std::vector<Entry> later_;  // late rows for the next pass
  bool later_overflows_ = false;
  bool knows_late_ = false;  // the first pass is over
  bool has_first_ = false, has_last_ = false;
  Entry first_{}, last_{};  // this pass emits what comes after the one, up to the other
};

}  // namespace tidemark
