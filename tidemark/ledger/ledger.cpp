// SPDX-License-Identifier: Apache-2.0
#include "tidemark/ledger/ledger.h"

#include <algorithm>

namespace tidemark {
namespace {

constexpr auto kFileErrorIndex = static_cast<std::size_t>(DropReason::kFileError);

std::uint64_t sum(const std::array<std::uint64_t, kDropReasonCount>& values) {
  std::uint64_t total = 0;
  for (const auto value : values) total += value;
  return total;
}

}  // namespace

void LaneCounts::add(const LaneCounts& other) {
  produced += other.produced;
  delivered += other.delivered;
  recovered += other.recovered;
  dropped += other.dropped;
  for (std::size_t i = 0; i < dropped_by.size(); ++i) dropped_by[i] += other.dropped_by[i];
  overwritten += other.overwritten;
  incomplete += other.incomplete;
  missing += other.missing;
  contradictory += other.contradictory;
  bytes += other.bytes;
  pages += other.pages;
  stall_ticks += other.stall_ticks;
  gaps += other.gaps;
  gap_lost += other.gap_lost;
}

// What the device refused between the page before and this one. Pages in between that did not come
// have reported their part to nobody, but the total goes on counting.
std::uint64_t LaneLedger::dropped_up_to(const PageHeaderImage& header, bool follows) const {
  if (follows || header.dropped_total < dropped_total_seen_) return header.dropped_before;
  const std::uint64_t dropped = header.dropped_total - dropped_total_seen_;
  const bool possible = dropped >= header.dropped_before && dropped <= header.first_number;
  return possible ? dropped : header.dropped_before;
}

// Numbers that were given out and are in no page that came. A keep-last lane reopens its pages
// while it is read: a page of it that is missing was overwritten.
void LaneLedger::lose(std::uint64_t count, bool pages_are_missing) {
  if (pages_are_missing && overflow_ == Overflow::kKeepLast)
    counts_.overwritten += count;
  else if (pages_are_missing)
    counts_.missing += count;
  else
    counts_.contradictory += count;
}

// Explains the numbers between the page before and this one.
void LaneLedger::account_start(const PageHeaderImage& header) {
  const bool follows = header.sequence == last_sequence_ + 1;
  const std::uint64_t dropped = dropped_up_to(header, follows);
  const std::uint64_t reached = next_number_ + dropped;
  if (!follows) orphan_ = Orphan::kOfMissingPages;
  if (header.first_number > reached) {
    lose(header.first_number - reached, !follows || last_was_open_);
    orphan_ = Orphan::kOfMissingPages;
  } else if (header.first_number < reached) {
    counts_.contradictory += reached - header.first_number;  // counted twice: just as wrong
  }
  counts_.dropped += dropped;
  device_dropped_ += dropped;
  counts_.gaps += dropped != 0;
  counts_.gap_lost += dropped;
  counts_.stall_ticks += header.stall_ticks;
  dropped_total_seen_ = header.dropped_total;
  last_sequence_ = header.sequence;
  next_number_ = header.first_number;
  last_was_open_ = false;
  ++counts_.pages;
}

// A framed page may begin with the rest of a frame whose beginning is lost. The frame counts where
// it ends, but not as delivered.
std::uint64_t LaneLedger::take_orphan(const PageHeaderImage& header, std::uint64_t count,
                                      PageFate fate) {
  const Orphan before = orphan_;
  const bool begins_with_rest = header.used_bytes > 0 && header.first_frame_offset != 0;
  const bool frame_goes_on = header.record_bytes == 0 && begins_with_rest && count == 0;
  if (fate == PageFate::kFileError) {
    orphan_ = Orphan::kOfFile;
    return count;
  }
  if (!frame_goes_on) orphan_ = Orphan::kNo;
  if (before == Orphan::kNo || header.record_bytes != 0 || !begins_with_rest || count == 0)
    return count;
  if (overflow_ == Overflow::kKeepLast) {
    ++counts_.overwritten;
  } else if (before == Orphan::kOfMissingPages) {
    ++counts_.missing;
  } else {
    ++counts_.dropped;
    ++counts_.dropped_by[kFileErrorIndex];
  }
  return count - 1;
}

void LaneLedger::add_page(const PageHeaderImage& header, PageFate fate,
                          std::uint64_t payload_bytes) {
  account_start(header);
  next_number_ += header.record_count;
  const std::uint64_t count = take_orphan(header, header.record_count, fate);
  switch (fate) {
    case PageFate::kDelivered:
      counts_.delivered += count;
      break;
    case PageFate::kRecovered:
      counts_.recovered += count;
      break;
    case PageFate::kFileError:
      counts_.dropped += count;
      counts_.dropped_by[kFileErrorIndex] += count;
      return;
  }
  counts_.bytes += payload_bytes;
}

void LaneLedger::add_counted_page(const PageHeaderImage& header, const PageCounts& counts,
                                  PageFate fate) {
  PageHeaderImage counted = header;
  counted.record_count = counts.whole;
  counted.used_bytes = static_cast<std::uint32_t>(counts.used_bytes);
  add_page(counted, fate, counts.used_bytes);
  if (header.record_count == kPageOpen) {
    last_was_open_ = true;
    counts_.incomplete += counts.torn;
    return;
  }
  // The producer sealed more than its stamps confirm: those numbers are explained by nothing.
  counts_.contradictory += counts.torn;
  next_number_ += counts.torn;
}

void LaneLedger::finish(const LaneWordsImage& words) {
  const std::uint64_t tail =
      words.dropped_total > dropped_total_seen_ ? words.dropped_total - dropped_total_seen_ : 0;
  counts_.dropped += tail;
  device_dropped_ += tail;
  counts_.gaps += tail != 0;
  counts_.gap_lost += tail;
  next_number_ += tail;
  counts_.produced = next_number_;
  counts_.stall_ticks = words.stall_ticks;
  const bool closed = words.state == LaneState::kClosed;
  if (words.attempted > next_number_) {
    const bool laps = overflow_ == Overflow::kKeepLast && words.opened_pages > last_sequence_;
    (laps ? counts_.overwritten : counts_.missing) += words.attempted - next_number_;
    counts_.produced = words.attempted;
  } else if (closed && words.attempted < next_number_) {
    counts_.contradictory += next_number_ - words.attempted;
  }
  settle_reasons(words);
}

// A producer that was killed between its stores may have named the reason of one attempt more
// than it counted.
void LaneLedger::settle_reasons(const LaneWordsImage& words) {
  std::array<std::uint64_t, kDropReasonCount> by{};
  for (std::size_t i = 0; i < by.size(); ++i) by[i] = words.dropped_by[i];
  const bool closed = words.state == LaneState::kClosed;
  if (!closed && sum(by) == device_dropped_ + 1) {
    std::size_t reason = words.tail_gap_reason % kDropReasonCount;
    for (std::size_t i = 0; by[reason] == 0 && i < by.size(); ++i) reason = i;
    if (by[reason] > 0) --by[reason];
  }
  if (sum(by) != device_dropped_) {
    const std::uint64_t named = sum(by);
    counts_.contradictory +=
        named > device_dropped_ ? named - device_dropped_ : device_dropped_ - named;
  }
  for (std::size_t i = 0; i < by.size(); ++i) counts_.dropped_by[i] += by[i];
}

void LaneLedger::explain(DropReason why, std::uint64_t count) {
  const std::uint64_t explained = std::min(count, counts_.missing);
  counts_.missing -= explained;
  counts_.dropped += explained;
  counts_.dropped_by[static_cast<std::size_t>(why)] += explained;
}

void LaneLedger::finish_without_words() {
  counts_.produced = next_number_;
  counts_.dropped_by[static_cast<std::size_t>(DropReason::kNoPage)] += device_dropped_;
}

}  // namespace tidemark
